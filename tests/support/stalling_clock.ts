// A fake clock on which the process can stall: time passes and no timer fires.

import { FakeClock } from "./fake_clock.ts";

/** A fake clock whose owner can be stalled. */
export class StallingClock extends FakeClock {
  #stalledMs = 0;

  override now(): number {
    return super.now() + this.#stalledMs;
  }

  /** `ms` pass in which nothing runs; sleeps end that much late. */
  stall(ms: number): void {
    this.#stalledMs += ms;
  }
}
