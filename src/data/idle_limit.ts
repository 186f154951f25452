// The time limits of copied bytes (T1, T2): idle, half-closed, and the moment a client gets to read what a failed
// endpoint had sent. Bytes renew the limit in force; when it has passed, the relay is cut with what was overdue.

import type { Outcome } from "../core/outcome.ts";
import type { Listener } from "../core/plan.ts";
import type { Timed, TimerWheel } from "../core/wheel.ts";
import type { RelayOwner } from "../net/relay.ts";

/** How long a client gets to read what a failed endpoint had sent, milliseconds. */
const LINGER_MS = 1000;
/** An overdue limit is believed only after this much longer, milliseconds: what came while we were stalled counts first. */
const GRACE_MS = 300;

/** The limits of one relay. */
export class IdleLimit implements Timed, RelayOwner {
  deadline = 0;
  bucket = -1;
  place = -1;
  readonly #wheel: TimerWheel;
  readonly #listener: Pick<Listener, "idleTimeoutMs" | "halfCloseTimeoutMs">;
  #relay: { cut(outcome: Outcome): void } | undefined;
  /** The limit in force, milliseconds. */
  #limitMs: number;
  #overdue: Outcome = "idle";
  /** The deadline of the present grace. */
  #graceUntil = -1;

  constructor(wheel: TimerWheel, listener: Pick<Listener, "idleTimeoutMs" | "halfCloseTimeoutMs">) {
    this.#wheel = wheel;
    this.#listener = listener;
    this.#limitMs = listener.idleTimeoutMs;
  }

  /** Copying begins: from now on the idle limit holds. */
  begin(relay: { cut(outcome: Outcome): void }): void {
    this.#relay = relay;
    this.#wheel.reschedule(this, this.#wheel.now + this.#limitMs);
  }

  /** Copying has ended. */
  end(): void {
    this.#wheel.remove(this);
  }

  /** Bytes moved: the limit begins anew. */
  touch(): void {
    this.deadline = this.#wheel.now + this.#limitMs;
  }

  /** One side ended: from now on the shorter limit holds (T1). */
  halfClosed(): void {
    const { halfCloseTimeoutMs, idleTimeoutMs } = this.#listener;
    this.#limit(Math.min(halfCloseTimeoutMs, idleTimeoutMs), "half_close_timeout");
  }

  /** The endpoint failed: the client may read what is on its way, no longer. */
  lingering(): void {
    this.#limit(LINGER_MS, "endpoint_reset");
  }

  #limit(ms: number, overdue: Outcome): void {
    this.#limitMs = ms;
    this.#overdue = overdue;
    this.#wheel.reschedule(this, this.#wheel.now + ms);
  }

  /** The limit has passed; called by the wheel. */
  expire(): void {
    if (this.deadline === this.#graceUntil) return this.#relay?.cut(this.#overdue);
    this.#graceUntil = this.deadline = this.#wheel.now + GRACE_MS;
    this.#wheel.add(this);
  }
}
