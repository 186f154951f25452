// One worker as main sees it: messages out, answers in by id, and one notice when it dies. The thread behind it can be
// a real worker or, in tests, a plane in the same thread.

import type { FromWorker, ToWorker } from "../core/message.ts";

/** A channel to a worker. */
export interface WorkerPort {
  post(message: ToWorker): void;
  /** Ends the thread at once, with all it holds. */
  terminate(): void;
}

/** What a worker's port calls back. */
export interface WorkerEvents {
  message(message: FromWorker): void;
  /** The thread failed and does nothing any more. */
  died(reason: string): void;
}

/** Starts a worker; its first message is `ready`. */
export type SpawnWorker = (events: WorkerEvents) => WorkerPort;

/** Starts real worker threads. */
export function spawnThread(events: WorkerEvents): WorkerPort {
  const worker = new Worker(new URL("../data/worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = (event: MessageEvent<FromWorker>) => events.message(event.data);
  worker.onerror = (event) => {
    event.preventDefault();
    events.died(event.message);
  };
  worker.onmessageerror = () => events.died("A message could not be read");
  return { post: (message) => worker.postMessage(message), terminate: () => worker.terminate() };
}

/** Answers carry the `id` of their request. */
export type Answer = Extract<FromWorker, { id: number }>;
type Request = Extract<ToWorker, { id: number }>;
type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;

/** Requests and answers over one port. */
export class WorkerLink {
  /** The worker's number, 0..255. Its successor after a death has the same. */
  readonly number: number;
  readonly #port: WorkerPort;
  readonly #pending = new Map<number, (answer: Answer | undefined) => void>();
  readonly #onMessage: (message: FromWorker) => void;
  readonly #onDeath: (reason: string) => void;
  #nextId = 1;
  #dead = false;

  constructor(number: number, options: {
    spawn: SpawnWorker;
    onMessage: (message: FromWorker) => void;
    onDeath: (reason: string) => void;
  }) {
    this.number = number;
    this.#onMessage = options.onMessage;
    this.#onDeath = options.onDeath;
    this.#port = options.spawn({
      message: (message) => this.#receive(message),
      died: (reason) => this.#die(reason),
    });
  }

  /** Sends a message that has no answer. */
  post(message: ToWorker): void {
    if (!this.#dead) this.#port.post(message);
  }

  /** Sends a request. Gives the answer, or undefined when the worker died before it came. */
  ask(request: WithoutId<Request>): Promise<Answer | undefined> {
    if (this.#dead) return Promise.resolve(undefined);
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#port.post({ ...request, id } as Request);
    });
  }

  /** Ends the worker on purpose. Pending requests get no answer; no death is reported. */
  terminate(): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#port.terminate();
    this.#abandonPending();
  }

  /** Ends the worker as if it had failed. */
  kill(reason: string): void {
    this.#die(reason);
  }

  #receive(message: FromWorker): void {
    if (this.#dead) return;
    if (!("id" in message)) return this.#onMessage(message);
    const resolve = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    resolve?.(message);
  }

  #die(reason: string): void {
    if (this.#dead) return;
    this.terminate();
    this.#onDeath(reason);
  }

  #abandonPending(): void {
    for (const resolve of this.#pending.values()) resolve(undefined);
    this.#pending.clear();
  }
}
