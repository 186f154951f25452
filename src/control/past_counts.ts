// What workers that are no more have counted, so that no count falls when one dies or is not needed any more.

import { TALLY, Tally } from "../core/board.ts";
import type { PlaneStats } from "../core/stats.ts";
import { mergeStats } from "./merge_stats.ts";

/** The counts of all past workers in one. */
export class PastCounts {
  readonly #tally = new Tally();
  #stats: PlaneStats = mergeStats([]);

  /** Counts of listeners and upstreams. */
  get stats(): PlaneStats {
    return this.#stats;
  }

  /** Makes room for that many slots. */
  grow(slots: number): void {
    this.#tally.grow(slots);
  }

  /** Counts of the endpoint at a slot. */
  row(slot: number): Float64Array {
    return this.#tally.row(slot);
  }

  /** Adds the last counts of a worker that has died. What was open is so no more. */
  addStats(stats: PlaneStats): void {
    const listeners = Object.entries(stats.listeners).map(([name, each]) => [name, { ...each, active: 0 }]);
    const closed = { ...stats, listeners: Object.fromEntries(listeners), loopLagMs: 0 };
    this.#stats = mergeStats([this.#stats, closed]);
  }

  /** Adds what a worker without successor counted for endpoints; a successor goes on with the tally itself. */
  addTally(tally: Tally, slots: number): void {
    for (let slot = 0; slot < slots; slot++) {
      const [past, row] = [this.#tally.row(slot), tally.row(slot)];
      past[TALLY.picks]! += row[TALLY.picks]!;
      past[TALLY.failOpenPicks]! += row[TALLY.failOpenPicks]!;
    }
  }
}
