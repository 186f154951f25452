// The gatherer over time: samples, stalls of the main thread, faults. What it shows is tested with the view.

import assert from "node:assert/strict";
import { SAMPLE_MS } from "../../../src/admin/recent.ts";
import type { HaleEvent } from "../../../src/core/event.ts";
import { StateGatherer } from "../../../src/control/state_gatherer.ts";
import { Supervisor } from "../../../src/control/supervisor.ts";
import { ScriptedWorkers } from "../../support/scripted_workers.ts";
import { StallingClock } from "../../support/stalling_clock.ts";
import { configOf } from "../../support/inline_hale.ts";

const CONFIG = `
listeners: [{ name: in, address: "127.0.0.1:80", protocol: tcp, upstream: up }]
upstreams: [{ name: up, protocol: tcp, endpoints: ["10.0.0.1:80"], health: {}, active_health: { kind: tcp } }]
`;

async function world() {
  const clock = new StallingClock();
  const events: HaleEvent[] = [];
  const emit = (event: HaleEvent) => void events.push(event);
  const supervisor = new Supervisor({
    clock,
    random: () => 0,
    emit,
    spawn: new ScriptedWorkers().spawn,
    probeBind: ({ port }) => ({ port }),
    cores: 1,
    reusePort: true,
    fatal: assert.fail,
  });
  assert.deepEqual(await supervisor.apply(configOf(CONFIG), { hash: "h", trigger: "start" }), []);
  const reloads = { hash: "h", accepted: 1, refused: 0, unchanged: 0 };
  const gatherer = new StateGatherer(supervisor, {
    clock,
    emit,
    version: "0",
    reloads: () => reloads,
    phase: () => "running",
  });
  const stop = new AbortController();
  const running = gatherer.run(stop.signal).catch((error) => assert.equal(error, stop.signal.reason));
  events.length = 0;
  return {
    clock,
    events,
    supervisor,
    gatherer,
    async end() {
      stop.abort();
      await running;
      await supervisor.terminate();
      assert.equal(clock.sleeping, 0);
    },
  };
}

Deno.test("a stall of the main thread is told, and shows as its lag", async () => {
  const it = await world();
  await it.clock.advance(SAMPLE_MS - 500);
  it.clock.stall(3000);
  await it.clock.advance(500);
  assert.deepEqual(it.events, [{ kind: "stalled", thread: "main", lagMs: 3000 }]);
  assert.equal(it.gatherer.state().mainLoopLagMs, 3000);
  await it.end();
});

Deno.test("a fault costs one sample", async () => {
  const it = await world();
  const { workers } = it.supervisor;
  const { stats } = workers;
  workers.stats = () => Promise.reject(new Error("No stats"));
  await it.clock.advance(SAMPLE_MS);
  assert.deepEqual(it.events, [{ kind: "loop_error", thread: "main", message: "Error: No stats" }]);
  workers.stats = stats;
  await it.clock.advance(SAMPLE_MS);
  assert.equal(it.events.length, 1);
  assert.notEqual(it.gatherer.state().endpoints.get(0)!.recent, undefined);
  await it.end();
});

Deno.test("what is probed and what is not any more shows", async () => {
  const it = await world();
  assert.equal(it.gatherer.state().endpoints.get(0)!.isProbeStopped, false);
  Object.defineProperty(it.supervisor.probes, "stopped", {
    value: [{ upstream: "up", endpoint: "10.0.0.1:80" }],
  });
  assert.equal(it.gatherer.state().endpoints.get(0)!.isProbeStopped, true);
  await it.end();
});
