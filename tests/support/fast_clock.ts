// A real clock that runs faster: what takes minutes in life takes seconds in a test, with real sockets.

import type { Clock } from "../../src/core/clock.ts";
import { SystemClock } from "../../src/net/system_clock.ts";

/** Real time, `factor` times as fast. */
export class FastClock implements Clock {
  readonly #real = new SystemClock();
  readonly #startedAt = this.#real.wallMs();

  constructor(readonly factor: number) {}

  now(): number {
    return this.#real.now() * this.factor;
  }

  wallMs(): number {
    return this.#startedAt + (this.#real.wallMs() - this.#startedAt) * this.factor;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#real.sleep(ms / this.factor, signal);
  }
}
