// Copying both ways between a client and an endpoint: half-close is passed on, a write is waited for before the next
// read (back-pressure, at most one buffer per direction), bytes are counted, and it is settled who ended the session.
// Time is its owner's business: the owner hears of every read and ends a session that is overdue by `cut`.

import type { Duplex } from "../core/duplex.ts";
import { clientLeft, type Outcome } from "../core/outcome.ts";
import type { BufferPool } from "./buffers.ts";
import { codeOf } from "./socket_errors.ts";

/** What the owner of a relay hears while it runs. */
export interface RelayOwner {
  /** Bytes moved: the idle clock starts anew. */
  touch(): void;
  /** One side has ended, the other may go on. */
  halfClosed(): void;
  /** The endpoint failed; the client is given a moment to read what was sent. End it by `cut` after that. */
  lingering(): void;
}

/** One direction. */
interface Half {
  readonly from: Duplex;
  readonly to: Duplex;
  readonly fromClient: boolean;
  bytes: number;
  /** `from` has ended in an orderly way. */
  ended: boolean;
  /** `to` takes no more: what is still read is dropped. */
  toIsDead: boolean;
}

/** One session's copying. Call `run` once. */
export class Relay {
  readonly #up: Half;
  readonly #down: Half;
  readonly #buffers: BufferPool;
  readonly #owner: RelayOwner;
  #outcome: Outcome | undefined;
  #closed = false;

  /** Takes over both duplexes: it closes them. */
  constructor(client: Duplex, endpoint: Duplex, options: { buffers: BufferPool; owner: RelayOwner }) {
    this.#up = { from: client, to: endpoint, fromClient: true, bytes: 0, ended: false, toIsDead: false };
    this.#down = { from: endpoint, to: client, fromClient: false, bytes: 0, ended: false, toIsDead: false };
    this.#buffers = options.buffers;
    this.#owner = options.owner;
  }

  /** Bytes that came from the client and were taken by the endpoint. */
  get bytesUp(): number {
    return this.#up.bytes;
  }

  /** Bytes that came from the endpoint and were taken by the client. */
  get bytesDown(): number {
    return this.#down.bytes;
  }

  /** Copies until both directions are over; both duplexes are closed then. Gives who ended the session. Never rejects. */
  async run(): Promise<Outcome> {
    const up = this.#copy(this.#up);
    await this.#copy(this.#down);
    await up;
    this.#close();
    return this.#outcome ?? "finished";
  }

  /** Ends the session from outside. The reason counts unless the session had already ended for another. */
  cut(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#close();
  }

  async #copy(half: Half): Promise<void> {
    let buffer = this.#buffers.small();
    let writing = false;
    try {
      for (;;) {
        const count = await half.from.read(buffer);
        if (count === null) break;
        if (half.toIsDead) continue;
        this.#owner.touch();
        writing = true;
        let sent = await half.to.write(count === buffer.length ? buffer : buffer.subarray(0, count));
        while (sent < count) sent += await half.to.write(buffer.subarray(sent, count));
        writing = false;
        half.bytes += count;
        buffer = this.#buffers.adapt(buffer, count);
      }
    } catch (error) {
      return await this.#fail(half, writing, error);
    } finally {
      this.#buffers.give(buffer);
    }
    await this.#passEnd(half);
  }

  /** `from` ended: so does our side toward `to`. When both have ended, closing says it as well, and is cheaper. */
  async #passEnd(half: Half): Promise<void> {
    half.ended = true;
    if (this.#up.ended && this.#down.ended) return;
    if (this.#up.toIsDead) this.#owner.lingering();
    else this.#owner.halfClosed();
    if (!half.toIsDead) await endWriting(half.to);
  }

  async #fail(half: Half, writing: boolean, error: unknown): Promise<void> {
    if (this.#closed) return;
    if (writing !== half.fromClient) return this.cut(clientLeft(codeOf(error)));
    this.#outcome ??= "endpoint_reset";
    this.#up.toIsDead = true;
    if (writing) {
      // What the endpoint sent before it failed can still be read and is still delivered by the other direction.
      this.#owner.halfClosed();
      return await this.#drop(half.from);
    }
    this.#owner.lingering();
    await endWriting(half.to);
  }

  /** Reads the client on without keeping anything, so that closing does not reset what it has yet to read (RFC 9112, 9.6). */
  async #drop(from: Duplex): Promise<void> {
    const buffer = this.#buffers.small();
    try {
      while (await from.read(buffer) !== null);
    } catch {
      // The client is gone or the owner has cut the session: either way there is nobody left to be gentle to.
    } finally {
      this.#buffers.give(buffer);
    }
    this.#up.ended = true;
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeQuietly(this.#up.from);
    closeQuietly(this.#up.to);
  }
}

async function endWriting(duplex: Duplex): Promise<void> {
  try {
    await duplex.closeWrite();
  } catch {
    // It is gone already; its own direction reports that.
  }
}

/** Closes a duplex that may be closed already. */
export function closeQuietly(duplex: Pick<Duplex, "close">): void {
  try {
    duplex.close();
  } catch {
    // Closed before: what was wanted is so.
  }
}
