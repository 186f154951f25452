// Deadlines on the wheel.

import assert from "node:assert/strict";
import { TimerWheel } from "../../../src/core/wheel.ts";
import { Watch } from "../../../src/http/watch.ts";
import { FakeClock } from "../../support/fake_clock.ts";

async function setUp() {
  const clock = new FakeClock();
  const wheel = new TimerWheel(clock.now());
  const due: number[] = [];
  const watch = new Watch(wheel, clock, () => due.push(clock.now()));
  const run = async (ms: number) => {
    for (let at = 0; at < ms; at += 100) {
      await clock.advance(100);
      wheel.advance(clock.now());
    }
  };
  await run(0);
  return { clock, wheel, watch, due, run };
}

Deno.test("a deadline passes once, soon after its time", async () => {
  const { watch, due, run } = await setUp();
  watch.set(1000);
  await run(900);
  assert.deepEqual(due, []);
  await run(400);
  assert.equal(due.length, 1);
  assert.ok(due[0]! >= 1000 && due[0]! <= 1100, `at ${due[0]}`);
  await run(20000);
  assert.equal(due.length, 1);
});

Deno.test("a deadline can move later and earlier", async () => {
  const { watch, due, run } = await setUp();
  watch.set(60000);
  await run(2000);
  watch.set(1000);
  await run(900);
  watch.set(1000);
  await run(900);
  assert.deepEqual(due, []);
  await run(400);
  assert.equal(due.length, 1);
  watch.set(20000);
  await run(19900);
  assert.equal(due.length, 1);
  await run(500);
  assert.equal(due.length, 2);
});

Deno.test("a stopped watch says nothing", async () => {
  const { watch, due, run } = await setUp();
  watch.set(500);
  watch.stop();
  await run(2000);
  assert.deepEqual(due, []);
});

Deno.test("what came while we were stalled gets a moment to count", async () => {
  const { clock, wheel, watch, due } = await setUp();
  watch.set(1000);
  await clock.advance(5000);
  wheel.advance(clock.now());
  assert.deepEqual(due, [], "the first look after a stall only warns");
  watch.set(1000);
  await clock.advance(500);
  wheel.advance(clock.now());
  assert.deepEqual(due, []);
  watch.stop();
});
