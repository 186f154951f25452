// Time in turns, for tests that run in memory: what is put off happens at the beginning of a later turn, in the order in
// which it was put off.

interface PutOff {
  readonly at: number;
  readonly run: () => void;
}

/** A count of turns, and what waits for them. */
export class Turns {
  #now = 0;
  #waiting: PutOff[] = [];

  /** How many turns have passed. */
  get now(): number {
    return this.#now;
  }

  /** Runs something so many turns later, 1 or more. */
  later(turns: number, run: () => void): void {
    this.#waiting.push({ at: this.#now + turns, run });
  }

  /** Resolves so many turns later; 0: at once. */
  wait(turns: number): Promise<void> {
    return turns === 0 ? Promise.resolve() : new Promise((resolve) => this.later(turns, resolve));
  }

  /** The next turn begins. */
  next(): void {
    this.#now++;
    const due = this.#waiting.filter(({ at }) => at <= this.#now);
    this.#waiting = this.#waiting.filter(({ at }) => at > this.#now);
    for (const { run } of due) run();
  }
}
