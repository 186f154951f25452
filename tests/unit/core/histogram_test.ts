import assert from "node:assert/strict";
import { BUCKET_BOUNDS_MS, BUCKET_COUNT, bucketOf } from "../../../src/core/histogram.ts";

Deno.test("a duration falls into the first bucket whose bound is not below it", () => {
  for (const duration of [0, 0.5, 0.6, 1, 99, 100, 100.1, 60_000, 60_001, 1e9]) {
    const expected = BUCKET_BOUNDS_MS.findIndex((bound) => bound >= duration);
    assert.equal(bucketOf(duration), expected < 0 ? BUCKET_COUNT - 1 : expected, `${duration}`);
  }
});

Deno.test("bounds ascend, and what is no duration still has a bucket", () => {
  assert.deepEqual(BUCKET_BOUNDS_MS, BUCKET_BOUNDS_MS.toSorted((a, b) => a - b));
  assert.equal(bucketOf(-1), 0);
  assert.equal(bucketOf(NaN), BUCKET_COUNT - 1);
});
