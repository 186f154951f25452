// What endpoints of a test did, beside what they were charged with or credited for: nobody may be told to have done what
// it has not done, or more often than it did.

import { type Outcome, verdictOf } from "../../src/core/outcome.ts";
import type { Run } from "../../src/core/report.ts";

/** Ends of dials, each of which is told, since nobody else can have caused it. */
const SURELY_TOLD: readonly Outcome[] = ["refused", "reset", "connect_timeout"];

/** Counts by slot and outcome. */
export class BlameBook {
  readonly #did = new Map<string, number>();
  readonly #told = new Map<string, number>();

  /** An endpoint does what may be told as `outcome`. */
  did(slot: number, outcome: Outcome): void {
    add(this.#did, `${slot} ${outcome}`, 1);
  }

  /** The data plane has told of it. */
  told({ slot, outcome, count }: Run): void {
    add(this.#told, `${slot} ${outcome}`, count);
  }

  /** How often any endpoint was charged. */
  get charges(): number {
    return [...this.#told].filter(([entry]) => verdictOf(outcomeIn(entry)) === "failure")
      .reduce((sum, [, count]) => sum + count, 0);
  }

  /** Where the two sides do not agree. */
  get faults(): string[] {
    return [...new Set([...this.#did.keys(), ...this.#told.keys()])].flatMap((entry) => {
      const [did, told] = [this.#did.get(entry) ?? 0, this.#told.get(entry) ?? 0];
      const isWrong = told > did || (told < did && SURELY_TOLD.includes(outcomeIn(entry)));
      return isWrong ? [`endpoint ${entry}: did so ${did} times and was told of ${told} times`] : [];
    });
  }
}

function outcomeIn(entry: string): Outcome {
  return entry.slice(entry.indexOf(" ") + 1) as Outcome;
}

function add(counts: Map<string, number>, entry: string, count: number): void {
  counts.set(entry, (counts.get(entry) ?? 0) + count);
}
