import assert from "node:assert/strict";
import { Deadlines } from "../../../src/net/deadline.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("attempts that begin together share one deadline, later ones have another", async () => {
  const deadlines = new Deadlines();
  const [first, second] = [deadlines.begin(5000), deadlines.begin(5000)];
  assert.equal(first.signal, second.signal);
  await pause(200);
  assert.notEqual(deadlines.begin(5000).signal, first.signal);
  for (const each of [first, second]) each.end();
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
  assert.equal(late.signal, last.signal);
  await new Promise((resolve) => late.signal.addEventListener("abort", resolve));
  assert.ok(performance.now() - began >= 219);
  assert.deepEqual([late.struck, last.struck], ["timeout", "timeout"]);
  late.end();
  last.end();
});
