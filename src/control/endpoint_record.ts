// What the health keeper holds about one endpoint: its health, what people set, the last pieces of evidence, totals.
// The record knows how to read itself (gate, cause, view); when it changes is the keeper's business.

import { GATE, reasonsOf } from "../core/board.ts";
import type { Ejection, OperatorState } from "../core/event.ts";
import { causeText } from "../core/event_text.ts";
import { freshHealth, type Health } from "../core/health.ts";
import { nounOf, type Outcome, verdictOf } from "../core/outcome.ts";
import type { ActiveParams, Endpoint, HealthParams, Upstream } from "../core/plan.ts";
import type { Evidence, EvidenceSource } from "../core/report.ts";

/** How many pieces of evidence are kept per endpoint (H13). */
export const EVIDENCE_KEPT = 32;

const DETAIL_CHARACTERS = 300;

/** How often an endpoint failed in one way. */
export interface FailureCount {
  readonly source: EvidenceSource;
  readonly outcome: Outcome;
  readonly count: number;
}

/** One endpoint as status, page, metrics and `why` show it. */
export interface EndpointHealthView {
  readonly upstream: string;
  readonly key: string;
  readonly slot: number;
  readonly health: Health["state"];
  /** A set of `GATE` bits; 0: may be picked. */
  readonly gate: number;
  /** The names of the gate's reasons. */
  readonly reasons: readonly string[];
  readonly operator: OperatorState;
  /** When the present state, operator states included, began: wall clock, milliseconds since 1970. */
  readonly sinceAt: number;
  /** Monotonic end of an ejection; absent when it is not ejected or has no end by itself. */
  readonly until?: number;
  /** Milliseconds until it may be tried again; absent when no time is set. */
  readonly returnsInMs?: number;
  /** Why it was last ejected; absent while healthy. */
  readonly cause?: string;
  /** Failures in a row, of probes alone where those are counted apart and are more. */
  readonly streak: number;
  readonly ejections: number;
  /** Ejections that `mode: observe` only noted. */
  readonly wouldEject: number;
  readonly epoch: number;
  readonly failures: readonly FailureCount[];
  readonly last?: Evidence;
  /** At most `EVIDENCE_KEPT`, newest first. */
  readonly evidence: readonly Evidence[];
}

/** All that is known about one endpoint of one upstream. */
export class EndpointRecord {
  readonly upstream: string;
  readonly key: string;
  readonly slot: number;
  /** Evidence of an earlier epoch is about whoever had the slot before. */
  readonly firstEpoch: number;
  source: Endpoint["source"];
  health: Health;
  params: HealthParams | undefined;
  active: ActiveParams | undefined;
  operator: OperatorState = "ready";
  /** Monotonic, as all times but those of evidence. */
  operatorSince = 0;
  /** When it left the plan. */
  removedAt: number | undefined;
  /** When it was last taken out, kept through half_open. */
  outSince = 0;
  /** The ejection that put it where it is. */
  ejection: Ejection | undefined;
  wouldEject = 0;
  /** `max_ejected_percent` has been told to keep it in rotation. */
  withheld = false;
  /** Newest last. */
  readonly #evidence: Evidence[] = [];
  readonly #failures = new Map<string, FailureCount>();

  constructor(
    upstream: Upstream,
    endpoint: Endpoint,
    begin: { readonly epoch: number; readonly now: number },
  ) {
    this.upstream = upstream.name;
    this.key = endpoint.key;
    this.slot = endpoint.slot;
    this.source = endpoint.source;
    this.firstEpoch = begin.epoch;
    this.health = freshHealth(begin.epoch, begin.now);
    this.params = upstream.health;
    this.active = upstream.activeHealth;
  }

