// Each event as one sentence, its severity, and its JSON form. Sentences begin with a capital, have no full stop and name
// what happened first, so that a log can be read by its line beginnings.

import { formatDuration } from "./duration.ts";
import type { Ejection, EventKind, HaleEvent, TimedEvent } from "./event.ts";
import type { EjectCause } from "./health.ts";
import { sentenceOf, verdictOf } from "./outcome.ts";
import type { SessionRecord } from "./stats.ts";
import { counted } from "./words.ts";

/** How much an event matters. */
export type Severity = "debug" | "info" | "warning" | "error";

const SEVERITIES: Readonly<Record<EventKind, Severity>> = {
  endpoint_ejected: "warning",
  would_eject: "warning",
  ejection_withheld: "warning",
  endpoint_half_open: "info",
  endpoint_restored: "info",
  endpoint_operator: "info",
  all_down_entered: "error",
  all_down_left: "info",
  probe_threw: "error",
  probe_loop_stopped: "error",
  discovery_updated: "info",
  discovery_failed: "warning",
  discovery_recovered: "info",
  discovery_too_few: "warning",
  discovery_target_left_out: "warning",
  plan_taken: "info",
  plan_refused: "error",
  plan_unchanged: "info",
  listener_added: "info",
  listener_removed: "info",
  watch_failed: "warning",
  started: "info",
  admin_listening: "info",
  admin_waiting: "info",
  worker_started: "debug",
  worker_died: "error",
  loop_error: "error",
  accept_failed: "error",
  accept_recovered: "info",
  connections_full: "warning",
  handshakes_full: "warning",
  records_dropped: "warning",
  stalled: "warning",
  drain_begun: "info",
  drain_ended: "info",
  stopped: "info",
  session_ended: "info",
};

/** How much the event matters: a drain that cut sessions and a stop with an exit code matter more than others. */
export function severityOf(event: HaleEvent): Severity {
  if (event.kind === "drain_ended" && event.cut > 0) return "warning";
  if (event.kind === "stopped" && event.exitCode !== 0) return "error";
  return SEVERITIES[event.kind];
}

const RESTORED_BY = {
  probe: "its probes pass",
  traffic: "its trial went well",
  config: "its health rules were taken out of the config",
} as const;

type Sentences = {
  readonly [Kind in EventKind]: (event: Extract<HaleEvent, { readonly kind: Kind }>) => string;
};

