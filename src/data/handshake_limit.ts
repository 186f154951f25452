// The time a TLS client gets for its handshake. Nothing is read, picked or dialed for it before that: a client that says
// nothing must cost no endpoint a connection.

import type { Timed, TimerWheel } from "../core/wheel.ts";

/** As long as a request head may take by default, milliseconds. */
const HANDSHAKE_MS = 10_000;

/** Waits for one handshake. */
export class HandshakeLimit implements Timed {
  deadline = 0;
  bucket = -1;
  place = -1;
  /** The time was over before the handshake. */
  isOver = false;
  readonly #wheel: TimerWheel;
  readonly #close: () => void;
  readonly #ms: number;

  /** `close` ends the waiting: `ready` gives false then. `ms`: how long the handshake may take, milliseconds. */
  constructor(wheel: TimerWheel, close: () => void, ms: number = HANDSHAKE_MS) {
    this.#wheel = wheel;
    this.#close = close;
    this.#ms = ms;
  }

  /** Gives what `ready` gives, within the time. */
  async wait(ready: Promise<boolean>): Promise<boolean> {
    this.#wheel.reschedule(this, this.#wheel.now + this.#ms);
    const isReady = await ready;
    this.#wheel.remove(this);
    return isReady;
  }

  /** Called by the wheel. */
  expire(): void {
    this.isOver = true;
    this.#close();
  }
}
