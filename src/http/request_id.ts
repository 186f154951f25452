// Request ids: 32 hexadecimal digits, of which the first half is drawn once per worker and the second half counts on
// from a drawn start. Kept as bytes, because they go from here into heads.

import type { Random } from "../core/clock.ts";

/** Length of an id that is made here, bytes. */
export const REQUEST_ID_BYTES = 32;
const COUNTER_BYTES = 16;

/** Makes ids that no two requests of one worker share. */
export class RequestIds {
  readonly #digits = new Uint8Array(REQUEST_ID_BYTES);

  constructor(random: Random) {
    for (let at = 0; at < REQUEST_ID_BYTES; at++) this.#digits[at] = hexByte(Math.floor(random() * 16));
  }

  /** Writes the next id into `out` at `at`. */
  next(out: Uint8Array, at: number): void {
    for (let place = REQUEST_ID_BYTES - 1; place >= REQUEST_ID_BYTES - COUNTER_BYTES; place--) {
      const digit = this.#digits[place]!;
      const value = digit <= 0x39 ? digit - 0x30 : digit - 0x57;
      this.#digits[place] = hexByte((value + 1) & 15);
      if (value !== 15) break;
    }
    for (let place = 0; place < REQUEST_ID_BYTES; place++) out[at + place] = this.#digits[place]!;
  }
}

function hexByte(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value;
}
