import assert from "node:assert/strict";
import { StallWatch } from "../../../src/control/stall_watch.ts";
import { TaskGroup } from "../../../src/control/task_group.ts";
import { StallingClock } from "../../support/stalling_clock.ts";

async function watched(run: (clock: StallingClock, watch: StallWatch) => Promise<void>): Promise<void> {
  const clock = new StallingClock();
  const watch = new StallWatch(clock);
  const tasks = new TaskGroup((fault) => assert.fail(String(fault)));
  tasks.spawn((signal) => watch.run(signal));
  await run(clock, watch);
  tasks.abort();
  await tasks.join();
}

Deno.test("steady time has no stall", () =>
  watched(async (clock, watch) => {
    await clock.advance(10_000);
    assert.equal(watch.longestSince(0), 0);
  }));

Deno.test("a stall counts while it lasts, before any timer has fired", () =>
  watched(async (clock, watch) => {
    await clock.advance(1000);
    clock.stall(700);
    assert.ok(watch.longestSince(1000) >= 600);
  }));

Deno.test("a stall counts for what was under way in it, and not for what began later", () =>
  watched(async (clock, watch) => {
    await clock.advance(1000);
    clock.stall(700);
    await clock.advance(300);
    assert.ok(watch.longestSince(1500) >= 600);
    const later = clock.now();
    await clock.advance(1000);
    assert.equal(watch.longestSince(later), 0);
  }));

Deno.test("many stalls are kept within bounds, the last ones", () =>
  watched(async (clock, watch) => {
    for (let stall = 0; stall < 100; stall++) {
      clock.stall(500);
      await clock.advance(200);
    }
    assert.ok(watch.longestSince(clock.now() - 300) >= 400);
  }));
