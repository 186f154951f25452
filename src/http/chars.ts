// Which bytes may stand where in an HTTP/1.1 head (RFC 9110 5.6.2, 5.5; RFC 3986 for hosts), as one table of bits.
// Strict: what is not listed is refused by the parsers, never mended.

/** A byte of a token: a method or a header name. */
export const TOKEN = 1;
/** A byte of a header value or reason: tab, blank, visible ASCII, or 0x80 and above. No CR, LF, NUL, control or DEL. */
export const VALUE = 2;
/** A byte of a request target: visible ASCII but "#", or 0x80 and above (browsers escape those, curl does not). */
export const TARGET = 4;
/** A byte of a host name or IPv4 address. */
export const HOST = 8;
/** A byte inside the brackets of an IPv6 address. */
export const IPV6 = 16;
/** A decimal digit. */
export const DIGIT = 32;
/** A visible byte that needs no escaping in JSON: used to judge request ids. */
export const PLAIN = 64;

/** What each byte may be, as a set of the bits above. */
export const CHARS: Readonly<Uint8Array> = makeTable();

/** Carriage return. */
export const CR = 0x0d;
/** Line feed. */
export const LF = 0x0a;
/** Blank. */
export const SP = 0x20;
/** Horizontal tab. */
export const TAB = 0x09;
/** ":" */
export const COLON = 0x3a;
/** "/" */
export const SLASH = 0x2f;
/** "," */
export const COMMA = 0x2c;

function makeTable(): Uint8Array {
  const table = new Uint8Array(256);
  const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (let byte = 0; byte < 256; byte++) {
    if (byte >= 0x21 && byte !== 0x7f) table[byte]! |= VALUE | TARGET;
    if (byte >= 0x21 && byte <= 0x7e) table[byte]! |= PLAIN;
  }
  mark(table, " \t", VALUE);
  mark(table, alphanumeric + "!#$%&'*+-.^_`|~", TOKEN);
  mark(table, alphanumeric + "-._~", HOST);
  mark(table, "0123456789abcdefABCDEF:.", IPV6);
  mark(table, "0123456789", DIGIT);
  table["#".charCodeAt(0)]! &= ~TARGET;
  table['"'.charCodeAt(0)]! &= ~PLAIN;
  table["\\".charCodeAt(0)]! &= ~PLAIN;
  return table;
}

function mark(table: Uint8Array, characters: string, bit: number): void {
  for (const character of characters) table[character.charCodeAt(0)]! |= bit;
}
