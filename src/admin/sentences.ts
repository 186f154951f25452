// The sentences that tell people why an endpoint is out and what brings it back. One place, so that page, command line
// and API say the same. They hold no times: those are numbers in the view, and whoever shows them counts down.

import { sentenceOf } from "../core/outcome.ts";
import type { UpstreamPolicy } from "../core/plan.ts";
import type { EndpointState } from "./running_state.ts";
import type { Reason } from "./view.ts";

/** What there is to say about one endpoint. */
export interface Sayable {
  readonly upstream: UpstreamPolicy;
  readonly state: EndpointState;
  readonly reasons: readonly Reason[];
}

/** Why it is out, on trial, or would be out, and that it is not probed any more; empty for one that is simply well. */
export function reasonSentence(endpoint: Sayable): string {
  const health = healthSentence(endpoint);
  if (endpoint.state.isProbeStopped !== true) return health;
  return `${health === "" ? "" : `${health}; `}probing has stopped after three faults of hale itself`;
}

function healthSentence(endpoint: Sayable): string {
  const parts = endpoint.reasons.map((reason) => sayReason(reason, endpoint));
  if (parts.length > 0) return parts.join("; ");
  if (endpoint.state.health === "half_open") return `on trial: ${causeOf(endpoint)}`;
  if (endpoint.state.health === "ejected") return `would be out (mode observe): ${causeOf(endpoint)}`;
  return "";
}

function sayReason(reason: Reason, endpoint: Sayable): string {
  switch (reason) {
    case "ejected":
      return causeOf(endpoint);
    case "half_open":
      return `on trial, ${trialsOf(endpoint.upstream)} taken: ${causeOf(endpoint)}`;
    case "drained":
      return "drained by an operator: no new work, the old may finish";
    case "maintenance":
      return "in maintenance, set by an operator";
    case "removed":
      return "no longer in the plan";
    case "full":
      return `full: ${endpoint.state.inFlight} in flight of at most ${endpoint.upstream.maxConnections}`;
  }
}

function trialsOf(upstream: UpstreamPolicy): string {
  const permits = upstream.health?.halfOpenProbes ?? 1;
  return permits === 1 ? "its only place" : `all ${permits} places`;
}

function causeOf({ state }: Sayable): string {
  if (state.cause !== undefined) return state.cause;
  if (state.last === undefined) return "failed too often";
  const detail = state.last.detail === "" ? "" : ` (${state.last.detail})`;
  return `last evidence: ${sentenceOf(state.last.outcome)}${detail}`;
}

/** What has to happen until it may be picked again, as it goes on after "Returns"; empty for one that is in. */
export function returnSentence(endpoint: Sayable): string {
  const { reasons } = endpoint;
  if (reasons.includes("removed")) return "never, unless the plan names it again";
  const parts: string[] = [];
  if (reasons.includes("drained") || reasons.includes("maintenance")) {
    parts.push("when an operator sets it ready");
  }
  const observing = endpoint.upstream.health?.mode === "observe";
  if (endpoint.state.health !== "healthy" && !observing) parts.push(sayRecovery(endpoint));
  if (reasons.includes("full")) parts.push("when one of its sessions ends");
  return parts.join(", and ");
}

function sayRecovery({ upstream, state }: Sayable): string {
  const probes = `after ${goodProbes(upstream)}`;
  const recovery = upstream.health?.recovery ?? "timer";
  if (recovery === "probes") return probes;
  const either = recovery === "either" && upstream.activeHealth !== undefined;
  if (state.health === "half_open") {
    return either ? `after one good answer, or ${probes}` : "after one good answer";
  }
  return either ? `on trial when its time is over, or sooner ${probes}` : "on trial when its time is over";
}

function goodProbes(upstream: UpstreamPolicy): string {
  const count = upstream.activeHealth?.successThreshold ?? 1;
  return count === 1 ? "1 good probe" : `${count} good probes in a row`;
}
