// Rate and latency of the last minutes.

import assert from "node:assert/strict";
import fc from "fast-check";
import { Recent, SAMPLE_MS } from "../../../src/admin/recent.ts";

Deno.test("nothing seen: rate 0, no curve, no quantiles", () => {
  const recent = new Recent();
  assert.equal(recent.ratePerS, 0);
  assert.deepEqual(recent.rates, []);
  assert.deepEqual(recent.quantiles(0), { p50Ms: undefined, p99Ms: undefined });
});

Deno.test("the first sample only sets the mark, however large the total", () => {
  const recent = new Recent();
  recent.sample(1_000_000, 0);
  assert.equal(recent.ratePerS, 0);
  recent.sample(1_000_020, SAMPLE_MS);
  recent.sample(1_000_040, 2 * SAMPLE_MS);
  recent.sample(1_000_060, 3 * SAMPLE_MS);
  assert.equal(recent.ratePerS, 10);
});

Deno.test("a late sample counts by the time that has passed", () => {
  const recent = new Recent();
  recent.sample(0, 0);
  recent.sample(100, 10_000);
  assert.deepEqual(recent.rates.at(-1), 10);
});

Deno.test("the curve has the last thirty samples, oldest first", () => {
  const recent = new Recent();
  let total = 0;
  for (let step = 0; step <= 40; step++) recent.sample(total += step * 2, step * SAMPLE_MS);
  assert.deepEqual(recent.rates, Array.from({ length: 30 }, (_, at) => at + 11));
});

Deno.test("a total that went back (a slot given to another) is no negative rate", () => {
  const recent = new Recent();
  recent.sample(100, 0);
  recent.sample(10, SAMPLE_MS);
  assert.equal(recent.ratePerS, 0);
});

Deno.test("a quantile is within 10 % of the true one", () => {
  fc.assert(fc.property(fc.double({ min: 0.1, max: 60_000, noNaN: true }), (ms) => {
    const recent = new Recent();
    recent.note(ms, 100, 0);
    const { p50Ms, p99Ms } = recent.quantiles(0);
    return Math.abs(p50Ms! / ms - 1) < 0.1 && p50Ms === p99Ms;
  }));
});

Deno.test("p50 and p99 lie where the weights say", () => {
  const recent = new Recent();
  recent.note(5, 980, 0);
  recent.note(500, 20, 0);
  const { p50Ms, p99Ms } = recent.quantiles(0);
  assert.ok(Math.abs(p50Ms! - 5) < 0.6, `p50 ${p50Ms}`);
  assert.ok(Math.abs(p99Ms! - 500) < 60, `p99 ${p99Ms}`);
});

Deno.test("old latencies fade: after ten minutes of silence nothing is said", () => {
  const recent = new Recent();
  recent.note(5, 100, 0);
  assert.ok(recent.quantiles(60_000).p50Ms !== undefined);
  assert.equal(recent.quantiles(600_000).p50Ms, undefined);
});

Deno.test("new latencies outweigh old ones after some half-lives", () => {
  const recent = new Recent();
  recent.note(500, 100, 0);
  recent.note(5, 100, 120_000);
  assert.ok(recent.quantiles(120_000).p50Ms! < 6);
});

Deno.test("odd durations land in the outer buckets", () => {
  for (const ms of [0, -1, NaN, Infinity, 1e12]) {
    const recent = new Recent();
    recent.note(ms, 1, 0);
    assert.ok(Number.isFinite(recent.quantiles(0).p50Ms), String(ms));
  }
});
