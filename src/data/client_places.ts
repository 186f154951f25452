// The places for clients, which all workers share: one per connection, for as long as its socket is there, and for TLS
// clients one more until their handshake has ended. Nothing frees the socket of a client that is silent in the middle of
// its handshake (net/tls_client_conn.ts), so such clients get no more than half of all places: the rest stays for others.

import type { FromWorker } from "../core/message.ts";
import { mostHandshakes, type Permits } from "../core/permits.ts";
import type { Listener } from "../core/plan.ts";
import type { ClientConn } from "./service.ts";

/** What places are counted in, and whom to tell. */
export interface ClientPlacesPorts {
  /** Of client connections. */
  readonly permits: Permits;
  /** Of TLS handshakes with clients, under way or left behind. */
  readonly handshakePermits: Permits;
  readonly send: (message: FromWorker) => void;
}

type Limit = Extract<FromWorker, { type: "full" }>["of"];

/** A limit that is told as reached is told as over when so much of it is taken at most. */
const GOOD_ROOM = 0.9;

/** The places of one worker's clients. */
export class ClientPlaces {
  readonly #connections: Permits;
  readonly #handshakes: Permits;
  readonly #send: ClientPlacesPorts["send"];
  /** Without a plan nobody asks. */
  #most = Infinity;
  #mostHandshakes = Infinity;
  readonly #told = new Set<Limit>();
  /** Gives back the places of sockets that are left behind, though their sessions have ended. */
  readonly #leftBehind = new Set<() => void>();
  #isDraining = false;
  // Made once, so that a handshake costs no closure.
  readonly #shaken = (): void => this.#handshakes.give();

  constructor({ permits, handshakePermits, send }: ClientPlacesPorts) {
    this.#connections = permits;
    this.#handshakes = handshakePermits;
    this.#send = send;
  }

  /** How many connections there may be from now on, over all workers. */
  limit(maxConnections: number): void {
    this.#most = maxConnections;
    this.#mostHandshakes = mostHandshakes(maxConnections);
  }

  /** Whether a listener has no place for a further client now. */
  isFull({ tls }: Listener): boolean {
    const isFull = this.#connections.taken >= this.#most;
    if (isFull) this.#tell("connections", true);
    return isFull || (tls !== undefined && this.#handshakes.taken >= this.#mostHandshakes);
  }

  /** Takes what one client of a listener needs; false: there is no place. */
  take({ tls }: Listener): boolean {
    if (tls === undefined) return this.#connections.take(this.#most);
    if (!this.#handshakes.take(this.#mostHandshakes)) return false;
    if (this.#connections.take(this.#most)) return true;
    this.#handshakes.give();
    return false;
  }

  /** A client has come in with what `take` gave: that for its handshake comes back when that has ended. */
  enter(conn: ClientConn, { tls }: Listener): void {
    if (tls === undefined) return;
    const shaking = conn.shaking?.();
    if (shaking === undefined) this.#handshakes.give();
    else void shaking.then(this.#shaken);
  }

  /** Its session has ended. What holds a descriptor holds its place, so that nobody can use up the one without the other. */
  leave(conn: ClientConn): void {
    const left = conn.shaking?.();
    if (left === undefined || this.#isDraining) return this.#connections.give();
    const give = () => {
      if (this.#leftBehind.delete(give)) this.#connections.give();
    };
    this.#leftBehind.add(give);
    void left.then(give);
  }

  /** Nobody comes in any more, and what is left behind holds nothing up. */
  drain(): void {
    this.#isDraining = true;
    for (const give of this.#leftBehind) give();
  }

  /** To be called every tick. A burst of handshakes that is over by then kept nobody waiting for long. */
  tick(): void {
    if (this.#connections.taken < this.#most * GOOD_ROOM) this.#tell("connections", false);
    const handshakes = this.#handshakes.taken;
    if (handshakes >= this.#mostHandshakes) this.#tell("handshakes", true);
    else if (handshakes < this.#mostHandshakes * GOOD_ROOM) this.#tell("handshakes", false);
  }

  #tell(of: Limit, isFull: boolean): void {
    if (isFull === this.#told.has(of)) return;
    if (isFull) this.#told.add(of);
    else this.#told.delete(of);
    this.#send({ type: "full", of, over: !isFull });
  }
}
