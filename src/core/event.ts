// Everything that is worth telling, as values: one kind of event per thing that can happen, with its data. Whoever sees
// it happen emits it; event_text.ts has the sentence and the severity; where it goes (log, page, stream) is the admin
// room's business. Evidence is not an event: only what it leads to is.

import type { EjectCause } from "./health.ts";
import type { Outcome } from "./outcome.ts";
import type { HealthParams } from "./plan.ts";
import type { EvidenceSource } from "./report.ts";
import type { SessionRecord } from "./stats.ts";

/** What happened, without its time. Fields called `...Ms` are milliseconds. */
export type HaleEvent =
  | HealthEvent
  | DiscoveryEvent
  | PlanEvent
  | ProcessEvent
  | ProbeEvent
  | { readonly kind: "session_ended"; readonly session: SessionRecord };

/** An event with its moment. */
export type TimedEvent = HaleEvent & {
  /** Wall clock, milliseconds since 1970. */
  readonly at: number;
};

/** Takes an event to wherever events go. Must not throw. */
export type Emit = (event: HaleEvent) => void;

/** States that people set. */
export type OperatorState = "ready" | "drain" | "maintenance";

/** An endpoint and the upstream it belongs to. */
export interface EndpointName {
  readonly upstream: string;
  /** The endpoint's key: "10.0.0.2:5432". */
  readonly endpoint: string;
}

/** What ejected an endpoint, or would have. */
export interface Ejection extends EndpointName {
  readonly cause: EjectCause;
  /** What the counted failures were: "connect failure", or "failure" when they were of several kinds. */
  readonly noun: string;
  readonly outcome: Outcome;
  readonly detail: string;
  readonly ejectMs: number;
  /** How often it has been ejected, this time included. */
  readonly ejections: number;
  readonly recovery: HealthParams["recovery"];
}

interface Observed {
  /** "observe": it was in rotation all the time (H12). */
  readonly mode: HealthParams["mode"];
}

/** Health of endpoints and upstreams. */
export type HealthEvent =
  | { readonly kind: "endpoint_ejected" } & Ejection
  /** `mode: observe` (H12): everything but the gate. */
  | { readonly kind: "would_eject" } & Ejection
  /** `max_ejected_percent` kept it in rotation. Told once until it is well again or ejected. */
  | { readonly kind: "ejection_withheld"; readonly out: number; readonly size: number } & EndpointName
  | { readonly kind: "endpoint_half_open"; readonly ejectedMs: number } & EndpointName & Observed
  | {
    readonly kind: "endpoint_restored";
    /** Whose success it was; "config": its health rules were taken out of the config. */
    readonly by: EvidenceSource | "config";
    readonly outMs: number;
  }
    & EndpointName
    & Observed
  | { readonly kind: "endpoint_operator"; readonly state: OperatorState } & EndpointName
  /** No endpoint of the upstream is usable (H8). */
  | {
    readonly kind: "all_down_entered";
    readonly upstream: string;
    readonly policy: HealthParams["allDown"];
    /** How many are out for their health, so that fail_open may use them. */
    readonly ejected: number;
    /** How many people took out. */
    readonly held: number;
  }
  | { readonly kind: "all_down_left"; readonly upstream: string; readonly downMs: number };

/** Active probes. */
export type ProbeEvent =
  /** A probe of ours threw: our fault, so it charges nobody (P6). */
  | { readonly kind: "probe_threw"; readonly message: string; readonly inRow: number } & EndpointName
  /** Three in a row: no more probes of this endpoint until the next plan. */
  | { readonly kind: "probe_loop_stopped"; readonly message: string } & EndpointName;

