// Before Deno 2.9 `close()` does not end a pending write, and on 2.8 no pending read: a peer that reads or says nothing
// would hold its session for as long as it likes. Here both are given up at `close()`, as newer runtimes do. The socket
// itself stays with the old runtime until the peer goes on, closes or dies; nothing in JavaScript can change that. When
// the peer does go on, the old runtime still sends or fills what it was given: so that is memory that nobody else uses.

import type { Duplex } from "../core/duplex.ts";

/** A connection as a listener gives it. */
export interface AcceptedConn extends Duplex {
  readonly remoteAddr: Deno.Addr;
  setNoDelay?(noDelay?: boolean): void;
  /**
   * Whether it came to be usable: false when it did not, or was closed before; undefined or absent: it is. Does not reject.
   */
  ready?(): Promise<boolean> | undefined;
  /**
   * While a TLS handshake is under way: resolves when it has ended, well or badly. A connection that was closed before
   * holds its socket until then, which may be much later. undefined or absent: none is under way.
   */
  shaking?(): Promise<void> | undefined;
}

/** Whether `close()` of this runtime ends a pending write by itself. */
export const CLOSE_ENDS_WRITES: boolean = isFirm(Deno.version.deno);

/** Whether `close()` of the Deno of this version ends a pending write. Seen on 2.9.6; not on 2.6 and 2.8. */
export function isFirm(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/** Whether `close()` of the Deno of this version ends a pending read. Seen on 2.6.8, 2.7.14 and 2.9.6; not on 2.8.3. */
export function endsReads(version: string): boolean {
  return !/^2\.8\./.test(version);
}

/** The connection itself where `close()` ends pending writes, else one around it whose `close()` does. */
export function firmlyClosing(conn: AcceptedConn): AcceptedConn {
  return CLOSE_ENDS_WRITES ? conn : new FirmConn(conn);
}

/** Memory of this size stays with a connection; larger memory only while writes use a good part of it, bytes. */
const KEPT_BYTES = 2048;

/** Most bytes that are read at a time where reads have to be given up. */
const INBOX_BYTES = 16_384;

/** A connection whose pending read and write reject at `close()`. One of each at a time, as everywhere in hale. */
export class FirmConn implements AcceptedConn {
  readonly #conn: AcceptedConn;
  readonly #endsReads: boolean;
  #giveUp: ((error: Error) => void) | undefined;
  /** Set while a read is pending that `close()` would not end. */
  #giveUpRead: ((error: Error) => void) | undefined;
  #inbox = new Uint8Array(0);
  /** Where bytes lie while they are written: a write that was given up may be carried out much later. */
  #own = new Uint8Array(0);

  /** `closeEndsReads`: what `conn` does by itself. */
  constructor(conn: AcceptedConn, closeEndsReads: boolean = endsReads(Deno.version.deno)) {
    this.#conn = conn;
    this.#endsReads = closeEndsReads;
  }

  get remoteAddr(): Deno.Addr {
    return this.#conn.remoteAddr;
  }

  read(p: Uint8Array): Promise<number | null> {
    return this.#endsReads ? this.#conn.read(p) : this.#readFirmly(p);
  }

  #readFirmly(p: Uint8Array): Promise<number | null> {
    const size = Math.min(p.length, INBOX_BYTES);
    if (this.#inbox.length < size) this.#inbox = new Uint8Array(size);
    const bytes = this.#inbox.subarray(0, size);
    return new Promise((resolve, reject) => {
      this.#giveUpRead = reject;
      this.#conn.read(bytes).then((count) => {
        // Given up: `p` may serve others by now.
        if (this.#giveUpRead !== reject) return;
        this.#giveUpRead = undefined;
        if (count !== null) p.set(bytes.subarray(0, count));
        resolve(count);
      }, (error) => {
        this.#giveUpRead = undefined;
        reject(error);
      });
    });
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
    const giveUpRead = this.#giveUpRead;
    this.#giveUpRead = undefined;
    // Else the peer would not hear of the end. A peer that is gone already needs not to.
    if (giveUpRead !== undefined) void this.#conn.closeWrite().catch(() => {});
    this.#conn.close();
    for (const giveUp of [giveUpRead, this.#giveUp]) {
      giveUp?.(Object.assign(new Deno.errors.Interrupted("operation canceled"), { code: "EINTR" }));
    }
  }

  setNoDelay(noDelay?: boolean): void {
    this.#conn.setNoDelay?.(noDelay);
  }
}
