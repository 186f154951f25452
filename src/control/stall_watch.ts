// Beats for the stalls of the main thread (core/stalls.ts) while somebody wants to know of them.

import type { Clock } from "../core/clock.ts";
import { Stalls } from "../core/stalls.ts";

const BEAT_MS = 100;

/** Watches for stalls while `run` runs. */
export class StallWatch {
  readonly #clock: Clock;
  #stalls: Stalls;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#stalls = new Stalls(clock.now(), BEAT_MS);
  }

  /** Beats until the signal is aborted; rejects with its reason. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stalls = new Stalls(this.#clock.now(), BEAT_MS);
    for (;;) {
      await this.#clock.sleep(BEAT_MS, signal);
      this.#stalls.beat(this.#clock.now());
    }
  }

  /** The longest stall that reached into the time since the monotonic moment `from`, milliseconds; 0: none. */
  longestSince(from: number): number {
    return this.#stalls.longest(from, this.#clock.now());
  }
}
