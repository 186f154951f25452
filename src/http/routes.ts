// Which upstream a request is for (W5), by its authority and path, worked out once per plan. Matching looks at bytes:
// the host is hashed from its end, so one pass finds the exact name and every suffix of it.

import type { Route } from "../core/plan.ts";
import { SLASH } from "./chars.ts";
import { endOfHost } from "./host.ts";
import type { RequestHead } from "./request_head.ts";
import { ascii, lower } from "./spans.ts";

const DOT = 0x2e;
const QUESTION = 0x3f;
const HASH_SEED = 0x811c9dc5;

/** One prefix of a group, without a final slash; the empty one fits every path. */
interface Prefix {
  readonly bytes: Readonly<Uint8Array>;
  readonly upstream: string;
}

/** The routes of one host or suffix, longest prefix first. */
interface Group {
  /** Lower case; for "*.suffix" it begins with the dot; empty for routes without host. */
  readonly host: Readonly<Uint8Array>;
  readonly prefixes: Prefix[];
}

/** The routes of one listener. */
export class Routes {
  readonly #exact = new Map<number, Group[]>();
  readonly #suffixes = new Map<number, Group[]>();
  readonly #anyHost: Group = { host: ascii(""), prefixes: [] };
  readonly #fallback: string | undefined;
  readonly #isEmpty: boolean;

  /** `fallback` is the upstream for what no route takes; without it such requests have none. */
  constructor(routes: readonly Route[], fallback: string | undefined) {
    this.#fallback = fallback;
    this.#isEmpty = routes.length === 0;
    for (const route of routes) this.#add(route);
  }

  #add(route: Route): void {
    const group = this.#groupFor(route.host);
    const prefix = (route.pathPrefix ?? "").replace(/\/+$/, "");
    if (group.prefixes.some((other) => sameBytes(other.bytes, ascii(prefix)))) return;
    group.prefixes.push({ bytes: ascii(prefix), upstream: route.upstream });
    group.prefixes.sort((a, b) => b.bytes.length - a.bytes.length);
  }

  #groupFor(host: string | undefined): Group {
    if (host === undefined) return this.#anyHost;
    const isSuffix = host.startsWith("*.");
    const bytes = ascii((isSuffix ? host.slice(1) : host).toLowerCase());
    const groups = isSuffix ? this.#suffixes : this.#exact;
    const hash = hashFromEnd(bytes);
    const same = groups.get(hash) ?? [];
    groups.set(hash, same);
    let group = same.find((other) => sameBytes(other.host, bytes));
    if (group === undefined) same.push(group = { host: bytes, prefixes: [] });
    return group;
  }

  /** The name of the upstream for a request; undefined: there is none. */
  find(request: RequestHead): string | undefined {
    if (this.#isEmpty) return this.#fallback;
    const from = request.authorityAt;
    let to = endOfHost(request.bytes, from, request.authorityEnd);
    if (to > from + 1 && request.bytes[to - 1] === DOT) to--;
    return this.#findByHost(request, from, to) ?? inGroup(this.#anyHost, request) ?? this.#fallback;
  }

  #findByHost(request: RequestHead, from: number, to: number): string | undefined {
    const { bytes } = request;
    // Suffixes are met shortest first, but the longest has to be asked first: they are gathered on the way.
    let suffixes: Group[] | undefined;
    let hash = HASH_SEED;
    for (let at = to - 1; at >= from; at--) {
      const byte = lower(bytes[at]!);
      hash = Math.imul(hash ^ byte, 0x01000193);
      if (byte !== DOT || at === from) continue;
      const group = pick(this.#suffixes.get(hash), bytes, at, to);
      if (group !== undefined) (suffixes ??= []).push(group);
    }
    const exact = pick(this.#exact.get(hash), bytes, from, to);
    let found = exact === undefined ? undefined : inGroup(exact, request);
    while (found === undefined && suffixes !== undefined && suffixes.length > 0) {
      found = inGroup(suffixes.pop()!, request);
    }
    return found;
  }
}

function hashFromEnd(bytes: Readonly<Uint8Array>): number {
  let hash = HASH_SEED;
  for (let at = bytes.length - 1; at >= 0; at--) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash;
}

function pick(
  groups: readonly Group[] | undefined,
  bytes: Uint8Array,
  from: number,
  to: number,
): Group | undefined {
  return groups?.find((group) => {
    if (group.host.length !== to - from) return false;
    for (let at = 0; at < group.host.length; at++) {
      if (lower(bytes[from + at]!) !== group.host[at]) return false;
    }
    return true;
  });
}

function inGroup(group: Group, request: RequestHead): string | undefined {
  for (const prefix of group.prefixes) if (fits(prefix.bytes, request)) return prefix.upstream;
  return undefined;
}

/** Whether the path begins with the prefix and a segment ends there (W5). */
function fits(prefix: Readonly<Uint8Array>, request: RequestHead): boolean {
  if (prefix.length === 0) return true;
  const { bytes, pathAt, pathEnd } = request;
  const end = pathAt + prefix.length;
  if (end > pathEnd) return false;
  for (let at = 0; at < prefix.length; at++) if (bytes[pathAt + at] !== prefix[at]) return false;
  return end === pathEnd || bytes[end] === SLASH || bytes[end] === QUESTION;
}

function sameBytes(a: Readonly<Uint8Array>, b: Readonly<Uint8Array>): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
