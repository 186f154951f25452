// Puts a head together from spans of another head and texts of our own. One writer per worker is enough: a head is
// written in one go, and copied or sent before the next one begins.

import { CR, LF } from "./chars.ts";
import { type Page, PAGE_BYTES } from "./pages.ts";

/** Up to this many bytes a plain loop beats a call of `set`. */
const LOOP_BYTES = 48;

/** Collects the bytes of one head. */
export class HeadWriter {
  readonly #own: Page = new Uint8Array(2 * PAGE_BYTES.large);
  /** Where the head is written. */
  out: Page = this.#own;
  /** How many bytes it has so far. */
  at = 0;

  /** Begins a head in `out`, which must be long enough; by default in memory of the writer's own, which always is. */
  begin(out: Page = this.#own): void {
    this.out = out;
    this.at = 0;
  }

  /** Adds `bytes[from..to]`. */
  copy(bytes: Uint8Array, from: number, to: number): void {
    const { out } = this;
    let at = this.at;
    if (to - from <= LOOP_BYTES) {
      for (let source = from; source < to; source++) out[at++] = bytes[source]!;
      this.at = at;
    } else {
      out.set(bytes.subarray(from, to), at);
      this.at = at + to - from;
    }
  }

  /** Adds a text of our own. */
  put(text: Readonly<Uint8Array>): void {
    this.copy(text as Uint8Array, 0, text.length);
  }

  /** Adds an ASCII text that is not worth an array of its own. */
  putText(text: string): void {
    const { out } = this;
    let at = this.at;
    for (let source = 0; source < text.length; source++) out[at++] = text.charCodeAt(source);
    this.at = at;
  }

  /** Ends a line. */
  endLine(): void {
    this.out[this.at++] = CR;
    this.out[this.at++] = LF;
  }

  /** Adds a number in lower-case hexadecimal. */
  putHex(value: number): void {
    this.putText(value.toString(16));
  }
}
