import assert from "node:assert/strict";
import { BOUNDS_MS, BUCKET_COUNT, bucketOf, quantile } from "../../../src/core/histogram.ts";

Deno.test("a duration falls into the first bucket whose bound is not below it", () => {
  for (const duration of [0, 0.5, 0.6, 1, 99, 100, 100.1, 60_000, 60_001, 1e9]) {
    const expected = BOUNDS_MS.findIndex((bound) => bound >= duration);
    assert.equal(bucketOf(duration), expected < 0 ? BUCKET_COUNT - 1 : expected, `${duration}`);
  }
});

Deno.test("percentiles are read within their bucket", () => {
  const counts = new Array<number>(BUCKET_COUNT).fill(0);
  assert.equal(quantile(counts, 0.5), undefined);
  counts[bucketOf(80)] = 100;
  assert.equal(quantile(counts, 0.5), 87.5);
  counts[bucketOf(0.2)] = 300;
  assert.ok(quantile(counts, 0.5)! < 0.5);
  assert.ok(quantile(counts, 0.99)! > 95);
});

Deno.test("what lies above all bounds counts as the last bound", () => {
  const counts = new Array<number>(BUCKET_COUNT).fill(0);
  counts[BUCKET_COUNT - 1] = 5;
  assert.equal(quantile(counts, 0.5), 60_000);
});
