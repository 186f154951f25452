// One thing at a time: work that must not overlap is queued here and done in order.

/** A queue of asynchronous work, each piece begun when the one before has ended. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  /** Queues `work`. Gives its result; a failure of one piece does not stop those behind it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when all that was queued so far is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
