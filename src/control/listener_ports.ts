// The addresses a plan will listen on: which of them have to be bound anew, whether they are free, which port a listener
// on port 0 has got, and what of that is news.

import { formatAddress } from "../core/address.ts";
import type { Clock } from "../core/clock.ts";
import type { Emit } from "../core/event.ts";
import type { Listener } from "../core/plan.ts";

/** What asking for an address gives: the port it would get, or why it is not to be had. */
export type ProbeBind = (address: Listener["address"]) => { readonly port: number } | {
  readonly code: string;
  readonly message: string;
};

/** The listeners of a plan to come. */
export interface ListenerChange {
  /** All, with real ports. */
  readonly listeners: readonly Listener[];
  /** Those whose socket does not exist yet, or is of another kind (TLS). */
  readonly added: readonly Listener[];
  /** One sentence for each address that is not to be had. */
  readonly problems: readonly string[];
}

/** How long a listener that was let go of may take to close, milliseconds. */
const CLOSING_MS = 1000;

/** What to ask and tell about addresses. */
export interface ListenerPortsOptions {
  readonly clock: Clock;
  readonly emit: Emit;
  readonly probeBind: ProbeBind;
}

/** Keeps track of the addresses of one hale. */
export class ListenerPorts {
  readonly #options: ListenerPortsOptions;
  /** When we let go of an address. */
  readonly #leftAt = new Map<string, number>();

  constructor(options: ListenerPortsOptions) {
    this.#options = options;
  }

  /** Compares the listeners of a config with those that run, and asks for the addresses that are new. */
  change(wanted: readonly Listener[], running: readonly Listener[]): ListenerChange {
    return changeOf(wanted, running, (address) => this.#probeBind(address));
  }

  /** An address that we have just let go of may still be closing: it is nobody else's. */
  #probeBind(address: Listener["address"]): ReturnType<ProbeBind> {
    const leftAt = this.#leftAt.get(formatAddress(address));
    const isClosing = leftAt !== undefined && this.#options.clock.now() - leftAt < CLOSING_MS;
    return isClosing ? { port: address.port } : this.#options.probeBind(address);
  }

  /** Tells which addresses come and go. */
  tell(running: readonly Listener[], next: readonly Listener[]): void {
    const { clock, emit } = this.#options;
    const [before, after] = [namesByAddress(running), namesByAddress(next)];
    for (const [address, listener] of after) {
      this.#leftAt.delete(address);
      if (!before.has(address)) emit({ kind: "listener_added", listener, address });
    }
    for (const [address, listener] of before) {
      if (after.has(address)) continue;
      this.#leftAt.set(address, clock.now());
      emit({ kind: "listener_removed", listener, address });
    }
  }
}

function namesByAddress(listeners: readonly Listener[]): ReadonlyMap<string, string> {
  return new Map(listeners.map((listener) => [formatAddress(listener.address), listener.name]));
}

function changeOf(
  wanted: readonly Listener[],
  running: readonly Listener[],
  probe: ProbeBind,
): ListenerChange {
  const listeners: Listener[] = [];
  const added: Listener[] = [];
  const problems: string[] = [];
  for (const listener of wanted) {
    const settled = withPort(listener, running);
    const same = running.find((other) => formatAddress(other.address) === formatAddress(settled.address));
    const free = same !== undefined || mayTakeOver(settled, running)
      ? settled.address
      : probe(settled.address);
    if ("message" in free) {
      problems.push(
        `Listener "${listener.name}" can not listen on ${formatAddress(listener.address)}: ${free.message}`,
      );
      continue;
    }
    const bound = { ...settled, address: { host: settled.address.host, port: free.port } };
    listeners.push(bound);
    if (same === undefined || !isSameSocket(same, bound)) added.push(bound);
  }
  return { listeners, added, problems };
}

/** A listener on port 0 keeps the port it was once given. */
function withPort(listener: Listener, running: readonly Listener[]): Listener {
  if (listener.address.port !== 0) return listener;
  const before = running.find((other) =>
    other.name === listener.name && other.address.host === listener.address.host
  );
  return before === undefined ? listener : { ...listener, address: before.address };
}

/** Our own socket on an overlapping address (0.0.0.0 and 127.0.0.1) is no stranger's; sharing it is possible. */
function mayTakeOver(listener: Listener, running: readonly Listener[]): boolean {
  const { host, port } = listener.address;
  return port !== 0 &&
    running.some(({ address }) => address.port === port && (isWildcard(address.host) || isWildcard(host)));
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function isSameSocket(a: Listener, b: Listener): boolean {
  const isSameTls = a.tls?.cert === b.tls?.cert && a.tls?.key === b.tls?.key;
  // A TLS socket says in the handshake which protocol is spoken.
  return isSameTls && (a.tls === undefined || a.protocol === b.protocol);
}
