// Small readers over spans of bytes: words in any case, lists, numbers. None of them decodes or allocates, save `textOf`.

import { COMMA, SP, TAB } from "./chars.ts";

/** The bytes of an ASCII text. */
export function ascii(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** A span as text, each byte one character (so bytes above 0x7f survive, as U+0080 to U+00FF). */
export function textOf(bytes: Uint8Array, from: number, to: number): string {
  let text = "";
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at]!);
  return text;
}

/** Whether the span holds these lower-case letters, digits and hyphens, in any case. */
export function isWord(bytes: Uint8Array, from: number, to: number, word: Readonly<Uint8Array>): boolean {
  if (to - from !== word.length) return false;
  for (let at = 0; at < word.length; at++) {
    if (lower(bytes[from + at]!) !== word[at]) return false;
  }
  return true;
}

/** The byte in lower case when it is an ASCII letter, else as it is. */
export function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

/** Calls `visit` for each item of a comma-separated list, without the blanks around it; empty items are skipped. */
export function eachItem(
  bytes: Uint8Array,
  from: number,
  to: number,
  visit: (from: number, to: number) => void,
): void {
  let start = from;
  for (let at = from; at <= to; at++) {
    if (at < to && bytes[at] !== COMMA) continue;
    let end = at;
    while (start < end && (bytes[start] === SP || bytes[start] === TAB)) start++;
    while (end > start && (bytes[end - 1] === SP || bytes[end - 1] === TAB)) end--;
    if (end > start) visit(start, end);
    start = at + 1;
  }
}

/** Whether two spans hold the same token, in any case. */
export function isSameWord(
  bytes: Uint8Array,
  from: number,
  to: number,
  other: number,
  otherEnd: number,
): boolean {
  if (to - from !== otherEnd - other) return false;
  for (let at = 0; at < to - from; at++) {
    if (lower(bytes[from + at]!) !== lower(bytes[other + at]!)) return false;
  }
  return true;
}

/** The value of 1 to 16 decimal digits, at most 2^53 - 1; -1 for anything else, a sign or a blank included. */
export function decimal(bytes: Uint8Array, from: number, to: number): number {
  if (to === from || to - from > 16) return -1;
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : -1;
}
