// The real clock. Everything else takes a `Clock`, so only this file and the tests know timers.

import type { Clock } from "../core/clock.ts";

/** Monotonic time, wall time and real sleeping. */
export class SystemClock implements Clock {
  now(): number {
    return performance.now();
  }

  wallMs(): number {
    return Date.now();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        clearTimeout(timer);
        reject(signal!.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }
}
