// The limits that all workers share: each worker says for itself when one is reached, and it is told once.

import type { HaleEvent } from "../core/event.ts";
import type { FromWorker } from "../core/message.ts";
import { mostHandshakes } from "../core/permits.ts";

type Full = Extract<FromWorker, { type: "full" }>;

/** Which workers have reached which limit. */
export class SharedLimits {
  readonly #at = { connections: new Set<number>(), handshakes: new Set<number>() };

  /** Hears a worker. Whether it is news that the limit is reached: none of the `running` ones had said so. */
  isNews(worker: number, { of, over }: Full, running: readonly number[]): boolean {
    const at = this.#at[of];
    const isNews = !over && !running.some((id) => at.has(id));
    if (over) at.delete(worker);
    else at.add(worker);
    return isNews;
  }

  /** A worker is no more. */
  forget(worker: number): void {
    for (const at of Object.values(this.#at)) at.delete(worker);
  }
}

/** What is told when a limit is reached. */
export function fullEvent({ of }: Full, maxConnections: number): HaleEvent {
  return of === "connections"
    ? { kind: "connections_full", maxConnections }
    : { kind: "handshakes_full", maxHandshakes: mostHandshakes(maxConnections), maxConnections };
}
