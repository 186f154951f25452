// A connection after it was upgraded (W8): raw bytes both ways, with half-close and the idle limits of the listener,
// as for a TCP session.

import type { Duplex } from "../core/duplex.ts";
import type { Outcome } from "../core/outcome.ts";
import type { Listener } from "../core/plan.ts";
import type { Timed } from "../core/wheel.ts";
import { Relay, type RelayOwner } from "../net/relay.ts";
import type { Service } from "./service.ts";

/** How long a client gets to read what a failed endpoint had sent, milliseconds. */
const LINGER_MS = 1000;

/** The two raw sides. */
export interface RawSides {
  readonly client: Duplex;
  readonly endpoint: Duplex;
}

/** One upgraded connection. */
export class Upgraded implements Timed, RelayOwner {
  deadline = 0;
  bucket = -1;
  readonly relay: Relay;
  readonly #service: Service;
  readonly #listener: Listener;
  #limitMs: number;
  #overdue: Outcome = "idle";

  /** Takes over both sides. */
  constructor(service: Service, listener: Listener, sides: RawSides) {
    this.#service = service;
    this.#listener = listener;
    this.#limitMs = listener.idleTimeoutMs;
    this.relay = new Relay(sides.client, sides.endpoint, { buffers: service.buffers, owner: this });
  }

  /** Copies until both sides are over. */
  async run(): Promise<Outcome> {
    const { wheel } = this.#service;
    wheel.reschedule(this, wheel.now + this.#limitMs);
    const outcome = await this.relay.run();
    wheel.remove(this);
    return outcome;
  }

  touch(): void {
    this.deadline = this.#service.wheel.now + this.#limitMs;
  }

  halfClosed(): void {
    const { halfCloseTimeoutMs, idleTimeoutMs } = this.#listener;
    this.#limit(Math.min(halfCloseTimeoutMs, idleTimeoutMs), "half_close_timeout");
  }

  lingering(): void {
    this.#limit(LINGER_MS, "endpoint_reset");
  }

  #limit(ms: number, overdue: Outcome): void {
    this.#limitMs = ms;
    this.#overdue = overdue;
    this.#service.wheel.reschedule(this, this.#service.wheel.now + ms);
  }

  expire(): void {
    this.relay.cut(this.#overdue);
  }
}
