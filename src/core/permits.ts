// How many client connections, or TLS handshakes with clients, there are over all workers, in a few shared cells: one
// total, and one cell per worker so that main can give back what a dead worker held.

/**
 * How many TLS handshakes with clients may be under way or left behind where `maxConnections` connections may be open:
 * half as many, 1 or more.
 */
export function mostHandshakes(maxConnections: number): number {
  return Math.max(1, Math.floor(maxConnections / 2));
}

/** Shared count of client connections or handshakes. Each thread has its own object over the same memory. */
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

  /** Permits held by all workers. */
  get taken(): number {
    return Atomics.load(this.#cells, 0);
  }

  /** Permits held by one worker. */
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

  /** Gives one back, unless main has done so: a thread that is being ended may run for another moment. */
  give(): void {
    if (Atomics.sub(this.#cells, this.#own, 1) > 0) Atomics.sub(this.#cells, 0, 1);
    else Atomics.add(this.#cells, this.#own, 1);
  }

  /** Main only: gives back all that a worker held which is no more. */
  reclaim(worker: number): void {
    Atomics.sub(this.#cells, 0, Atomics.exchange(this.#cells, worker + 1, 0));
  }
}
