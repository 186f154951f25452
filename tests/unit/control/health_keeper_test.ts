// What the keeper adds to the rules: the board, events, plans that change, permits, operator states.

import assert from "node:assert/strict";
import { activeParams, endpoint, healthParams, upstream } from "../../support/plans.ts";
import { settled } from "../../support/fake_clock.ts";
import { StallingClock } from "../../support/stalling_clock.ts";
import { HealthWorld } from "../../support/health_world.ts";

const A = "10.0.0.1:80";
const B = "10.0.0.2:80";
const C = "10.0.0.3:80";

const found = (key: string, slot: number) => endpoint(key, slot, { source: "discovered" });

function app(keys: readonly string[] = [A, B], changes: Parameters<typeof healthParams>[0] = {}) {
  return upstream("app", keys, { health: healthParams(changes) });
}

Deno.test("a streak of failures shuts the gate with a new epoch and one event with its evidence", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 4, detail: "ECONNREFUSED" });
  assert.deepEqual(world.reasons(0), []);
  world.traffic(0, "refused", { count: 3, detail: "ECONNREFUSED" });
  assert.deepEqual(world.reasons(0), ["ejected"]);
  assert.equal(world.board.cells(0).epoch, 2);
  assert.deepEqual(world.reasons(1), []);
  assert.deepEqual(world.texts(), [
    "Ejected app/10.0.0.1:80 for 30 s: 5 connect failures in a row, last: refused (ECONNREFUSED)",
  ]);
});

Deno.test("failures of several kinds are called failures", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 2 });
  world.traffic(0, "status_5xx", { count: 3, detail: "503" });
  assert.deepEqual(world.texts(), [
    "Ejected app/10.0.0.1:80 for 30 s: 5 failures in a row, last: status_5xx (503)",
  ]);
});

Deno.test("only the failures of the streak name it", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 4 });
  world.traffic(0, "answered");
  world.traffic(0, "status_5xx", { count: 5 });
  assert.match(world.texts()[0]!, /: 5 5xx answers in a row/);
});

Deno.test("the gate turns half_open on time without a pick, and opens after a good trial", async () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 5 });
  await world.clock.advance(29_999);
  assert.deepEqual(world.reasons(0), ["ejected"]);
  await world.clock.advance(2);
  assert.deepEqual(world.reasons(0), ["half_open"]);
  assert.equal(world.board.cells(0).epoch, 3);
  world.traffic(0, "connected");
  assert.deepEqual(world.reasons(0), []);
  assert.deepEqual(world.kinds(), ["endpoint_ejected", "endpoint_half_open", "endpoint_restored"]);
  assert.equal(world.clock.sleeping, 0);
});

Deno.test("of many ejections each ends at its own time", async () => {
  using world = new HealthWorld(
    upstream("slow", [endpoint(A, 0)], { health: healthParams({ ejectMs: 9000 }) }),
    upstream("fast", [endpoint(B, 1)], { health: healthParams({ ejectMs: 2000 }) }),
  );
  world.traffic(0, "refused", { count: 5 });
  world.traffic(1, "refused", { count: 5 });
  assert.equal(world.clock.sleeping, 1);
  await world.clock.advance(2001);
  assert.deepEqual([world.reasons(0), world.reasons(1)], [["ejected"], ["half_open"]]);
  await world.clock.advance(7000);
  assert.deepEqual(world.reasons(0), ["half_open"]);
});

Deno.test("recovery by probes sets no timer", async () => {
  using world = new HealthWorld(
    upstream("app", [A], { health: healthParams({ recovery: "probes" }), activeHealth: activeParams() }),
  );
  world.traffic(0, "refused", { count: 5 });
  assert.equal(world.clock.sleeping, 0);
  await world.clock.advance(1e7);
  assert.deepEqual(world.reasons(0), ["ejected"]);
  assert.equal(world.keeper.view(0)!.returnsInMs, undefined);
  world.probe(0, "probe_ok", 1);
  assert.deepEqual(world.reasons(0), ["ejected"]);
  world.probe(0, "probe_ok", 2);
  assert.deepEqual(world.reasons(0), []);
  assert.match(world.texts().at(-2)!, /^Restored app\/10.0.0.1:80 after 2 h 46 min: its probes pass$/);
});

