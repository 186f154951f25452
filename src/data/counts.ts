// This worker's counts of listeners and upstreams (core/stats.ts). Adding is all the data path pays.

import type { Outcome } from "../core/outcome.ts";
import type { ListenerStats, PlaneStats, UpstreamStats } from "../core/stats.ts";
import { BUCKET_COUNT, bucketOf } from "../core/histogram.ts";

/** The counts of one worker. */
export class Counts {
  readonly #listeners = new Map<string, ListenerStats>();
  readonly #upstreams = new Map<string, UpstreamStats>();
  readonly #notCharged = new Map<string, number>();

  /** The counts of a listener, made at first use. Hold on to the object. */
  listener(name: string): ListenerStats {
    let stats = this.#listeners.get(name);
    if (stats === undefined) {
      stats = { active: 0, accepted: 0, outcomes: {}, bytesIn: 0, bytesOut: 0 };
      this.#listeners.set(name, stats);
    }
    return stats;
  }

  /** The counts of an upstream, made at first use. */
  upstream(name: string): UpstreamStats {
    let stats = this.#upstreams.get(name);
    if (stats === undefined) {
      const exchangeBuckets = new Array<number>(BUCKET_COUNT).fill(0);
      stats = { responses: {}, exchangeBuckets, exchangeCount: 0, exchangeSumMs: 0, noEndpoint: 0 };
      this.#upstreams.set(name, stats);
    }
    return stats;
  }

  /** Counts an attempt that charges nobody. */
  notCharged(outcome: Outcome): void {
    this.#notCharged.set(outcome, (this.#notCharged.get(outcome) ?? 0) + 1);
  }

  /** Forgets listeners and upstreams that are neither in the plan nor busy. */
  keepOnly(listeners: ReadonlySet<string>, upstreams: ReadonlySet<string>): void {
    for (const [name, stats] of this.#listeners) {
      if (!listeners.has(name) && stats.active === 0) this.#listeners.delete(name);
    }
    for (const name of this.#upstreams.keys()) if (!upstreams.has(name)) this.#upstreams.delete(name);
  }

  /** A copy to send away. */
  snapshot(loopLagMs: number): PlaneStats {
    return structuredClone({
      listeners: Object.fromEntries(this.#listeners),
      upstreams: Object.fromEntries(this.#upstreams),
      notCharged: Object.fromEntries(this.#notCharged),
      loopLagMs,
    });
  }
}

/** Adds one exchange of `durationMs` to an upstream's histogram. */
export function countExchange(stats: UpstreamStats, durationMs: number): void {
  stats.exchangeBuckets[bucketOf(durationMs)]!++;
  stats.exchangeCount++;
  stats.exchangeSumMs += durationMs;
}

/** Counts one ended session under its outcome. */
export function countOutcome(stats: ListenerStats, outcome: Outcome): void {
  stats.outcomes[outcome] = (stats.outcomes[outcome] ?? 0) + 1;
}
