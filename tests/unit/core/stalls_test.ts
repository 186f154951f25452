import assert from "node:assert/strict";
import { excusesTimeout, Stalls } from "../../../src/core/stalls.ts";

Deno.test("beats in time, and beats that are a little late, are no stall", () => {
  const stalls = new Stalls(0, 100);
  for (let now = 100; now <= 10_000; now += 150) stalls.beat(now);
  assert.equal(stalls.longest(0, 10_100), 0);
});

Deno.test("a stall counts for what was under way in it, and not for what began later", () => {
  const stalls = new Stalls(0, 100);
  stalls.beat(100);
  stalls.beat(5200);
  assert.equal(stalls.longest(50, 5200), 5000);
  assert.equal(stalls.longest(5199, 5200), 5000);
  assert.equal(stalls.longest(5200, 5200), 0);
});

Deno.test("a stall counts while it lasts", () => {
  const stalls = new Stalls(0, 100);
  assert.equal(stalls.longest(0, 100), 0);
  assert.equal(stalls.longest(0, 1100), 1000);
});

Deno.test("the longest of several counts, and the last ones are kept", () => {
  const stalls = new Stalls(0, 100);
  for (const now of [100, 1000, 1100, 1600]) stalls.beat(now);
  assert.equal(stalls.longest(0, 1600), 800);
  assert.equal(stalls.longest(1500, 1600), 400);
  for (let now = 2000; now < 100_000; now += 400) stalls.beat(now);
  assert.equal(stalls.longest(0, 100_000), 300);
});

Deno.test("a timeout is excused by a stall of more than a quarter of it", () => {
  assert.equal(excusesTimeout(250, 1000), false);
  assert.equal(excusesTimeout(251, 1000), true);
});
