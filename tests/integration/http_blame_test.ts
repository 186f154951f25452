// Who is charged for what in HTTP, what the client is told, and that everything that was taken is given back.

import assert from "node:assert/strict";
import { HttpEndpoint, OK, say } from "../support/http_endpoint.ts";
import { HttpStage, readUntil, type StageOptions } from "../support/http_stage.ts";
import { freePort } from "../support/ports.ts";
import { readAll, TcpEndpoint } from "../support/tcp_endpoint.ts";
import { until } from "../support/until.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const LAST = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const dead = () => `127.0.0.1:${freePort()}`;
/** Says no more, until the other side has had enough. */
const silence = async (conn: Deno.Conn) => void await readAll(conn);

/** Statuses and JSON codes of the answers, "200" or "502 refused". */
function said(text: string): string[] {
  return text.split(/(?=HTTP\/1\.1 )/).filter((part) => part !== "").map((part) => {
    const code = /"code":"([a-z_]+)"/.exec(part);
    return part.slice(9, 12) + (code === null ? "" : ` ${code[1]}`);
  });
}

async function quiet(stage: HttpStage): Promise<void> {
  await until(() => stage.plane.sessionCount === 0 && stage.inFlight === 0);
}

Deno.test("each way in which an endpoint can fail a request has its status and its charge", async (t) => {
  const cases: [string, ConstructorParameters<typeof TcpEndpoint>[0], string, string[]][] = [
    ["closes without a word", () => Promise.resolve(), "502 no_answer", ["no_answer×1"]],
    ["says nothing", silence, "504 answer_timeout", ["answer_timeout×1"]],
    [
      "speaks another protocol",
      (conn) => say(conn, "SSH-2.0-x\r\n").then(() => silence(conn)),
      "502 answer_malformed",
      [
        "answer_malformed×1",
      ],
    ],
    ["stops in the head", (conn) => say(conn, "HTTP/1.1 200 OK\r\nA:"), "502 answer_cut", ["answer_cut×1"]],
    [
      "falls silent in the head",
      (conn) => say(conn, "HTTP/1.1 200 OK\r\nA:").then(() => silence(conn)),
      "504 answer_timeout",
      ["answer_timeout×1"],
    ],
    [
      "only ever promises",
      (conn) => say(conn, "HTTP/1.1 102 Processing\r\n\r\n").then(() => silence(conn)),
      "102",
      [
        "answer_timeout×1",
      ],
    ],
  ];
  for (const [name, serve, expected, evidence] of cases) {
    await t.step(name, async () => {
      await using endpoint = new TcpEndpoint(serve);
      await using stage = await HttpStage.start([endpoint.address], {
        upstream: { timeouts: { connectMs: 1000, readMs: 300, happyEyeballsMs: 250 } },
      });
      const answer = said(await stage.send(LAST));
      assert.equal(answer[0], expected);
      assert.deepEqual(stage.evidence, evidence);
      await quiet(stage);
    });
  }
});

Deno.test("a 5xx is passed on and charged, a 4xx is passed on and counts for the endpoint", async () => {
  let status = 503;
  await using endpoint = new HttpEndpoint(async (_request, conn) => {
    await say(conn, `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`);
    status = 404;
  });
  await using stage = await HttpStage.start([endpoint.address]);
  assert.deepEqual(said(await stage.send(GET + LAST)), ["503", "404"]);
  assert.deepEqual(stage.evidence, ["status_5xx×1", "answered×1"]);
  assert.deepEqual(stage.runs.map(({ detail }) => detail), ["503", "404"]);
  assert.deepEqual(stage.plane.stats().upstreams.app!.responses, { "5xx": 1, "4xx": 1 });
});

