// Leases: what a pick takes from the board and what comes back, on every path.

import assert from "node:assert/strict";
import { Board, GATE, TALLY, Tally } from "../../../src/core/board.ts";
import type { Upstream } from "../../../src/core/plan.ts";
import type { Run } from "../../../src/core/report.ts";
import { Counts } from "../../../src/data/counts.ts";
import { type Lease, Picker } from "../../../src/data/pick.ts";
import { Reporter } from "../../../src/data/reporter.ts";
import { healthParams, upstream } from "../../support/plans.ts";

const KEYS = ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"];

class World {
  readonly board = new Board();
  readonly tally = new Tally();
  readonly runs: Run[] = [];
  readonly counts = new Counts();
  readonly #reporter = new Reporter((runs) => this.runs.push(...runs));
  readonly picker: Picker;

  constructor(upstream: Upstream) {
    this.board.grow(8);
    this.tally.grow(8);
    this.picker = this.another(upstream);
  }

  /** The picker of another worker. */
  another(upstream: Upstream): Picker {
    const { board, tally, counts } = this;
    return new Picker(upstream, { board, tally, counts, reporter: this.#reporter, random: () => 0 });
  }

  gates(...gates: number[]): void {
    gates.forEach((gate, slot) => this.board.cells(slot).publish(gate, this.board.cells(slot).epoch + 1));
  }

  pick(...tried: string[]): Lease | undefined {
    return this.picker.pick({ clientHash: 0, tried: new Set(tried) });
  }

  get inFlight(): number[] {
    return KEYS.map((_, slot) => this.board.cells(slot).inFlight);
  }

  evidence(): string[] {
    this.#reporter.flush();
    return this.runs.splice(0).map((run) => `${run.slot} ${run.outcome}×${run.count} @${run.epoch}`);
  }
}

const app = (changes: Parameters<typeof upstream>[2] = {}) =>
  upstream("app", KEYS, { health: healthParams(), ...changes });

Deno.test("a lease is in flight until it is released, once", () => {
  const world = new World(app());
  const [one, two] = [world.pick()!, world.pick()!];
  assert.deepEqual([one.endpoint.key, two.endpoint.key, world.inFlight], [KEYS[0], KEYS[1], [1, 1, 0]]);
  assert.deepEqual([...world.tally.row(0)].slice(0, 2), [1, 1], "held, picks");
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  assert.deepEqual(world.inFlight, [0, 1, 0]);
  assert.deepEqual([...world.tally.row(0)].slice(0, 2), [0, 1]);
});

Deno.test("evidence carries the epoch of its lease, whether or not the upstream has health rules", () => {
  for (const health of [healthParams(), undefined]) {
    const { health: _, ...rest } = app();
    const world = new World(health === undefined ? rest : { ...rest, health });
    const lease = world.pick()!;
    world.gates(GATE.ejected, 0, 0);
    lease.report("answered", 2);
    lease.report("status_5xx", 2, "503");
    assert.deepEqual(world.evidence(), ["0 answered×1 @0", "0 status_5xx×1 @0"]);
  }
});

Deno.test("what charges nobody is counted and not reported", () => {
  const world = new World(app());
  world.pick()!.report("client_aborted", 1);
  assert.deepEqual(world.evidence(), []);
  assert.deepEqual(world.counts.snapshot(0).notCharged, { client_aborted: 1 });
});

Deno.test("an endpoint on trial has as many leases as permits, over all workers", () => {
  const shape = app({ health: healthParams({ halfOpenProbes: 2, allDown: "fail_closed" }) });
  const world = new World(shape);
  world.gates(GATE.half_open, GATE.ejected, GATE.ejected);
  const trial = world.pick()!;
  const other = world.another(shape).pick({ clientHash: 0 });
  assert.equal(other?.slot, 0);
  assert.equal(world.pick(), undefined);
  trial.report("client_aborted", 1);
  trial[Symbol.dispose]();
  assert.ok(world.pick(), "a trial without a verdict gives its permit back");
  other!.report("answered", 1);
  other![Symbol.dispose]();
  assert.equal(world.pick(), undefined, "a verdict spends it");
});

Deno.test("when all are ejected fail_open picks over the whole set, what people took out excepted", () => {
  const world = new World(app());
  world.gates(GATE.ejected, GATE.ejected | GATE.maintenance, GATE.half_open);
  const trial = world.pick()!;
  assert.equal(trial.slot, 2, "a free trial permit comes first");
  const slots = Array.from({ length: 4 }, () => world.pick()!.slot);
  assert.deepEqual(slots.toSorted(), [0, 0, 2, 2]);
  assert.equal(world.tally.row(0)[TALLY.failOpenPicks]! + world.tally.row(2)[TALLY.failOpenPicks]!, 4);
  assert.equal(world.board.cells(2).trials, 1);
  const closed = new World(app({ health: healthParams({ allDown: "fail_closed" }) }));
  closed.gates(GATE.ejected, GATE.ejected, GATE.ejected);
  assert.equal(closed.pick(), undefined);
});

Deno.test("endpoints that are full, or were tried, open nothing", () => {
  const world = new World(app({ maxConnections: 1 }));
  world.gates(0, GATE.ejected, GATE.ejected);
  const lease = world.pick()!;
  assert.deepEqual([lease.slot, world.pick()], [0, undefined]);
  lease[Symbol.dispose]();
  assert.equal(world.pick(KEYS[0]!), undefined, "one that is well was tried: the others stay out");
  assert.equal(world.pick()!.slot, 0);
});

Deno.test("a new plan keeps the turn and what is in flight", () => {
  const world = new World(app());
  const lease = world.pick()!;
  world.picker.update(upstream("app", [...KEYS].reverse().map((key) => endpointAt(key)), {}));
  assert.equal(world.pick()!.endpoint.key, KEYS[1], "whose turn it was");
  lease[Symbol.dispose]();
  assert.deepEqual(world.inFlight, [0, 1, 0]);
});

function endpointAt(key: string) {
  return app().endpoints.find((endpoint) => endpoint.key === key)!;
}
