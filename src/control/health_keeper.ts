// The one owner of all health records. Evidence of workers and probes comes in, verdicts go out: gate and epoch to the
// board, events with the evidence that caused them. The rules themselves are core/health.ts; slots and plans are given.

import type { Board } from "../core/board.ts";
import type { Clock } from "../core/clock.ts";
import type { Ejection, Emit, OperatorState } from "../core/event.ts";
import {
  freshHealth,
  type Health,
  type HealthEvidence,
  type HealthRules,
  mayEject,
  observe,
  reportParams,
  settle,
} from "../core/health.ts";
import { type Outcome, verdictOf } from "../core/outcome.ts";
import type { HealthParams, Plan } from "../core/plan.ts";
import type { EvidenceSource, Run } from "../core/report.ts";
import { Alarm } from "./alarm.ts";
import type { EndpointHealthView, EndpointRecord } from "./endpoint_record.ts";
import { HealthRoster } from "./health_roster.ts";

/** What the keeper stands on. */
export interface KeeperOptions {
  readonly clock: Clock;
  readonly emit: Emit;
}

/** How a probe went. */
export interface ProbeReport {
  /** The endpoint's epoch when the probe began. */
  readonly epoch: number;
  readonly durationMs: number;
  readonly detail: string;
  /** Successful probes in a row since the last failure or ejection, this one included; 0 for a failure. */
  readonly successes: number;
}

interface Piece extends Omit<Run, "slot"> {
  readonly source: EvidenceSource;
  readonly readmits: boolean;
}

/** What changed a record: evidence, time, or that the config has no rules any more. */
type Reason = Piece | "time" | "config";

/** Owner of all health records. */
export class HealthKeeper {
  readonly #board: Board;
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #roster: HealthRoster;
  /** Rings when the next ejection runs out. */
  readonly #alarm: Alarm;

  constructor(board: Board, options: KeeperOptions) {
    this.#board = board;
    this.#clock = options.clock;
    this.#emit = options.emit;
    this.#roster = new HealthRoster(board, options.clock);
    this.#alarm = new Alarm(options.clock, () => this.settleDue());
  }

  /**
   * Takes a plan over, before the workers get it: records of endpoints that stay are kept, new ones begin healthy. The
   * board must have the plan's slots. New rules act on old evidence at the next observation (H14).
   */
  adopt(plan: Plan): void {
    this.#roster.adopt(plan);
    for (const record of this.#roster.records) {
      this.#publish(record);
      if (record.params === undefined) this.#acquit(record);
    }
    this.settleDue();
    for (const group of this.#roster.groups) group.changed(this.#clock.now(), this.#emit);
  }

  /** Shuts what left the plan. To be called when every worker has it, so that no pick falls between two plans. */
  release(): void {
    this.#roster.release();
  }

  /**
   * Permits may have gone down with a worker, or their verdicts on the way from it: endpoints on trial get all of them
   * anew, under a new epoch (H4).
   */
  renewTrials(): void {
    for (const record of this.#roster.records) {
      if (record.health.state !== "half_open" || this.#board.cells(record.slot).trials === 0) continue;
      record.health = { ...record.health, epoch: record.health.epoch + 1 };
      this.#publish(record);
    }
  }

  /** Ends the timer. Nothing turns half_open by itself any more. */
  stop(): void {
    this.#alarm.stop();
  }

  /** Without rules nothing is out. */
  #acquit(record: EndpointRecord): void {
    if (record.health.state === "healthy") return;
    const { epoch, ejections } = record.health;
    this.#change(record, { ...freshHealth(epoch + 1, this.#clock.now()), ejections }, "config");
  }

  /** Takes evidence of traffic, in the order in which it came. */
  reportRuns(runs: readonly Run[]): void {
    for (const run of runs) {
      const record = this.#roster.at(run.slot);
      if (record === undefined || run.epoch < record.firstEpoch) continue;
      this.#take(record, { ...run, source: "traffic", readmits: false }, record.params);
    }
  }

  /** Takes one probe's outcome (H5, H6). */
  reportProbe(slot: number, outcome: Outcome, report: ProbeReport): void {
    const record = this.#roster.at(slot);
    if (record === undefined || report.epoch < record.firstEpoch) return;
    this.#roster.group(record.upstream)!.countProbe(outcome);
    const { params, active } = record;
    const rules = params && active && reportParams(params, active);
    const readmits = active !== undefined && report.successes >= active.successThreshold;
    this.#take(record, { ...report, outcome, count: 1, source: "probe", readmits }, rules);
  }

  #take(record: EndpointRecord, piece: Piece, params: HealthParams | undefined): void {
    const { source, outcome, count, durationMs, detail } = piece;
    record.note({ at: this.#clock.wallMs(), source, outcome, count, durationMs, detail });
    if (params === undefined) return;
    this.#settle(record);
    const group = this.#roster.group(record.upstream)!;
    const evidence = { ...piece, verdict: verdictOf(outcome) };
    this.#judge(record, evidence, {
      params,
      now: this.#clock.now(),
      mayEject: mayEject(group, params.maxEjectedPercent),
    });
  }

