// Kept connections on both sides: pipelining, reuse, and endpoints that close while nobody looks.

import assert from "node:assert/strict";
import { HttpEndpoint, OK, say } from "../support/http_endpoint.ts";
import { HttpStage, readUntil } from "../support/http_stage.ts";
import { freePort } from "../support/ports.ts";
import { until } from "../support/until.ts";

const get = (path: string, ...lines: string[]) =>
  [`GET ${path} HTTP/1.1`, "Host: a", ...lines].join("\r\n") + "\r\n\r\n";
const LAST = get("/last", "Connection: close");
const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d\d\d) /g)].map(([, status]) => Number(status));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Answers each request with its path as the body. */
const pathEndpoint = () =>
  new HttpEndpoint(async ({ head, body }, conn) => {
    const text = head.split(" ")[1]! + body;
    await say(conn, `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  });

Deno.test("pipelined requests, with bodies of all kinds between them, are answered in order on one connection", async () => {
  await using endpoint = pathEndpoint();
  await using stage = await HttpStage.start([endpoint.address]);
  const post = "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
  const chunked = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  const answer = await stage.send(get("/a") + post + chunked + post + get("/d") + LAST);
  assert.deepEqual(
    answer.match(/\r\n\r\n[^\r]*?(?=HTTP|$)|\r\n\r\n\/c[^]*?\r\n0\r\n\r\n/g)?.map((body) =>
      body.trim().slice(0, 8)
    ),
    [
      "/a",
      "/bhello",
      "/c3\r\nabc",
      "/bhello",
      "/d",
      "/last",
    ],
  );
  assert.equal(endpoint.accepted, 1);
  assert.equal(stage.plane.stats().listeners.web!.accepted, 1);
});

Deno.test("a thousand pipelined requests are answered in order while the client only sends at first", async () => {
  await using endpoint = pathEndpoint();
  await using stage = await HttpStage.start([endpoint.address]);
  const requests = Array.from({ length: 1000 }, (_, at) => get(`/${at}`)).join("");
  const answer = await stage.send(requests + LAST);
  const bodies = [...answer.matchAll(/\r\n\r\n(\/[0-9a-z]+)/g)].map(([, body]) => body);
  assert.deepEqual(bodies, [...Array.from({ length: 1000 }, (_, at) => `/${at}`), "/last"]);
});

Deno.test("connections to the endpoint are shared by clients, never at the same time", async () => {
  await using endpoint = new HttpEndpoint(async ({ head }, conn) => {
    await pause(head.includes("/slow") ? 50 : 0);
    await say(conn, OK);
  });
  await using stage = await HttpStage.start([endpoint.address]);
  for (let turn = 0; turn < 5; turn++) await stage.send(LAST);
  assert.equal(endpoint.accepted, 1);
  await Promise.all([
    stage.send(get("/slow", "Connection: close")),
    stage.send(get("/slow", "Connection: close")),
  ]);
  assert.equal(endpoint.accepted, 2);
});

Deno.test("an endpoint that closes idle connections costs no request and no blame", async () => {
  await using endpoint = new HttpEndpoint(async (_request, conn) => {
    await say(conn, OK);
    return false;
  });
  await using stage = await HttpStage.start([endpoint.address]);
  using conn = await stage.connect();
  for (let turn = 0; turn < 100; turn++) {
    await say(conn, get(`/${turn}`));
    const answer = await readUntil(conn, (text) => text.endsWith("ok"));
    assert.deepEqual(statuses(answer), [200], `turn ${turn}`);
    // From "closes at the very moment" to "has closed a while ago".
    if (turn % 3 === 0) await pause(turn % 5);
  }
  assert.deepEqual(stage.evidence.join(), "answered×100");
});

Deno.test("a connection that closes under a request is replaced once, if the request can be sent again", async () => {
  let answers = 0;
  await using endpoint = new HttpEndpoint(async ({ connection }, conn) => {
    // The first connection answers once, and takes the next request only to close over it.
    if (connection === 1 && answers > 0) return false;
    answers++;
    await say(conn, OK);
    return true;
  });
  await using stage = await HttpStage.start([endpoint.address]);
  await stage.send(LAST);
  assert.deepEqual(statuses(await stage.send(get("/again", "Connection: close"))), [200]);
  assert.deepEqual(endpoint.seen.map(({ connection }) => connection), [1, 1, 2]);
  assert.deepEqual(stage.evidence, ["answered×2"]);
  assert.equal(stage.notCharged("stale_connection"), 1);
});

Deno.test("a request that may not be sent twice is answered 502 then, and the endpoint is not charged", async () => {
  let answers = 0;
  await using endpoint = new HttpEndpoint(async ({ connection }, conn) => {
    if (connection === 1 && answers > 0) return false;
    answers++;
    await say(conn, OK);
    return true;
  });
  await using stage = await HttpStage.start([endpoint.address]);
  await stage.send(LAST);
  const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
  assert.deepEqual(statuses(await stage.send(post)), [502]);
  assert.equal(endpoint.seen.length, 2);
  assert.deepEqual(stage.evidence, ["answered×1"]);
});

Deno.test("a stale connection leads to another endpoint when the first has died meanwhile", async () => {
  const port = freePort();
  const dying = new HttpEndpoint(OK, { port });
  await using other = new HttpEndpoint();
  await using stage = await HttpStage.start([dying.address, other.address]);
  for (let turn = 0; turn < 4; turn++) assert.deepEqual(statuses(await stage.send(LAST)), [200]);
  await dying[Symbol.asyncDispose]();
  for (let turn = 0; turn < 6; turn++) assert.deepEqual(statuses(await stage.send(LAST)), [200]);
  assert.ok(stage.evidence.join().includes("refused"));
});

Deno.test("the rest of another answer under a request costs it one more try, if it can be sent again", async () => {
  await using endpoint = new HttpEndpoint(async ({ connection, head }, conn) => {
    if (connection === 1 && head.includes("/again")) await say(conn, "<p>not found</p>");
    else await say(conn, OK);
  });
  await using stage = await HttpStage.start([endpoint.address]);
  await stage.send(LAST);
  assert.deepEqual(statuses(await stage.send(get("/again", "Connection: close"))), [200]);
  assert.deepEqual(endpoint.seen.map(({ connection }) => connection), [1, 1, 2]);
  assert.deepEqual(stage.evidence, ["answered×2"]);
});

Deno.test("an endpoint that says more than its answer is not trusted with another request on that connection", async () => {
  await using endpoint = new HttpEndpoint(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nfooled`);
  await using stage = await HttpStage.start([endpoint.address]);
  for (let turn = 0; turn < 3; turn++) {
    const answer = await stage.send(LAST);
    assert.ok(answer.endsWith("ok"), answer);
  }
  assert.deepEqual(endpoint.seen.map(({ connection }) => connection), [1, 2, 3]);
});

Deno.test("surplus that comes late is not taken for an answer either", async () => {
  await using endpoint = new HttpEndpoint(async (_request, conn) => {
    await say(conn, OK);
    await pause(20);
    await say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nfooled");
  });
  await using stage = await HttpStage.start([endpoint.address]);
  assert.ok((await stage.send(LAST)).endsWith("ok"));
  await pause(60);
  assert.ok((await stage.send(LAST)).endsWith("ok"));
  assert.deepEqual(endpoint.seen.map(({ connection }) => connection), [1, 2]);
});

Deno.test("an idle client is let go after its time, one that never says anything sooner, both without an answer", async () => {
  await using endpoint = new HttpEndpoint();
  await using stage = await HttpStage.start([endpoint.address], { limits: { keepMs: 300, headMs: 200 } });
  assert.equal(await stage.send(""), "");
  using conn = await stage.connect();
  await say(conn, get("/"));
  await readUntil(conn, (text) => text.endsWith("ok"));
  assert.equal(await readUntil(conn, () => false), "");
  await until(() => stage.plane.sessionCount === 0);
  assert.deepEqual(stage.plane.stats().listeners.web!.outcomes, { finished: 2 });
});
