import assert from "node:assert/strict";
import { backoffMs, nextBelow, spreadMs } from "../../../src/core/backoff.ts";

Deno.test("the wait doubles with each failure, up to the longest", () => {
  const range = { firstMs: 1000, maxMs: 30_000 };
  assert.deepEqual([1, 2, 3, 5, 6, 7, 1000, 1e9].map((failures) => backoffMs(failures, range)), [
    1000,
    2000,
    4000,
    16_000,
    30_000,
    30_000,
    30_000,
    30_000,
  ]);
});

Deno.test("a longest wait below the first one wins", () => {
  assert.equal(backoffMs(1, { firstMs: 1000, maxMs: 500 }), 500);
});

Deno.test("a spread wait lies in the later half", () => {
  assert.equal(spreadMs(1000, () => 0), 500);
  assert.equal(spreadMs(1000, () => 0.5), 750);
  assert.ok(spreadMs(1000, () => 1 - 2 ** -53) <= 1000);
});

Deno.test("nextBelow stays below its bound and reaches each number about equally often", () => {
  assert.equal(nextBelow(500, () => 0), 0);
  assert.equal(nextBelow(500, () => 1 - 2 ** -53), 499);
  const counts = [0, 0, 0, 0, 0];
  for (let step = 0; step < 5000; step++) counts[nextBelow(5, () => step / 5000)]!++;
  assert.deepEqual(counts, [1000, 1000, 1000, 1000, 1000]);
});

Deno.test("below a bound of 0 there is only 0", () => {
  assert.equal(nextBelow(0, () => 0.9), 0);
  assert.equal(nextBelow(1, () => 0.9), 0);
});
