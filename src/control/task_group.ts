// A task group is an AbortController and the promises it scopes: what is spawned in it ends with it. Probes, discovery
// and other loops each live in one. A task that throws ends alone and is told once; the others go on.

/** Where a task's fault is told. Must not throw. */
export type OnFault = (error: unknown) => void;

/** Tasks that end together. */
export class TaskGroup {
  readonly #controller = new AbortController();
  readonly #tasks = new Set<Promise<void>>();
  readonly #onFault: OnFault;

  constructor(onFault: OnFault) {
    this.#onFault = onFault;
  }

  /** Aborted when the group ends. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** How many tasks have not ended. */
  get size(): number {
    return this.#tasks.size;
  }

  /**
   * Starts a task with the group's signal. It may end by rejecting once the signal is aborted; a rejection before that,
   * or one with anything else than the signal's reason, is a fault. After `abort` nothing is started.
   */
  spawn(run: (signal: AbortSignal) => Promise<void>): void {
    if (this.signal.aborted) return;
    const task = this.#guarded(run).finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  async #guarded(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await run(this.signal);
    } catch (error) {
      if (!this.signal.aborted || error !== this.signal.reason) this.#onFault(error);
    }
  }

  /** Tells all tasks to end. Safe to call again. */
  abort(): void {
    this.#controller.abort();
  }

  /** Resolves once no task is left; those spawned meanwhile included. */
  async join(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }
}
