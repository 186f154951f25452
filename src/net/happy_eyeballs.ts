// Racing several addresses of one host (RFC 8305): the next attempt starts after a delay or as soon as one fails; a
// started attempt is never cut short by the delay; the first success ends the race and the others are closed.
// How an attempt connects, and what its failure means, is the caller's business.

import type { Clock } from "../core/clock.ts";
import { isIpv6 } from "../core/address.ts";

/** One attempt's end that is no connection. */
export interface Lost<F> {
  readonly address: string;
  readonly failure: F;
}

/** The end of a race: the one connection, or why each address that was tried failed, in the order of their ends. */
export type RaceResult<C, F> =
  | { readonly won: C; readonly address: string }
  | { readonly lost: readonly Lost<F>[]; readonly pending: readonly string[] };

/** How to run a race. `connect` must not reject and must end soon after its signal is aborted. */
export interface RaceOptions<C, F> {
  readonly connect: (
    address: string,
    signal: AbortSignal,
  ) => Promise<{ readonly conn: C } | { readonly failure: F }>;
  /** Closes a connection that came too late. */
  readonly discard: (conn: C) => void;
  /** Milliseconds until the next address is tried beside; 0: only after a failure. */
  readonly delayMs: number;
  readonly clock: Clock;
  /** Aborted: the race ends at once, with the attempts under way as `pending`. */
  readonly signal: AbortSignal;
}

/** Runs the race over `addresses` (1 or more, in order of preference). Does not reject. */
export function race<C, F>(
  addresses: readonly string[],
  options: RaceOptions<C, F>,
): Promise<RaceResult<C, F>> {
  return new Race(addresses, options).result;
}

class Race<C, F> {
  readonly result: Promise<RaceResult<C, F>>;
  readonly #queue: string[];
  readonly #options: RaceOptions<C, F>;
  readonly #underWay = new Map<string, AbortController>();
  readonly #lost: Lost<F>[] = [];
  #delay: AbortController | undefined;
  #settle: ((result: RaceResult<C, F>) => void) | undefined;
  readonly #onAbort = () => this.#end({ lost: this.#lost, pending: [...this.#underWay.keys()] });

  constructor(addresses: readonly string[], options: RaceOptions<C, F>) {
    this.#queue = [...addresses];
    this.#options = options;
    this.result = new Promise((resolve) => this.#settle = resolve);
    options.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (options.signal.aborted) this.#onAbort();
    else this.#startNext();
  }

  #startNext(): void {
    this.#delay?.abort();
    this.#delay = undefined;
    const address = this.#queue.shift();
    if (address !== undefined) void this.#attempt(address);
    if (this.#queue.length > 0 && this.#options.delayMs > 0) void this.#startAfterDelay();
    if (this.#underWay.size === 0) this.#end({ lost: this.#lost, pending: [] });
  }

  async #startAfterDelay(): Promise<void> {
    const delay = this.#delay = new AbortController();
    try {
      await this.#options.clock.sleep(this.#options.delayMs, delay.signal);
    } catch {
      return; // Aborted: an attempt failed or the race is over, and whoever aborted goes on.
    }
    if (this.#settle !== undefined) this.#startNext();
  }

  async #attempt(address: string): Promise<void> {
    const stop = new AbortController();
    this.#underWay.set(address, stop);
    const end = await this.#options.connect(address, stop.signal);
    this.#underWay.delete(address);
    if (this.#settle === undefined) {
      if ("conn" in end) this.#options.discard(end.conn);
    } else if ("conn" in end) {
      this.#end({ won: end.conn, address });
    } else {
      this.#lost.push({ address, failure: end.failure });
      this.#startNext();
    }
  }

  #end(result: RaceResult<C, F>): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    this.#delay?.abort();
    for (const stop of this.#underWay.values()) stop.abort();
    settle(result);
  }
}

/** Alternates the families, beginning with that of the first address; each at most once (RFC 8305 section 4). */
export function interleaved(addresses: readonly string[]): readonly string[] {
  const unique = [...new Set(addresses)];
  const first = unique.filter((address) => isIpv6(address) === isIpv6(unique[0]!));
  const second = unique.filter((address) => isIpv6(address) !== isIpv6(unique[0]!));
  const mixed: string[] = [];
  for (let i = 0; i < Math.max(first.length, second.length); i++) {
    if (i < first.length) mixed.push(first[i]!);
    if (i < second.length) mixed.push(second[i]!);
  }
  return mixed;
}
