// Two duplexes joined in memory: what one writes the other reads. Writes wait while the other side holds more than
// `capacity` unread bytes, so back-pressure is real; reads give at most `chunk` bytes, so splits can be forced.

import type { Duplex } from "../../src/core/duplex.ts";

interface PipeOptions {
  readonly capacity: number;
  readonly chunk: number;
}

/** One direction: bytes in order, then perhaps an end. */
class Pipe {
  #chunks: Uint8Array[] = [];
  #held = 0;
  #ended = false;
  #error: Error | undefined;
  #waiting: (() => void)[] = [];

  constructor(readonly options: PipeOptions) {}

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async write(p: Uint8Array): Promise<number> {
    while (this.#held >= this.options.capacity && !this.#ended && this.#error === undefined) {
      await this.#change();
    }
    if (this.#error) throw this.#error;
    if (this.#ended) throw coded("EPIPE", "Broken pipe");
    const taken = Math.min(p.length, this.options.capacity - this.#held);
    this.#chunks.push(p.slice(0, taken));
    this.#held += taken;
    this.#changed();
    return taken;
  }

  async read(p: Uint8Array): Promise<number | null> {
    while (this.#chunks.length === 0 && !this.#ended && this.#error === undefined) await this.#change();
    const first = this.#chunks[0];
    if (first === undefined) {
      if (this.#error) throw this.#error;
      return null;
    }
    const count = Math.min(p.length, first.length, this.options.chunk);
    p.set(first.subarray(0, count));
    if (count === first.length) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(count);
    this.#held -= count;
    this.#changed();
    return count;
  }

  end(): void {
    this.#ended = true;
    this.#changed();
  }

  fail(error: Error): void {
    this.#error = error;
    this.#chunks = [];
    this.#changed();
  }
}

/** An error as sockets give it, with its code. */
export function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** One end of a pair, with means to misbehave. */
export class MemoryDuplex implements Duplex {
  closed = false;

  constructor(readonly incoming: Pipe, readonly outgoing: Pipe) {}

  read(p: Uint8Array): Promise<number | null> {
    return this.closed ? Promise.reject(coded("EBADF", "Bad resource")) : this.incoming.read(p);
  }

  write(p: Uint8Array): Promise<number> {
    return this.closed ? Promise.reject(coded("EBADF", "Bad resource")) : this.outgoing.write(p);
  }

  closeWrite(): Promise<void> {
    this.outgoing.end();
    return Promise.resolve();
  }

  close(): void {
    if (this.closed) throw coded("EBADF", "Bad resource");
    this.closed = true;
    this.outgoing.end();
    this.incoming.fail(coded("EINTR", "operation canceled"));
  }

  /** Resets the connection: the peer's reads and writes fail. */
  reset(): void {
    this.closed = true;
    this.outgoing.fail(coded("ECONNRESET", "Connection reset by peer"));
    this.incoming.fail(coded("ECONNRESET", "Connection reset by peer"));
  }
}

/** A connected pair. `capacity`: bytes in flight per direction (default 64 KiB); `chunk`: most bytes per read. */
export function memoryPair(options: Partial<PipeOptions> = {}): [MemoryDuplex, MemoryDuplex] {
  const full = { capacity: 65536, chunk: Infinity, ...options };
  const [there, back] = [new Pipe(full), new Pipe(full)];
  return [new MemoryDuplex(back, there), new MemoryDuplex(there, back)];
}
