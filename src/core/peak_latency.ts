// The latency that peak_ewma balances by: a peak that decays. One object per endpoint and worker; knows no clock.

/** How fast an old peak is forgotten: to about a third in this time, milliseconds. */
export const PEAK_DECAY_MS = 10_000;

/**
 * The decaying peak of one endpoint's latencies: a higher sample counts at once, a lower one pulls it down slowly, and
 * silence lets it fade, so that a slow endpoint is tried again.
 */
export class PeakLatency {
  #peakMs = 0;
  #at = 0;

  /** Takes one answer's latency at the monotonic moment `now`, both in milliseconds. */
  add(sampleMs: number, now: number): void {
    const kept = Math.exp(-Math.max(0, now - this.#at) / PEAK_DECAY_MS);
    this.#peakMs = sampleMs > this.#peakMs ? sampleMs : this.#peakMs * kept + sampleMs * (1 - kept);
    this.#at = now;
  }

  /** The peak as it has faded until `now`; 0 before the first sample. */
  at(now: number): number {
    return this.#peakMs * Math.exp(-Math.max(0, now - this.#at) / PEAK_DECAY_MS);
  }
}
