// Choosing an endpoint: one bounded pass in the order of the policy, over the numbers on the board. The result is a
// lease: the promise to report how it went at most once, and to release the place exactly once, on every path.

import { createBalancer } from "../core/balance.ts";
import type { BalanceEndpoint, Balancer } from "../core/balance_policy.ts";
import { type Board, type Cells, GATE, GATE_FIRM, TALLY, type Tally } from "../core/board.ts";
import type { Random } from "../core/clock.ts";
import { type Outcome, verdictOf } from "../core/outcome.ts";
import type { Endpoint, Upstream } from "../core/plan.ts";
import type { Counts } from "./counts.ts";
import type { Reporter } from "./reporter.ts";

/** Where leases report to. */
export interface LeaseOffice {
  readonly board: Board;
  readonly tally: Tally;
  readonly reporter: Reporter;
  readonly counts: Counts;
  readonly random: Random;
}

/** An endpoint with its numbers at hand. */
export interface Place {
  readonly endpoint: Endpoint;
  readonly upstream: Upstream;
  readonly cells: Cells;
  /** This worker's counts for it, indexed by `TALLY`. */
  readonly row: Float64Array;
}

/** The right to use an endpoint for one session or exchange. */
export class Lease implements Disposable {
  readonly place: Place;
  /** Dates whatever is reported. */
  readonly epoch: number;
  readonly #office: LeaseOffice;
  #trial: boolean;
  #released = false;

  /** Made by `Picker.pick`, with the place already taken on the board. */
  constructor(place: Place, epoch: number, options: { trial: boolean; office: LeaseOffice }) {
    this.place = place;
    this.epoch = epoch;
    this.#trial = options.trial;
    this.#office = options.office;
    place.row[TALLY.held]!++;
    place.row[TALLY.picks]!++;
  }

  /** The endpoint that was picked. */
  get endpoint(): Endpoint {
    return this.place.endpoint;
  }

  /** Its place on the board. */
  get slot(): number {
    return this.place.endpoint.slot;
  }

  /** Says how an attempt went. `durationMs` and `detail` are for people; what charges nobody is only counted. */
  report(outcome: Outcome, durationMs: number, detail = ""): void {
    if (verdictOf(outcome) === "none") return this.#office.counts.notCharged(outcome);
    // With a verdict the trial permit is spent: the state it leads to brings new ones (H4).
    this.#trial = false;
    this.#office.reporter.report({ slot: this.slot, epoch: this.epoch, outcome, durationMs, detail });
  }

