import assert from "node:assert/strict";
import { addToWindow, EMPTY_WINDOW, sumOfWindow, type Window } from "../../../src/core/health_window.ts";

const windowMs = 2000;
const add = (window: Window, now: number, successes: number, failures: number) =>
  addToWindow(window, { successes, failures }, { now, windowMs });

Deno.test("a run costs one bucket, however long it is", () => {
  assert.equal(add(EMPTY_WINDOW, 0, 1_000_000, 0).length, 1);
});

Deno.test("outcomes within a twentieth of the window share a bucket", () => {
  let window = add(EMPTY_WINDOW, 0, 1, 0);
  window = add(window, 99, 0, 2);
  assert.deepEqual(window, [{ from: 0, successes: 1, failures: 2 }]);
  window = add(window, 100, 1, 0);
  assert.equal(window.length, 2);
});

Deno.test("the number of buckets stays small under steady traffic", () => {
  let window = EMPTY_WINDOW;
  for (let now = 0; now < 20_000; now++) window = add(window, now, 1, 0);
  assert.ok(window.length <= 21, `${window.length} buckets`);
  const { volume } = sumOfWindow(window, 20_000, windowMs);
  assert.ok(volume >= 1900 && volume <= 2000, `${volume} outcomes`);
});

Deno.test("adding does not change the old value", () => {
  const before = add(EMPTY_WINDOW, 0, 1, 0);
  add(before, 10, 5, 5);
  assert.deepEqual(before, [{ from: 0, successes: 1, failures: 0 }]);
});

Deno.test("old buckets are neither counted nor kept", () => {
  const window = add(EMPTY_WINDOW, 0, 3, 4);
  assert.deepEqual(sumOfWindow(window, 2000, windowMs), { volume: 7, failures: 4 });
  assert.deepEqual(sumOfWindow(window, 2001, windowMs), { volume: 0, failures: 0 });
  assert.equal(add(window, 2001, 1, 0).length, 1);
});
