// A wire after HTTP, as a plain duplex again: first come the bytes that were read already, and those of a read under
// way, then the connection itself (W8).

import type { Duplex } from "../core/duplex.ts";
import type { Wire } from "./wire.ts";

/** The raw side of a wire. From here on only this object reads and writes the connection. */
export class RawWire implements Duplex {
  readonly #wire: Wire;
  #isDirect = false;

  constructor(wire: Wire) {
    this.#wire = wire;
    wire.onAhead = undefined;
  }

  /** Fills `p` from what is left, else from the connection. Rejects as the connection does. */
  read(p: Uint8Array): Promise<number | null> {
    return this.#isDirect ? this.#wire.duplex.read(p) : this.#readLeft(p);
  }

  async #readLeft(p: Uint8Array): Promise<number | null> {
    const wire = this.#wire;
    if (wire.unread === 0 && wire.isReading) await wire.read();
    if (wire.unread > 0) {
      const count = Math.min(p.length, wire.unread);
      p.set(wire.page.subarray(wire.from, wire.from + count));
      wire.from += count;
      return count;
    }
    if (wire.ended) return null;
    if (wire.readFailure !== "") {
      throw Object.assign(new Error("The connection failed"), { code: wire.readFailure });
    }
    this.#isDirect = true;
    return await wire.duplex.read(p);
  }

  write(p: Uint8Array): Promise<number> {
    return this.#wire.duplex.write(p);
  }

  closeWrite(): Promise<void> {
    return this.#wire.duplex.closeWrite();
  }

  close(): void {
    this.#wire.close();
  }
}
