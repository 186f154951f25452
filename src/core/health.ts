// Health is a value with one owner: `settle` applies time to the old record, `observe` a piece of evidence, and both
// give the new record, or the same object when nothing changed. Every rule of ejection and recovery is here (SPEC H);
// who holds the records, what the board shows and what is told about it is the health keeper's business.

import type { Verdict } from "./outcome.ts";
import type { ActiveParams, HealthParams } from "./plan.ts";
import type { EvidenceSource } from "./report.ts";
import { addToWindow, EMPTY_WINDOW, sumOfWindow, type Window } from "./health_window.ts";

/** The three health states. */
export type HealthState = "healthy" | "ejected" | "half_open";

/** Which rule ejected an endpoint, with the numbers that fulfilled it. */
export type EjectCause =
  | { readonly rule: "streak"; readonly source: EvidenceSource; readonly failures: number }
  | { readonly rule: "ratio"; readonly failures: number; readonly volume: number }
  | { readonly rule: "trial"; readonly source: EvidenceSource };

/** What is known about the health of one endpoint. All times are monotonic milliseconds. */
export interface Health {
  readonly state: HealthState;
  /** When this state began. */
  readonly since: number;
  /** When an ejection runs out; 0 unless ejected. With recovery by probes it is a date without effect. */
  readonly until: number;
  /** Grows by 1 with each change of state; evidence of another epoch decides nothing (H7). */
  readonly epoch: number;
  /** Failures in a row: of traffic and probes together, or of traffic alone when streaks are separate (H10). */
  readonly streak: number;
  /** Failures of probes in a row, when streaks are separate; else 0. */
  readonly probeStreak: number;
  /** Recent outcomes of traffic. */
  readonly window: Window;
  /** How often the endpoint was ejected. */
  readonly ejections: number;
  /** How many doublings the next ejection time gets, before quiet time is taken off. */
  readonly steps: number;
  /** Why it was last ejected; absent while it is healthy. */
  readonly cause?: EjectCause;
}

/** A run of `count` (1 or more) equal pieces of evidence. */
export interface HealthEvidence {
  readonly epoch: number;
  readonly source: EvidenceSource;
  readonly verdict: Verdict;
  readonly count: number;
  /** Probes only: this success completes `success_threshold` in a row, so it may readmit (H6). */
  readonly readmits?: boolean;
}

/** By what evidence is judged. */
export interface HealthRules {
  /** Those of the upstream for traffic; `reportParams` for probes. */
  readonly params: HealthParams;
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Whether one endpoint more of the upstream may be out of rotation (`mayEject`). */
  readonly mayEject: boolean;
}

/** The record of an endpoint nothing is known about: healthy. */
export function freshHealth(epoch: number, now: number): Health {
  return {
    state: "healthy",
    since: now,
    until: 0,
    epoch,
    streak: 0,
    probeStreak: 0,
    window: EMPTY_WINDOW,
    ejections: 0,
    steps: 0,
  };
}

/** Applies time: an ejection that ran out becomes half_open, unless only probes readmit (H4, H9). */
export function settle(health: Health, now: number, params: Pick<HealthParams, "recovery">): Health {
  if (health.state !== "ejected" || now < health.until || params.recovery === "probes") return health;
  return { ...health, state: "half_open", since: now, until: 0, epoch: health.epoch + 1 };
}

/**
 * Applies evidence to a settled record. A run acts as its pieces would one after the other: when one of them changes
 * the state, the epoch moves on and the rest, being of the old epoch, decides nothing.
 */
export function observe(health: Health, evidence: HealthEvidence, rules: HealthRules): Health {
  if (evidence.epoch !== health.epoch || evidence.count < 1) return health;
  if (evidence.verdict === "success") return afterSuccess(health, evidence, rules);
  if (evidence.verdict === "failure") return afterFailure(health, evidence, rules);
  return health;
}

function afterSuccess(health: Health, evidence: HealthEvidence, rules: HealthRules): Health {
  if (health.state !== "healthy") {
    return readmits(health, evidence, rules.params) ? restored(health, rules.now) : health;
  }
  const counted = withOutcomes(health, { successes: evidence.count, failures: 0 }, evidence, rules);
  const streaks = streaksAfterSuccess(health, evidence.source, rules.params);
  const unchanged = streaks.streak === health.streak && streaks.probeStreak === health.probeStreak;
  return unchanged ? counted : { ...counted, ...streaks };
}

/** Who may readmit (H6, H8, H9): traffic unless it is for probes alone to do so, probes unless it is for the timer alone. */
function readmits(health: Health, evidence: HealthEvidence, params: HealthParams): boolean {
  if (evidence.source === "probe") return evidence.readmits === true && params.recovery !== "timer";
  // In observe mode an ejected endpoint still gets the traffic that enforcing would have kept away from it.
  const wouldHaveCome = health.state === "half_open" || params.mode === "enforce";
  return wouldHaveCome && params.recovery !== "probes";
}

