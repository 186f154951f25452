// The trailer section behind a chunked body: gathered until it is whole, judged as strictly as a head, and written
// again without the fields that may not stand there (RFC 9110 6.5.1): anything about framing, routing, forwarding or
// credentials, and whatever Connection could name.

import { CR, LF } from "./chars.ts";
import { Fields, MAX_HEAD_BYTES } from "./fields.ts";
import type { Refusal } from "./refusal.ts";

/** Reads one trailer section, in as many pieces as it comes. */
export class Trailers {
  readonly #fields = new Fields();
  #gathered = new Uint8Array(512);
  #length = 0;
  /** What is wrong with the section. */
  refusal: Refusal | undefined;

  /** Forgets the section before. */
  begin(): void {
    this.#length = 0;
    this.refusal = undefined;
  }

  /** Takes the bytes from `from`; gives where the section ended, or -1 when more is needed or it is refused. */
  feed(bytes: Uint8Array, from: number, to: number): number {
    const before = this.#length;
    this.#gather(bytes, from, to);
    if (before === 0) this.#fields.begin(this.#gathered, 0);
    this.#fields.bytes = this.#gathered;
    const progress = this.#fields.read(this.#length);
    this.refusal = this.#fields.refusal;
    return progress === "done" ? from + this.#fields.end - before : -1;
  }

  #gather(bytes: Uint8Array, from: number, to: number): void {
    // One byte over the limit is enough to be refused for it.
    const length = Math.min(this.#length + to - from, MAX_HEAD_BYTES + 1);
    if (length > this.#gathered.length) {
      const longer = new Uint8Array(Math.max(length, this.#gathered.length * 2));
      longer.set(this.#gathered.subarray(0, this.#length));
      this.#gathered = longer;
    }
    this.#gathered.set(bytes.subarray(from, from + length - this.#length), this.#length);
    this.#length = length;
  }

  /** The section as it goes on: the allowed fields and the blank line. */
  allowed(): Uint8Array<ArrayBuffer> {
    const { count, lineAt, names } = this.#fields;
    const out = new Uint8Array(this.#length);
    let at = 0;
    for (let line = 0; line < count; line++) {
      if (names[line] !== 0) continue;
      out.set(this.#gathered.subarray(lineAt[line]!, lineAt[line + 1]!), at);
      at += lineAt[line + 1]! - lineAt[line]!;
    }
    out[at++] = CR;
    out[at++] = LF;
    return out.slice(0, at);
  }
}