const SENTENCES: Sentences = {
  endpoint_ejected: (event) => `Ejected ${nameOf(event)} ${ejectionText(event)}`,
  would_eject: (event) => `Would eject ${nameOf(event)} ${ejectionText(event)} (mode observe: it stays in)`,
  ejection_withheld: (event) =>
    `Kept ${nameOf(event)} in rotation although it fails: ${event.out} of ${event.size} are out already`,
  endpoint_half_open: (event) =>
    `${event.mode === "observe" ? "Would try" : "Trying"} ${nameOf(event)} again ` +
    `after ${formatDuration(event.ejectedMs)}: half_open`,
  endpoint_restored: (event) =>
    `${event.mode === "observe" ? "Would have restored" : "Restored"} ${nameOf(event)} ` +
    `after ${formatDuration(event.outMs)}: ${RESTORED_BY[event.by]}`,
  endpoint_operator: (event) => `Set ${nameOf(event)} to ${event.state}`,
  all_down_entered: allDownText,
  all_down_left: (event) =>
    `Upstream ${event.upstream} has a usable endpoint again after ${formatDuration(event.downMs)}`,
  probe_threw: (event) => `Probe of ${nameOf(event)} failed inside hale: ${event.message}`,
  probe_loop_stopped: (event) =>
    `Stopped probing ${
      nameOf(event)
    } until the next config edit, after three faults in a row: ${event.message}`,
  discovery_updated: (event) =>
    `Discovered ${event.total} endpoints of ${event.upstream} by ${event.hostname}: ` +
    changesText(event.added, event.removed),
  discovery_failed: (event) =>
    `Discovery of ${event.upstream} by ${event.hostname} failed: ${event.failure}` +
    (event.detail === "" ? "" : ` (${event.detail})`) +
    `, ${event.kept > 0 ? `keeping ${event.kept} endpoints` : "no endpoint is left"}` +
    `, next try in ${formatDuration(event.retryMs)}`,
  discovery_recovered: (event) =>
    `Discovery of ${event.upstream} by ${event.hostname} works again after ${formatDuration(event.failedMs)}`,
  discovery_too_few: (event) =>
    `Kept ${event.kept} endpoints of ${event.upstream}: ${event.hostname} gave ${event.got}, ` +
    `wanted at least ${event.minEndpoints}`,
  discovery_target_left_out: (event) =>
    `Left out ${event.target} of ${event.upstream}: it does not resolve (${event.failure})`,
  plan_taken: (event) =>
    `Took config generation ${event.generation} (${event.trigger}): ${
      counted(event.listeners, "listener")
    }, ` +
    `${counted(event.upstreams, "upstream")}, ${counted(event.endpoints, "endpoint")}${
      editText(event.changes)
    }`,
  plan_refused: (event) =>
    `Refused the config (${event.trigger}), what runs goes on: ${event.problems.join("; ")}`,
  plan_unchanged: (event) => `Nothing to take from the config (${event.trigger}): it is what runs`,
  listener_added: (event) => `Listening on ${event.address} for ${event.listener}`,
  listener_removed: (event) => `Stopped listening on ${event.address} for ${event.listener}`,
  watch_failed: (event) => `Cannot watch ${event.path}, polling goes on: ${event.message}`,
  started: (event) =>
    `hale ${event.version} is ready: ${event.workers} ${
      event.workers === 1 ? "worker" : "workers"
    }, process ${event.pid}`,
  admin_waiting: (event) => `Admin will listen on ${event.address} once the hale before has let go of it`,
  admin_listening: (event) => `Admin listens on http://${event.address}/`,
  worker_started: (event) => `Started worker ${event.worker}`,
  worker_died: (event) =>
    `Worker ${event.worker} died (${event.deathsInMinute} within a minute), starting another: ${event.message}`,
  loop_error: (event) => `Fault in ${event.thread}, it goes on: ${event.message}`,
  accept_failed: (event) =>
    `Cannot accept on ${event.listener} in worker ${event.worker}, trying on: ${event.code}`,
  accept_recovered: (event) => `Accepting on ${event.listener} in worker ${event.worker} again`,
  connections_full: (event) => `Reached limits.max_connections ${event.maxConnections}: new connections wait`,
  handshakes_full: (event) =>
    `Reached ${event.maxHandshakes} unfinished TLS handshakes, the most for limits.max_connections ` +
    `${event.maxConnections}: new TLS clients wait, others do not`,
  records_dropped: (event) => `Dropped ${event.count} access log lines: more sessions than can be logged`,
  stalled: (event) => `Thread ${event.thread} was stalled for ${formatDuration(event.lagMs)}`,
  drain_begun: (event) =>
    `Draining (${event.reason}): ${event.sessions} sessions, accepting for ` +
    `${formatDuration(event.acceptMs)}, cut after ${formatDuration(event.timeoutMs)}`,
  drain_ended: (event) =>
    event.cut === 0
      ? `Drained in ${formatDuration(event.tookMs)}: all sessions ended by themselves`
      : `Drained in ${formatDuration(event.tookMs)}: cut ${event.cut} sessions`,
  stopped: (event) =>
    `Stopped with exit code ${event.exitCode}${event.message === "" ? "" : `: ${event.message}`}`,
  session_ended: ({ session }) => sessionText(session),
};

/** Most changes of an edit that its line in the log names. */
const CHANGES_TOLD = 12;

function editText(changes: readonly string[] | undefined): string {
  if (changes === undefined || changes.length === 0) return "";
  const more = changes.length > CHANGES_TOLD ? `; and ${changes.length - CHANGES_TOLD} more` : "";
  return `: ${changes.slice(0, CHANGES_TOLD).join("; ")}${more}`;
}

