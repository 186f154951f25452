// What control hands to the admin room so that a view can be made: plain read-only records, gathered in one go at one
// moment. The plan says what there is; the maps add the numbers, by slot and by name. An entry that is missing reads
// as "nothing has happened yet", so control need not fill in zeros.

import type { HealthState } from "../core/health.ts";
import type { Limits, Plan } from "../core/plan.ts";
import type { Evidence } from "../core/report.ts";
import type { PlaneStats } from "../core/stats.ts";
import type { Counts, FailureView, Phase, ProblemView } from "./view.ts";
import type { Recent } from "./recent.ts";

/** The running state at one moment. Fields called `...At` are wall clock, milliseconds since 1970. */
export interface RunningState {
  readonly version: string;
  /** Monotonic milliseconds; `startedAt`, `until` and `nextRefresh` are on the same scale. */
  readonly now: number;
  readonly wallMs: number;
  /** Monotonic moment at which the process began. */
  readonly startedAt: number;
  readonly phase: Phase;
  /** Absent before the first plan. */
  readonly plan?: Plan;
  readonly limits: Limits;
  readonly config: ConfigState;
  readonly workers: readonly WorkerState[];
  /** All restarts since the start, also of workers that are no more. */
  readonly workerRestarts: number;
  /** What the workers counted about listeners and upstreams, added up. */
  readonly stats: PlaneStats;
  /** By upstream name: what main knows beside the plan and the stats. */
  readonly upstreams: ReadonlyMap<string, UpstreamState>;
  /** By slot. */
  readonly endpoints: ReadonlyMap<number, EndpointState>;
  /** Last known loop lag of the main thread, milliseconds. */
  readonly mainLoopLagMs: number;
  readonly process: ProcessState;
}

/** The config in force and the last try to change it. */
export interface ConfigState {
  /** Of the bytes in force; empty before the first plan. */
  readonly hash: string;
  readonly loadedAt?: number;
  readonly lastAttempt?: {
    readonly at: number;
    readonly ok: boolean;
    /** Config problems and failed binds alike. */
    readonly problems: readonly ProblemView[];
  };
  readonly reloads: { readonly accepted: number; readonly refused: number; readonly unchanged: number };
}

/** One worker thread. */
export interface WorkerState {
  readonly id: number;
  readonly sessions: number;
  readonly restarts: number;
  readonly loopLagMs: number;
}

/** Numbers of an upstream that outlive its endpoints. */
export interface UpstreamState {
  readonly failOpenPicks: number;
  /** By probe outcome. */
  readonly probes: Counts;
  readonly discovery?: DiscoveryState;
}

/** Discovery of one upstream. */
export interface DiscoveryState {
  /** The last failure, unless a refresh has succeeded since. */
  readonly failure?: string;
  /** Since when it is well or failing; absent before the first answer. */
  readonly sinceAt?: number;
  readonly ttlMs?: number;
  /** Monotonic moment of the next query. */
  readonly nextRefresh?: number;
  /** Anything else worth a line: "kept 3 endpoints, the answer had 1 of at least 2". */
  readonly note?: string;
  readonly refreshes: number;
  readonly failures: Counts;
}

/** One endpoint: what the health keeper knows of it, and its numbers on the board and the tallies. */
export interface EndpointState {
  readonly health: HealthState;
  /** As on the board: a set of `GATE` bits. */
  readonly gate: number;
  /** Trial permits taken now, as on the board. */
  readonly trials: number;
  /** When the present state, operator states included, began. */
  readonly sinceAt: number;
  /** Monotonic end of an ejection. */
  readonly until?: number;
  /** What caused the present state: "5 connect failures in a row, last: refused". */
  readonly cause?: string;
  readonly streak: number;
  readonly ejections: number;
  readonly wouldEject: number;
  readonly inFlight: number;
  readonly picks: number;
  readonly failures: readonly FailureView[];
  readonly last?: Evidence;
  /** Its probe loop has stopped after faults of hale itself (P6). */
  readonly isProbeStopped?: boolean;
  /** Rate and latency of the last minutes, when control keeps them. */
  readonly recent?: Recent;
}

/** Numbers of the process; absent where the platform does not tell. */
export interface ProcessState {
  readonly startedAtWall: number;
  readonly cpuSeconds?: number;
  readonly residentBytes?: number;
  readonly openDescriptors?: number;
  readonly maxDescriptors?: number;
}
