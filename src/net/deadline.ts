// The one deadline of an attempt, joined with the caller's wish to stop. Real timers, not a Clock: it cuts real
// sockets, and it is on the way of every connection, where a sleep that is aborted again costs several times as much.

/** What ended an attempt before it was done. */
export type Struck = "timeout" | "cancelled";

/** A deadline that runs from its making until `end`. Always call `end`. */
export class Deadline {
  readonly #stop = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #outer: AbortSignal | undefined;
  #struck: Struck | undefined;
  #onOuter: (() => void) | undefined;

  /** `ms` from now (Infinity: never), or as soon as `outer` is aborted. */
  constructor(ms: number, outer?: AbortSignal) {
    this.#outer = outer;
    if (outer?.aborted) this.#strike("cancelled");
    else if (ms !== Infinity) this.#timer = setTimeout(() => this.#strike("timeout"), ms);
    if (outer === undefined) return;
    this.#onOuter = () => this.#strike("cancelled");
    outer.addEventListener("abort", this.#onOuter, { once: true });
  }

  /** Aborted when the deadline strikes. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What has struck; undefined while the attempt may go on. */
  get struck(): Struck | undefined {
    return this.#struck;
  }

  /** Waits for `work`, which must not reject; undefined when the deadline strikes first. */
  race<T>(work: Promise<T>): Promise<T | undefined> {
    if (this.#struck !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const strike = () => resolve(undefined);
      this.signal.addEventListener("abort", strike, { once: true });
      void work.then((value) => {
        this.signal.removeEventListener("abort", strike);
        resolve(value);
      });
    });
  }

  /** The attempt is over, whichever way: frees the timer. Nothing strikes after this. */
  end(): void {
    clearTimeout(this.#timer);
    if (this.#onOuter !== undefined) this.#outer!.removeEventListener("abort", this.#onOuter);
  }

  #strike(struck: Struck): void {
    this.#struck ??= struck;
    this.#stop.abort(struck);
  }
}
