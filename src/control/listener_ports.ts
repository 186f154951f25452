// The addresses a plan will listen on: which of them have to be bound anew, whether they are free, and which port a
// listener on port 0 has got.

import { formatAddress } from "../core/address.ts";
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

/** Compares the listeners of a config with those that run, and asks for the addresses that are new. */
export function listenerChange(
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
  return listener.address.port !== 0 && running.some((other) => other.address.port === listener.address.port);
}

function isSameSocket(a: Listener, b: Listener): boolean {
  return a.tls?.cert === b.tls?.cert && a.tls?.key === b.tls?.key;
}