Deno.test("stop ends the timer", async () => {
  const world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 5 });
  world.keeper.stop();
  await settled();
  assert.equal(world.clock.sleeping, 0);
  world.traffic(1, "refused", { count: 5 });
  assert.equal(world.clock.sleeping, 0);
});

Deno.test("evidence of a past epoch counts in totals and changes nothing", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 5 });
  world.traffic(0, "answered", { epoch: 1 });
  world.traffic(0, "refused", { epoch: 1, count: 2 });
  assert.deepEqual(world.reasons(0), ["ejected"]);
  assert.deepEqual(world.keeper.view(0)!.failures, [{ source: "traffic", outcome: "refused", count: 7 }]);
});

Deno.test("evidence for a slot that nobody has is dropped", () => {
  using world = new HealthWorld(app());
  world.keeper.reportRuns([{ slot: 99, epoch: 1, outcome: "refused", count: 9, durationMs: 0, detail: "" }]);
  world.keeper.reportProbe(99, "refused", { epoch: 1, durationMs: 0, detail: "", successes: 0 });
  assert.equal(world.keeper.view(99), undefined);
  assert.equal(world.keeper.setOperator(99, "drain"), false);
});

Deno.test("two upstreams with the same address have two records", () => {
  using world = new HealthWorld(
    upstream("red", [endpoint(A, 0)], { health: healthParams() }),
    upstream("blue", [endpoint(A, 1)], { health: healthParams() }),
  );
  world.traffic(0, "refused", { count: 5 });
  assert.deepEqual([world.reasons(0), world.reasons(1)], [["ejected"], []]);
});

Deno.test("without a health block nothing is ejected, but everything is remembered", () => {
  using world = new HealthWorld(upstream("app", [A]));
  world.traffic(0, "refused", { count: 50 });
  assert.deepEqual(world.reasons(0), []);
  assert.equal(world.keeper.view(0)!.failures[0]!.count, 50);
});

Deno.test("the last 32 pieces of evidence are kept, newest first, equal ones in a row as one", () => {
  using world = new HealthWorld(app([A], { consecutiveFailures: 1000 }));
  for (let piece = 0; piece < 40; piece++) {
    world.traffic(0, piece % 2 === 0 ? "answered" : "status_5xx", { detail: String(piece) });
  }
  world.traffic(0, "answered", { count: 10, detail: "200" });
  world.traffic(0, "answered", { count: 5, detail: "200" });
  const { evidence, last } = world.keeper.view(0)!;
  assert.equal(evidence.length, 32);
  assert.equal(evidence[0], last);
  assert.deepEqual(
    { ...last, at: undefined },
    { at: undefined, source: "traffic", outcome: "answered", count: 15, durationMs: 3, detail: "200" },
  );
  assert.equal(evidence[1]!.detail, "39");
});

Deno.test("evidence carries the wall clock, and a stepped wall clock moves no deadline", async () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 5 });
  const { at } = world.keeper.view(0)!.last!;
  assert.equal(at, world.clock.wallMs());
  world.clock.stepWall(-3_600_000);
  await world.clock.advance(29_000);
  assert.deepEqual(world.reasons(0), ["ejected"]);
  world.clock.stepWall(7_200_000);
  assert.equal(world.keeper.view(0)!.returnsInMs, 1000);
  await world.clock.advance(1001);
  assert.deepEqual(world.reasons(0), ["half_open"]);
});

Deno.test("max_ejected_percent holds after the ejection, tells once, and is judged again at the next failure", () => {
  using world = new HealthWorld(app([A, B, C], { maxEjectedPercent: 50, ejectMs: 1000 }));
  world.traffic(0, "refused", { count: 5 });
  world.kinds();
  for (let failure = 0; failure < 8; failure++) world.traffic(1, "refused");
  assert.deepEqual(world.reasons(1), []);
  assert.deepEqual(world.texts(), [
    "Kept app/10.0.0.2:80 in rotation although it fails: 1 of 3 are out already",
  ]);
  world.traffic(0, "connected");
  assert.deepEqual(world.reasons(0), []);
  assert.deepEqual(world.reasons(1), [], "a failure is needed");
  world.traffic(1, "refused");
  assert.deepEqual(world.reasons(1), ["ejected"]);
});

