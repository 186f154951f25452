// A client's connection on a TLS listener. The runtime can not let go of a socket in the middle of a handshake: closed,
// it stays open until the client says something or goes away. So nothing is read or written before the handshake has
// ended, closing ends the waiting at once, and `shaking` tells whoever counts connections when the socket is free.

import type { AcceptedConn } from "./firm_close.ts";

/** A connection whose handshake is under way. */
export interface Shaking extends AcceptedConn {
  /** Settles when the handshake has ended, well or badly. */
  handshake(): Promise<unknown>;
}

/** The client's side of a TLS connection. A failed handshake shows as the error of the first read or write. */
export class TlsClientConn implements AcceptedConn {
  readonly #conn: AcceptedConn;
  /** Resolves with the end of the handshake, well or badly. */
  readonly #shaken: Promise<void>;
  #isShaken = false;
  #isGood = false;
  #isClosed = false;
  /** Rejects at `close`, for whoever waits for the handshake. */
  readonly #closing = Promise.withResolvers<never>();

  /** Begins the handshake on `shaking`; all bytes go over `conn`, which may be the same. */
  constructor(shaking: Shaking, conn: AcceptedConn = shaking) {
    this.#conn = conn;
    this.#closing.promise.catch(() => {}); // Often nobody waits.
    this.#shaken = shaking.handshake().then(() => this.#settle(true), () => this.#settle(false));
  }

  #settle(isGood: boolean): void {
    this.#isShaken = true;
    this.#isGood = isGood;
    if (this.#isClosed) this.#conn.close();
  }

  get remoteAddr(): Deno.Addr {
    return this.#conn.remoteAddr;
  }

  /** Whether the handshake ended well before the connection was closed; undefined: it did. */
  ready(): Promise<boolean> | undefined {
    return this.#isGood && !this.#isClosed ? undefined : this.#whenReady();
  }

  async #whenReady(): Promise<boolean> {
    try {
      await this.#afterShaking(() => Promise.resolve());
    } catch {
      return false; // Closed.
    }
    return this.#isGood && !this.#isClosed;
  }

  /** Resolves with the end of the handshake, also of a closed connection: then its socket is free. undefined: it has ended. */
  shaking(): Promise<void> | undefined {
    return this.#isShaken ? undefined : this.#shaken;
  }

  read(p: Uint8Array): Promise<number | null> {
    return this.#isShaken ? this.#conn.read(p) : this.#afterShaking(() => this.#conn.read(p));
  }

  write(p: Uint8Array): Promise<number> {
    return this.#isShaken ? this.#conn.write(p) : this.#afterShaking(() => this.#conn.write(p));
  }

  closeWrite(): Promise<void> {
    return this.#isShaken ? this.#conn.closeWrite() : this.#afterShaking(() => this.#conn.closeWrite());
  }

  async #afterShaking<T>(go: () => Promise<T>): Promise<T> {
    await Promise.race([this.#shaken, this.#closing.promise]);
    return await go();
  }

  close(): void {
    if (this.#isShaken) return this.#conn.close();
    if (this.#isClosed) throw new Deno.errors.BadResource("Bad resource ID");
    this.#isClosed = true;
    this.#closing.reject(
      Object.assign(new Deno.errors.Interrupted("operation canceled"), { code: "EINTR" }),
    );
  }
}
