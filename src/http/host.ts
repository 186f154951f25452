// What a Host header or the authority of a URL may be: a name, an IPv4 address or an IPv6 address in brackets, with an
// optional port. Lists, user information, escapes and blanks are none of these.

import { CHARS, COLON, DIGIT, HOST, IPV6 } from "./chars.ts";

const OPEN = 0x5b;
const CLOSE = 0x5d;

/** Whether the span is a host with an optional port of 0..65535. */
export function isHost(bytes: Uint8Array, from: number, to: number): boolean {
  const end = endOfHost(bytes, from, to);
  return end > from && (end === to || isPort(bytes, end, to));
}

/** Where the host part of a valid host and port ends. */
export function endOfHost(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  if (bytes[at] !== OPEN || at >= to) {
    while (at < to && (CHARS[bytes[at]!]! & HOST) !== 0) at++;
    return at;
  }
  do at++; while (at < to && (CHARS[bytes[at]!]! & IPV6) !== 0);
  return at < to && bytes[at] === CLOSE && at > from + 2 ? at + 1 : from;
}

/** A colon and up to five digits; RFC 3986 lets the digits be absent. */
function isPort(bytes: Uint8Array, from: number, to: number): boolean {
  if (bytes[from] !== COLON || to - from > 6) return false;
  let port = 0;
  for (let at = from + 1; at < to; at++) {
    if ((CHARS[bytes[at]!]! & DIGIT) === 0) return false;
    port = port * 10 + bytes[at]! - 0x30;
  }
  return port <= 65535;
}