Deno.test("half_open endpoints count as ejected", async () => {
  using world = new HealthWorld(app([A, B, C], { maxEjectedPercent: 50, ejectMs: 1000 }));
  world.traffic(0, "refused", { count: 5 });
  await world.clock.advance(1001);
  assert.deepEqual(world.reasons(0), ["half_open"]);
  world.traffic(1, "refused", { count: 9 });
  assert.deepEqual(world.reasons(1), []);
});

Deno.test("one of two may be ejected whatever the percentage, and never both", () => {
  using world = new HealthWorld(app([A, B], { maxEjectedPercent: 10 }));
  world.traffic(0, "refused", { count: 5 });
  world.traffic(1, "refused", { count: 50 });
  assert.deepEqual([world.reasons(0), world.reasons(1)], [["ejected"], []]);
});

Deno.test("that all are down is told once, and so is that one is back", async () => {
  using world = new HealthWorld(app([A, B], { ejectMs: 1000 }));
  world.traffic(0, "refused", { count: 5 });
  world.traffic(1, "refused", { count: 5 });
  await world.clock.advance(1001);
  world.traffic(0, "refused");
  await world.clock.advance(1001);
  world.traffic(1, "connected");
  world.traffic(0, "connected");
  const told = world.texts().filter((text) => text.startsWith("Upstream"));
  assert.deepEqual(told, [
    "Upstream app has no usable endpoint (2 ejected): ejected ones are used all the same (fail_open)",
    "Upstream app has a usable endpoint again after 2 s",
  ]);
});

Deno.test("a set that DNS emptied while all were down is not back before it has a usable endpoint", async () => {
  using world = new HealthWorld(upstream("app", [found(A, 0)], { health: healthParams() }));
  world.traffic(0, "refused", { count: 5 });
  world.texts();
  world.adopt(upstream("app", [], { health: healthParams() }));
  await world.clock.advance(70_000);
  assert.deepEqual(world.texts(), []);
  world.adopt(upstream("app", [found(B, 1)], { health: healthParams() }));
  assert.deepEqual(world.texts(), ["Upstream app has a usable endpoint again after 1 min 10 s"]);
});

Deno.test("with fail_closed clients get no endpoint", () => {
  using world = new HealthWorld(app([A], { allDown: "fail_closed" }));
  world.traffic(0, "refused", { count: 5 });
  assert.match(world.texts()[1]!, /\(1 ejected\): clients get no endpoint$/);
});

Deno.test("a traffic success of a fail_open pick restores", () => {
  using world = new HealthWorld(app([A]));
  world.traffic(0, "refused", { count: 5 });
  world.traffic(0, "answered");
  assert.deepEqual(world.reasons(0), []);
});

Deno.test("operator states are reasons of their own: neither clears the other", async () => {
  using world = new HealthWorld(app([A, B], { ejectMs: 1000 }));
  world.traffic(0, "refused", { count: 5 });
  assert.equal(world.keeper.setOperator(0, "drain"), true);
  assert.deepEqual(world.reasons(0), ["ejected", "drained"]);
  world.keeper.setOperator(0, "maintenance");
  assert.deepEqual(world.reasons(0), ["ejected", "maintenance"]);
  await world.clock.advance(1001);
  world.traffic(0, "connected");
  assert.deepEqual(world.reasons(0), ["maintenance"]);
  world.traffic(0, "refused", { count: 5 });
  world.keeper.setOperator(0, "ready");
  assert.deepEqual(world.reasons(0), ["ejected"]);
});

Deno.test("an operator state is told once and changes no epoch", () => {
  using world = new HealthWorld(app());
  world.keeper.setOperator(0, "drain");
  world.keeper.setOperator(0, "drain");
  assert.deepEqual(world.texts(), ["Set app/10.0.0.1:80 to drain"]);
  assert.equal(world.board.cells(0).epoch, 1);
});

Deno.test("when people hold all back, fail_open is no help", () => {
  using world = new HealthWorld(app([A, B]));
  world.keeper.setOperator(0, "drain");
  world.keeper.setOperator(1, "maintenance");
  assert.match(world.texts().at(-1)!, /\(0 ejected, 2 held back by people\): clients get no endpoint$/);
});

