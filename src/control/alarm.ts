// One timer for many due times: it rings at the earliest it was asked for. Whoever hears it asks for the next.

import type { Clock } from "../core/clock.ts";

/** Longest single sleep: timers of most platforms end at 24 days. */
const LONGEST_SLEEP_MS = 3_600_000;

/** Rings once at the earliest time asked for. */
export class Alarm {
  readonly #clock: Clock;
  readonly #onRing: () => void;
  #due = Infinity;
  #nap: AbortController | undefined;
  #stopped = false;

  /** `onRing` is called at or a little after the due time, and may be called early; it must not throw. */
  constructor(clock: Clock, onRing: () => void) {
    this.#clock = clock;
    this.#onRing = onRing;
  }

  /** Asks for a ring at the monotonic moment `due`, or earlier when somebody else asks for that; Infinity: no wish. */
  ringBy(due: number): void {
    if (due >= this.#due || this.#stopped) return;
    this.#due = due;
    this.#nap?.abort();
    const nap = new AbortController();
    this.#nap = nap;
    void this.#sleep(Math.max(1, due - this.#clock.now()), nap.signal);
  }

  /** Never rings again. */
  stop(): void {
    this.#stopped = true;
    this.#nap?.abort();
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#clock.sleep(Math.min(ms, LONGEST_SLEEP_MS), signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#due = Infinity;
    this.#nap = undefined;
    this.#onRing();
  }
}
