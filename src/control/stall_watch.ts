// Notices that this process itself was stalled, so that nobody else is charged for it (P5). A beat is expected every
// 100 ms; a gap between two beats, or since the last, is time in which we could not have seen an answer.

import type { Clock } from "../core/clock.ts";

const BEAT_MS = 100;
/** Gaps are forgotten after this long: longer than any probe may take is not needed. */
const KEPT_GAPS = 32;

interface Gap {
  readonly endedAt: number;
  readonly lengthMs: number;
}

/** Watches for stalls while `run` runs. */
export class StallWatch {
  readonly #clock: Clock;
  #lastBeat: number;
  #gaps: Gap[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastBeat = clock.now();
  }

  /** Beats until the signal is aborted; rejects with its reason. */
  async run(signal: AbortSignal): Promise<void> {
    this.#lastBeat = this.#clock.now();
    for (;;) {
      await this.#clock.sleep(BEAT_MS, signal);
      const now = this.#clock.now();
      const lengthMs = now - this.#lastBeat - BEAT_MS;
      if (lengthMs > BEAT_MS) this.#gaps = [...this.#gaps.slice(1 - KEPT_GAPS), { endedAt: now, lengthMs }];
      this.#lastBeat = now;
    }
  }

  /** The longest stall that reached into the time since the monotonic moment `from`, milliseconds; 0: none. */
  longestSince(from: number): number {
    const open = this.#clock.now() - this.#lastBeat - BEAT_MS;
    const past = this.#gaps.filter((gap) => gap.endedAt > from).map((gap) => gap.lengthMs);
    return Math.max(0, open, ...past);
  }
}
