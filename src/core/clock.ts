// Time and chance come in from outside, so that every rule about them can be tried without waiting.
// This file only says their shapes; the real clock is net/system_clock.ts, the fake ones in tests/support.

/** A source of time. All rules about durations use `now`; only logs and pages use `wallMs`. */
export interface Clock {
  /** Monotonic milliseconds since some fixed moment (H15). Never steps back, whatever the wall clock does. */
  now(): number;
  /** Milliseconds since the Unix epoch, for people to read. May step. */
  wallMs(): number;
  /** Resolves after `ms` (0 or more). Rejects with the signal's reason as soon as `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A source of chance: each call gives a number in [0, 1). */
export type Random = () => number;
