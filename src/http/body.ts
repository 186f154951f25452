// Where a body ends, and which of the bytes that arrive belong to it. Chunks are checked strictly and, in place, lose
// their extensions (or all their framing, for receivers that do not know chunks). Works on the buffer that was read
// into: nothing is copied unless something is taken out.

import { CR, LF, VALUE } from "./chars.ts";
import { CHARS } from "./chars.ts";
import { type Refusal, REFUSALS } from "./refusal.ts";
import { Trailers } from "./trailers.ts";

/** How a body is delimited. */
export type Framing = "none" | "length" | "chunked" | "until_close";

/** Longest chunk extension of one line, and of all lines of a body, bytes (W1). */
const MAX_EXTENSION_BYTES = 1024;
const MAX_EXTENSIONS_BYTES = 16384;
const MAX_SIZE_DIGITS = 16;

const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILER = 6;
const SEMICOLON = 0x3b;

/**
 * The body of one message, fed as it arrives. After each `feed(bytes, from, to)` the bytes that go on are
 * `from`..`outEnd`, then `tail` if there is one; `next` is the first byte that was not taken: it belongs to the
 * message behind this one.
 */
export class Body {
  framing: Framing = "none";
  /** The whole body has been fed. */
  done = true;
  /** Why the body is refused; nothing may be fed after that. */
  refusal: Refusal | undefined;
  outEnd = 0;
  next = 0;
  /** Bytes behind `outEnd` that end the body: a trailer section. */
  tail: Uint8Array<ArrayBuffer> | undefined;
  /** Bytes of content so far, framing not counted. */
  contentBytes = 0;
  /** Of a "length" body or of the present chunk: bytes still to come. */
  remaining = 0;
  #keepsFraming = true;
  #state = SIZE;
  #digits = 0;
  #extension = 0;
  #extensions = 0;
  #trailers: Trailers | undefined;

  /** Begins a body. `length` counts for framing "length" only. `keepsFraming: false` takes the chunk framing out. */
  begin(framing: Framing, length: number, keepsFraming = true): void {
    this.framing = framing;
    this.remaining = framing === "length" ? length : 0;
    this.done = framing === "none" || (framing === "length" && length === 0);
    this.refusal = undefined;
    this.tail = undefined;
    this.contentBytes = 0;
    this.#keepsFraming = keepsFraming;
    this.#state = SIZE;
    this.#digits = this.#extension = this.#extensions = 0;
  }

  /** The most bytes that a read may take without reaching into the next message. */
  get readLimit(): number {
    return this.framing === "length" ? this.remaining : Infinity;
  }

  /** Takes what belongs to the body of the bytes from `from` up to `to`. */
  feed(bytes: Uint8Array, from: number, to: number): void {
    this.tail = undefined;
    if (this.framing === "chunked") return this.#feedChunks(bytes, from, to);
    let end = from;
    if (this.framing === "until_close") end = to;
    else if (this.framing === "length") {
      end = Math.min(to, from + this.remaining);
      this.remaining -= end - from;
      this.done = this.remaining === 0;
    }
    this.contentBytes += end - from;
    this.outEnd = this.next = end;
  }

  /** The stream has ended: that completes a body that only the end delimits. */
  end(): void {
    if (this.framing === "until_close") this.done = true;
  }

  #feedChunks(bytes: Uint8Array, from: number, to: number): void {
    let out = from;
    let at = from;
    while (at < to && !this.done && this.refusal === undefined) {
      if (this.#state === DATA) {
        const count = Math.min(this.remaining, to - at);
        if (out !== at) bytes.copyWithin(out, at, at + count);
        out += count;
        at += count;
        this.contentBytes += count;
        this.remaining -= count;
        if (this.remaining === 0) this.#state = DATA_CR;
      } else if (this.#state === TRAILER) {
        const end = this.#feedTrailer(bytes, at, to);
        if (end < 0) at = to;
        // The common end, a bare CR LF, stays where it is; fields go out as `tail`.
        else if (this.tail === undefined && this.#keepsFraming) {
          bytes.copyWithin(out, at, end);
          out += end - at;
          at = end;
        } else at = end;
      } else {
        const byte = bytes[at++]!;
        if (this.#step(byte)) bytes[out++] = byte;
      }
    }
    this.outEnd = out;
    this.next = at;
  }

  /** One byte of framing; whether it goes on. */
  #step(byte: number): boolean {
    switch (this.#state) {
      case SIZE:
        return this.#stepSize(byte) && this.#keepsFraming;
      case EXTENSION:
        return this.#stepExtension(byte) && this.#keepsFraming;
      case SIZE_LF:
        if (byte !== LF) this.refusal = REFUSALS.chunk_size;
        else this.#beginData();
        return this.#keepsFraming;
      case DATA_CR:
        if (byte !== CR) this.refusal = REFUSALS.chunk_end;
        this.#state = DATA_LF;
        return this.#keepsFraming;
      default:
        if (byte !== LF) this.refusal = REFUSALS.chunk_end;
        this.#state = SIZE;
        this.#digits = 0;
        return this.#keepsFraming;
    }
  }

  #stepSize(byte: number): boolean {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.remaining = this.#digits === 0 ? digit : this.remaining * 16 + digit;
      this.#digits++;
      if (this.#digits > MAX_SIZE_DIGITS || this.remaining > Number.MAX_SAFE_INTEGER) {
        this.refusal = REFUSALS.chunk_size;
      }
      return true;
    }
    if (this.#digits === 0) this.refusal = REFUSALS.chunk_size;
    else if (byte === CR) this.#state = SIZE_LF;
    else if (byte === SEMICOLON) {
      this.#state = EXTENSION;
      this.#extension = 0;
    } else this.refusal = REFUSALS.chunk_size;
    return byte === CR;
  }

  /** Extensions are dropped: nobody behind us may read them in another way than we do. */
  #stepExtension(byte: number): boolean {
    if (byte === CR) {
      this.#state = SIZE_LF;
      return true;
    }
    this.#extension++;
    this.#extensions++;
    const tooLong = this.#extension > MAX_EXTENSION_BYTES || this.#extensions > MAX_EXTENSIONS_BYTES;
    if (tooLong || (CHARS[byte]! & VALUE) === 0) this.refusal = REFUSALS.chunk_extension;
    return false;
  }

  #beginData(): void {
    this.#state = this.remaining === 0 ? TRAILER : DATA;
    if (this.remaining === 0) this.#begun = false;
  }

  /** Whether the present trailer section has begun to be gathered. */
  #begun = false;

  /** Where the trailer section ends, -1 when it goes on. */
  #feedTrailer(bytes: Uint8Array, at: number, to: number): number {
    if (!this.#begun && at + 1 < to && bytes[at] === CR && bytes[at + 1] === LF) {
      this.done = true;
      return at + 2;
    }
    this.#trailers ??= new Trailers();
    if (!this.#begun) this.#trailers.begin();
    this.#begun = true;
    const end = this.#trailers.feed(bytes, at, to);
    this.refusal = this.#trailers.refusal;
    if (end >= 0) {
      this.done = true;
      if (this.#keepsFraming) this.tail = this.#trailers.allowed();
    }
    return end;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
