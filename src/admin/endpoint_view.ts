// The view of one endpoint: which reasons keep it out (H11), when and how it returns, and its numbers. Also the few
// spellings that all parts of the view share: times, rounded numbers, quantiles.

import { GATE, GATE_FIRM, reasonsOf } from "../core/board.ts";
import { sentenceOf, verdictOf } from "../core/outcome.ts";
import type { Endpoint, Upstream } from "../core/plan.ts";
import type { Evidence } from "../core/report.ts";
import type { Quantiles } from "./recent.ts";
import type { EndpointState, RunningState } from "./running_state.ts";
import { reasonSentence, returnSentence } from "./sentences.ts";
import type { EndpointView, EvidenceView, Reason } from "./view.ts";

/** The view of `endpoint`; one that has no state yet reads as healthy since this moment. */
export function endpointView(upstream: Upstream, endpoint: Endpoint, running: RunningState): EndpointView {
  const state = running.endpoints.get(endpoint.slot) ?? untouched(running);
  const reasons = reasonsFor(upstream, state);
  const sayable = { upstream, state, reasons };
  return {
    address: endpoint.key,
    weight: endpoint.weight,
    priority: endpoint.priority,
    source: endpoint.source,
    state: state.health,
    usable: reasons.length === 0,
    reasons,
    reason: reasonSentence(sayable),
    since: isoOf(state.sinceAt),
    returns_in_ms: returnsInMs(upstream, state, running.now),
    returns: returnSentence(sayable),
    streak: state.streak,
    in_flight: state.inFlight,
    ejections: state.ejections,
    would_eject: state.wouldEject,
    picks_total: state.picks,
    failures_total: state.failures.reduce((sum, failure) => sum + failure.count, 0),
    failures: state.failures,
    last: state.last === undefined ? null : evidenceView(state.last),
    probing: probingOf(upstream, state),
    rate_per_s: rounded(state.recent?.ratePerS ?? 0),
    rates: state.recent?.rates ?? [],
    ...quantileFields(state.recent?.quantiles(running.now) ?? { p50Ms: undefined, p99Ms: undefined }),
  };
}

function probingOf(upstream: Upstream, state: EndpointState): EndpointView["probing"] {
  if (upstream.activeHealth === undefined) return "off";
  return state.isProbeStopped === true ? "stopped" : "on";
}

/** What is known of an endpoint that has no record yet. */
function untouched(running: RunningState): EndpointState {
  return {
    health: "healthy",
    gate: 0,
    trials: 0,
    sinceAt: running.wallMs,
    streak: 0,
    ejections: 0,
    wouldEject: 0,
    inFlight: 0,
    picks: 0,
    failures: [],
  };
}

/** Why it may not be picked now (H11). half_open is a reason only while no trial permit is free; full comes from the number in flight. */
export function reasonsFor(upstream: Upstream, state: EndpointState): Reason[] {
  const onTrial = state.trials < (upstream.health?.halfOpenProbes ?? 1);
  const reasons = reasonsOf(onTrial ? state.gate & ~GATE.half_open : state.gate) as Reason[];
  if (state.inFlight >= (upstream.maxConnections ?? Infinity)) reasons.push("full");
  return reasons;
}

/** Null where no time is set: it is in, only probes readmit it, or an operator has the say. */
function returnsInMs(upstream: Upstream, state: EndpointState, now: number): number | null {
  const byProbesAlone = upstream.health?.recovery === "probes";
  const byOperator = (state.gate & GATE_FIRM) !== 0;
  if (state.health !== "ejected" || state.until === undefined || byProbesAlone || byOperator) return null;
  return millisUntil(state.until, now);
}

/** Evidence as the view shows it. */
export function evidenceView(evidence: Evidence): EvidenceView {
  return {
    at: isoOf(evidence.at),
    source: evidence.source,
    outcome: evidence.outcome,
    verdict: verdictOf(evidence.outcome),
    sentence: sentenceOf(evidence.outcome),
    detail: evidence.detail,
    duration_ms: rounded(evidence.durationMs),
    count: evidence.count,
  };
}

/** A wall clock moment, milliseconds since 1970, as ISO 8601 text in UTC. */
export function isoOf(wallMs: number): string {
  return new Date(wallMs).toISOString();
}

/** Whole milliseconds from `now` to `moment`, both monotonic; 0 when it has passed. */
export function millisUntil(moment: number, now: number): number {
  return Math.max(0, Math.round(moment - now));
}

/** Quantiles as fields of a view, null where nothing was timed lately. */
export function quantileFields(
  { p50Ms, p99Ms }: Quantiles,
): { p50_ms: number | null; p99_ms: number | null } {
  return {
    p50_ms: p50Ms === undefined ? null : rounded(p50Ms),
    p99_ms: p99Ms === undefined ? null : rounded(p99Ms),
  };
}

/** Two decimals below ten, one above: enough for people, and short in JSON. */
export function rounded(value: number): number {
  const scale = value < 10 ? 100 : 10;
  return Math.round(value * scale) / scale;
}