  #judge(record: EndpointRecord, evidence: Piece & HealthEvidence, rules: HealthRules): void {
    const before = record.health;
    const next = observe(before, evidence, rules);
    if (next.epoch !== before.epoch) return this.#change(record, next, evidence);
    record.health = next;
    if (next === before) this.#keepPermits(record, evidence);
    if (evidence.verdict === "failure" && evidence.epoch === before.epoch) {
      const free = rules.mayEject ? next : observe(before, evidence, { ...rules, mayEject: true });
      this.#noteWithheld(record, free.epoch !== before.epoch);
    }
  }

  /** A trial's verdict that changes nothing must not cost its permit (H4): no change of state brings new ones. */
  #keepPermits(record: EndpointRecord, evidence: Piece & HealthEvidence): void {
    const isTrial = evidence.source === "traffic" && record.health.state === "half_open";
    if (!isTrial || evidence.verdict === "none") return;
    const cells = this.#board.cells(record.slot);
    for (let permit = Math.min(evidence.count, cells.trials); permit > 0; permit--) {
      cells.giveTrialBack(evidence.epoch);
    }
  }

  /** Only `max_ejected_percent` kept it in: told when it begins. */
  #noteWithheld(record: EndpointRecord, isWithheld: boolean): void {
    if (isWithheld && !record.withheld) {
      const { upstream, key: endpoint } = record;
      const { out, size } = this.#roster.group(upstream)!;
      this.#emit({ kind: "ejection_withheld", upstream, endpoint, out, size });
    }
    record.withheld = isWithheld;
  }

  /** Applies time to one record. */
  #settle(record: EndpointRecord): void {
    if (record.params === undefined) return;
    const next = settle(record.health, this.#clock.now(), record.params);
    if (next !== record.health) this.#change(record, next, "time");
  }

  /** A change of state: on the board first, then told. */
  #change(record: EndpointRecord, next: Health, reason: Reason): void {
    const before = record.health;
    record.health = next;
    record.withheld = false;
    if (before.state === "healthy") record.outSince = next.since;
    this.#publish(record);
    this.#tell(record, before, reason);
    this.#roster.group(record.upstream)!.changed(this.#clock.now(), this.#emit);
    this.#alarm.ringBy(dueOf(record));
  }

  #tell(record: EndpointRecord, before: Health, reason: Reason): void {
    const { upstream, key: endpoint, health } = record;
    const mode = record.params?.mode ?? "enforce";
    if (typeof reason === "object" && health.state === "ejected") {
      return this.#tellEjection(record, reason);
    }
    if (health.state === "half_open") {
      const ejectedMs = health.since - before.since;
      return this.#emit({ kind: "endpoint_half_open", upstream, endpoint, mode, ejectedMs });
    }
    record.ejection = undefined;
    const by = typeof reason === "object" ? reason.source : "config";
    const outMs = health.since - record.outSince;
    this.#emit({ kind: "endpoint_restored", upstream, endpoint, mode, by, outMs });
  }

  #tellEjection(record: EndpointRecord, by: Piece): void {
    record.ejection = ejectionOf(record, by);
    if (record.isObserved) record.wouldEject++;
    this.#emit({ kind: record.isObserved ? "would_eject" : "endpoint_ejected", ...record.ejection });
  }

  #publish(record: EndpointRecord): void {
    this.#board.cells(record.slot).publish(record.gate, record.health.epoch);
  }

  /** What people set; survives plans as long as the endpoint stays. False when the plan has no endpoint there. */
  setOperator(slot: number, state: OperatorState): boolean {
    const record = this.#roster.at(slot);
    if (record === undefined) return false;
    if (record.operator === state) return true;
    record.operator = state;
    record.operatorSince = this.#clock.now();
    this.#publish(record);
    this.#emit({ kind: "endpoint_operator", upstream: record.upstream, endpoint: record.key, state });
    this.#roster.group(record.upstream)!.changed(this.#clock.now(), this.#emit);
    return true;
  }

  /** Applies time to all records, so that gates open when they are due; the alarm calls it. */
  settleDue(): void {
    for (const record of this.#roster.records) {
      this.#settle(record);
      this.#alarm.ringBy(dueOf(record));
    }
  }

  /** What is known about the endpoint at `slot`; undefined when the plan has none there. */
  view(slot: number): EndpointHealthView | undefined {
    return this.#roster.at(slot)?.view(this.#clock.now(), this.#clock.wallMs());
  }

  /** How many probes of an upstream ended in which outcome; none when the plan has no upstream of that name. */
  probesOf(upstream: string): Readonly<Record<string, number>> {
    return this.#roster.group(upstream)?.probes ?? {};
  }

  /** The present health of the endpoint at `slot`; undefined when the plan has none there. */
  healthOf(slot: number): Health | undefined {
    return this.#roster.at(slot)?.health;
  }
}

/** When time alone will change the record next; Infinity: never. */
function dueOf(record: EndpointRecord): number {
  const isTimed = record.health.state === "ejected" && record.params?.recovery !== "probes";
  return isTimed ? record.health.until : Infinity;
}

function ejectionOf(record: EndpointRecord, by: Piece): Ejection {
  const { health } = record;
  const cause = health.cause!;
  const noun = cause.rule === "streak" ? record.failureNoun(cause.failures, cause.source) : "failure";
  return {
    upstream: record.upstream,
    endpoint: record.key,
    cause,
    noun,
    outcome: by.outcome,
    detail: by.detail,
    ejectMs: health.until - health.since,
    ejections: health.ejections,
    recovery: record.params!.recovery,
  };
}