  /** Gives the place back. Safe to call again. */
  [Symbol.dispose](): void {
    if (this.#released) return;
    this.#released = true;
    if (this.#trial) this.place.cells.giveTrialBack(this.epoch);
    this.place.row[TALLY.held]!--;
    this.place.cells.leave();
  }
}

/** Who asks, and what has been tried for it. */
export interface Ask {
  /** Hash of the client's address (ip_hash). */
  readonly clientHash: number;
  /** Keys of endpoints not to use again; absent: none yet. */
  readonly tried?: ReadonlySet<string> | undefined;
}

/** Picks endpoints of one upstream for one worker. Survives plan changes; cursors carry over. */
export class Picker {
  readonly #office: LeaseOffice;
  #upstream: Upstream;
  #places: readonly Place[] = [];
  #balancer: Balancer;
  readonly #pass = new Pass();

  constructor(upstream: Upstream, office: LeaseOffice) {
    this.#office = office;
    this.#upstream = upstream;
    this.#balancer = this.#arrange(undefined);
  }

  /** The upstream as of the last plan. */
  get upstream(): Upstream {
    return this.#upstream;
  }

  /** Takes over a new plan's upstream of the same name. */
  update(upstream: Upstream): void {
    if (upstream === this.#upstream) return;
    this.#upstream = upstream;
    this.#balancer = this.#arrange(this.#balancer);
  }

  /** The upstream has left the plan: nobody is picked any more, since its slots may have other owners some day. */
  close(): void {
    this.update({ ...this.#upstream, endpoints: [] });
  }

  #arrange(previous: Balancer | undefined): Balancer {
    const upstream = this.#upstream;
    this.#places = upstream.endpoints.map((endpoint) => placeOf(upstream, endpoint, this.#office));
    this.#pass.places = this.#places;
    return createBalancer(upstream.loadBalancer, this.#places.map(balanced), {
      random: this.#office.random,
      previous,
    });
  }

  /**
   * A lease on the best usable endpoint that has not been tried, or undefined: nobody is left, or all are full.
   * When every endpoint is out for its health, `all_down: fail_open` picks among them all the same (H8).
   */
  pick(ask: Ask): Lease | undefined {
    const pass = this.#pass;
    pass.begin(ask, false);
    const lease = this.#run();
    if (lease !== undefined || pass.sawFull || !this.#mayFailOpen()) return lease;
    pass.begin(ask, true);
    return this.#run();
  }

  /** Between choosing and taking, another worker may take the last place or permit: then the next best is chosen. */
  #run(): Lease | undefined {
    const pass = this.#pass;
    for (let index = this.#balancer.pick(pass); index >= 0; index = this.#balancer.pick(pass)) {
      const place = this.#places[index]!;
      const lease = pass.failOpen ? this.#takeOut(place) : this.#take(place);
      if (lease !== undefined) return lease;
      pass.lost(index);
    }
    return undefined;
  }

  /** Endpoints that were only tried before, or are only full, do not count as down. */
  #mayFailOpen(): boolean {
    const { health } = this.#upstream;
    return health !== undefined && health.allDown === "fail_open" &&
      !this.#places.some((place) => place.cells.gate === 0);
  }

  #take(place: Place): Lease | undefined {
    // The epoch before the gate: a verdict in between then makes the lease too old to count, never too new (H7).
    const epoch = place.cells.epoch;
    const gate = place.cells.gate;
    if (gate !== 0 && gate !== GATE.half_open) return undefined;
    const trial = gate === GATE.half_open;
    if (trial && !place.cells.takeTrial(epoch, trialsOf(place))) return undefined;
    if (place.cells.enter(maxOf(place))) return new Lease(place, epoch, { trial, office: this.#office });
    if (trial) place.cells.giveTrialBack(epoch);
    return undefined;
  }

  #takeOut(place: Place): Lease | undefined {
    const epoch = place.cells.epoch;
    if ((place.cells.gate & GATE_FIRM) !== 0 || !place.cells.enter(maxOf(place))) return undefined;
    place.row[TALLY.failOpenPicks]!++;
    return new Lease(place, epoch, { trial: false, office: this.#office });
  }
}

/** What the balancer asks during one pick. One object per picker: a pick allocates its lease and nothing else. */
class Pass {
  places: readonly Place[] = [];
  clientHash = 0;
  failOpen = false;
  /** A healthy endpoint had no place left. */
  sawFull = false;
  #tried: ReadonlySet<string> | undefined;
  #lost: Set<number> | undefined;

  begin(ask: Ask, failOpen: boolean): void {
    this.clientHash = ask.clientHash;
    this.failOpen = failOpen;
    this.sawFull = false;
    this.#tried = ask.tried;
    this.#lost = undefined;
  }

  lost(index: number): void {
    this.#lost ??= new Set();
    this.#lost.add(index);
  }

  isUsable(index: number): boolean {
    const place = this.places[index]!;
    if (this.#tried !== undefined && this.#tried.has(place.endpoint.key)) return false;
    if (this.#lost !== undefined && this.#lost.has(index)) return false;
    const gate = place.cells.gate;
    if (this.failOpen) return (gate & GATE_FIRM) === 0 && !isFull(place);
    if (gate === 0) return !this.#noteFull(place);
    return gate === GATE.half_open && place.cells.trials < trialsOf(place) && !isFull(place);
  }

  #noteFull(place: Place): boolean {
    if (!isFull(place)) return false;
    this.sawFull = true;
    return true;
  }
}

function placeOf(upstream: Upstream, endpoint: Endpoint, office: LeaseOffice): Place {
  return {
    endpoint,
    upstream,
    cells: office.board.cells(endpoint.slot),
    row: office.tally.row(endpoint.slot),
  };
}

function isFull(place: Place): boolean {
  return place.upstream.maxConnections !== undefined && place.cells.inFlight >= place.upstream.maxConnections;
}

function maxOf(place: Place): number {
  return place.upstream.maxConnections ?? Infinity;
}

function trialsOf(place: Place): number {
  return place.upstream.health?.halfOpenProbes ?? 1;
}

function balanced(place: Place): BalanceEndpoint {
  const { cells, row } = place;
  return {
    key: place.endpoint.key,
    weight: place.endpoint.weight,
    priority: place.endpoint.priority,
    load: {
      get inFlight() {
        return cells.inFlight;
      },
      get latencyMs() {
        return row[TALLY.latencyMs]!;
      },
    },
  };
}
