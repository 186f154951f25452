// Kept connections to one endpoint (W6). The one used last is used first, so the others grow old and go. While a
// connection waits, a read on it is pending: an endpoint that closes it, or says something unasked, takes it out.
// Some endpoints send a body that they announce where there must be none (HEAD, 204, 304). What comes of it after the next
// request was written could pass for its answer, so after such a head the connection rests for a moment.

import type { Wire } from "./wire.ts";
import type { HttpTools } from "./tools.ts";

/** Rules of keeping connections. */
export interface PoolLimits {
  /** Most idle connections per endpoint and worker. */
  readonly maxIdle: number;
  /** Longest idle time, milliseconds. */
  readonly idleMs: number;
  /** Longest life, milliseconds; an older connection is not kept again. */
  readonly lifeMs: number;
}

/** What is used when nothing else is said. */
export const POOL_LIMITS: PoolLimits = { maxIdle: 128, idleMs: 60_000, lifeMs: 600_000 };

/** How long a connection rests after an answer that announced a body and had none by rule, milliseconds. */
export const REST_MS = 10;

/** A connection to an endpoint, between exchanges or in one. */
export class EndpointWire {
  readonly wire: Wire;
  readonly openedAt: number;
  /** Exchanges begun on it. More than one: it was reused. */
  uses = 0;
  idleSince = 0;
  /** Not to be used before, by the clock; 0: at once. */
  restsUntil = 0;
  readonly #onStale: (connection: EndpointWire) => void;
  readonly #onAhead = (): void => this.#onStale(this);

  /** `onStale` hears when the endpoint ended or spoke while the connection was idle. */
  constructor(wire: Wire, openedAt: number, onStale: (connection: EndpointWire) => void) {
    this.wire = wire;
    this.openedAt = openedAt;
    this.#onStale = onStale;
  }

  /** Waits for the next exchange, with a read pending. */
  rest(now: number): void {
    this.idleSince = now;
    this.wire.onAhead = this.#onAhead;
    this.wire.readAhead();
  }

  /** Takes it for an exchange. The pending read will bring the answer. */
  wake(): void {
    this.wire.onAhead = undefined;
    this.uses++;
  }
}

/** The idle connections of one endpoint. */
export class Pool {
  readonly #tools: HttpTools;
  readonly #limits: PoolLimits;
  #idle: EndpointWire[] = [];
  #isClosed = false;
  readonly #drop = (connection: EndpointWire): void => this.#remove(connection);

  constructor(tools: HttpTools, limits: PoolLimits = POOL_LIMITS) {
    this.#tools = tools;
    this.#limits = limits;
  }

  /** How many connections are idle. */
  get size(): number {
    return this.#idle.length;
  }

  /** An idle connection that still seems alive, or undefined. */
  take(): EndpointWire | undefined {
    const idle = this.#idle;
    const last = idle.length - 1;
    const at = last < 0 || idle[last]!.restsUntil === 0 ? last : this.#lastRested();
    if (at < 0) return undefined;
    const connection = idle[at]!;
    if (at === last) idle.pop();
    else idle.splice(at, 1);
    connection.wake();
    return connection;
  }

  #lastRested(): number {
    const now = this.#tools.clock.now();
    return this.#idle.findLastIndex((one) => one.restsUntil <= now);
  }

  /** A connection that was just opened, in use. */
  adopt(wire: Wire): EndpointWire {
    const connection = new EndpointWire(wire, this.#tools.clock.now(), this.#drop);
    connection.wake();
    return connection;
  }

  /**
   * Keeps a connection whose exchange is over and left it clean, or closes it when the limits say so. `mayTrail`: the
   * answer announced a body that it had not by rule, and the endpoint may send it all the same.
   */
  give(connection: EndpointWire, now: number, mayTrail = false): void {
    const isOld = now - connection.openedAt >= this.#limits.lifeMs;
    if (this.#isClosed || isOld || this.#idle.length >= this.#limits.maxIdle) {
      return connection.wire.release();
    }
    connection.restsUntil = mayTrail ? now + REST_MS : 0;
    this.#idle.push(connection);
    connection.rest(now);
  }

  #remove(connection: EndpointWire): void {
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    connection.wire.release();
  }

  /** Closes what has been idle for too long or has grown too old. Called every second or so. */
  sweep(now: number): void {
    const { idleMs, lifeMs } = this.#limits;
    const isKept = (one: EndpointWire) => now - one.idleSince < idleMs && now - one.openedAt < lifeMs;
    if (this.#idle.every(isKept)) return;
    const gone = this.#idle.filter((one) => !isKept(one));
    this.#idle = this.#idle.filter(isKept);
    for (const one of gone) one.wire.release();
  }

  /** Closes all idle connections; those in use are closed when they come back. */
  close(): void {
    this.#isClosed = true;
    const idle = this.#idle;
    this.#idle = [];
    for (const one of idle) one.wire.release();
  }
}
