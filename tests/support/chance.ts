// Draws of all kinds from one source of chance, for tests in which much is left to it.

/** A source of chance. */
export class Chance {
  /** `random` gives numbers in [0, 1). */
  constructor(readonly random: () => number) {}

  /** Whether something happens that does so with this probability. */
  happens(probability: number): boolean {
    return this.random() < probability;
  }

  /** A whole number, 0 or more and below `limit`. */
  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  /** One of the list, which is not empty. */
  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}
