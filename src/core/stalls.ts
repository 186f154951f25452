// When this thread itself was stalled, so that nobody else is charged for it (P5). A beat is expected at even intervals;
// a gap between two beats, or since the last, is time in which we could not have seen an answer.

/** How many gaps are remembered, the last ones: longer than any attempt may take is not needed. */
const KEPT_GAPS = 32;

/** A stall of this length or more is told, milliseconds. */
export const TOLD_STALL_MS = 1000;

interface Gap {
  readonly endedAt: number;
  readonly lengthMs: number;
}

/** The stalls of one thread. Times are monotonic milliseconds. */
export class Stalls {
  readonly #beatMs: number;
  #lastBeat: number;
  #gaps: readonly Gap[] = [];

  /** From `now` on a beat is expected every `beatMs`; a beat that is late by no more than that is no stall. */
  constructor(now: number, beatMs: number) {
    this.#beatMs = beatMs;
    this.#lastBeat = now;
  }

  /** This thread runs. Call it every `beatMs`, or as soon after as the thread can. */
  beat(now: number): void {
    const lengthMs = this.#late(now);
    if (lengthMs > this.#beatMs) {
      this.#gaps = [...this.#gaps.slice(1 - KEPT_GAPS), { endedAt: now, lengthMs }];
    }
    this.#lastBeat = now;
  }

  /** The longest stall that reached into the time from `from` to `now`, milliseconds; 0: none. */
  longest(from: number, now: number): number {
    const past = this.#gaps.filter((gap) => gap.endedAt > from).map((gap) => gap.lengthMs);
    return Math.max(0, this.#late(now), ...past);
  }

  #late(now: number): number {
    return now - this.#lastBeat - this.#beatMs;
  }
}

/** Whether so long a stall, and not whoever did not answer within `limitMs`, is to blame for a timeout. */
export function excusesTimeout(stallMs: number, limitMs: number): boolean {
  return stallMs > limitMs / 4;
}