/** The event as one sentence. */
export function textOf(event: HaleEvent): string {
  // The table has for each kind the function of that kind; the compiler cannot follow that through the index.
  return (SENTENCES[event.kind] as (event: HaleEvent) => string)(event);
}

/** The event as JSON: its data, named in snake_case as everywhere in hale's JSON, with severity and sentence. */
export function jsonOf(event: TimedEvent): string {
  const { at, kind, ...data } = event;
  const head = { at: new Date(at).toISOString(), severity: severityOf(event), kind, text: textOf(event) };
  return JSON.stringify({ ...head, ...(snakeCased(data) as object) });
}

/** Names as everywhere in hale's JSON, numbers to the microsecond: more digits are noise. */
function snakeCased(value: unknown): unknown {
  if (typeof value === "number") return Math.round(value * 1000) / 1000;
  if (Array.isArray(value)) return value.map(snakeCased);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snake(key), snakeCased(inner)]));
}

function snake(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Why an endpoint was ejected: "5 connect failures in a row, last: refused (ECONNREFUSED)". */
export function causeText(
  ejection: {
    readonly cause: EjectCause;
    readonly noun: string;
    readonly outcome: string;
    readonly detail: string;
  },
): string {
  const { cause, noun } = ejection;
  const { outcome, detail } = ejection;
  // Details of refused connections begin with the outcome's own word.
  const says = detail === "" || detail.startsWith(outcome);
  const last = says ? detail || outcome : `${outcome} (${detail})`;
  switch (cause.rule) {
    case "streak":
      return cause.failures === 1
        ? `1 ${noun}: ${last}`
        : `${cause.failures} ${plural(noun)} in a row, last: ${last}`;
    case "ratio":
      return `${cause.failures} of ${cause.volume} attempts failed, last: ${last}`;
    case "trial":
      return `its trial failed: ${last}`;
  }
}

function plural(noun: string): string {
  return noun.endsWith("s") ? `${noun}es` : `${noun}s`;
}

function ejectionText(event: Ejection): string {
  const until = event.recovery === "probes"
    ? "until its probes pass"
    : `for ${formatDuration(event.ejectMs)}`;
  return `${until}: ${causeText(event)}`;
}

function allDownText(event: Extract<HaleEvent, { kind: "all_down_entered" }>): string {
  const out = `${event.ejected} ejected` + (event.held > 0 ? `, ${event.held} held back by people` : "");
  const then = event.policy === "fail_open" && event.ejected > 0
    ? "ejected ones are used all the same (fail_open)"
    : "clients get no endpoint";
  return `Upstream ${event.upstream} has no usable endpoint (${out}): ${then}`;
}

function changesText(added: readonly string[], removed: readonly string[]): string {
  const parts = [];
  if (added.length > 0) parts.push(`added ${added.join(", ")}`);
  if (removed.length > 0) parts.push(`removed ${removed.join(", ")}`);
  return parts.length === 0 ? "same as before" : parts.join("; ");
}

function sessionText(session: SessionRecord): string {
  const where = session.endpoint === "" ? session.upstream : `${session.upstream}/${session.endpoint}`;
  const { http } = session;
  const what = http !== undefined
    ? ` "${http.method} ${http.host}${http.target}" ${http.status}`
    : session.protocol === "http"
    ? " TLS handshake"
    : "";
  const to = where === "" ? "" : ` -> ${where}`;
  return `${session.listener} ${session.client}${what}${to}: ${sessionEnd(session)}, ` +
    `${session.bytesUp} bytes up, ${session.bytesDown} down, ${formatDuration(session.durationMs)}` +
    (session.attempts > 1 ? `, ${session.attempts} attempts` : "");
}

function sessionEnd(session: SessionRecord): string {
  return verdictOf(session.outcome) === "success" ? session.outcome : sentenceOf(session.outcome);
}

function nameOf(event: { readonly upstream: string; readonly endpoint: string }): string {
  return `${event.upstream}/${event.endpoint}`;
}
