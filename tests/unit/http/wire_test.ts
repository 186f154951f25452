// Wires: unread bytes, pages that change hands, and reads that were begun ahead.

import assert from "node:assert/strict";
import { Pages } from "../../../src/http/pages.ts";
import { RawWire } from "../../../src/http/raw_wire.ts";
import { Wire } from "../../../src/http/wire.ts";
import { settled } from "../../support/fake_clock.ts";
import { bytesOf, stringOf } from "../../support/http_heads.ts";
import { memoryPair } from "../../support/memory_duplex.ts";

const unread = (wire: Wire) => stringOf(wire.page.subarray(wire.from, wire.to));

Deno.test("bytes gather behind the unread ones and move into a larger page when there is no room", async () => {
  const [near, far] = memoryPair();
  const wire = new Wire(near, new Pages());
  const text = "0123456789".repeat(1000);
  await far.write(bytesOf(text));
  let reads = 0;
  while (wire.unread < text.length) {
    wire.makeRoom();
    assert.ok(await wire.read() > 0);
    reads++;
  }
  assert.equal(unread(wire), text);
  assert.ok(reads <= 3);
  wire.release();
});

Deno.test("a read that was begun ahead is told when nobody waits, and is what the next read gets", async () => {
  const [near, far] = memoryPair();
  const wire = new Wire(near, new Pages());
  let told = 0;
  wire.onAhead = () => told++;
  wire.readAhead();
  wire.readAhead();
  await far.write(bytesOf("abc"));
  await settled();
  assert.deepEqual([told, unread(wire), wire.isReading], [1, "abc", false]);
  wire.from = wire.to;
  wire.readAhead();
  const count = wire.read();
  await far.write(bytesOf("de"));
  assert.equal(await count, 2);
  assert.equal(told, 1);
  wire.release();
});

Deno.test("an end and a failure are values, and stay", async () => {
  const [near, far] = memoryPair();
  const wire = new Wire(near, new Pages());
  await far.closeWrite();
  assert.deepEqual([await wire.read(), await wire.read(), wire.ended, wire.readFailure], [0, 0, true, ""]);
  const [other, peer] = memoryPair();
  const reset = new Wire(other, new Pages());
  peer.reset();
  assert.deepEqual([await reset.read(), reset.ended, reset.readFailure], [0, false, "ECONNRESET"]);
  assert.deepEqual([await reset.write(bytesOf("x")), reset.writeFailure], [false, "ECONNRESET"]);
  wire.release();
  reset.release();
});

Deno.test("a pinned page keeps its bytes while reading goes on", async () => {
  const [near, far] = memoryPair();
  const pages = new Pages();
  const wire = new Wire(near, pages);
  await far.write(bytesOf("head"));
  await wire.read();
  const page = wire.pin();
  wire.from = wire.to;
  await far.write(bytesOf("next"));
  await wire.read();
  assert.equal(stringOf(page.subarray(0, 4)), "head");
  assert.equal(unread(wire), "next");
  assert.notEqual(wire.page, page);
  wire.unpin(page);
  assert.equal(pages.take(1), page);
  wire.release();
});

Deno.test("no page is ever given to two", async () => {
  const [near, far] = memoryPair();
  const pages = new Pages();
  const wire = new Wire(near, pages);
  const page = wire.pin();
  wire.readAhead();
  wire.release();
  wire.release();
  await settled();
  wire.unpin(page);
  const taken = [pages.take(1), pages.take(1), pages.take(1)];
  assert.equal(new Set(taken).size, 3);
  far.close();
});

Deno.test("a page is given back only when the read into it has ended", async () => {
  const [near, far] = memoryPair();
  const pages = new Pages();
  const wire = new Wire(near, pages);
  const { page } = wire;
  wire.readAhead();
  wire.release();
  assert.notEqual(pages.take(1), page);
  await settled();
  assert.equal(pages.take(1), page);
  far.close();
});

Deno.test("headroom stays free in front of what is read", async () => {
  const [near, far] = memoryPair();
  const wire = new Wire(near, new Pages(), { headroom: 512, tailroom: 8 });
  await far.write(new Uint8Array(5000));
  await wire.read();
  assert.deepEqual([wire.from, wire.to], [512, 4096 - 8]);
  wire.from = wire.to;
  await wire.read();
  assert.equal(wire.from, 512);
  assert.ok(wire.page.length > 4096, "a stream that fills its page gets a larger one");
  wire.release();
});

Deno.test("a raw wire gives what was read, then what is being read, then the rest", async () => {
  const [near, far] = memoryPair();
  const wire = new Wire(near, new Pages());
  await far.write(bytesOf("abc"));
  await wire.read();
  const raw = new RawWire(wire);
  const buffer = new Uint8Array(2);
  assert.equal(await raw.read(buffer), 2);
  assert.equal(await raw.read(buffer), 1);
  assert.equal(stringOf(buffer.subarray(0, 1)), "c");
  wire.readAhead();
  const read = raw.read(buffer);
  await far.write(bytesOf("d"));
  assert.equal(await read, 1);
  await far.write(bytesOf("e"));
  await far.closeWrite();
  assert.equal(await raw.read(buffer), 1);
  assert.equal(await raw.read(buffer), null);
  raw.close();
});
