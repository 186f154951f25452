// A connection as old runtimes have it: what is pending when it is closed stays pending until the peer moves, and only
// then does the peer hear of the end.

import { coded } from "./memory_duplex.ts";
import type { AcceptedConn } from "../../src/net/firm_close.ts";

/** A connection whose `close` ends nothing that is under way. */
export class DeafDuplex implements AcceptedConn {
  readonly remoteAddr: Deno.Addr;
  readonly #conn: AcceptedConn;
  #pending = 0;
  #isClosed = false;

  constructor(conn: AcceptedConn) {
    this.#conn = conn;
    this.remoteAddr = conn.remoteAddr;
  }

  read(p: Uint8Array): Promise<number | null> {
    return this.#run(() => this.#conn.read(p));
  }

  write(p: Uint8Array): Promise<number> {
    return this.#run(() => this.#conn.write(p));
  }

  async #run<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw coded("EBADF", "Bad resource");
    this.#pending++;
    try {
      return await operation();
    } finally {
      this.#pending--;
      if (this.#isClosed && this.#pending === 0) this.#conn.close();
    }
  }

  closeWrite(): Promise<void> {
    return this.#conn.closeWrite();
  }

  close(): void {
    if (this.#isClosed) throw coded("EBADF", "Bad resource");
    this.#isClosed = true;
    if (this.#pending === 0) this.#conn.close();
  }
}
