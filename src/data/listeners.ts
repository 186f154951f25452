// The listeners of one worker: bound before a plan is taken, started with it, retired when they leave it. A socket
// stays as long as its address does, whatever else changes about its listener.

import { formatAddress } from "../core/address.ts";
import type { Clock } from "../core/clock.ts";
import type { BindFailure } from "../core/message.ts";
import type { Permits } from "../core/permits.ts";
import type { Listener } from "../core/plan.ts";
import { AcceptLoop, type ConnSource } from "../net/accept_loop.ts";
import { bindMessage } from "../net/listen.ts";
import { codeOf } from "../net/socket_errors.ts";
import type { ClientConn } from "./service.ts";

/** What listeners need from their plane. */
export interface ListenersHost {
  readonly clock: Clock;
  readonly permits: Permits;
  /** Binds an address; throws with `code` when that fails. */
  readonly listen: (listener: Listener) => ConnSource<ClientConn>;
  /** Most client connections at a time over all workers. */
  maxConnections(): number;
  /** Takes a connection over, with its permit. */
  admit(conn: ClientConn, listener: Listener): void;
  /** Accepting began to fail with a code, or works again. */
  trouble(listener: string, code: string, over: boolean): void;
}

interface Accepting {
  /** As of the plan in force. */
  listener: Listener;
  readonly loop: AcceptLoop<ClientConn>;
}

/** The sockets of one worker. */
export class Listeners {
  readonly #host: ListenersHost;
  /** By address. */
  readonly #running = new Map<string, Accepting>();
  readonly #prepared = new Map<string, Accepting>();
  /** Those on their way out; each resolves when its address is free. */
  readonly #retiring = new Set<Promise<void>>();

  constructor(host: ListenersHost) {
    this.#host = host;
  }

  /** Binds listeners of a plan to come. All or none: after a failure nothing stays bound. */
  async prepare(listeners: readonly Listener[]): Promise<BindFailure | undefined> {
    for (const listener of listeners) {
      const failure = this.#bind(listener);
      if (failure === undefined) continue;
      await this.abandon();
      return failure;
    }
    return undefined;
  }

  #bind(listener: Listener): BindFailure | undefined {
    const address = formatAddress(listener.address);
    try {
      this.#prepared.set(address, this.#accepting(listener));
      return undefined;
    } catch (error) {
      return { listener: listener.name, address, code: codeOf(error) ?? "", message: bindMessage(error) };
    }
  }

  #accepting(listener: Listener): Accepting {
    const host = this.#host;
    const accepting: Accepting = {
      listener,
      loop: new AcceptLoop(host.listen(listener), {
        clock: host.clock,
        isFull: () => host.permits.taken >= host.maxConnections(),
        takePermit: () => host.permits.take(host.maxConnections()),
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

  /** Swaps to the listeners of a plan. Gives the names of those that are gone. */
  take(listeners: readonly Listener[]): readonly string[] {
    const wanted = new Map(listeners.map((listener) => [formatAddress(listener.address), listener]));
    const gone = this.#retireMissing(wanted);
    this.#bindMissing(wanted);
    for (const [address, accepting] of this.#prepared) {
      accepting.listener = wanted.get(address) ?? accepting.listener;
      this.#running.set(address, accepting);
      accepting.loop.start();
    }
    this.#prepared.clear();
    return gone;
  }

  #retireMissing(wanted: ReadonlyMap<string, Listener>): readonly string[] {
    const gone: string[] = [];
    for (const [address, accepting] of this.#running) {
      const next = wanted.get(address);
      if (next === undefined) gone.push(accepting.listener.name);
      // A prepared one for the same address is of another kind (TLS): its socket takes over.
      if (next === undefined || this.#prepared.has(address)) this.#retire(address, accepting);
      else accepting.listener = next;
    }
    return gone;
  }

  /** A worker that starts in the middle of things was never asked to prepare. */
  #bindMissing(wanted: ReadonlyMap<string, Listener>): void {
    for (const [address, listener] of wanted) {
      if (this.#running.has(address) || this.#prepared.has(address)) continue;
      const failure = this.#bind(listener);
      if (failure !== undefined) this.#host.trouble(listener.name, failure.code, false);
    }
  }

  #retire(address: string, { loop }: Accepting): void {
    this.#running.delete(address);
    const done: Promise<void> = loop.retire().finally(() => this.#retiring.delete(done));
    this.#retiring.add(done);
  }

  /** Stops accepting on all of them once the kernel's queues are empty; resolves when they are closed. */
  async retireAll(): Promise<void> {
    for (const [address, accepting] of this.#running) this.#retire(address, accepting);
    await Promise.all(this.#retiring);
  }

  /** Closes all of them at once; resolves when they are closed. */
  async close(): Promise<void> {
    const all = [...this.#running.values(), ...this.#prepared.values()];
    this.#running.clear();
    this.#prepared.clear();
    await Promise.all([...all.map(({ loop }) => loop.close()), ...this.#retiring]);
  }
}
