import assert from "node:assert/strict";
import { TaskGroup } from "../../../src/control/task_group.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";

function setup() {
  const faults: unknown[] = [];
  return { faults, clock: new FakeClock(), group: new TaskGroup((fault) => faults.push(fault)) };
}

Deno.test("abort ends all tasks and join waits for the last", async () => {
  const { faults, clock, group } = setup();
  let ended = 0;
  for (let task = 0; task < 3; task++) {
    group.spawn(async (signal) => {
      await clock.sleep(1000, signal).catch(() => undefined);
      ended++;
    });
  }
  assert.equal(group.size, 3);
  group.abort();
  await group.join();
  assert.equal(ended, 3);
  assert.equal(group.size, 0);
  assert.deepEqual(faults, []);
});

Deno.test("a task that ends by the signal's reason is no fault", async () => {
  const { faults, clock, group } = setup();
  group.spawn((signal) => clock.sleep(1000, signal));
  group.abort();
  await group.join();
  assert.deepEqual(faults, []);
  assert.equal(clock.sleeping, 0);
});

Deno.test("a task that throws is told once and ends alone", async () => {
  const { faults, clock, group } = setup();
  const fault = new Error("boom");
  group.spawn(() => Promise.reject(fault));
  group.spawn(() => {
    throw fault;
  });
  group.spawn((signal) => clock.sleep(1000, signal));
  await settled();
  assert.deepEqual(faults, [fault, fault]);
  assert.equal(group.size, 1);
  await clock.advance(1000);
  await group.join();
});

Deno.test("a fault on the way out is told, too", async () => {
  const { faults, clock, group } = setup();
  group.spawn(async (signal) => {
    await clock.sleep(1000, signal).catch(() => undefined);
    throw new Error("while ending");
  });
  group.abort();
  await group.join();
  assert.equal(faults.length, 1);
});

Deno.test("after abort nothing is started", async () => {
  const { group } = setup();
  group.abort();
  group.abort();
  group.spawn(() => Promise.reject(new Error("started")));
  assert.equal(group.size, 0);
  await group.join();
});

Deno.test("join waits for tasks that tasks have spawned meanwhile", async () => {
  const { group, clock } = setup();
  let ended = false;
  group.spawn(async () => {
    await clock.sleep(10);
    group.spawn(async () => {
      await clock.sleep(10);
      ended = true;
    });
  });
  const joined = group.join();
  await clock.advance(20);
  await joined;
  assert.ok(ended);
});