function restored(health: Health, now: number): Health {
  const { ejections, steps } = health;
  return { ...freshHealth(health.epoch + 1, now), ejections, steps };
}

function afterFailure(health: Health, evidence: HealthEvidence, rules: HealthRules): Health {
  if (health.state === "ejected") return health;
  if (health.state === "half_open") {
    return ejected(health, rules, { rule: "trial", source: evidence.source });
  }
  const last = afterFailures(health, evidence.count, evidence, rules);
  if (!rules.mayEject || causeOf(last, evidence.source, rules) === undefined) return last;
  return ejectedWithin(health, evidence, rules);
}

/** The run fulfils a rule somewhere; finds the failure that did it first, so that the cause tells true numbers. */
function ejectedWithin(health: Health, evidence: HealthEvidence, rules: HealthRules): Health {
  for (let count = 1;; count++) {
    const next = afterFailures(health, count, evidence, rules);
    const cause = causeOf(next, evidence.source, rules);
    if (cause !== undefined) return ejected(next, rules, cause);
  }
}

function afterFailures(health: Health, count: number, evidence: HealthEvidence, rules: HealthRules): Health {
  const counted = withOutcomes(health, { successes: 0, failures: count }, evidence, rules);
  const ownStreak = evidence.source === "probe" && rules.params.streak === "separate";
  return ownStreak
    ? { ...counted, probeStreak: health.probeStreak + count }
    : { ...counted, streak: health.streak + count };
}

function streaksAfterSuccess(
  health: Health,
  source: EvidenceSource,
  params: HealthParams,
): { streak: number; probeStreak: number } {
  if (params.streak === "shared") return { streak: 0, probeStreak: 0 };
  return source === "probe"
    ? { streak: health.streak, probeStreak: 0 }
    : { streak: 0, probeStreak: health.probeStreak };
}

/** Traffic enters the window, probes never do (H5). */
function withOutcomes(
  health: Health,
  outcomes: { successes: number; failures: number },
  evidence: HealthEvidence,
  rules: HealthRules,
): Health {
  if (evidence.source === "probe") return health;
  const { windowMs } = rules.params;
  return { ...health, window: addToWindow(health.window, outcomes, { now: rules.now, windowMs }) };
}

/** The rule that a healthy record fulfils after a failure of `source`, if any (H2). */
function causeOf(health: Health, source: EvidenceSource, rules: HealthRules): EjectCause | undefined {
  const { params } = rules;
  const own = source === "probe" && params.streak === "separate";
  const streak = own ? health.probeStreak : health.streak;
  if (streak >= params.consecutiveFailures) return { rule: "streak", source, failures: streak };
  if (source === "probe") return undefined;
  const { failures, volume } = sumOfWindow(health.window, rules.now, params.windowMs);
  // A division, because 0.07 * 100 is more than 7, while 7 / 100 is just what "0.07" means.
  const fulfilled = volume >= params.failureMinVolume && failures / volume >= params.failureRatio;
  return fulfilled ? { rule: "ratio", failures, volume } : undefined;
}

function ejected(health: Health, rules: HealthRules, cause: EjectCause): Health {
  const steps = stepsLeft(health, rules);
  const ejectMs = Math.min(rules.params.ejectMs * 2 ** steps, rules.params.ejectMaxMs);
  return {
    ...freshHealth(health.epoch + 1, rules.now),
    state: "ejected",
    until: rules.now + ejectMs,
    ejections: health.ejections + 1,
    // Not beyond the longest time: else it would take quiet time for nothing to forget.
    steps: ejectMs < rules.params.ejectMaxMs ? steps + 1 : steps,
    cause,
  };
}

/** One step is forgotten per `eject_ms` spent healthy. */
function stepsLeft(health: Health, rules: HealthRules): number {
  if (health.state !== "healthy") return health.steps;
  const quiet = Math.floor((rules.now - health.since) / rules.params.ejectMs);
  return Math.max(0, health.steps - quiet);
}

/**
 * The rules for probe evidence (H5): the passive values with the active threshold in place of the passive one and the
 * ratio rule off.
 */
export function reportParams(health: HealthParams, active: ActiveParams): HealthParams {
  return { ...health, consecutiveFailures: active.failureThreshold, failureMinVolume: Infinity };
}

/** How many endpoints an upstream has, and how many of them are ejected or half_open. */
export interface EjectionGroup {
  readonly size: number;
  readonly out: number;
}

/**
 * Whether one more may be ejected (H14): the percentage (1..100) holds after the ejection, rounded down, but one of two
 * or more may always go.
 */
export function mayEject(group: EjectionGroup, maxEjectedPercent: number): boolean {
  const share = Math.floor((group.size * maxEjectedPercent) / 100);
  const most = group.size >= 2 ? Math.max(1, share) : share;
  return group.out < most;
}
