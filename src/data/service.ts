// What every session of a worker stands on: time, buffers, picking, dialing, counting. One object per worker; nothing
// in it belongs to one session.

import type { Clock } from "../core/clock.ts";
import type { Plan } from "../core/plan.ts";
import type { SessionRecord } from "../core/stats.ts";
import type { TimerWheel } from "../core/wheel.ts";
import type { BufferPool } from "../net/buffers.ts";
import type { Deadlines } from "../net/deadline.ts";
import type { AcceptedConn } from "../net/firm_close.ts";
import type { Handshakes } from "../net/handshakes.ts";
import type { Dialed, DialFailure, DialOptions, DialTarget } from "../net/dial.ts";
import type { Picker } from "./pick.ts";
import type { Reporter } from "./reporter.ts";
import type { Counts } from "./counts.ts";

/** A connection as accepted. */
export type ClientConn = AcceptedConn;

/** Opens a connection to an endpoint; never rejects. */
export type Dial = (target: DialTarget, options: DialOptions) => Promise<Dialed | DialFailure>;

/** The common ground of all sessions of one worker. */
export interface Service {
  /** The plan in force; a session notes it when it begins. */
  readonly plan: Plan;
  readonly clock: Clock;
  readonly wheel: TimerWheel;
  readonly buffers: BufferPool;
  readonly reporter: Reporter;
  readonly counts: Counts;
  readonly dial: Dial;
  readonly resolveHost: DialOptions["resolveHost"];
  /** For dials: connections come in numbers. */
  readonly deadlines: Deadlines;
  readonly handshakes: Handshakes;
  /** The picker of an upstream; undefined: the plan in force has none of that name. */
  picker(upstream: string): Picker | undefined;
  /** A discovered endpoint could not be reached (D10). */
  unreached(slot: number): void;
  /** The longest stall of this thread that reached into the time since `from`, milliseconds; 0: none (P5). */
  longestStallSince(from: number): number;
  /** One session or exchange has ended (T5). */
  record(record: SessionRecord): void;
  /** Set once the worker takes no new work. */
  readonly draining: boolean;
}

/** One client connection, as the plane sees it. */
export interface Session {
  /** Name of the listener it came in by. */
  readonly listener: string;
  /** Slot of the endpoint it is connected to; -1: none at the moment. */
  readonly slot: number;
  /** Serves the connection to its end. Never rejects for what peers do. */
  serve(): Promise<void>;
  /** No new work after what is under way: an idle kept connection closes now. */
  drain(): void;
  /** Ends it now. */
  cut(outcome: "drained"): void;
}
