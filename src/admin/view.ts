// The one read-only view of the running state, in the shape in which `/status` gives it: plain JSON with snake_case
// keys, stable for scripts (fields may be added). Page, metrics and command line read nothing else. Where it comes
// from is view_of.ts; what control hands in is running_state.ts.

import type { HealthState } from "../core/health.ts";

/** Counts by name; every count is 0 or more and only grows while the process lives. */
export type Counts = Readonly<Record<string, number>>;

/** The whole state at one moment. */
export interface View {
  readonly version: string;
  /** The moment of this view, ISO 8601 in UTC, as are all times below that are text. */
  readonly at: string;
  readonly uptime_ms: number;
  readonly phase: Phase;
  /** 0 before the first plan. */
  readonly generation: number;
  readonly config: ConfigView;
  readonly limits: LimitsView;
  readonly workers: readonly WorkerView[];
  readonly listeners: readonly ListenerView[];
  readonly upstreams: readonly UpstreamView[];
  /** What went wrong without being the doing of an endpoint, by cause. */
  readonly not_charged: Counts;
  readonly process: ProcessView;
}

/** Where the process is in its life: before the first plan, serving, or told to stop. */
export type Phase = "starting" | "running" | "draining";

/** What `/readyz` tells: 200 when ready, else 503. */
export interface Readiness {
  readonly ready: boolean;
  readonly phase: Phase;
  /** Upstreams none of whose endpoints may be picked now. They do not make the whole unready. */
  readonly without_usable_endpoint: readonly string[];
}

/** The config in force and the last try to change it. */
export interface ConfigView {
  /** Of the bytes of all files in force; empty before the first plan. */
  readonly hash: string;
  /** Null before the first plan. */
  readonly loaded_at: string | null;
  readonly last_attempt: {
    /** Null when there was none. */
    readonly at: string | null;
    readonly ok: boolean;
    readonly problems: readonly ProblemView[];
  };
  /** How many tries ended in which way: accepted, refused, unchanged. */
  readonly reloads: Counts;
}

/** One fault in a config. A failed bind has no place in a file: then `file` is empty, line and column are 0. */
export interface ProblemView {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  readonly path: string;
  readonly message: string;
}

/** Client connections now and at most, over all workers. */
export interface LimitsView {
  readonly sessions: number;
  readonly max_connections: number;
}

/** One worker thread. */
export interface WorkerView {
  readonly id: number;
  readonly sessions: number;
  readonly restarts: number;
  /** How late the worker's event loop last ran, milliseconds. */
  readonly loop_lag_ms: number;
}

/** One listener, its numbers summed over workers. */
export interface ListenerView {
  readonly name: string;
  readonly address: string;
  readonly protocol: "tcp" | "http";
  readonly sessions: number;
  readonly accepted_total: number;
  /** Ended sessions by outcome. */
  readonly sessions_total: Counts;
  /** Bytes from and to clients. */
  readonly bytes_received: number;
  readonly bytes_sent: number;
}

/** One upstream with its endpoints. */
export interface UpstreamView {
  readonly name: string;
  readonly protocol: "tcp" | "http1" | "https";
  readonly load_balancer: string;
  /** Endpoints that may be picked now, of `total`. */
  readonly usable: number;
  readonly total: number;
  /** Whether all are ejected and picks go over the whole set all the same (H8). */
  readonly fail_open: boolean;
  readonly fail_open_picks_total: number;
  /** Sessions and exchanges for which there was no endpoint. */
  readonly no_endpoint_total: number;
  /** off: no `health` block. observe: ejections are only noted (H12). */
  readonly health: "off" | "enforce" | "observe";
  readonly rate_per_s: number;
  /** Null when nothing was timed lately. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly probes_total: Counts;
  /** Answers by class of status: 1xx .. 5xx. */
  readonly responses_total: Counts;
  /** Durations of exchanges; absent where none are measured. */
  readonly exchange_seconds?: HistogramView;
  readonly discovery?: DiscoveryView;
  readonly endpoints: readonly EndpointView[];
}

/** A histogram as Prometheus wants it: buckets are cumulative, the last one (all) is `count`. */
export interface HistogramView {
  readonly buckets: readonly (readonly [le: number, count: number])[];
  readonly sum: number;
  readonly count: number;
}

/** Discovery of one upstream. */
export interface DiscoveryView {
  readonly hostname: string;
  readonly record_type: string;
  readonly state: "ok" | "failing";
  /** Kind of failure (D4); null when all is well. */
  readonly failure: string | null;
  /** Since when it is in this state; null before the first answer. */
  readonly since: string | null;
  readonly ttl_ms: number | null;
  readonly next_refresh_ms: number | null;
  /** What else there is to say: a set that was kept, a target that was left out. May be empty. */
  readonly note: string;
  readonly refreshes_total: number;
  readonly failures_total: Counts;
}

/** Why an endpoint may not be picked (H11). */
export type Reason = "ejected" | "half_open" | "drained" | "maintenance" | "removed" | "full";

/** One endpoint. */
export interface EndpointView {
  readonly address: string;
  readonly weight: number;
  readonly priority: number;
  readonly source: "static" | "discovered";
  readonly state: HealthState;
  /** Whether a pick may take it now: true exactly when there are no reasons. */
  readonly usable: boolean;
  readonly reasons: readonly Reason[];
  /** One line for people on why it is out or on trial; empty when there is nothing to say. */
  readonly reason: string;
  readonly since: string;
  /** When it may be tried again at the earliest; null when no time is set. */
  readonly returns_in_ms: number | null;
  /** What has to happen for it to return, goes on after "Returns"; empty when it is in. */
  readonly returns: string;
  readonly streak: number;
  readonly in_flight: number;
  readonly ejections: number;
  /** Ejections that `mode: observe` only noted. */
  readonly would_eject: number;
  readonly picks_total: number;
  readonly failures_total: number;
  readonly failures: readonly FailureView[];
  readonly last: EvidenceView | null;
  /** off: no `active_health`. stopped: hale's own probe failed three times in a row; until the next plan. */
  readonly probing: "off" | "on" | "stopped";
  readonly rate_per_s: number;
  /** Picks per second over the last minute, oldest first, in steps of two seconds; empty when there were none. */
  readonly rates: readonly number[];
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
}

/** How often an endpoint failed in one way. */
export interface FailureView {
  readonly source: "traffic" | "probe";
  readonly outcome: string;
  readonly count: number;
}

/** One piece of evidence; `count` equal ones in a row are one. */
export interface EvidenceView {
  readonly at: string;
  readonly source: "traffic" | "probe";
  readonly outcome: string;
  readonly verdict: "success" | "failure" | "none";
  /** Goes on after the endpoint's name: "refused the connection". */
  readonly sentence: string;
  readonly detail: string;
  readonly duration_ms: number;
  readonly count: number;
}

/** Numbers of the process; null where the platform does not tell. */
export interface ProcessView {
  readonly started_at: string;
  readonly cpu_seconds: number | null;
  readonly resident_bytes: number | null;
  readonly open_descriptors: number | null;
  readonly max_descriptors: number | null;
  readonly worker_restarts_total: number;
  readonly loop_lag_seconds: Counts;
}

/** Why an endpoint is where it is (H13): the answer to `/upstreams/{u}/endpoints/{e}/why`. */
export interface WhyView extends EndpointView {
  readonly upstream: string;
  /** The moment of this answer. */
  readonly now: string;
  /** The last pieces of evidence, at most 32, newest first. */
  readonly evidence: readonly EvidenceView[];
}