  /** The same endpoint at another place of the board, where `epoch` has never been used. */
  movedTo(upstream: Upstream, endpoint: Endpoint, begin: { epoch: number; now: number }): EndpointRecord {
    const moved = new EndpointRecord(upstream, endpoint, begin);
    moved.health = { ...this.health, epoch: begin.epoch };
    const { operator, operatorSince, outSince, ejection, wouldEject, withheld } = this;
    Object.assign(moved, { operator, operatorSince, outSince, ejection, wouldEject, withheld });
    moved.#evidence.push(...this.#evidence);
    for (const [name, count] of this.#failures) moved.#failures.set(name, count);
    return moved;
  }

  /** Takes over what a new plan says of it. Its rules act on the old evidence at the next observation. */
  update(upstream: Upstream, endpoint: Endpoint): void {
    this.source = endpoint.source;
    this.params = upstream.health;
    this.active = upstream.activeHealth;
    this.removedAt = undefined;
  }

  /** Whether rules are only tried out (H12). */
  get isObserved(): boolean {
    return this.params?.mode === "observe";
  }

  /** Why it may not be picked, as `GATE` bits. */
  get gate(): number {
    let gate = 0;
    if (!this.isObserved && this.health.state === "ejected") gate |= GATE.ejected;
    if (!this.isObserved && this.health.state === "half_open") gate |= GATE.half_open;
    if (this.operator === "drain") gate |= GATE.drained;
    if (this.operator === "maintenance") gate |= GATE.maintenance;
    if (this.removedAt !== undefined) gate |= GATE.removed;
    return gate;
  }

  /** Keeps evidence to be shown and counts it. Equal pieces in a row are one with a count. */
  note(piece: Evidence): void {
    const evidence = { ...piece, detail: piece.detail.slice(0, DETAIL_CHARACTERS) };
    const last = this.#evidence[this.#evidence.length - 1];
    if (last !== undefined && isSame(last, evidence)) {
      this.#evidence[this.#evidence.length - 1] = { ...evidence, count: last.count + evidence.count };
    } else this.#evidence.push(evidence);
    if (this.#evidence.length > EVIDENCE_KEPT) this.#evidence.shift();
    if (verdictOf(piece.outcome) === "failure") this.#countFailure(piece);
  }

  #countFailure({ source, outcome, count }: Evidence): void {
    const name = `${source} ${outcome}`;
    const before = this.#failures.get(name)?.count ?? 0;
    this.#failures.set(name, { source, outcome, count: before + count });
  }

  /** The noun that fits the last `failures` failures: "connect failure", or "failure" when they differ. */
  failureNoun(failures: number, source: EvidenceSource): string {
    const ownOnly = this.params?.streak === "separate";
    let missing = failures;
    let noun: string | undefined;
    for (let at = this.#evidence.length - 1; at >= 0 && missing > 0; at--) {
      const piece = this.#evidence[at]!;
      if (verdictOf(piece.outcome) !== "failure" || (ownOnly && piece.source !== source)) continue;
      if (noun !== undefined && noun !== nounOf(piece.outcome)) return "failure";
      noun = nounOf(piece.outcome);
      missing -= piece.count;
    }
    return noun ?? "failure";
  }

  /** As it is shown at this moment. */
  view(now: number, wallMs: number): EndpointHealthView {
    const { health } = this;
    const hasEnd = health.state === "ejected" && this.params?.recovery !== "probes";
    const since = Math.max(health.since, this.operatorSince, this.removedAt ?? 0);
    const last = this.#evidence[this.#evidence.length - 1];
    return {
      upstream: this.upstream,
      key: this.key,
      slot: this.slot,
      health: health.state,
      gate: this.gate,
      reasons: reasonsOf(this.gate),
      operator: this.operator,
      sinceAt: wallMs - (now - since),
      ...(hasEnd && { until: health.until, returnsInMs: Math.max(0, health.until - now) }),
      ...(this.ejection !== undefined && { cause: causeText(this.ejection) }),
      streak: Math.max(health.streak, health.probeStreak),
      ejections: health.ejections - this.wouldEject,
      wouldEject: this.wouldEject,
      epoch: health.epoch,
      failures: [...this.#failures.values()],
      ...(last !== undefined && { last }),
      evidence: this.#evidence.toReversed(),
    };
  }
}

function isSame(one: Evidence, other: Evidence): boolean {
  return one.source === other.source && one.outcome === other.outcome && one.detail === other.detail;
}
