// The forms of a request target (RFC 9112 3.2): a path, a whole URL, or "*" for OPTIONS. Decides what goes out as path
// and which authority counts; the bytes of path and query stay as they are (W2, W3).

import { SLASH } from "./chars.ts";
import { isHost } from "./host.ts";
import { type Refusal, REFUSALS } from "./refusal.ts";
import { ascii, isWord } from "./spans.ts";

const SCHEMES: readonly Uint8Array[] = [ascii("http://"), ascii("https://")];
const STAR = 0x2a;
const QUESTION = 0x3f;
const AT = 0x40;

/** The part of a request head that a target is read from and written to; see `RequestHead` for what each field means. */
export interface TargetPlaces {
  readonly bytes: Uint8Array;
  readonly method: string;
  readonly targetAt: number;
  readonly targetEnd: number;
  pathAt: number;
  pathEnd: number;
  pathLead: "" | "/" | "*";
  isAbsolute: boolean;
  authorityAt: number;
  authorityEnd: number;
}

/** Fills the path and, for a URL, the authority of the head from its target. */
export function readTarget(head: TargetPlaces): Refusal | undefined {
  const first = head.bytes[head.targetAt];
  head.pathAt = head.targetAt;
  head.pathEnd = head.targetEnd;
  if (first === SLASH) return undefined;
  if (first === STAR && head.targetEnd === head.targetAt + 1) {
    return head.method === "OPTIONS" ? undefined : REFUSALS.target;
  }
  return readUrl(head);
}

function readUrl(head: TargetPlaces): Refusal | undefined {
  const authorityAt = endOfScheme(head);
  if (authorityAt < 0) return REFUSALS.target;
  let end = authorityAt;
  for (; end < head.targetEnd; end++) {
    const byte = head.bytes[end];
    if (byte === SLASH || byte === QUESTION) break;
    if (byte === AT) return REFUSALS.userinfo;
  }
  if (!isHost(head.bytes, authorityAt, end)) return REFUSALS.target;
  head.isAbsolute = true;
  head.authorityAt = authorityAt;
  head.authorityEnd = end;
  head.pathAt = end;
  if (end === head.targetEnd) head.pathLead = head.method === "OPTIONS" ? "*" : "/";
  else if (head.bytes[end] === QUESTION) head.pathLead = "/";
  return undefined;
}

function endOfScheme(head: TargetPlaces): number {
  for (const scheme of SCHEMES) {
    const end = head.targetAt + scheme.length;
    if (end <= head.targetEnd && isWord(head.bytes, head.targetAt, end, scheme)) return end;
  }
  return -1;
}
