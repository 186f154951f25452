// How many client connections there are, over all workers, in a few shared cells: one total, and one cell per worker so
// that main can give back what a dead worker held.

/** Shared count of client connections. Each thread has its own object over the same memory. */
export class Permits {
  readonly #cells: Int32Array;
  readonly #own: number;

  /** `worker` is this thread's own number, 0..1023; main may pass any, it takes no permits. */
  constructor(readonly memory: SharedArrayBuffer, worker: number) {
    this.#cells = new Int32Array(memory);
    this.#own = worker + 1;
  }

  /** Memory for a total and 1,024 workers: those of a plan, and those that leave. */
  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(1025 * 4);
  }

  /** Connections held by all workers. */
  get taken(): number {
    return Atomics.load(this.#cells, 0);
  }

  /** Connections held by one worker. */
  held(worker: number): number {
    return Atomics.load(this.#cells, worker + 1);
  }

  /** Takes a permit unless `max` are taken. */
  take(max: number): boolean {
    if (Atomics.add(this.#cells, 0, 1) >= max) {
      Atomics.sub(this.#cells, 0, 1);
      return false;
    }
    Atomics.add(this.#cells, this.#own, 1);
    return true;
  }

  /** Gives one back. */
  give(): void {
    Atomics.sub(this.#cells, this.#own, 1);
    Atomics.sub(this.#cells, 0, 1);
  }

  /** Main only: gives back all that a worker held which is no more. */
  reclaim(worker: number): void {
    Atomics.sub(this.#cells, 0, Atomics.exchange(this.#cells, worker + 1, 0));
  }
}
