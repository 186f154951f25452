// One connection with the bytes that were read from it and not yet used. Reading and writing give values, not
// exceptions: what peers do is no surprise. A read may be begun ahead of need; whoever wants the bytes waits for it.

import type { Duplex } from "../core/duplex.ts";
import { type Page, PAGE_BYTES, type Pages } from "./pages.ts";

/** How a wire lays out what it reads. */
export interface WireOptions {
  /** Bytes kept free in front of what is read into an empty page, for a head that is written in place. */
  readonly headroom: number;
  /** Bytes kept free at the end of the page, for what is added behind a body. */
  readonly tailroom: number;
}

const NO_ROOM: WireOptions = { headroom: 0, tailroom: 0 };
const NO_PAGE: Page = new Uint8Array(0);

/** A connection and its unread bytes, `page[from..to]`. */
export class Wire {
  readonly duplex: Duplex;
  page: Page;
  from: number;
  to: number;
  /** The peer has ended its side in an orderly way. */
  ended = false;
  /** Code of the error that ended reading or writing; "" while there is none. */
  readFailure = "";
  writeFailure = "";
  /** Bytes read and written since the wire was made. */
  bytesIn = 0;
  bytesOut = 0;
  /** Size of the next page that is begun, bytes. Grows by itself when reads fill their pages. */
  nextBytes: number = PAGE_BYTES.small;
  /** Called when a read that was begun ahead has ended and nobody has asked for it yet. */
  onAhead: (() => void) | undefined;
  isClosed = false;
  readonly #pages: Pages;
  readonly #options: WireOptions;
  #pending: Promise<number> | undefined;
  #isAhead = false;
  #isPinned = false;
  #isReleased = false;
  // Made once per connection, so that a read costs no closure.
  readonly #arrived = (count: number | null): number => this.#settle(count, "");
  readonly #failed = (error: unknown): number => this.#settle(null, codeOf(error));
  #sending: Uint8Array = NO_PAGE;
  readonly #wrote = (count: number): boolean | Promise<boolean> => this.#goOnWriting(count);
  readonly #writeFailed = (error: unknown): boolean => this.#failWriting(error);

  /** Takes the connection over. `options` are for wires whose heads are rewritten in place. */
  constructor(duplex: Duplex, pages: Pages, options: WireOptions = NO_ROOM) {
    this.duplex = duplex;
    this.#pages = pages;
    this.#options = options;
    this.page = pages.take(this.nextBytes);
    this.from = this.to = options.headroom;
  }

  /** How many bytes are waiting to be used. */
  get unread(): number {
    return this.to - this.from;
  }

  /** Whether a read is under way. */
  get isReading(): boolean {
    return this.#pending !== undefined;
  }

  /** Whether nothing more can come. */
  get isOver(): boolean {
    return this.ended || this.readFailure !== "";
  }

  /**
   * Reads at least one byte behind the unread ones, at most `limit`, or waits for the read under way. Gives how many
   * came; 0: the peer has ended its side, or reading failed (see `readFailure`). The page must have room (`makeRoom`).
   */
  read(limit = Infinity): Promise<number> {
    this.#isAhead = false;
    return this.#pending ?? this.#begin(limit);
  }

  /** Begins a read without waiting for it. Does nothing while there are unread bytes or nothing can come. */
  readAhead(): void {
    if (this.#pending !== undefined || this.unread > 0 || this.isOver || this.isClosed) return;
    this.#isAhead = true;
    this.#begin(Infinity);
  }

  #begin(limit: number): Promise<number> {
    if (this.isOver) return Promise.resolve(0);
    if (this.from === this.to) this.#rewind();
    const room = Math.min(this.page.length - this.#options.tailroom - this.to, limit);
    const view = room === this.page.length ? this.page : this.page.subarray(this.to, this.to + room);
    return this.#pending = this.duplex.read(view).then(this.#arrived, this.#failed);
  }

  #settle(count: number | null, failure: string): number {
    this.#pending = undefined;
    if (this.#isReleased) this.#dropPage();
    else if (count !== null) this.#take(count);
    else if (failure === "") this.ended = true;
    else this.readFailure = failure;
    if (this.#isAhead) {
      this.#isAhead = false;
      this.onAhead?.();
    }
    return count ?? 0;
  }

  #take(count: number): void {
    this.to += count;
    this.bytesIn += count;
    // A stream that fills its pages gets large ones.
    if (this.to === this.page.length - this.#options.tailroom) this.nextBytes = PAGE_BYTES.large;
  }

  /** Nothing is unread: begin at the front again, in a page of the wanted size that nobody else holds. */
  #rewind(): void {
    if (this.#isPinned || this.page.length !== this.nextBytes) {
      if (!this.#isPinned) this.#pages.give(this.page);
      this.#isPinned = false;
      this.page = this.#pages.take(this.nextBytes);
    }
    this.from = this.to = this.#options.headroom;
  }

  /** Makes room behind the unread bytes: they move into a larger page, at the same offset. Not while reading. */
  makeRoom(): void {
    if (this.to < this.page.length - this.#options.tailroom) return;
    const larger = this.#pages.take(this.page.length * 2);
    larger.set(this.page.subarray(this.from, this.to), this.from);
    if (!this.#isPinned) this.#pages.give(this.page);
    this.#isPinned = false;
    this.page = larger;
  }

  /** The present page stays as it is until `unpin`; once its bytes are used, reading goes on in another one. */
  pin(): Page {
    this.#isPinned = true;
    return this.page;
  }

  /** Ends the holding of a page that `pin` gave. */
  unpin(page: Page): void {
    if (page === this.page) this.#isPinned = false;
    else this.#pages.give(page);
  }

  /** After a message: the next page is small, or of middle size once reads have filled the small ones. */
  settle(): void {
    if (this.nextBytes !== PAGE_BYTES.small) this.nextBytes = PAGE_BYTES.middle;
  }

  /** Writes all of `bytes`, one write at a time. False: writing failed (see `writeFailure`). */
  write(bytes: Uint8Array): Promise<boolean> {
    this.#sending = bytes;
    return this.duplex.write(bytes).then(this.#wrote, this.#writeFailed);
  }

  #goOnWriting(count: number): boolean | Promise<boolean> {
    this.bytesOut += count;
    return count === this.#sending.length ? true : this.write(this.#sending.subarray(count));
  }

  #failWriting(error: unknown): boolean {
    this.writeFailure = codeOf(error);
    return false;
  }

  /** Ends our side; false: it could not be ended, the connection is gone. */
  async endWriting(): Promise<boolean> {
    try {
      await this.duplex.closeWrite();
      return true;
    } catch (error) {
      this.writeFailure = codeOf(error);
      return false;
    }
  }

  /** Closes both sides; a read or write under way ends with a failure. Safe to call again. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    try {
      this.duplex.close();
    } catch (error) {
      this.writeFailure = codeOf(error);
    }
  }

  /** Closes, and gives the page back as soon as no read fills it. Only when no write from the page is under way. */
  release(): void {
    this.close();
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#pending === undefined) this.#dropPage();
  }

  #dropPage(): void {
    if (!this.#isPinned && this.page.length > 0) this.#pages.give(this.page);
    this.page = NO_PAGE;
    this.from = this.to = 0;
  }
}

/** The code of a socket error ("ECONNRESET"); its name when it has none. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === "string") return code;
  return typeof name === "string" ? name : "unknown";
}
