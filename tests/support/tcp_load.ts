// Clients without pause: each asks an echoing endpoint through hale, over a new connection each time, and expects its
// own words back. Every failure is kept.

import { askTcp } from "./named_endpoint.ts";

/** Steady load on one port of loopback until `stop`. */
export class TcpLoad {
  /** Questions that were asked. */
  asked = 0;
  /** What went wrong, in words; at most one per question. */
  readonly failures: string[] = [];
  readonly #stop = new AbortController();
  readonly #clients: readonly Promise<void>[];

  /** `pauseMs`: between two questions of one client. */
  constructor(port: number, options: { clients?: number; pauseMs?: number } = {}) {
    const { clients = 4, pauseMs = 0 } = options;
    this.#clients = Array.from({ length: clients }, () => this.#client(port, pauseMs));
  }

  async #client(port: number, pauseMs: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const text = `message ${this.asked++}`;
      const answer = await askTcp(port, text).catch((error: Error) => `${error.name}: ${error.message}`);
      if (answer !== text) this.failures.push(`${text} gave ${JSON.stringify(answer)}`);
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** Ends the load; resolves when the last answer is in. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#clients);
  }
}
