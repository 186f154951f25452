// TLS handshakes that nobody answered. The runtime can not let go of a socket in the middle of a handshake: `close`
// leaves it open until the peer says something or goes away. So an endpoint that accepts and then hangs would cost a
// descriptor per dial, without end. This keeps count of what is left behind, per address, and says when to stop.

import type { Clock } from "../core/clock.ts";

/** Handshakes left behind with one address before new ones are mostly refused. */
export const MAX_UNANSWERED = 8;

/** At the limit one more is let through after this long, doubled each time up to an hour. */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;

interface Account {
  /** Sockets that are still open. */
  unanswered: number;
  /** How many of those do not count, because the address has answered since. */
  forgiven: number;
  /** At the limit: when the next one may begin. */
  nextAt: number;
  pauseMs: number;
}

/** The handshakes left behind by one thread. */
export class Handshakes {
  readonly #clock: Clock;
  readonly #accounts = new Map<string, Account>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** All sockets that are open only because their handshake was never answered. */
  get unanswered(): number {
    let sum = 0;
    for (const account of this.#accounts.values()) sum += account.unanswered;
    return sum;
  }

  /** How many stand against `address` ("10.0.0.1:443"), and so forbid another. 0: go ahead. */
  forbids(address: string): number {
    const account = this.#accounts.get(address);
    if (account === undefined) return 0;
    const standing = account.unanswered - account.forgiven;
    if (standing < MAX_UNANSWERED) return 0;
    const now = this.#clock.now();
    if (now < account.nextAt) return standing;
    account.nextAt = now + account.pauseMs;
    account.pauseMs = Math.min(account.pauseMs * 2, LONGEST_PAUSE_MS);
    return 0;
  }

  /** `address` has answered a handshake, well or badly: what it left unanswered before no longer counts. */
  answered(address: string): void {
    const account = this.#accounts.get(address);
    if (account !== undefined) account.forgiven = account.unanswered;
  }

  /** Leaves a handshake behind. `shaken` settles when the peer answers or goes away; then the connection is closed. */
  leave(address: string, conn: { close(): void }, shaken: Promise<unknown>): void {
    const account = this.#accounts.get(address) ?? this.#open(address);
    account.unanswered++;
    const settle = () => {
      conn.close();
      account.unanswered--;
      account.forgiven = Math.min(account.forgiven, account.unanswered);
      if (account.unanswered === 0) this.#accounts.delete(address);
    };
    void shaken.then(settle, settle);
  }

  #open(address: string): Account {
    const account = {
      unanswered: 0,
      forgiven: 0,
      nextAt: this.#clock.now() + FIRST_PAUSE_MS,
      pauseMs: FIRST_PAUSE_MS,
    };
    this.#accounts.set(address, account);
    return account;
  }
}
