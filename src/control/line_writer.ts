// Writing log lines without ever waiting for whoever reads them: a reader that stops must not stop probes. Lines queue
// up to a limit; what comes after is dropped, counted, and told once there is room.

import { joined } from "../core/bytes.ts";

/** Most bytes that may wait. */
const QUEUE_BYTES = 1 << 20;

/** A stream that takes bytes: standard output. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<number>;
}

/** Writes lines in order, in the background. */
export class LineWriter {
  readonly #sink: ByteSink;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #dropped = 0;
  #writing: Promise<void> | undefined;
  #broken = false;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Queues one line, line feed included. */
  line(text: string): void {
    if (this.#broken) return;
    const bytes = new TextEncoder().encode(text);
    if (this.#queuedBytes + bytes.length > QUEUE_BYTES) {
      this.#dropped++;
      return;
    }
    this.#push(bytes);
    this.#writing ??= this.#writeQueue();
  }

  #push(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
  }

  async #writeQueue(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#writeBatch();
    } catch {
      // Nobody reads any more (a closed pipe). There is no other place to say so, and serving goes on.
      this.#broken = true;
      this.#queue = [];
    } finally {
      this.#writing = undefined;
    }
  }

  async #writeBatch(): Promise<void> {
    const batch = joined(this.#queue);
    this.#queue = [];
    for (let sent = 0; sent < batch.length;) sent += await this.#sink.write(batch.subarray(sent));
    this.#queuedBytes -= batch.length;
    if (this.#dropped === 0) return;
    const notice = `(${this.#dropped} log lines were dropped: nobody read them in time)\n`;
    this.#dropped = 0;
    this.#push(new TextEncoder().encode(notice));
  }

  /** Resolves when all that was queued has been written, or after `ms`. */
  async flush(ms: number): Promise<void> {
    if (this.#writing === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([this.#writing, promise]);
    clearTimeout(timer);
  }
}
