// A worker that lives in the test's own thread: the same code and the same messages as a real one, cloned on the way,
// so that a test can follow it and the leak checks of the runner see what it holds.

import type { FromWorker, ToWorker } from "../../src/core/message.ts";
import { type WorkerScope, WorkerThread } from "../../src/data/worker_thread.ts";
import type { WorkerEvents, WorkerPort } from "../../src/control/worker_link.ts";

/** Starts workers in this thread and can end them all. */
export class InlineWorkers {
  readonly #stopping: Promise<void>[] = [];

  /** To be given to `Supervisor` as `spawn`. */
  readonly spawn = (events: WorkerEvents): WorkerPort => {
    let receive: ((event: MessageEvent<ToWorker>) => void) | undefined;
    const scope: WorkerScope = {
      postMessage: (message: FromWorker) => deliver(message, (copy) => events.message(copy)),
      addEventListener: (type: string, listener: unknown) => {
        if (type === "message") receive = listener as typeof receive;
      },
    };
    const thread = new WorkerThread(scope);
    let isOver = false;
    return {
      post: (message) =>
        deliver(message, (data) => {
          if (!isOver) receive!({ data } as MessageEvent<ToWorker>);
        }),
      terminate: () => {
        isOver = true; // What is on its way to a thread that ends never arrives.
        this.#stopping.push(thread.stop());
      },
    };
  };

  /** Resolves when every worker that was told to end has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#stopping);
  }
}

function deliver<T>(message: T, to: (copy: T) => void): void {
  const copy = structuredClone(message);
  queueMicrotask(() => to(copy));
}