Deno.test("mode observe tells everything and shuts nothing", async () => {
  using world = new HealthWorld(app([A], { mode: "observe", ejectMs: 1000 }));
  world.traffic(0, "refused", { count: 5 });
  assert.deepEqual(world.reasons(0), []);
  const view = world.keeper.view(0)!;
  assert.deepEqual([view.ejections, view.wouldEject, view.health], [0, 1, "ejected"]);
  world.traffic(0, "answered", { count: 100 });
  await world.clock.advance(1001);
  assert.deepEqual(world.reasons(0), []);
  world.traffic(0, "answered");
  assert.deepEqual(world.texts(), [
    "Would eject app/10.0.0.1:80 for 1 s: 5 connect failures in a row, last: refused (mode observe: it stays in)",
    "Would try app/10.0.0.1:80 again after 1 s: half_open",
    "Would have restored app/10.0.0.1:80 after 1 s: its trial went well",
  ]);
});

Deno.test("a trial's verdict that changes nothing gives its permit back", async () => {
  using world = new HealthWorld(
    upstream("app", [A, B], {
      health: healthParams({ recovery: "either", ejectMs: 1000 }),
      activeHealth: activeParams(),
    }),
  );
  world.traffic(0, "refused", { count: 5 });
  await world.clock.advance(1001);
  world.adopt(upstream("app", [A, B], {
    health: healthParams({ recovery: "probes", ejectMs: 1000 }),
    activeHealth: activeParams(),
  }));
  const cells = world.board.cells(0);
  assert.ok(cells.takeTrial(cells.epoch, 1));
  world.traffic(0, "answered");
  assert.deepEqual(world.reasons(0), ["half_open"]);
  assert.equal(cells.trials, 0);
  assert.ok(cells.takeTrial(cells.epoch, 1));
  world.traffic(0, "answered", { epoch: cells.epoch - 1 });
  world.probe(0, "probe_ok", 1);
  assert.equal(cells.trials, 1, "neither old evidence nor a probe holds a permit");
});

Deno.test("a change of state brings new permits", async () => {
  using world = new HealthWorld(app([A, B], { ejectMs: 1000 }));
  world.traffic(0, "refused", { count: 5 });
  await world.clock.advance(1001);
  const cells = world.board.cells(0);
  assert.ok(cells.takeTrial(cells.epoch, 1));
  world.traffic(0, "refused");
  await world.clock.advance(1001);
  assert.deepEqual(world.reasons(0), ["half_open"]);
  assert.ok(cells.takeTrial(cells.epoch, 1));
});

Deno.test("probes count by outcome over plans, and either threshold ejects from the shared streak", () => {
  const it = upstream("app", [A, B], { health: healthParams(), activeHealth: activeParams() });
  using world = new HealthWorld(it);
  world.traffic(0, "refused", { count: 2 });
  world.probe(0, "unexpected_status");
  assert.deepEqual(world.reasons(0), ["ejected"]);
  world.probe(1, "probe_ok", 1);
  world.adopt(it);
  world.probe(1, "probe_ok", 2);
  assert.deepEqual(world.keeper.probesOf("app"), { unexpected_status: 1, probe_ok: 2 });
});

Deno.test("separate streaks are named by their own failures", () => {
  const it = upstream("pg", [A, B], {
    protocol: "tcp",
    health: healthParams({ streak: "separate" }),
    activeHealth: activeParams(),
  });
  using world = new HealthWorld(it);
  for (let round = 0; round < 3; round++) {
    world.traffic(0, "connected", { count: 20 });
    world.traffic(0, "refused");
    world.probe(0, "unexpected_status");
  }
  assert.match(world.texts()[0]!, /: 3 unexpected statuses in a row, last: unexpected_status$/);
});

Deno.test("a plan that changes weight and order changes nothing else", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 5 });
  world.traffic(1, "refused", { count: 4 });
  world.kinds();
  const health = healthParams();
  world.adopt(upstream("app", [endpoint(B, 1, { weight: 9 }), endpoint(A, 0, { weight: 3 })], { health }));
  assert.deepEqual(world.reasons(0), ["ejected"]);
  assert.equal(world.board.cells(0).epoch, 2);
  world.traffic(1, "refused");
  assert.deepEqual(world.reasons(1), ["ejected"]);
});

Deno.test("new thresholds act on the old evidence at the next observation", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 4 });
  world.adopt(app([A, B], { consecutiveFailures: 2 }));
  assert.deepEqual(world.reasons(0), []);
  world.traffic(0, "refused");
  assert.deepEqual(world.reasons(0), ["ejected"]);
});

