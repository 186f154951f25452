// A limited number of places, given out in the order of asking.

/** Places that are taken for a while. */
export class Places {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** How many wait for a place. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Waits for a place, which has to be given back. Rejects with the signal's reason once that is aborted. */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const granted = () => {
        signal?.removeEventListener("abort", aborted);
        resolve();
      };
      const aborted = () => {
        this.#waiting.delete(granted);
        reject(signal!.reason);
      };
      this.#waiting.add(granted);
      signal?.addEventListener("abort", aborted, { once: true });
    });
  }

  /** Gives a place back: to who has waited longest, if anybody does. */
  give(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      return next();
    }
    this.#free++;
  }
}
