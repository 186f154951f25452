import assert from "node:assert/strict";
import { Board, GATE, reasonsOf, SEGMENT_SLOTS, TALLY, Tally } from "../../../src/core/board.ts";

function cells() {
  const board = new Board();
  board.grow(1);
  return board.cells(0);
}

/** Does something else between any two writes of `write` to shared memory, as another thread can. */
function between(write: () => void, other: () => void): void {
  const { store } = Atomics;
  Atomics.store = ((...args: Parameters<typeof store>) => {
    const result = store(...args);
    other();
    return result;
  }) as typeof store;
  try {
    write();
  } finally {
    Atomics.store = store;
  }
}

Deno.test("who reads epoch and gate in that order never meets an old gate under the new epoch", () => {
  const steps: [from: number, to: number][] = [
    [0, GATE.ejected],
    [GATE.ejected, GATE.half_open],
    [GATE.half_open, GATE.ejected],
    [GATE.half_open, 0],
  ];
  for (const [from, to] of steps) {
    const seen = cells();
    seen.publish(from, 5);
    let looks = 0;
    between(() => seen.publish(to, 6), () => {
      const { epoch, gate } = seen;
      assert.ok(epoch === 5 || gate === to, `epoch ${epoch} with ${reasonsOf(gate)}`);
      looks++;
    });
    assert.equal(looks, 3);
    assert.deepEqual([seen.epoch, seen.gate], [6, to]);
  }
});

Deno.test("a new epoch has all its trial permits, and those of earlier ones mean nothing to it", () => {
  const seen = cells();
  seen.publish(GATE.half_open, 1);
  assert.deepEqual([seen.takeTrial(1, 2), seen.takeTrial(1, 2), seen.takeTrial(1, 2)], [true, true, false]);
  seen.publish(GATE.half_open, 2);
  assert.deepEqual([seen.trials, seen.takeTrial(1, 2), seen.takeTrial(2, 2)], [0, false, true]);
  seen.giveTrialBack(1);
  assert.equal(seen.trials, 1);
  seen.giveTrialBack(2);
  seen.giveTrialBack(2);
  assert.equal(seen.trials, 0);
});

Deno.test("an epoch as large as epochs get still dates its permits", () => {
  const seen = cells();
  for (const epoch of [2 ** 23 - 1, 2 ** 23, 2 ** 31 - 1]) {
    seen.publish(GATE.half_open, epoch);
    assert.deepEqual([seen.epoch, seen.takeTrial(epoch, 1), seen.takeTrial(epoch, 1)], [epoch, true, false]);
  }
});

Deno.test("a verdict leaves alone what is in flight", () => {
  const seen = cells();
  assert.deepEqual([seen.enter(2), seen.enter(2), seen.enter(2)], [true, true, false]);
  seen.publish(GATE.removed, 3);
  seen.publish(0, 4);
  assert.equal(seen.inFlight, 2);
  seen.leave(2);
  assert.equal(seen.inFlight, 0);
});

Deno.test("memory grows without moving: other threads see the same numbers", () => {
  const board = new Board();
  board.grow(1);
  const other = new Board(board.memory);
  board.cells(0).publish(GATE.drained, 1);
  assert.equal(other.cells(0).gate, GATE.drained);
  board.grow(SEGMENT_SLOTS + 1);
  assert.throws(() => other.cells(SEGMENT_SLOTS), RangeError);
  other.attach(board.memory);
  other.cells(SEGMENT_SLOTS).enter(Infinity);
  assert.deepEqual([board.cells(SEGMENT_SLOTS).inFlight, board.size], [1, 2 * SEGMENT_SLOTS]);
  const tally = new Tally();
  tally.grow(SEGMENT_SLOTS + 1);
  new Tally(tally.memory).row(SEGMENT_SLOTS)[TALLY.picks]! += 3;
  assert.deepEqual([...tally.row(SEGMENT_SLOTS)], [0, 3, 0, 0]);
  assert.throws(() => tally.row(2 * SEGMENT_SLOTS), RangeError);
});
