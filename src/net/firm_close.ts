// Before Deno 2.9 `close()` ends a pending read but not a pending write: a peer that reads nothing would hold its
// session for as long as it likes. Here such a write is given up at `close()`, as newer runtimes do. The socket itself
// stays with the old runtime until the peer reads on, closes or dies; nothing in JavaScript can change that. When the
// peer does read on, the old runtime still sends what the write was given: so it is given bytes that nobody else uses.

import type { Duplex } from "../core/duplex.ts";

/** A connection as a listener gives it. */
export interface AcceptedConn extends Duplex {
  readonly remoteAddr: Deno.Addr;
  setNoDelay?(noDelay?: boolean): void;
  /**
   * Whether it came to be usable: false when it did not, or was closed before; undefined or absent: it is. Does not reject.
   */
  ready?(): Promise<boolean> | undefined;
  /** Once closed: resolves when the socket is free, which may be much later; undefined or absent: it is. */
  leftBehind?(): Promise<void> | undefined;
}

/** Whether `close()` of this runtime ends a pending write by itself. */
export const CLOSE_ENDS_WRITES: boolean = isFirm(Deno.version.deno);

/** Whether `close()` of the Deno of this version ends a pending write. Seen on 2.9.6; not on 2.6 and 2.8. */
export function isFirm(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/** The connection itself where `close()` ends pending writes, else one around it whose `close()` does. */
export function firmlyClosing(conn: AcceptedConn): AcceptedConn {
  return CLOSE_ENDS_WRITES ? conn : new FirmConn(conn);
}

/** Memory of this size stays with a connection; larger memory only while writes use a good part of it, bytes. */
const KEPT_BYTES = 2048;

/** A connection whose pending write rejects at `close()`. One write at a time, as everywhere in hale. */
export class FirmConn implements AcceptedConn {
  readonly #conn: AcceptedConn;
  #giveUp: ((error: Error) => void) | undefined;
  /** Where bytes lie while they are written: a write that was given up may be carried out much later. */
  #own = new Uint8Array(0);

  constructor(conn: AcceptedConn) {
    this.#conn = conn;
  }

  get remoteAddr(): Deno.Addr {
    return this.#conn.remoteAddr;
  }

  read(p: Uint8Array): Promise<number | null> {
    return this.#conn.read(p);
  }

  write(p: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      // After `close()` the promise is settled: what the write comes to then concerns nobody.
      this.#conn.write(this.#owned(p)).then(resolve, reject);
    });
  }

  #owned(p: Uint8Array): Uint8Array {
    const size = this.#own.length;
    const isFit = p.length <= size && (size <= KEPT_BYTES || p.length >= size / 8);
    if (!isFit) this.#own = new Uint8Array(p.length);
    this.#own.set(p);
    return p.length === this.#own.length ? this.#own : this.#own.subarray(0, p.length);
  }

  closeWrite(): Promise<void> {
    return this.#conn.closeWrite();
  }

  close(): void {
    this.#conn.close();
    this.#giveUp?.(Object.assign(new Deno.errors.Interrupted("operation canceled"), { code: "EINTR" }));
  }

  setNoDelay(noDelay?: boolean): void {
    this.#conn.setNoDelay?.(noDelay);
  }
}
