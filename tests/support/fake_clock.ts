// A clock that stands still until a test advances it. Sleepers wake in order of their due time; between two of them
// all promises that can settle do, so a loop of "sleep, do, report" runs as it would in real time.

import type { Clock } from "../../src/core/clock.ts";

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A clock whose time moves only by `advance`. */
export class FakeClock implements Clock {
  #now = 0;
  #wallOffsetMs: number;
  #sleepers: Sleeper[] = [];

  /** Starts at monotonic 0; the wall clock shows `wallMs` then. */
  constructor(wallMs: number = Date.UTC(2030, 0, 1)) {
    this.#wallOffsetMs = wallMs;
  }

  now(): number {
    return this.#now;
  }

  wallMs(): number {
    return this.#wallOffsetMs + this.#now;
  }

  /** Steps the wall clock alone, as an administrator or NTP would. */
  stepWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** How many sleeps are under way: 0 when no loop is left. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal!.reason);
      };
      const sleeper: Sleeper = {
        due: this.#now + ms,
        wake: () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#sleepers.push(sleeper);
    });
  }

  /** Moves time on by `ms`, waking every sleeper that is due on the way, in order. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settled();
    for (let next = this.#nextDue(target); next !== undefined; next = this.#nextDue(target)) {
      this.#now = Math.max(this.#now, next.due);
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      next.wake();
      await settled();
    }
    this.#now = target;
    await settled();
  }

  #nextDue(target: number): Sleeper | undefined {
    const due = this.#sleepers.filter((sleeper) => sleeper.due <= target);
    return due.reduce<Sleeper | undefined>((a, b) => (a === undefined || b.due < a.due ? b : a), undefined);
  }
}

/** Resolves once every promise chain of reasonable length (no I/O) has run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
