// The one deadline of an attempt, joined with the caller's wish to stop. Real timers, not a Clock: it cuts real
// sockets, and it is on the way of every connection, where a sleep that is aborted again costs several times as much.

import type { Address } from "../core/address.ts";

/** What ended an attempt before it was done. */
export type Struck = "timeout" | "cancelled";

/**
 * Opens a TCP connection unless and until the deadline strikes; rejects then, or with the runtime's error. When it strikes
 * at the very last moment the connection is there all the same: look at `struck`, and close it.
 */
export function connectTcp(
  address: Address,
  deadline: { readonly signal: AbortSignal; readonly struck: Struck | undefined },
): Promise<Deno.TcpConn> {
  if (deadline.struck !== undefined) return Promise.reject(new Error(deadline.struck));
  return Deno.connect({ hostname: address.host, port: address.port, signal: deadline.signal });
}

/**
 * `Deno.connect` asks its signal once more when the connection stands, and if that throws it forgets the open socket for
 * ever. The signals of this controller do not throw.
 */
function connectController(): AbortController {
  const controller = new AbortController();
  controller.signal.throwIfAborted = doNothing;
  return controller;
}

function doNothing(): void {}

/** An attempt that can be given up. */
export interface Cancellable {
  /** Ends it as "cancelled", unless it is over. */
  cancel(): void;
}

/** A deadline that runs from its making until `end`. Always call `end`. */
export class Deadline implements Cancellable {
  readonly #stop = connectController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #outer: AbortSignal | undefined;
  #struck: Struck | undefined;
  #onOuter: (() => void) | undefined;

  /** `ms` from now (Infinity: never), or as soon as `outer` is aborted. */
  constructor(ms: number, outer?: AbortSignal) {
    this.#outer = outer;
    if (outer?.aborted) this.#strike("cancelled");
    else if (ms !== Infinity) this.#timer = setTimeout(() => this.#strike("timeout"), ms);
    if (outer === undefined) return;
    this.#onOuter = () => this.#strike("cancelled");
    outer.addEventListener("abort", this.#onOuter, { once: true });
  }

  /** Aborted when the deadline strikes. For `connectTcp`: its `throwIfAborted` does nothing. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What has struck; undefined while the attempt may go on. */
  get struck(): Struck | undefined {
    return this.#struck;
  }

  /** Strikes now. */
  cancel(): void {
    this.#strike("cancelled");
  }

  /** Waits for `work`, which must not reject; undefined when the deadline strikes first. */
  race<T>(work: Promise<T>): Promise<T | undefined> {
    if (this.#struck !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const strike = () => resolve(undefined);
      this.signal.addEventListener("abort", strike, { once: true });
      void work.then((value) => {
        this.signal.removeEventListener("abort", strike);
        resolve(value);
      });
    });
  }

  /** The attempt is over, whichever way: frees the timer. Nothing strikes after this. */
  end(): void {
    clearTimeout(this.#timer);
    if (this.#onOuter !== undefined) this.#outer!.removeEventListener("abort", this.#onOuter);
  }

  #strike(struck: Struck): void {
    this.#struck ??= struck;
    this.#stop.abort(struck);
  }
}

/** How long a group takes further attempts in, milliseconds: its grain. */
const GROUP_MS = 50;

/** One attempt's share in the deadline of a group. */
export class SharedDeadline implements Cancellable {
  readonly #group: GroupDeadline;
  readonly #stop = connectController();
  #struck: Struck | undefined;

  constructor(group: GroupDeadline) {
    this.#group = group;
  }

  /** Aborted when the deadline strikes. For `connectTcp`: its `throwIfAborted` does nothing. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What has struck; undefined while the attempt may go on. */
  get struck(): Struck | undefined {
    return this.#struck;
  }

  /** Strikes now, for this attempt alone. */
  cancel(): void {
    this.strike("cancelled");
  }

  /** Called by the group. */
  strike(struck: Struck): void {
    this.#struck ??= struck;
    this.#stop.abort(struck);
  }

  /** The attempt is over. */
  end(): void {
    this.#group.leave(this);
  }
}

/** Attempts that began within `GROUP_MS` of each other and have the same time: one timer for all. */
class GroupDeadline {
  readonly #open = new Set<SharedDeadline>();
  #isFull = false;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #filling: ReturnType<typeof setTimeout>;

  /** Strikes `ms` after the last attempt that can still join. */
  constructor(ms: number, onFull: () => void) {
    this.#timer = setTimeout(() => this.#strike(), ms + GROUP_MS);
    this.#filling = setTimeout(() => {
      this.#isFull = true;
      onFull();
      this.#endIfUnused();
    }, GROUP_MS);
  }

  join(): SharedDeadline {
    const one = new SharedDeadline(this);
    this.#open.add(one);
    return one;
  }

  leave(one: SharedDeadline): void {
    this.#open.delete(one);
    this.#endIfUnused();
  }

  #endIfUnused(): void {
    if (this.#isFull && this.#open.size === 0) clearTimeout(this.#timer);
  }

  /** Never strikes any more. */
  cancel(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#filling);
  }

  #strike(): void {
    for (const one of this.#open) one.strike("timeout");
  }
}

/** The deadlines of many short attempts, shared among those that begin together: up to `GROUP_MS` late, never early. */
export class Deadlines {
  readonly #joinable = new Map<number, GroupDeadline>();

  /** A deadline `ms` from now; call its `end` when the attempt is over. */
  begin(ms: number): SharedDeadline {
    let group = this.#joinable.get(ms);
    if (group === undefined) {
      group = new GroupDeadline(ms, () => this.#joinable.delete(ms));
      this.#joinable.set(ms, group);
    }
    return group.join();
  }

  /** To be called when no attempt is under way any more: frees what waits to be joined. */
  close(): void {
    for (const group of this.#joinable.values()) group.cancel();
    this.#joinable.clear();
  }
}
