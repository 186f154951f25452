// Signals that people and supervisors send: TERM and INT to stop, HUP to read the config again. USR1 is left alone: on
// some runtimes it opens a debugger. Windows knows neither TERM nor a HUP that could be gone on from: there Ctrl-C,
// Ctrl-Break and the closing of the console stop.

import type { Clock } from "../core/clock.ts";

/** Two signals closer than this are one: under a task runner Ctrl-C arrives twice (S1). Milliseconds. */
const ONE_SIGNAL_MS = 500;

/** What the signals mean. */
export interface SignalHandlers {
  stop(reason: string): void;
  /** The wish to stop was repeated. */
  hurry(): void;
  reload(): void;
}

/** Listens until `close`. */
export class StopSignals {
  readonly #clock: Clock;
  readonly #handlers: SignalHandlers;
  readonly #listeners: (readonly [Deno.Signal, () => void])[];
  #stopAt: number | undefined;

  constructor(clock: Clock, handlers: SignalHandlers) {
    this.#clock = clock;
    this.#handlers = handlers;
    const stopsBy = (signal: Deno.Signal) => [signal, () => this.#stop(signal)] as const;
    this.#listeners = Deno.build.os === "windows"
      ? [stopsBy("SIGINT"), stopsBy("SIGBREAK"), stopsBy("SIGHUP")]
      : [stopsBy("SIGTERM"), stopsBy("SIGINT"), ["SIGHUP", () => handlers.reload()]];
    for (const [signal, listener] of this.#listeners) Deno.addSignalListener(signal, listener);
  }

  #stop(reason: string): void {
    const now = this.#clock.now();
    if (this.#stopAt === undefined) {
      this.#stopAt = now;
      this.#handlers.stop(reason);
    } else if (now - this.#stopAt > ONE_SIGNAL_MS) this.#handlers.hurry();
  }

  /** Leaves the signals to the system again. */
  close(): void {
    for (const [signal, listener] of this.#listeners) Deno.removeSignalListener(signal, listener);
  }
}
