// Who has which slot: nobody gets a slot that somebody else could still mean.

import assert from "node:assert/strict";
import { Board } from "../../../src/core/board.ts";
import { REST_MS, Slots } from "../../../src/control/slots.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { endpoint } from "../../support/plans.ts";

const [A, B, C] = ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"] as const;

class World {
  readonly clock = new FakeClock();
  readonly board = new Board();
  readonly reused: number[] = [];
  readonly slots = new Slots(this.board, { clock: this.clock, onReuse: (slot) => this.reused.push(slot) });

  /** The slots of a plan with these endpoints in upstream "up". */
  assign(keys: readonly string[], source: "static" | "discovered" = "static"): number[] {
    const endpoints = keys.map((key) => endpoint(key, 0, { source }));
    const slotOf = this.slots.assign([{ name: "up", endpoints }]);
    return keys.map((key) => slotOf("up", key));
  }
}

Deno.test("endpoints that stay keep their slots, whatever their order", () => {
  const world = new World();
  assert.deepEqual(world.assign([A, B]), [0, 1]);
  assert.deepEqual(world.assign([B, C, A]), [1, 2, 0]);
  assert.deepEqual([world.slots.count, world.reused], [3, []]);
  assert.ok(world.board.size >= 3);
});

Deno.test("the same address in two upstreams has two slots", () => {
  const { slots } = new World();
  const endpoints = [endpoint(A, 0)];
  const slotOf = slots.assign([{ name: "one", endpoints }, { name: "two", endpoints }]);
  assert.notEqual(slotOf("one", A), slotOf("two", A));
});

Deno.test("a slot rests before another endpoint gets it, and longer while sessions are on it", async () => {
  const world = new World();
  world.assign([A, B]);
  world.board.cells(0).enter(Infinity);
  world.assign([]);
  assert.deepEqual(world.assign([C]), [2], "too early");
  await world.clock.advance(REST_MS + 1);
  assert.deepEqual(world.assign([C, A]), [2, 1], "a static endpoint that was put back starts anew");
  assert.deepEqual(world.reused, [1]);
  world.board.cells(0).leave();
  assert.deepEqual(world.assign([C, A, B]), [2, 1, 0]);
  assert.equal(world.slots.count, 3);
});

Deno.test("a discovered endpoint that returns in time gets its slot back, later a fresh one", async () => {
  for (const [awayMs, slot, reused] of [[REST_MS, 0, []], [REST_MS + 1, 0, [0]]] as const) {
    const world = new World();
    world.assign([A], "discovered");
    world.assign([], "discovered");
    await world.clock.advance(awayMs);
    assert.deepEqual(world.assign([A], "discovered"), [slot]);
    assert.deepEqual(world.reused, reused);
  }
});

Deno.test("an endpoint that comes and goes again and again hides none of its resting slots", async () => {
  const world = new World();
  for (let round = 0; round < 5; round++) {
    assert.deepEqual(world.assign([A]), [round]);
    world.assign([]);
  }
  await world.clock.advance(REST_MS + 1);
  assert.deepEqual(new Set(world.assign([A, B, C, "10.0.0.4:80", "10.0.0.5:80"])), new Set([0, 1, 2, 3, 4]));
  assert.equal(world.slots.count, 5);
});