Deno.test("a request that an endpoint took and never answered goes elsewhere once, if it can be sent again", async () => {
  await using endpoint = new HttpEndpoint();
  await using mute = new TcpEndpoint((conn) => conn.read(new Uint8Array(1000)).then(() => {}));
  await using other = new TcpEndpoint((conn) => conn.read(new Uint8Array(1000)).then(() => {}));
  await using stage = await HttpStage.start([mute.address, endpoint.address]);
  for (let turn = 0; turn < 4; turn++) assert.deepEqual(said(await stage.send(LAST)), ["200"]);
  assert.ok(stage.evidence.includes("no_answer×1"));
  const post = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
  const posts = [said(await stage.send(post)), said(await stage.send(post))].flat().sort();
  assert.deepEqual(posts, ["200", "502 no_answer"]);
  stage.replace([mute.address, other.address]);
  const before = [mute.accepted, other.accepted];
  assert.deepEqual(said(await stage.send(LAST)), ["502 no_answer"]);
  assert.deepEqual([mute.accepted, other.accepted], before.map((count) => count + 1));
});

Deno.test("a refused connection leads to the next endpoint, and to 502 when there is none", async () => {
  await using endpoint = new HttpEndpoint();
  const gone = dead();
  await using stage = await HttpStage.start([gone, endpoint.address]);
  for (let turn = 0; turn < 4; turn++) assert.deepEqual(said(await stage.send(LAST)), ["200"]);
  assert.ok(stage.evidence.includes("refused×1"));
  stage.replace([gone]);
  assert.deepEqual(said(await stage.send(LAST)), ["502 refused"]);
  const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
  stage.replace([gone, endpoint.address]);
  for (let turn = 0; turn < 4; turn++) {
    assert.deepEqual(said(await stage.send(post, (text) => text.endsWith("ok"))), ["200"]);
  }
});

Deno.test("without an endpoint, or without a route, the client is told so and keeps its connection", async () => {
  await using stage = await HttpStage.start([]);
  const answer = await stage.send(GET + LAST);
  assert.deepEqual(said(answer), ["503 no_endpoint", "503 no_endpoint"]);
  assert.match(answer, /\r\nRetry-After: 1\r\n/);
  assert.equal(stage.plane.stats().upstreams.app!.noEndpoint, 2);
  stage.replace([], { listener: { upstream: "gone" } });
  assert.deepEqual(said(await stage.send(GET + LAST)), ["404 no_route", "404 no_route"]);
});

Deno.test("HEAD gets the head of an answer of ours only", async () => {
  await using stage = await HttpStage.start([]);
  const answer = await stage.send(LAST.replace("GET", "HEAD"));
  assert.match(answer, /^HTTP\/1\.1 503 [^]*\r\nContent-Length: \d\d+\r\n/);
  assert.ok(answer.endsWith("\r\n\r\n"));
});

