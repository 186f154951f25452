// Server-sent events out of the ring, one body stream per client. A client that does not read costs at most
// BUFFER_BYTES and is then dropped; it comes back with its last id and misses nothing that the ring still holds.

import type { Clock } from "../core/clock.ts";
import type { EventRing, From, KeptEvent } from "./event_ring.ts";

/** Most bytes that wait for one client. Holds more than a replay. */
export const BUFFER_BYTES = 512 * 1024;

/** Most clients at a time. */
export const MAX_STREAMS = 32;

const BEAT_MS = 15_000;

/** All open event streams of one admin app. */
export class EventStreams {
  readonly #ring: EventRing;
  readonly #clock: Clock;
  readonly #ends = new Set<() => void>();
  #closed = false;

  /** The clock is for a comment line every 15 s, by which the sender notices that a client is gone. */
  constructor(ring: EventRing, clock: Clock) {
    this.#ring = ring;
    this.#clock = clock;
  }

  /** How many clients there are. */
  get size(): number {
    return this.#ends.size;
  }

  /** A body for one client; undefined when there are `MAX_STREAMS` or all were closed. Cancel it when the client goes. */
  open(from: From): ReadableStream<Uint8Array> | undefined {
    if (this.#closed || this.#ends.size >= MAX_STREAMS) return undefined;
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES });
    let leave = (): void => {};
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      leave = this.#serve(controller, from);
    };
    return new ReadableStream({ start, cancel: () => leave() }, strategy);
  }

  /** Ends every stream for good. */
  close(): void {
    this.#closed = true;
    for (const end of [...this.#ends]) end();
  }

  /** Feeds one client until it is left, closed or dropped. Gives how to leave it. */
  #serve(controller: ReadableStreamDefaultController<Uint8Array>, from: From): () => void {
    const stop = new AbortController();
    const leave = () => {
      stop.abort();
      this.#ends.delete(end);
    };
    const end = () => {
      leave();
      controller.close();
    };
    const send = (text: string) => {
      if (stop.signal.aborted) return;
      const bytes = new TextEncoder().encode(text);
      if ((controller.desiredSize ?? 0) >= bytes.length) return controller.enqueue(bytes);
      leave();
      controller.error(new Error("The client does not read its events"));
    };
    this.#ends.add(end);
    send("retry: 2000\n: hale\n\n");
    const unfollow = this.#ring.follow(from, (event) => send(formatEvent(event)));
    stop.signal.addEventListener("abort", unfollow);
    if (stop.signal.aborted) unfollow();
    this.#beat(send, stop.signal);
    return leave;
  }

  async #beat(send: (text: string) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Rejects only when the stream is over.
      await this.#clock.sleep(BEAT_MS, signal).catch(() => {});
      send(": beat\n\n");
    }
  }
}

/** An event as server-sent event: id and one line of JSON. */
function formatEvent({ id, json }: KeptEvent): string {
  return `id: ${id}\ndata: ${json}\n\n`;
}
