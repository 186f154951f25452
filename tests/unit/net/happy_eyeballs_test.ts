// The race by itself: no socket, a clock that stands still, attempts that end when the test says so.

import assert from "node:assert/strict";
import { interleaved, race, type RaceResult } from "../../../src/net/happy_eyeballs.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";

type End = { readonly conn: string } | { readonly failure: string };

class Field {
  readonly clock = new FakeClock();
  readonly started: [address: string, at: number][] = [];
  readonly stopped: string[] = [];
  readonly discarded: string[] = [];
  readonly stop = new AbortController();
  readonly #ends = new Map<string, (end: End) => void>();

  run(addresses: string[], delayMs = 250): Promise<RaceResult<string, string>> {
    return race<string, string>(addresses, {
      connect: (address, signal) => {
        this.started.push([address, this.clock.now()]);
        signal.addEventListener("abort", () => this.stopped.push(address));
        return new Promise((resolve) => this.#ends.set(address, resolve));
      },
      discard: (conn) => void this.discarded.push(conn),
      delayMs,
      clock: this.clock,
      signal: this.stop.signal,
    });
  }

  async end(address: string, end: End): Promise<void> {
    this.#ends.get(address)!(end);
    await settled();
  }
}

Deno.test("a silent first address costs the delay, not the connection", async () => {
  const field = new Field();
  const result = field.run(["::1", "127.0.0.11"]);
  await field.clock.advance(249);
  assert.deepEqual(field.started, [["::1", 0]]);
  await field.clock.advance(1);
  assert.deepEqual(field.started, [["::1", 0], ["127.0.0.11", 250]]);
  await field.end("127.0.0.11", { conn: "b" });
  assert.deepEqual(await result, { won: "b", address: "127.0.0.11" });
  assert.deepEqual(field.stopped, ["::1"]);
  assert.equal(field.clock.sleeping, 0);
});

Deno.test("a refusal starts the next attempt at once", async () => {
  const field = new Field();
  const result = field.run(["::1", "127.0.0.11"]);
  await field.end("::1", { failure: "refused" });
  assert.deepEqual(field.started, [["::1", 0], ["127.0.0.11", 0]]);
  await field.end("127.0.0.11", { conn: "b" });
  assert.deepEqual(await result, { won: "b", address: "127.0.0.11" });
  assert.equal(field.clock.sleeping, 0);
});

Deno.test("the delay aborts nothing: the first address may still win", async () => {
  const field = new Field();
  const result = field.run(["::1", "127.0.0.11"]);
  await field.clock.advance(600);
  assert.deepEqual(field.stopped, []);
  await field.end("::1", { conn: "a" });
  assert.deepEqual(await result, { won: "a", address: "::1" });
});

Deno.test("of two that complete exactly one is kept and the other is closed", async () => {
  const field = new Field();
  const result = field.run(["::1", "127.0.0.11"]);
  await field.clock.advance(250);
  await field.end("::1", { conn: "a" });
  await field.end("127.0.0.11", { conn: "b" });
  assert.deepEqual(await result, { won: "a", address: "::1" });
  assert.deepEqual(field.discarded, ["b"]);
});

Deno.test("when all fail, every address and reason is told", async () => {
  const field = new Field();
  const result = field.run(["::1", "127.0.0.11", "127.0.0.12"]);
  await field.clock.advance(250);
  await field.end("127.0.0.11", { failure: "reset" });
  await field.end("::1", { failure: "refused" });
  await field.end("127.0.0.12", { failure: "unreachable" });
  assert.deepEqual(await result, {
    lost: [
      { address: "127.0.0.11", failure: "reset" },
      { address: "::1", failure: "refused" },
      { address: "127.0.0.12", failure: "unreachable" },
    ],
    pending: [],
  });
  assert.equal(field.clock.sleeping, 0);
});

Deno.test("an abort ends the race at once and tells what was still under way", async () => {
  const field = new Field();
  const result = field.run(["::1", "127.0.0.11", "127.0.0.12"]);
  await field.end("::1", { failure: "refused" });
  field.stop.abort();
  assert.deepEqual(await result, {
    lost: [{ address: "::1", failure: "refused" }],
    pending: ["127.0.0.11"],
  });
  assert.deepEqual(field.stopped, ["127.0.0.11"]);
  await field.end("127.0.0.11", { conn: "late" });
  assert.deepEqual(field.discarded, ["late"]);
  assert.equal(field.started.length, 2);
  assert.equal(field.clock.sleeping, 0);
});

Deno.test("a race that was aborted before it began tries nothing", async () => {
  const field = new Field();
  field.stop.abort();
  assert.deepEqual(await field.run(["::1"]), { lost: [], pending: [] });
  assert.deepEqual(field.started, []);
});

Deno.test("without a delay the addresses are tried one at a time", async () => {
  const field = new Field();
  const result = field.run(["::1", "127.0.0.11"], 0);
  await field.clock.advance(60_000);
  assert.equal(field.started.length, 1);
  await field.end("::1", { failure: "timeout" });
  assert.equal(field.started.length, 2);
  await field.end("127.0.0.11", { conn: "b" });
  assert.deepEqual(await result, { won: "b", address: "127.0.0.11" });
});

Deno.test("families alternate, beginning with the first, and no address comes twice", () => {
  assert.deepEqual(interleaved(["::1", "::2", "::3", "127.0.0.1", "127.0.0.2"]), [
    "::1",
    "127.0.0.1",
    "::2",
    "127.0.0.2",
    "::3",
  ]);
  assert.deepEqual(interleaved(["127.0.0.1", "127.0.0.1", "::1"]), ["127.0.0.1", "::1"]);
  assert.deepEqual(interleaved(["127.0.0.1"]), ["127.0.0.1"]);
  assert.deepEqual(interleaved([]), []);
});
