import assert from "node:assert/strict";
import type { Outcome } from "../../../src/core/outcome.ts";
import type { Run } from "../../../src/core/report.ts";
import { Reporter } from "../../../src/data/reporter.ts";

function reporter() {
  const batches: string[][] = [];
  const it = new Reporter((runs: readonly Run[]) => {
    batches.push(runs.map((run) => `${run.slot}@${run.epoch} ${run.outcome}×${run.count} ${run.durationMs}`));
  });
  const report = (slot: number, outcome: Outcome, epoch = 1, durationMs = 1) =>
    it.report({ slot, epoch, outcome, durationMs, detail: "" });
  return { it, report, batches };
}

Deno.test("successes gather until the tick, as runs in order", () => {
  const { it, report, batches } = reporter();
  report(0, "answered", 1, 5);
  report(1, "connected");
  report(0, "answered", 1, 7);
  report(0, "answered", 2);
  assert.deepEqual(batches, []);
  it.flush();
  it.flush();
  assert.deepEqual(batches, [["0@1 answered×2 7", "1@1 connected×1 1", "0@2 answered×1 1"]]);
});

Deno.test("a failure leaves within the turn and takes along what has gathered, in order", async () => {
  const { report, batches } = reporter();
  report(0, "answered");
  report(0, "refused");
  report(0, "refused");
  report(0, "answered");
  assert.deepEqual(batches, []);
  await Promise.resolve();
  assert.deepEqual(batches, [["0@1 answered×1 1", "0@1 refused×2 1", "0@1 answered×1 1"]]);
  report(0, "refused");
  await Promise.resolve();
  assert.deepEqual(batches[1], ["0@1 refused×1 1"]);
});
