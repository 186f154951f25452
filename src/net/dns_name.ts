// Names as DNS has them: on the wire, and as text in which two names are the same exactly when the texts are. Bytes
// that a host name has no use for are written \DDD, so a dot inside a label can not pass for two labels.

/** A name is at most this long on the wire, length bytes and the root included (RFC 1035 section 2.3.4). */
const MAX_NAME_BYTES = 255;

/** A name on the wire, without compression; undefined when it is none (empty or long labels, not ASCII, too long). */
export function encodeName(name: string): number[] | undefined {
  const bytes: number[] = [];
  const absolute = name.endsWith(".") ? name.slice(0, -1) : name;
  for (const label of absolute === "" ? [] : absolute.split(".")) {
    if (!/^[\x21-\x5b\x5d-\x7e]{1,63}$/.test(label)) return undefined;
    bytes.push(label.length, ...Array.from(label, (char) => char.charCodeAt(0)));
  }
  bytes.push(0);
  return bytes.length <= MAX_NAME_BYTES ? bytes : undefined;
}

/** A name read from a message: its text (lower case, no final dot; "." for the root) and where it ends. */
export interface NameAt {
  readonly name: string;
  readonly end: number;
}

/** Reads the name at `start`. Throws RangeError for anything that is no name; it always ends. */
export function decodeName(bytes: Uint8Array, start: number): NameAt {
  const labels: string[] = [];
  let at = start;
  let end: number | undefined;
  let lowest = start;
  let length = 1;
  while (true) {
    const head = byteAt(bytes, at);
    if (head === 0) return { name: labels.length === 0 ? "." : labels.join("."), end: end ?? at + 1 };
    if (head >= 0xc0) {
      const target = (head & 0x3f) * 256 + byteAt(bytes, at + 1);
      end ??= at + 2;
      // Only ever backwards, to before everything read so far: no cycle is possible.
      if (target >= lowest) throw new RangeError("a compression pointer does not point back");
      at = lowest = target;
    } else if (head < 0x40) {
      length += head + 1;
      if (length > MAX_NAME_BYTES) throw new RangeError("a name is too long");
      labels.push(labelText(bytes, at + 1, head));
      at += head + 1;
    } else {
      throw new RangeError("a label of unknown kind");
    }
  }
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new RangeError("the message ends in the middle of a name");
  return byte;
}

function labelText(bytes: Uint8Array, start: number, length: number): string {
  let text = "";
  for (let at = start; at < start + length; at++) {
    const byte = byteAt(bytes, at);
    const isPlain = byte > 0x20 && byte < 0x7f && byte !== 0x2e && byte !== 0x5c;
    text += isPlain ? String.fromCharCode(byte).toLowerCase() : `\\${byte.toString().padStart(3, "0")}`;
  }
  return text;
}
