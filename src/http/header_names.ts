// The header names that a proxy has to know, each with a small number, found in one table look-up by length and first
// letter. All other names are 0: they are copied and never looked at.

import { ascii } from "./spans.ts";

/**
 * The known names; a number fits a bit of a 32-bit set. `x_forwarded_other` is any other `X-Forwarded-...`, and any
 * spelling of these and of `X-Real-IP` with underscores, which CGI and its heirs take for the one with hyphens.
 */
export const NAME = {
  host: 1,
  connection: 2,
  content_length: 3,
  transfer_encoding: 4,
  upgrade: 5,
  expect: 6,
  te: 7,
  trailer: 8,
  keep_alive: 9,
  proxy_connection: 10,
  proxy_authenticate: 11,
  proxy_authorization: 12,
  proxy_authentication_info: 13,
  http2_settings: 14,
  x_forwarded_for: 15,
  x_forwarded_proto: 16,
  x_forwarded_host: 17,
  x_forwarded_other: 18,
  forwarded: 19,
  x_real_ip: 20,
  x_request_id: 21,
  authorization: 22,
  cookie: 23,
  set_cookie: 24,
  content_type: 25,
  content_encoding: 26,
  content_range: 27,
  max_forwards: 28,
  range: 29,
} as const;

/** The bit of a name in a set. */
export const bitOf = (name: number): number => 1 << name;

/** The set of some names. */
export function setOf(...names: number[]): number {
  return names.reduce((set, name) => set | bitOf(name), 0);
}

/** Headers about one hop, dropped in both directions (RFC 9110 7.6.1 and what older proxies used). */
export const HOP_BY_HOP: number = setOf(
  NAME.connection,
  NAME.upgrade,
  NAME.te,
  NAME.keep_alive,
  NAME.proxy_connection,
  NAME.proxy_authenticate,
  NAME.proxy_authorization,
  NAME.proxy_authentication_info,
  NAME.http2_settings,
);

/** What only a trusted proxy may say about the client (W3). */
export const FORWARDING: number = setOf(
  NAME.x_forwarded_for,
  NAME.x_forwarded_proto,
  NAME.x_forwarded_host,
  NAME.x_forwarded_other,
  NAME.forwarded,
  NAME.x_real_ip,
);

/** Headers that `Connection` can not remove (W2): framing, routing, what we add ourselves, and credentials. */
export const NOT_NOMINABLE: number = FORWARDING | setOf(
  NAME.host,
  NAME.content_length,
  NAME.transfer_encoding,
  NAME.expect,
  NAME.trailer,
  NAME.x_request_id,
  NAME.authorization,
  NAME.cookie,
  NAME.set_cookie,
  NAME.content_type,
  NAME.content_encoding,
  NAME.content_range,
);

interface Entry {
  readonly id: number;
  readonly name: Readonly<Uint8Array>;
}

const LONGEST = 31;
const LETTER_X = 0x78;
const X_FORWARDED = ascii("x-forwarded-");
const X_REAL_IP = ascii("x-real-ip");
const UNDERSCORE = 0x5f;
const HYPHEN = 0x2d;
const ENTRIES: readonly Entry[] = Object.entries(NAME).map(([key, id]) => ({
  id,
  name: ascii(key.replaceAll("_", "-")),
}));
const BY_KEY: Readonly<Uint8Array> = makeIndex();

/** Length and first letter; no two known names share them. */
function keyOf(length: number, first: number): number {
  return (length << 5) | (first & 0x1f);
}

function makeIndex(): Uint8Array {
  const index = new Uint8Array(1024);
  ENTRIES.forEach((entry, at) => {
    if (entry.id === NAME.x_forwarded_other) return;
    const key = keyOf(entry.name.length, entry.name[0]!);
    if (index[key] !== 0) throw new Error(`Two known header names share the key ${key}`);
    index[key] = at + 1;
  });
  return index;
}

/** The number of the header name in a span of token bytes, 0 for a name that is not known. */
export function knownName(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from;
  const first = bytes[from]!;
  if (length <= LONGEST) {
    const place = BY_KEY[keyOf(length, first)]!;
    if (place > 0) {
      const entry = ENTRIES[place - 1]!;
      if (isSame(bytes, from, entry.name)) return entry.id;
    }
  }
  return (first | 0x20) === LETTER_X && isXForwarded(bytes, from, length) ? NAME.x_forwarded_other : 0;
}

/** Token bytes that become a letter, digit or hyphen under `| 0x20` are that same character in some case. */
function isSame(bytes: Uint8Array, from: number, name: Readonly<Uint8Array>): boolean {
  for (let at = 0; at < name.length; at++) {
    if ((bytes[from + at]! | 0x20) !== name[at]) return false;
  }
  return true;
}

function isXForwarded(bytes: Uint8Array, from: number, length: number): boolean {
  return length > X_FORWARDED.length
    ? beginsLike(bytes, from, X_FORWARDED)
    : length === X_REAL_IP.length && beginsLike(bytes, from, X_REAL_IP);
}

/** As `isSame`, with underscores in place of hyphens allowed. */
function beginsLike(bytes: Uint8Array, from: number, name: Readonly<Uint8Array>): boolean {
  for (let at = 0; at < name.length; at++) {
    const byte = bytes[from + at]!;
    if ((byte === UNDERSCORE ? HYPHEN : byte | 0x20) !== name[at]) return false;
  }
  return true;
}
