import assert from "node:assert/strict";
import { lastResort } from "../../../src/control/last_resort.ts";

function rejection(reason: unknown): Event {
  const promise = Promise.resolve();
  return new PromiseRejectionEvent("unhandledrejection", { promise, reason, cancelable: true });
}

Deno.test("what nobody caught is told and ends nothing, until it is disposed of", () => {
  const scope = new EventTarget();
  const told: unknown[] = [];
  const [one, two] = [new Error("one"), new Error("two")];
  {
    using _resort = lastResort((fault) => told.push(fault), scope);
    const events = [rejection(one), new ErrorEvent("error", { error: two, cancelable: true })];
    for (const event of events) assert.equal(scope.dispatchEvent(event), false, "it is handled");
  }
  assert.deepEqual(told, [one, two]);
  assert.equal(scope.dispatchEvent(rejection(one)), true);
  assert.equal(told.length, 2);
});
