// Read buffers of two sizes: small ones for sessions that wait, large ones for sessions that are busy. Both come from
// free lists, so a steady load allocates nothing and an idle session costs little (DESIGN 12).

/** Size of a buffer for a read that may wait for long, bytes. */
export const SMALL_BYTES = 2048;
/** Size of a buffer for a stream that fills its reads, bytes. */
export const LARGE_BYTES = 65536;

/** A free list of one buffer size, which keeps at most `keep` of them. */
class FreeList {
  readonly #free: Uint8Array<ArrayBuffer>[] = [];

  constructor(readonly sizeBytes: number, readonly keep: number) {}

  take(): Uint8Array<ArrayBuffer> {
    return this.#free.pop() ?? new Uint8Array(this.sizeBytes);
  }

  give(buffer: Uint8Array<ArrayBuffer>): void {
    if (this.#free.length < this.keep) this.#free.push(buffer);
  }
}

/** The read buffers of one worker. Whoever takes one gives it back when no read into it is pending. */
export class BufferPool {
  readonly #small = new FreeList(SMALL_BYTES, 2048);
  readonly #large = new FreeList(LARGE_BYTES, 64);

  /** A buffer of `SMALL_BYTES`. */
  small(): Uint8Array<ArrayBuffer> {
    return this.#small.take();
  }

  /** Takes a buffer back, whichever size it has. */
  give(buffer: Uint8Array<ArrayBuffer>): void {
    (buffer.length === LARGE_BYTES ? this.#large : this.#small).give(buffer);
  }

  /**
   * The buffer for the next read of a stream whose last read put `count` bytes into `buffer`: a large one once a small
   * one was filled, a small one again once a large one stays nearly empty.
   */
  adapt(buffer: Uint8Array<ArrayBuffer>, count: number): Uint8Array<ArrayBuffer> {
    if (count === SMALL_BYTES && buffer.length === SMALL_BYTES) return this.#exchange(buffer, this.#large);
    if (count < LARGE_BYTES / 8 && buffer.length === LARGE_BYTES) return this.#exchange(buffer, this.#small);
    return buffer;
  }

  #exchange(old: Uint8Array<ArrayBuffer>, list: FreeList): Uint8Array<ArrayBuffer> {
    this.give(old);
    return list.take();
  }
}