Deno.test("a plan without the health block opens every gate", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 5 });
  world.traffic(1, "refused", { count: 5 });
  world.kinds();
  world.adopt(upstream("app", [A, B]));
  assert.deepEqual([world.reasons(0), world.reasons(1)], [[], []]);
  assert.ok(world.board.cells(0).epoch > 2);
  assert.equal(world.keeper.view(0)!.ejections, 1, "a total never goes down");
  const texts = world.texts();
  assert.ok(
    texts.includes("Restored app/10.0.0.1:80 after 0 ms: its health rules were taken out of the config"),
  );
  assert.ok(texts.some((text) => text.startsWith("Upstream app has a usable endpoint again")));
});

Deno.test("a plan that switches to observe opens the gate and keeps the record, and back", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 5 });
  world.adopt(app([A, B], { mode: "observe" }));
  assert.deepEqual(world.reasons(0), []);
  world.adopt(app());
  assert.deepEqual(world.reasons(0), ["ejected"]);
});

Deno.test("a plan that lets time readmit settles what is due", async () => {
  const probed = upstream("app", [A, B], {
    health: healthParams({ recovery: "probes", ejectMs: 1000 }),
    activeHealth: activeParams(),
  });
  using world = new HealthWorld(probed);
  world.traffic(0, "refused", { count: 5 });
  await world.clock.advance(5000);
  world.traffic(1, "refused", { count: 5 });
  world.adopt(app([A, B], { ejectMs: 1000 }));
  assert.deepEqual([world.reasons(0), world.reasons(1)], [["half_open"], ["ejected"]]);
  await world.clock.advance(1001);
  assert.deepEqual(world.reasons(1), ["half_open"]);
});

Deno.test("operator states survive plans as long as the endpoint stays", () => {
  using world = new HealthWorld(app());
  world.keeper.setOperator(0, "maintenance");
  world.adopt(app([A, B, C], { consecutiveFailures: 9 }));
  assert.deepEqual(world.reasons(0), ["maintenance"]);
});

Deno.test("an endpoint that left is shut once it is released, not before", () => {
  using world = new HealthWorld(app());
  world.keeper.adopt({
    generation: 2,
    revision: 2,
    limits: { maxConnections: 1 },
    access: "off",
    resolver: "stub",
    listeners: [],
    upstreams: [app([A])],
  });
  assert.deepEqual(world.reasons(1), []);
  world.keeper.release();
  assert.deepEqual(world.reasons(1), ["removed"]);
  world.traffic(1, "refused", { count: 50 });
  assert.deepEqual(world.kinds(), []);
});

Deno.test("an endpoint removed from the file and put back starts anew", () => {
  using world = new HealthWorld(app());
  world.traffic(1, "refused", { count: 5 });
  world.keeper.setOperator(1, "drain");
  const { epoch } = world.board.cells(1);
  world.adopt(app([A]));
  world.adopt(app());
  assert.deepEqual(world.reasons(1), []);
  assert.ok(world.board.cells(1).epoch > epoch);
  assert.equal(world.keeper.view(1)!.ejections, 0);
});

Deno.test("a discovered endpoint that returns within 60 s keeps its record, operator state included", async () => {
  const health = healthParams({ ejectMs: 90_000 });
  const both = upstream("app", [found(A, 0), found(B, 1)], { health });
  using world = new HealthWorld(both);
  world.traffic(1, "refused", { count: 5 });
  world.keeper.setOperator(1, "drain");
  world.adopt(upstream("app", [found(A, 0)], { health }));
  assert.deepEqual(world.reasons(1), ["ejected", "drained", "removed"]);
  await world.clock.advance(59_000);
  world.adopt(both);
  assert.deepEqual(world.reasons(1), ["ejected", "drained"]);
  assert.equal(world.keeper.view(1)!.returnsInMs, 31_000);
});

Deno.test("a discovered endpoint that returns later starts anew", async () => {
  const both = upstream("app", [found(A, 0), found(B, 1)], { health: healthParams({ ejectMs: 1e6 }) });
  using world = new HealthWorld(both);
  world.traffic(1, "refused", { count: 5 });
  world.adopt(upstream("app", [found(A, 0)], { health: healthParams({ ejectMs: 1e6 }) }));
  await world.clock.advance(60_001);
  world.adopt(both);
  assert.deepEqual(world.reasons(1), []);
});

