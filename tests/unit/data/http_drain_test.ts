// What a drain does with HTTP clients that wait for nothing: kept connections close at once, and those that have just
// come get their first request answered, if it comes.

import assert from "node:assert/strict";
import { settled } from "../../support/fake_clock.ts";
import type { MemoryDuplex } from "../../support/memory_duplex.ts";
import { hear, MemoryStage, tell } from "../../support/memory_stage.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** A stage whose endpoint answers at once. */
function scene(): MemoryStage {
  return new MemoryStage((conn) => void hear(conn, () => void tell(conn, OK)));
}

/** What a client gets, and whether its connection has ended. */
function heard(client: MemoryDuplex): { text: string; hasEnded: boolean } {
  const got = { text: "", hasEnded: false };
  void hear(client, (text) => got.text += text).then(() => got.hasEnded = true);
  return got;
}

async function drain(stage: MemoryStage): Promise<void> {
  const draining = stage.plane.drain();
  await stage.clock.advance(50);
  await draining;
  await settled();
}

const LAST_ANSWER = /^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*\r\n\r\nok$/;

Deno.test("a client that was let in before the drain gets its first request answered, and no other", async () => {
  const stage = scene();
  const client = stage.connect();
  const got = heard(client);
  await settled();
  await drain(stage);
  await stage.pass(500);
  await tell(client, GET + GET);
  await settled();
  assert.match(got.text, LAST_ANSWER);
  await stage.end();
});

Deno.test("its head may come in parts, which take longer than the moment in which it has to begin", async () => {
  const stage = scene();
  const client = stage.connect();
  const got = heard(client);
  await drain(stage);
  await tell(client, GET.slice(0, 9));
  await stage.pass(5000);
  await tell(client, GET.slice(9));
  await settled();
  assert.match(got.text, LAST_ANSWER);
  await stage.end();
});

Deno.test("a client that says nothing holds a drain up for a moment only, however often it is told to go", async () => {
  const stage = scene();
  const got = heard(stage.connect());
  await settled();
  await drain(stage);
  await stage.pass(600);
  await drain(stage);
  assert.ok(!got.hasEnded);
  await stage.pass(800);
  assert.deepEqual([got, stage.plane.sessionCount], [{ text: "", hasEnded: true }, 0]);
});

Deno.test("a TLS client whose handshake is under way when the drain begins gets its first request answered", async () => {
  const stage = scene();
  const ready = Promise.withResolvers<boolean>();
  const client = stage.connect(ready.promise);
  const got = heard(client);
  await drain(stage);
  await stage.pass(500);
  ready.resolve(true);
  await stage.pass(500);
  await tell(client, GET);
  await settled();
  assert.match(got.text, LAST_ANSWER);
  await stage.end();
});

Deno.test("a kept connection that is idle closes as soon as the drain begins", async () => {
  const stage = scene();
  const client = stage.connect();
  const got = heard(client);
  await tell(client, GET);
  await settled();
  assert.ok(!got.hasEnded);
  await drain(stage);
  assert.ok(got.hasEnded && got.text.endsWith("ok"));
  assert.equal(stage.plane.sessionCount, 0);
});
