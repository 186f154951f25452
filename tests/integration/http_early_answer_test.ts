// Endpoints that answer before they have the whole request (W9, BUGS 42), and requests that wait for leave to send.

import assert from "node:assert/strict";
import { HttpEndpoint, OK, say } from "../support/http_endpoint.ts";
import { bytesOf } from "../support/http_heads.ts";
import { HttpStage, readUntil } from "../support/http_stage.ts";
import { writeBytes } from "../support/tcp_endpoint.ts";
import { until } from "../support/until.ts";

const BIG = 28_000_000;
const TOO_LARGE = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large";
const LENGTH = `POST /big HTTP/1.1\r\nHost: a\r\nContent-Length: ${BIG}\r\n\r\n`;
const CHUNKED = "POST /big HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Posts as fast as it can, reading only afterwards, as plain clients do. Gives what came back. */
async function post(stage: HttpStage, head: string): Promise<string> {
  using conn = await stage.connect();
  const isChunked = head === CHUNKED;
  const block = new Uint8Array(100_000);
  const sending = (async () => {
    await writeBytes(conn, bytesOf(head));
    for (let sent = 0; sent < BIG; sent += block.length) {
      if (isChunked) await writeBytes(conn, bytesOf(`${block.length.toString(16)}\r\n`));
      await writeBytes(conn, block);
      if (isChunked) await writeBytes(conn, bytesOf("\r\n"));
    }
    if (isChunked) await writeBytes(conn, bytesOf("0\r\n\r\n"));
  })().catch(() => {}); // Whether all could be sent is not what matters.
  const answer = await readUntil(conn, () => false);
  await sending;
  return answer;
}

for (const [name, head] of [["with a length", LENGTH], ["in chunks", CHUNKED]] as const) {
  Deno.test(`a refusal that comes before the end of a large upload ${name} reaches the client`, async () => {
    await using endpoint = new HttpEndpoint(async (_request, conn) => {
      await say(conn, TOO_LARGE);
      await pause(20);
      return false;
    }, { readsBody: false });
    await using stage = await HttpStage.start([endpoint.address]);
    for (let turn = 0; turn < 10; turn++) {
      const answer = await post(stage, head);
      assert.match(answer, /^HTTP\/1\.1 413 Content Too Large\r\n/, `turn ${turn}`);
      assert.match(answer, /\r\nConnection: close\r\n[^]*too large$/);
    }
    assert.equal(endpoint.accepted, 10, "a half-used connection is not used again");
    await until(() => stage.inFlight === 0 && stage.plane.sessionCount === 0);
    assert.deepEqual(stage.evidence, ["answered×10"]);
  });
}

Deno.test("an endpoint that answers early and goes on reading gets the whole upload, and keeps its connection", async () => {
  let uploaded = 0;
  await using endpoint = new HttpEndpoint(async ({ head }, conn, reader) => {
    await say(conn, OK);
    if (!head.includes("/big")) return;
    while (uploaded < BIG && (reader.rest !== "" || await reader.more())) {
      const count = Math.min(reader.rest.length, BIG - uploaded);
      uploaded += count;
      reader.rest = reader.rest.slice(count);
    }
  }, { readsBody: false });
  await using stage = await HttpStage.start([endpoint.address]);
  using conn = await stage.connect();
  await writeBytes(conn, bytesOf(LENGTH));
  assert.ok((await readUntil(conn, (text) => text.endsWith("ok"))).startsWith("HTTP/1.1 200 OK"));
  for (let sent = 0; sent < BIG; sent += 100_000) await writeBytes(conn, new Uint8Array(100_000));
  await say(conn, "GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  assert.match(await readUntil(conn, () => false), /^HTTP\/1\.1 200 OK/);
  assert.equal(uploaded, BIG);
  assert.deepEqual(endpoint.seen.map(({ connection }) => connection), [1, 1]);
});

const EXPECT = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";

Deno.test("leave to send a body is asked of the endpoint and passed on", async () => {
  await using endpoint = new HttpEndpoint(async (_request, conn, reader) => {
    await say(conn, "HTTP/1.1 100 Continue\r\n\r\n");
    assert.equal(await reader.take(5), "hello");
    await say(conn, OK);
  }, { readsBody: false });
  await using stage = await HttpStage.start([endpoint.address]);
  using conn = await stage.connect();
  await say(conn, EXPECT);
  assert.equal(await readUntil(conn, (text) => text.endsWith("\r\n\r\n")), "HTTP/1.1 100 Continue\r\n\r\n");
  await say(conn, "hello");
  assert.match(await readUntil(conn, (text) => text.endsWith("ok")), /^HTTP\/1\.1 200 OK\r\n/);
});

Deno.test("a final answer instead of leave to send ends the connection, for nobody knows whether a body follows", async () => {
  await using endpoint = new HttpEndpoint("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", {
    readsBody: false,
  });
  await using stage = await HttpStage.start([endpoint.address]);
  const answer = await stage.send(EXPECT);
  assert.match(answer, /^HTTP\/1\.1 401 Unauthorized\r\n[^]*\r\nConnection: close\r\n/);
  await until(() => stage.inFlight === 0);
  await stage.send(EXPECT);
  assert.equal(endpoint.accepted, 2);
});