Deno.test("a resting endpoint survives plans in between, but not the end of its upstream", async () => {
  const health = healthParams({ ejectMs: 1e6 });
  const both = upstream("app", [found(A, 0), found(B, 1)], { health });
  const one = upstream("app", [found(A, 0)], { health });
  using world = new HealthWorld(both);
  world.traffic(1, "refused", { count: 5 });
  world.adopt(one);
  await world.clock.advance(20_000);
  world.adopt(one);
  await world.clock.advance(20_000);
  world.adopt(both);
  assert.deepEqual(world.reasons(1), ["ejected"]);
  world.adopt(one);
  world.adopt();
  world.adopt(both);
  assert.deepEqual(world.reasons(1), []);
});

Deno.test("an ejection that runs out while its endpoint rests is settled on return", async () => {
  const health = healthParams({ ejectMs: 1000 });
  const both = upstream("app", [found(A, 0), found(B, 1)], { health });
  using world = new HealthWorld(both);
  world.traffic(1, "refused", { count: 5 });
  world.adopt(upstream("app", [found(A, 0)], { health }));
  await world.clock.advance(2000);
  world.adopt(both);
  assert.deepEqual(world.reasons(1), ["half_open"]);
});

Deno.test("a record moves with its endpoint to another slot, under an epoch never used there", () => {
  using world = new HealthWorld(app());
  world.traffic(1, "refused", { count: 5 });
  world.keeper.setOperator(1, "drain");
  world.board.grow(9);
  world.board.cells(8).publish(0, 40);
  world.adopt(upstream("app", [endpoint(A, 0), endpoint(B, 8)], { health: healthParams() }));
  assert.deepEqual(world.reasons(8), ["ejected", "drained"]);
  assert.equal(world.board.cells(8).epoch, 41);
  assert.equal(world.keeper.view(8)!.failures[0]!.count, 5);
  assert.equal(world.keeper.view(8)!.evidence.length, 1);
});

Deno.test("a slot's next owner is not charged with evidence about the one before", () => {
  using world = new HealthWorld(app());
  const { epoch } = world.board.cells(1);
  world.adopt(app([A]));
  world.adopt(upstream("app", [endpoint(A, 0), endpoint(C, 1)], { health: healthParams() }));
  world.traffic(1, "refused", { epoch, count: 50 });
  world.keeper.reportProbe(1, "refused", { epoch, durationMs: 1, detail: "", successes: 0 });
  assert.deepEqual(world.reasons(1), []);
  assert.deepEqual(world.keeper.view(1)!.evidence, []);
});

Deno.test("releasing what left does not shut the slot's next owner", () => {
  using world = new HealthWorld(app());
  world.adopt(upstream("app", [endpoint(A, 0), endpoint(C, 1)], { health: healthParams() }));
  assert.deepEqual(world.reasons(1), []);
});

Deno.test("a resting endpoint's minute runs from when it left, whatever plans come meanwhile", async () => {
  const health = healthParams({ ejectMs: 1e6 });
  const both = upstream("app", [found(A, 0), found(B, 1)], { health });
  const one = upstream("app", [found(A, 0)], { health });
  using world = new HealthWorld(both);
  world.traffic(1, "refused", { count: 5 });
  world.adopt(one);
  await world.clock.advance(40_000);
  world.adopt(one);
  await world.clock.advance(40_000);
  world.adopt(both);
  assert.deepEqual(world.reasons(1), []);
});

Deno.test("a discovered endpoint that returns as a static one starts anew", () => {
  const health = healthParams();
  using world = new HealthWorld(upstream("app", [found(A, 0), found(B, 1)], { health }));
  world.traffic(1, "refused", { count: 5 });
  world.adopt(upstream("app", [found(A, 0)], { health }));
  world.adopt(upstream("app", [found(A, 0), endpoint(B, 1)], { health }));
  assert.deepEqual(world.reasons(1), []);
});

Deno.test("a plan can take the last usable endpoint away, or bring one", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 5 });
  world.kinds();
  world.adopt(app([A]));
  assert.deepEqual(world.kinds(), ["all_down_entered"]);
  world.adopt(app([A, C]));
  assert.deepEqual(world.kinds(), ["all_down_left"]);
  world.adopt(app([]));
  assert.deepEqual(world.kinds(), [], "an upstream without endpoints is not down for its health");
});

