// HTTP sessions while the plan changes under them: routes, hosts, listeners and endpoints that go, and the drain.

import assert from "node:assert/strict";
import { HttpEndpoint, OK, say } from "../support/http_endpoint.ts";
import { HttpStage, readUntil, type StageOptions } from "../support/http_stage.ts";
import { endpoint, healthParams, upstream } from "../support/plans.ts";
import { until } from "../support/until.ts";

const get = (path: string, host = "a") => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const named = (name: string) =>
  new HttpEndpoint(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`);

/** Sends one request on a connection that is kept and gives the body of its answer. */
async function ask(conn: Deno.TcpConn, text: string): Promise<string> {
  await say(conn, text);
  const answer = await readUntil(conn, (got) => {
    const length = /Content-Length: (\d+)/.exec(got);
    return length !== null && got.length - got.indexOf("\r\n\r\n") - 4 >= Number(length[1]);
  });
  return answer.slice(answer.indexOf("\r\n\r\n") + 4);
}

Deno.test("routes send requests of one connection to different upstreams, by the plan of their moment", async () => {
  await using app = named("app");
  await using api = named("api");
  const second = upstream("api", [endpoint(api.address, 7)], { health: healthParams() });
  const others: StageOptions = { others: [second] };
  const withRoute: StageOptions = {
    ...others,
    listener: { routes: [{ host: "*.example.test", pathPrefix: "/v1/", upstream: "api" }] },
  };
  await using stage = await HttpStage.start([app.address], withRoute);
  using conn = await stage.connect();
  assert.equal(await ask(conn, get("/v1/x", "api.example.test:80")), "api");
  assert.equal(await ask(conn, get("/v2/x", "api.example.test")), "app");
  assert.equal(await ask(conn, get("/v1", "API.EXAMPLE.TEST")), "api");
  stage.replace([app.address], others);
  assert.equal(await ask(conn, get("/v1/x", "api.example.test")), "app");
  stage.replace([app.address], withRoute);
  assert.equal(await ask(conn, get("/v1/x", "api.example.test")), "api");
  assert.equal(stage.plane.stats().listeners.web!.accepted, 1);
});

Deno.test("a hundred plan changes under load fail no request and cut no connection", async () => {
  await using one = named("one");
  await using two = named("two");
  const sets = [[one.address], [one.address, two.address], [two.address, one.address]];
  await using stage = await HttpStage.start(sets[0]!);
  let isOver = false;
  const clients = Array.from({ length: 8 }, async () => {
    using conn = await stage.connect();
    let count = 0;
    for (; !isOver; count++) assert.match(await ask(conn, get("/")), /^(one|two)$/);
    return count;
  });
  for (let turn = 0; turn < 100; turn++) {
    stage.replace(sets[turn % 3]!, { upstream: { maxConnections: 1000 + turn } });
    await pause(5);
  }
  isOver = true;
  const counts = await Promise.all(clients);
  assert.ok(counts.every((count) => count > 10), counts.join());
  assert.equal(stage.plane.stats().listeners.web!.accepted, 8);
  await until(() => stage.inFlight === 0);
});

Deno.test("kept connections to an endpoint that left the plan are closed, and the next request goes elsewhere", async () => {
  await using one = named("one");
  await using two = named("two");
  await using stage = await HttpStage.start([one.address]);
  using conn = await stage.connect();
  assert.equal(await ask(conn, get("/")), "one");
  stage.replace([two.address]);
  await until(() => one.open === 0);
  assert.equal(await ask(conn, get("/")), "two");
});

Deno.test("a connection in use by an exchange lives on when its endpoint leaves, and is closed after it", async () => {
  await using slow = new HttpEndpoint(async (_request, conn) => {
    await pause(200);
    await say(conn, OK);
  });
  await using two = named("two");
  await using stage = await HttpStage.start([slow.address]);
  using conn = await stage.connect();
  const answer = ask(conn, get("/"));
  await until(() => slow.seen.length === 1);
  stage.replace([two.address]);
  assert.equal(await answer, "ok");
  await until(() => slow.open === 0);
});

Deno.test("a client of a listener that left the plan gets its answer, and then the end", async () => {
  await using one = named("one");
  await using stage = await HttpStage.start([one.address]);
  using conn = await stage.connect();
  assert.equal(await ask(conn, get("/")), "one");
  stage.plane.take({ ...stage.plane.plan, revision: 99, listeners: [] });
  await say(conn, get("/"));
  const answer = await readUntil(conn, () => false);
  assert.match(answer, /\r\nConnection: close\r\n[^]*one$/);
});

Deno.test("draining lets exchanges finish with Connection: close, and idle connections go at once", async () => {
  await using slow = new HttpEndpoint(async ({ head }, conn) => {
    if (head.includes("/slow")) await pause(300);
    await say(conn, OK);
  });
  await using stage = await HttpStage.start([slow.address]);
  using idle = await stage.connect();
  await ask(idle, get("/"));
  using busy = await stage.connect();
  await say(busy, get("/slow"));
  await until(() => slow.seen.length === 2);
  await stage.plane.drain();
  assert.equal(await readUntil(idle, () => false), "");
  assert.match(
    await readUntil(busy, () => false),
    /^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n[^]*ok$/,
  );
  await until(() => stage.plane.sessionCount === 0);
});

Deno.test("cutting ends exchanges, idle and upgraded connections alike, at nobody's cost", async () => {
  await using endpoint = new HttpEndpoint(async ({ head }, conn, reader) => {
    if (head.includes("/up")) {
      await say(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n");
    } else if (!head.includes("/wait")) return await say(conn, OK);
    while (await reader.more());
    return false;
  });
  await using stage = await HttpStage.start([endpoint.address]);
  const conns = await Promise.all(["/idle", "/wait", "/up", "/body"].map(async (path) => {
    const conn = await stage.connect();
    const more = path === "/up"
      ? "Connection: Upgrade\r\nUpgrade: foo\r\n"
      : path === "/body"
      ? "Content-Length: 9\r\n"
      : "";
    await say(conn, get(path).replace("\r\n\r\n", `\r\n${more}\r\n`));
    return conn;
  }));
  await readUntil(conns[0]!, (text) => text.endsWith("ok"));
  await readUntil(conns[2]!, (text) => text.endsWith("\r\n\r\n"));
  await until(() => stage.inFlight === 3);
  assert.equal(stage.plane.cut(), 4);
  for (const conn of conns) {
    assert.equal(await readUntil(conn, () => false), "");
    conn.close();
  }
  await until(() => stage.plane.sessionCount === 0 && stage.inFlight === 0);
  assert.deepEqual(stage.evidence, ["answered×2"]);
});

Deno.test("the Host that goes out follows the upstream's choice", async () => {
  await using one = named("one");
  await using stage = await HttpStage.start([one.address], { upstream: { host: "endpoint" } });
  await stage.send(get("/", "a.example.test"), (text) => text.endsWith("one"));
  stage.replace([one.address], { upstream: { host: { name: "internal.example.test" } } });
  await stage.send(get("/", "a.example.test"), (text) => text.endsWith("one"));
  stage.replace([one.address]);
  await stage.send(get("/", "a.example.test"), (text) => text.endsWith("one"));
  const hosts = one.seen.map(({ head }) => /\r\nHost: ([^\r]*)/.exec(head)![1]);
  assert.deepEqual(hosts, [one.address, "internal.example.test", "a.example.test"]);
  assert.ok(one.seen.every(({ head }) => head.includes("\r\nX-Forwarded-Host: a.example.test\r\n")));
});

Deno.test("trusted proxies are believed", async () => {
  await using one = named("one");
  await using stage = await HttpStage.start([one.address], { listener: { trustedProxies: ["127.0.0.0/8"] } });
  const head =
    "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n\r\n";
  await stage.send(head, (text) => text.endsWith("one"));
  assert.match(one.seen[0]!.head, /\r\nX-Forwarded-For: 203\.0\.113\.9, 127\.0\.0\.1\r\n/);
  assert.match(one.seen[0]!.head, /\r\nX-Forwarded-Proto: https\r\n/);
});
