import assert from "node:assert/strict";
import { mostHandshakes, Permits } from "../../../src/core/permits.ts";

Deno.test("permits are one number over all workers, and each worker's own", () => {
  const memory = Permits.allocate();
  const [main, one, two] = [new Permits(memory, 0), new Permits(memory, 3), new Permits(memory, 1023)];
  assert.deepEqual([one.take(3), two.take(3), two.take(3), one.take(3)], [true, true, true, false]);
  assert.deepEqual([main.taken, main.held(3), main.held(1023)], [3, 1, 2]);
  one.give();
  assert.deepEqual([main.taken, main.held(3)], [2, 0]);
  assert.ok(one.take(3));
});

Deno.test("what a dead worker held comes back once", () => {
  const memory = Permits.allocate();
  const [main, one, two] = [new Permits(memory, 0), new Permits(memory, 1), new Permits(memory, 2)];
  for (let count = 0; count < 5; count++) one.take(10);
  two.take(10);
  main.reclaim(1);
  main.reclaim(1);
  assert.deepEqual([main.taken, main.held(1), main.held(2)], [1, 0, 1]);
});

Deno.test("what a thread gives back after main has is not given back twice", () => {
  const memory = Permits.allocate();
  const [main, one, two] = [new Permits(memory, 0), new Permits(memory, 1), new Permits(memory, 2)];
  one.take(10);
  one.take(10);
  two.take(10);
  main.reclaim(1);
  one.give();
  one.give();
  assert.deepEqual([main.taken, main.held(1), main.held(2)], [1, 0, 1]);
});

Deno.test("handshakes get half of the places, one at least", () => {
  assert.deepEqual([1, 2, 3, 50, 51].map(mostHandshakes), [1, 1, 1, 25, 25]);
});