/** Discovery of one upstream. */
export type DiscoveryEvent =
  | {
    readonly kind: "discovery_updated";
    readonly upstream: string;
    readonly hostname: string;
    /** Endpoint keys. */
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly total: number;
    readonly ttlMs: number;
  }
  | {
    readonly kind: "discovery_failed";
    readonly upstream: string;
    readonly hostname: string;
    /** timeout, servfail, refused, nxdomain, nodata, not_offered, malformed, unreachable, own_limit. */
    readonly failure: string;
    readonly detail: string;
    /** Endpoints that stay in use (fail_open); 0: the set was or is empty. */
    readonly kept: number;
    readonly retryMs: number;
  }
  | {
    readonly kind: "discovery_recovered";
    readonly upstream: string;
    readonly hostname: string;
    readonly failedMs: number;
  }
  /** The answer had fewer than `min_endpoints`; the set before it stays (D5). */
  | {
    readonly kind: "discovery_too_few";
    readonly upstream: string;
    readonly hostname: string;
    readonly got: number;
    readonly minEndpoints: number;
    readonly kept: number;
  }
  /** An SRV target was left out because it does not resolve (D2). */
  | {
    readonly kind: "discovery_target_left_out";
    readonly upstream: string;
    readonly hostname: string;
    readonly target: string;
    readonly failure: string;
  };

/** What led to reading the config. */
export type ReloadTrigger = "start" | "watch" | "poll" | "signal";

/** Config and plan. */
export type PlanEvent =
  | {
    readonly kind: "plan_taken";
    readonly generation: number;
    readonly hash: string;
    readonly trigger: ReloadTrigger;
    readonly listeners: number;
    readonly upstreams: number;
    readonly endpoints: number;
    /** What is different from the config before, a line each; absent for the first one. */
    readonly changes?: readonly string[];
  }
  /** What ran before goes on. Each problem is one line, as `hale check` prints it, or a failed bind with its address. */
  | { readonly kind: "plan_refused"; readonly trigger: ReloadTrigger; readonly problems: readonly string[] }
  /** The files hold what runs: somebody asked, or took a refused edit back. */
  | { readonly kind: "plan_unchanged"; readonly trigger: ReloadTrigger }
  | { readonly kind: "listener_added"; readonly listener: string; readonly address: string }
  | { readonly kind: "listener_removed"; readonly listener: string; readonly address: string }
  | { readonly kind: "watch_failed"; readonly path: string; readonly message: string };

/** The process and its threads. */
export type ProcessEvent =
  | { readonly kind: "started"; readonly version: string; readonly workers: number; readonly pid: number }
  | { readonly kind: "admin_listening"; readonly address: string }
  /** Started beside another hale, which still has the admin address. */
  | { readonly kind: "admin_waiting"; readonly address: string }
  | { readonly kind: "worker_started"; readonly worker: number }
  | {
    readonly kind: "worker_died";
    readonly worker: number;
    readonly message: string;
    /** Deaths of workers within the last minute, this one included. */
    readonly deathsInMinute: number;
  }
  /** A worker's loop threw and goes on: a fault of ours. */
  | { readonly kind: "loop_error"; readonly thread: string; readonly message: string }
  /** Told once; accepting goes on with pauses. */
  | {
    readonly kind: "accept_failed";
    readonly listener: string;
    readonly worker: number;
    readonly code: string;
  }
  | { readonly kind: "accept_recovered"; readonly listener: string; readonly worker: number }
  /** `limits.max_connections` is reached; told once until a tenth of the places is free again. */
  | { readonly kind: "connections_full"; readonly maxConnections: number }
  /** Half of the places are taken by TLS clients whose handshake has not ended; told once, as `connections_full`. */
  | { readonly kind: "handshakes_full"; readonly maxHandshakes: number; readonly maxConnections: number }
  | { readonly kind: "records_dropped"; readonly count: number }
  /** A thread of ours did nothing for a second or more: nobody else is to blame for what timed out meanwhile. */
  | { readonly kind: "stalled"; readonly thread: string; readonly lagMs: number }
  | {
    readonly kind: "drain_begun";
    readonly reason: string;
    readonly sessions: number;
    readonly acceptMs: number;
    readonly timeoutMs: number;
  }
  | { readonly kind: "drain_ended"; readonly cut: number; readonly tookMs: number }
  | { readonly kind: "stopped"; readonly exitCode: number; readonly message: string };

/** The name of one kind of event. */
export type EventKind = HaleEvent["kind"];
