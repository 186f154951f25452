// The listeners of one worker: bound before a plan is taken, started with it, retired when they leave it. A socket
// stays as long as its address does, whatever else changes about its listener.

import { formatAddress } from "../core/address.ts";
import type { Clock } from "../core/clock.ts";
import type { BindFailure } from "../core/message.ts";
import type { Listener } from "../core/plan.ts";
import { AcceptLoop, type ConnSource } from "../net/accept_loop.ts";
import { bindMessage } from "../net/listen.ts";
import { codeOf } from "../net/socket_errors.ts";
import type { ClientPlaces } from "./client_places.ts";
import type { ClientConn } from "./service.ts";

/** What listeners need from their plane. */
export interface ListenersHost {
  readonly clock: Clock;
  /** Binds an address; throws with `code` when that fails. */
  readonly listen: (listener: Listener) => ConnSource<ClientConn>;
  readonly places: Pick<ClientPlaces, "isFull" | "take">;
  /** Takes a connection over, with its place. */
  admit(conn: ClientConn, listener: Listener): void;
  /** Accepting began to fail with a code, or works again. */
  trouble(listener: string, code: string, over: boolean): void;
}

interface Accepting {
  /** As of the plan in force. */
  listener: Listener;
  readonly loop: AcceptLoop<ClientConn>;
}

/** How often an address that could not be bound is tried again, milliseconds. */
const REBIND_MS = 1000;

/** The sockets of one worker. */
export class Listeners {
  readonly #host: ListenersHost;
  /** By address, as all maps here. */
  readonly #running = new Map<string, Accepting>();
  readonly #prepared = new Map<string, Accepting>();
  /** Listeners of the plan that could not be bound yet. */
  #missing = new Map<string, Listener>();
  /** Of those, the ones that this has been told of. */
  readonly #troubled = new Set<string>();
  #isRetrying = false;
  /** Those on their way out; each resolves when its address is free. */
  readonly #retiring = new Set<Promise<void>>();
  /** Aborted once all are closed for good: nothing is bound any more. */
  readonly #over = new AbortController();

  constructor(host: ListenersHost) {
    this.#host = host;
  }

  /** Binds listeners of a plan to come. All or none: after a failure nothing stays bound. */
  async prepare(listeners: readonly Listener[]): Promise<BindFailure | undefined> {
    for (const listener of listeners) {
      const bound = this.#bind(listener);
      if ("loop" in bound) {
        this.#prepared.set(formatAddress(listener.address), bound);
        continue;
      }
      await this.abandon();
      return bound;
    }
    return undefined;
  }

  #bind(listener: Listener): Accepting | BindFailure {
    try {
      return this.#accepting(listener);
    } catch (error) {
      const address = formatAddress(listener.address);
      return { listener: listener.name, address, code: codeOf(error) ?? "", message: bindMessage(error) };
    }
  }

  #accepting(listener: Listener): Accepting {
    const host = this.#host;
    const accepting: Accepting = {
      listener,
      loop: new AcceptLoop(host.listen(listener), {
        clock: host.clock,
        isFull: () => host.places.isFull(accepting.listener),
        takePermit: () => host.places.take(accepting.listener),
        admit: (conn) => host.admit(conn, accepting.listener),
        trouble: (code, over) => host.trouble(accepting.listener.name, code, over),
      }),
    };
    return accepting;
  }

  /** Lets go of what was prepared. */
  async abandon(): Promise<void> {
    const prepared = [...this.#prepared.values()];
    this.#prepared.clear();
    await Promise.all(prepared.map(({ loop }) => loop.close()));
  }

  /** Swaps to the listeners of a plan. */
  take(listeners: readonly Listener[]): void {
    const wanted = new Map(listeners.map((listener) => [formatAddress(listener.address), listener]));
    this.#retireOld(wanted);
    for (const [address, accepting] of this.#prepared) {
      accepting.listener = wanted.get(address) ?? accepting.listener;
      this.#start(address, accepting);
    }
    this.#prepared.clear();
    this.#missing = new Map([...wanted].filter(([address]) => !this.#running.has(address)));
    this.#bindMissing();
  }

  #retireOld(wanted: ReadonlyMap<string, Listener>): void {
    for (const [address, accepting] of this.#running) {
      const next = wanted.get(address);
      // A prepared one for the same address is of another kind (TLS): its socket takes over.
      if (next === undefined || this.#prepared.has(address)) this.#retire(address, accepting);
      else accepting.listener = next;
    }
  }

  #start(address: string, accepting: Accepting): void {
    this.#running.set(address, accepting);
    accepting.loop.start();
  }

  /** A worker that starts in the middle of things was never asked to prepare. What it can not bind it tries again. */
  #bindMissing(): void {
    if (this.#over.signal.aborted) return;
    for (const [address, listener] of this.#missing) {
      const bound = this.#bind(listener);
      if ("loop" in bound) {
        this.#missing.delete(address);
        this.#start(address, bound);
        if (this.#troubled.delete(address)) this.#host.trouble(listener.name, "", true);
      } else if (!this.#troubled.has(address)) {
        this.#troubled.add(address);
        this.#host.trouble(listener.name, bound.code, false);
      }
    }
    if (this.#missing.size > 0 && !this.#isRetrying) void this.#retry();
  }

  async #retry(): Promise<void> {
    const { signal } = this.#over;
    this.#isRetrying = true;
    while (this.#missing.size > 0 && !signal.aborted) {
      await this.#host.clock.sleep(REBIND_MS, signal).catch(() => undefined); // Rejects when all is over.
      this.#bindMissing();
    }
    this.#isRetrying = false;
  }

  #retire(address: string, { loop }: Accepting): void {
    this.#running.delete(address);
    const done: Promise<void> = loop.retire().finally(() => this.#retiring.delete(done));
    this.#retiring.add(done);
  }

  /** Stops accepting on all of them for good once the kernel's queues are empty; resolves when they are closed. */
  async retireAll(): Promise<void> {
    this.#over.abort();
    for (const [address, accepting] of this.#running) this.#retire(address, accepting);
    await Promise.all(this.#retiring);
  }

  /** Closes all of them at once and for good; resolves when they are closed. */
  async close(): Promise<void> {
    this.#over.abort();
    const all = [...this.#running.values(), ...this.#prepared.values()];
    this.#running.clear();
    this.#prepared.clear();
    await Promise.all([...all.map(({ loop }) => loop.close()), ...this.#retiring]);
  }
}
