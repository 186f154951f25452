// Server-sent events: format, replay, and clients that do not read.

import assert from "node:assert/strict";
import { EventRing } from "../../../src/admin/event_ring.ts";
import { BUFFER_BYTES, EventStreams, MAX_STREAMS } from "../../../src/admin/event_stream.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";

function bench() {
  const clock = new FakeClock();
  const ring = new EventRing(5);
  const streams = new EventStreams(ring, clock);
  const tell = (message = "m") => ring.publish({ kind: "loop_error", at: 0, thread: "main", message });
  return { clock, ring, streams, tell };
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const { value } = await reader.read();
  return new TextDecoder().decode(value);
}

Deno.test("a stream begins with its retry time, then each event with id and one line of data", async () => {
  const { streams, tell, clock } = bench();
  const reader = streams.open({})!.getReader();
  assert.equal(await readText(reader), "retry: 2000\n: hale\n\n");
  tell("two\nlines");
  const block = await readText(reader);
  assert.match(block, /^id: 5-1\ndata: \{.*\}\n\n$/);
  assert.equal(JSON.parse(block.split("data: ")[1]!).message, "two\nlines");
  await reader.cancel();
  assert.equal(clock.sleeping, 0);
});

Deno.test("replay comes before what is new", async () => {
  const { streams, tell } = bench();
  tell();
  tell();
  const reader = streams.open({ afterId: "5-1" })!.getReader();
  await readText(reader);
  tell();
  assert.match(await readText(reader), /^id: 5-2\n/);
  assert.match(await readText(reader), /^id: 5-3\n/);
  await reader.cancel();
});

Deno.test("a quiet stream beats every 15 s", async () => {
  const { streams, clock } = bench();
  const reader = streams.open({})!.getReader();
  await readText(reader);
  const next = readText(reader);
  await clock.advance(15_000);
  assert.equal(await next, ": beat\n\n");
  await reader.cancel();
});

Deno.test("a client that never reads is dropped with bounded memory, the others go on", async () => {
  const { streams, tell, clock } = bench();
  const idle = streams.open({})!;
  const reader = streams.open({})!.getReader();
  let got = 0;
  for (let sent = 0; sent * 1000 < BUFFER_BYTES + 200_000; sent++) {
    tell("x".repeat(1000));
    await readText(reader);
    got++;
  }
  assert.ok(got > 500);
  assert.equal(streams.size, 1);
  await assert.rejects(idle.getReader().read(), /does not read/);
  await reader.cancel();
  assert.equal(streams.size, 0);
  assert.equal(clock.sleeping, 0);
});

Deno.test("a client that does not even read beats is dropped in the end", async () => {
  const { streams, tell, clock } = bench();
  streams.open({});
  while (streams.size > 0) tell("x".repeat(4000));
  await settled();
  assert.equal(clock.sleeping, 0);
});

Deno.test("closing ends every stream and opens no more", async () => {
  const { streams, clock } = bench();
  const reader = streams.open({})!.getReader();
  await readText(reader);
  streams.close();
  assert.equal((await reader.read()).done, true);
  assert.equal(streams.open({}), undefined);
  await settled();
  assert.equal(clock.sleeping, 0);
});

Deno.test("there are at most so many streams; one that ends makes room", async () => {
  const { streams } = bench();
  const open = Array.from({ length: MAX_STREAMS }, () => streams.open({})!);
  assert.equal(streams.open({}), undefined);
  await open[0]!.cancel();
  assert.notEqual(streams.open({}), undefined);
  streams.close();
});