Deno.test("clients that leave before, in the middle of, or instead of, are never held against an endpoint", async () => {
  let cut = 0;
  await using endpoint = new HttpEndpoint(async ({ head }, conn, reader) => {
    if (head.includes("/think")) {
      // The endpoint learns at once that nobody waits any more.
      if (!await reader.more()) cut++;
      return false;
    }
    if (head.includes("/big")) {
      await say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n");
      for (let part = 0; part < 100; part++) await conn.write(new Uint8Array(100_000));
    } else await say(conn, OK);
    return true;
  });
  await using stage = await HttpStage.start([endpoint.address]);
  for (let turn = 0; turn < 20; turn++) {
    const early = await stage.connect();
    await say(early, "GET /think HTTP/1.1\r\nHost: a\r\n\r\n");
    await until(() => stage.inFlight === 1);
    early.close();
    await quiet(stage);
  }
  assert.equal(cut, 20);
  for (let turn = 0; turn < 20; turn++) {
    const middle = await stage.connect();
    await say(middle, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
    await middle.read(new Uint8Array(1000));
    middle.close();
    const sender = await stage.connect();
    await say(sender, "POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf");
    await until(() => stage.inFlight > 0);
    sender.close();
    await quiet(stage);
  }
  assert.ok(stage.evidence.every((one) => one.startsWith("answered")), stage.evidence.join());
  assert.equal(stage.notCharged("client_aborted") + stage.notCharged("client_reset"), 60);
  assert.deepEqual(said(await stage.send(LAST)), ["200"]);
});

Deno.test("a client that ends its side still gets an answer that is near, and no late one", async () => {
  await using endpoint = new HttpEndpoint(async ({ head }, conn) => {
    await pause(head.includes("/near") ? 100 : 3000);
    await say(conn, OK).catch(() => {});
  });
  await using stage = await HttpStage.start([endpoint.address], { limits: { halfClosedMs: 1500 } });
  for (const [path, expected] of [["/near", ["200"]], ["/far", []]] as const) {
    using conn = await stage.connect();
    await say(conn, GET.replace("/ ", `${path} `));
    await conn.closeWrite();
    assert.deepEqual(said(await readUntil(conn, () => false)), expected);
  }
  assert.deepEqual(stage.evidence, ["answered×1"]);
  assert.equal(stage.notCharged("client_aborted"), 1);
  await quiet(stage);
});

Deno.test("an answer that is complete before its endpoint resets reaches a slow client whole, and counts", async () => {
  const size = 262_144;
  await using endpoint = new TcpEndpoint(async (conn) => {
    // Closing over an unread byte resets the connection behind the answer.
    await conn.read(new Uint8Array(1));
    await say(conn, `HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n${"x".repeat(size)}`);
    // Long enough for the bytes to leave this side: a reset throws away what has not.
    await pause(400);
  });
  await using stage = await HttpStage.start([endpoint.address]);
  for (let turn = 0; turn < 5; turn++) {
    using conn = await stage.connect();
    await say(conn, LAST);
    await pause(600);
    const answer = await readUntil(conn, () => false);
    assert.equal(answer.length - answer.indexOf("\r\n\r\n") - 4, size);
  }
  assert.deepEqual(stage.evidence, ["answered×5"]);
});

Deno.test("retries on statuses are off by default, go elsewhere when wanted, and never repeat a POST", async () => {
  await using bad = new HttpEndpoint("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy");
  await using good = new HttpEndpoint();
  const retries: StageOptions = { upstream: { retries: { statuses: [503], attempts: 1 } } };
  await using stage = await HttpStage.start([bad.address, good.address]);
  const all = async () => [...said(await stage.send(LAST)), ...said(await stage.send(LAST))].sort();
  assert.deepEqual(await all(), ["200", "503"]);
  stage.replace([bad.address, good.address], retries);
  assert.deepEqual(await all(), ["200", "200"]);
  assert.ok(stage.evidence.join().includes("status_5xx"));
  const post = LAST.replace("GET", "POST").replace("\r\n\r\n", "\r\nContent-Length: 2\r\n\r\nhi");
  const posts = [...said(await stage.send(post)), ...said(await stage.send(post))].sort();
  assert.deepEqual(posts, ["200", "503"]);
  stage.replace([bad.address], retries);
  assert.deepEqual(
    said(await stage.send(LAST)),
    ["503"],
    "the last answer is passed on when nobody else is left",
  );
  await quiet(stage);
});

Deno.test("every exchange has its record", async () => {
  await using endpoint = new HttpEndpoint();
  await using stage = await HttpStage.start([endpoint.address]);
  const id = "X-Request-Id: mine-1";
  await stage.send(
    `POST /p?q=1 HTTP/1.1\r\nHost: h.example.test\r\n${id}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello`,
  );
  await stage.send("GET /\x01 HTTP/1.1\r\n\r\n");
  await until(() => stage.records.length === 2);
  const [one, two] = stage.records;
  assert.equal(one!.endpoint, endpoint.address);
  assert.deepEqual([one!.outcome, one!.bytesUp, one!.bytesDown, one!.attempts, one!.upstream], [
    "answered",
    5,
    2,
    1,
    "app",
  ]);
  const { dialMs, firstByteMs, ...http } = one!.http!;
  assert.deepEqual(http, {
    method: "POST",
    target: "/p?q=1",
    host: "h.example.test",
    status: 200,
    requestId: "mine-1",
  });
  assert.ok(dialMs > 0 && firstByteMs >= dialMs && one!.durationMs >= firstByteMs);
  assert.deepEqual([two!.outcome, two!.http!.status, two!.http!.method, two!.attempts], [
    "client_garbage",
    400,
    "GET",
    0,
  ]);
  assert.match(two!.http!.requestId, /^[0-9a-f]{32}$/);
});
