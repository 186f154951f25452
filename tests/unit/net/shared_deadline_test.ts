import assert from "node:assert/strict";
import { Deadlines } from "../../../src/net/deadline.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("attempts that begin together share one timer, and the last one that ends frees it", async () => {
  const deadlines = new Deadlines();
  const [first, second] = [deadlines.begin(5000), deadlines.begin(5000)];
  await pause(200);
  for (const each of [first, second]) each.end();
  deadlines.begin(5000);
  deadlines.close();
  // The leak checks of the runner see that no timer of a group is left once its attempts have ended.
  const rest = [deadlines.begin(1)];
  await pause(300);
  rest[0]!.end();
});

Deno.test("a shared deadline strikes every attempt that is still under way, never early", async () => {
  const deadlines = new Deadlines();
  const began = performance.now();
  const late = deadlines.begin(200);
  await pause(20);
  const last = deadlines.begin(200);
  await new Promise((resolve) => late.signal.addEventListener("abort", resolve));
  assert.ok(performance.now() - began >= 219);
  assert.deepEqual([late.struck, last.struck], ["timeout", "timeout"]);
  late.end();
  last.end();
});

Deno.test("one attempt is given up and the others of its group go on", async () => {
  const deadlines = new Deadlines();
  const [given, other] = [deadlines.begin(50), deadlines.begin(50)];
  given.cancel();
  assert.deepEqual([given.struck, other.struck], ["cancelled", undefined]);
  assert.deepEqual([given.signal.aborted, other.signal.aborted], [true, false]);
  given.end();
  await new Promise((resolve) => other.signal.addEventListener("abort", resolve));
  assert.deepEqual([given.struck, other.struck], ["cancelled", "timeout"]);
  other.end();
  deadlines.close();
});
