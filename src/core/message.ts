// The messages between main and a worker. Plain data only: they travel by postMessage. Every request that needs an
// answer carries an `id` which the answer repeats.

import type { BoardMemory } from "./board.ts";
import type { Listener, Plan } from "./plan.ts";
import type { Run } from "./report.ts";
import type { PlaneStats, SessionRecord } from "./stats.ts";

/** What main tells a worker. */
export type ToWorker =
  | {
    readonly type: "start";
    readonly worker: number;
    readonly board: BoardMemory;
    readonly tally: BoardMemory;
    /** Of client connections, and of TLS handshakes with clients. */
    readonly permits: SharedArrayBuffer;
    readonly handshakePermits: SharedArrayBuffer;
    /** Whether sockets are bound beside those of other workers. */
    readonly reusePort: boolean;
  }
  /** Bind these listeners, but accept nothing yet. Answer: bound. */
  | { readonly type: "prepare"; readonly id: number; readonly listeners: readonly Listener[] }
  /** The prepared listeners will not be used. */
  | { readonly type: "abandon" }
  /** The plan from now on. Listeners that are not in it retire. Answer: taken. */
  | {
    readonly type: "plan";
    readonly id: number;
    readonly plan: Plan;
    readonly board: BoardMemory;
    readonly tally: BoardMemory;
    /** Listeners that retire and endpoints that left are cut after this long; absent: never. */
    readonly retireMs?: number;
  }
  /** Stop accepting (after the kernel's queue is empty), close idle connections. Answer: drained. */
  | { readonly type: "drain"; readonly id: number }
  /** Cut every session that is left. Answer: cut, with how many there were. */
  | { readonly type: "cut"; readonly id: number }
  /** Answer: stats. */
  | { readonly type: "stats"; readonly id: number };

/** What a worker tells main. */
export type FromWorker =
  /** The first message: the thread runs. */
  | { readonly type: "ready" }
  | { readonly type: "bound"; readonly id: number; readonly failure?: BindFailure }
  | { readonly type: "taken"; readonly id: number }
  | { readonly type: "drained"; readonly id: number }
  | { readonly type: "cut"; readonly id: number; readonly sessions: number }
  | { readonly type: "stats"; readonly id: number; readonly stats: PlaneStats }
  | { readonly type: "evidence"; readonly runs: readonly Run[] }
  | { readonly type: "sessions"; readonly records: readonly SessionRecord[]; readonly dropped: number }
  /** A discovered endpoint could not be reached: ask DNS early (D10). */
  | { readonly type: "unreached"; readonly slot: number }
  | {
    readonly type: "accept_trouble";
    readonly listener: string;
    readonly code: string;
    readonly over: boolean;
  }
  /** The limit of client connections, or of their TLS handshakes, is reached, or there is good room again. */
  | { readonly type: "full"; readonly of: "connections" | "handshakes"; readonly over: boolean }
  /** This worker did nothing for so long, milliseconds; `TOLD_STALL_MS` or more. */
  | { readonly type: "stalled"; readonly lagMs: number }
  | { readonly type: "loop_error"; readonly message: string };

/** A listener that could not be bound. */
export interface BindFailure {
  readonly listener: string;
  readonly address: string;
  readonly code: string;
  readonly message: string;
}
