// Bytes to send through hale, and what they are recognised by.

import { createHash } from "node:crypto";

/** Bytes in which no block is like another one nearby: what is lost, doubled or out of place changes the hash. */
export function patterned(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = at * 31 + (at >> 8) + (at >> 16) * 7;
  return bytes;
}

/** SHA-256 in hex. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