Deno.test("time is applied before evidence is judged, also when the timer is late", async () => {
  const clock = new StallingClock();
  using world = new HealthWorld(clock, app());
  world.traffic(0, "refused", { count: 5 });
  await clock.advance(1000);
  clock.stall(30_000);
  world.traffic(0, "connected");
  assert.deepEqual(world.reasons(0), ["half_open"], "what began before it was half_open is no trial");
});

Deno.test("a withheld ejection is told again after the endpoint was out and is back", () => {
  using world = new HealthWorld(app([A, B], { consecutiveFailures: 1, maxEjectedPercent: 50 }));
  for (let round = 0; round < 2; round++) {
    world.traffic(0, "refused");
    world.kinds();
    world.traffic(1, "refused", { count: 3 });
    world.keeper.reportRuns([
      {
        slot: 1,
        epoch: world.board.cells(1).epoch - 1,
        outcome: "refused",
        count: 1,
        durationMs: 0,
        detail: "",
      },
    ]);
    world.traffic(1, "refused");
    assert.deepEqual(world.kinds(), ["ejection_withheld"]);
    world.traffic(0, "connected");
    world.traffic(1, "refused");
    world.traffic(1, "connected");
    assert.deepEqual(world.reasons(1), []);
  }
});

Deno.test("two endpoints that swap slots keep their records", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { count: 5 });
  world.adopt(upstream("app", [endpoint(A, 1), endpoint(B, 0)], { health: healthParams() }));
  assert.deepEqual([world.reasons(0), world.reasons(1)], [[], ["ejected"]]);
});

Deno.test("the view tells since when, why and until when", async () => {
  using world = new HealthWorld(app());
  await world.clock.advance(5000);
  world.traffic(0, "refused", { count: 5, detail: "ECONNREFUSED" });
  await world.clock.advance(2000);
  const view = world.keeper.view(0)!;
  assert.equal(view.sinceAt, world.clock.wallMs() - 2000);
  assert.equal(view.cause, "5 connect failures in a row, last: refused (ECONNREFUSED)");
  assert.equal(view.returnsInMs, 28_000);
  assert.equal(view.until, 35_000);
  world.keeper.setOperator(0, "drain");
  assert.equal(world.keeper.view(0)!.sinceAt, world.clock.wallMs());
  await world.clock.advance(28_001);
  world.traffic(0, "answered");
  assert.equal(world.keeper.view(0)!.cause, undefined);
});

Deno.test("a long detail is cut", () => {
  using world = new HealthWorld(app());
  world.traffic(0, "refused", { detail: "x".repeat(5000) });
  assert.equal(world.keeper.view(0)!.last!.detail.length, 300);
});

Deno.test("when a worker dies, endpoints on trial get all their permits anew, and old verdicts decide nothing", async () => {
  using world = new HealthWorld(app([A, B, C]));
  world.traffic(0, "refused", { count: 5 });
  world.traffic(1, "refused", { count: 5 });
  await world.clock.advance(30_001);
  const [first, second] = [world.board.cells(0), world.board.cells(1)];
  const { epoch } = first;
  assert.ok(first.takeTrial(epoch, 1));
  const untouched = [second.epoch, world.board.cells(2).epoch];
  world.events.length = 0;
  world.keeper.renewTrials();
  assert.deepEqual([first.epoch, first.trials, world.reasons(0)], [epoch + 1, 0, ["half_open"]]);
  assert.deepEqual([second.epoch, world.board.cells(2).epoch], untouched, "no permit was out there");
  assert.ok(first.takeTrial(epoch + 1, 1));
  world.traffic(0, "answered", { epoch });
  assert.deepEqual([world.reasons(0), first.trials, world.kinds()], [["half_open"], 1, []]);
  world.traffic(0, "answered", { epoch: epoch + 1 });
  assert.deepEqual([world.reasons(0), world.kinds()], [[], ["endpoint_restored"]]);
});

Deno.test("an upstream that was put back keeps count of the sessions its endpoints still have", () => {
  const discovered = upstream("app", [found(A, 0)], { health: healthParams() });
  const other = upstream("other", [endpoint(B, 1)], { health: healthParams() });
  using world = new HealthWorld(discovered, other);
  world.board.cells(0).enter(Infinity);
  world.adopt(other);
  world.adopt(discovered, other);
  assert.equal(world.board.cells(0).inFlight, 1);
  world.board.cells(0).leave();
  assert.equal(world.board.cells(0).inFlight, 0);
});
