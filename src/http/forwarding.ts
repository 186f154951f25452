// What endpoints are told about the client: X-Forwarded-For, -Proto and -Host (W3). All that does not change within a
// client connection is prepared once.

import { parseIpv4, parseIpv6, unmapped } from "../core/address.ts";
import { ascii } from "./spans.ts";

/** What is told of one client connection. */
export interface ClientFacts {
  /** The client's IP address, IPv6 without brackets, as it stands in X-Forwarded-For. */
  readonly address: string;
  /** "http" or "https". */
  readonly scheme: Readonly<Uint8Array>;
  /** Whether what the client says about its own clients is believed. */
  readonly isTrusted: boolean;
}

const HTTP = ascii("http");
const HTTPS = ascii("https");

/** The facts of a client at `host` (an IP address). */
export function clientFacts(
  host: string,
  options: { readonly tls: boolean; readonly isTrusted: boolean },
): ClientFacts {
  return {
    address: unmapped(host),
    scheme: options.tls ? HTTPS : HTTP,
    isTrusted: options.isTrusted,
  };
}

interface Range {
  /** 16-bit groups; IPv4 as IPv4-mapped IPv6. */
  readonly groups: readonly number[];
  readonly prefixBits: number;
}

/** The peers whose X-Forwarded-* are believed. */
export class TrustedProxies {
  readonly #ranges: readonly Range[];

  /** `list` holds addresses and CIDR ranges in canonical spelling; throws a RangeError for anything else. */
  constructor(list: readonly string[]) {
    this.#ranges = list.map(rangeOf);
  }

  /** Whether the peer at `host` (an IP address, a zone allowed) is in the list. */
  includes(host: string): boolean {
    if (this.#ranges.length === 0) return false;
    const groups = groupsOf(host);
    return groups !== undefined && this.#ranges.some((range) => isIn(range, groups));
  }
}

function rangeOf(text: string): Range {
  const [host = "", bits] = text.split("/");
  const groups = groupsOf(host);
  if (groups === undefined) throw new RangeError(`"${text}" is no address or CIDR range`);
  const isV4 = parseIpv4(host) !== undefined;
  const width = isV4 ? 32 : 128;
  const given = bits === undefined ? width : Number(bits);
  if (!Number.isInteger(given) || given < 0 || given > width) {
    throw new RangeError(`"${text}" is no address or CIDR range`);
  }
  return { groups, prefixBits: given + 128 - width };
}

function groupsOf(host: string): readonly number[] | undefined {
  const v4 = parseIpv4(host);
  if (v4 !== undefined) return [0, 0, 0, 0, 0, 0xffff, v4[0]! * 256 + v4[1]!, v4[2]! * 256 + v4[3]!];
  const percent = host.indexOf("%");
  return parseIpv6(percent < 0 ? host : host.slice(0, percent));
}

function isIn(range: Range, groups: readonly number[]): boolean {
  let bits = range.prefixBits;
  for (let at = 0; bits > 0; at++) {
    const mask = bits >= 16 ? 0xffff : 0xffff << (16 - bits) & 0xffff;
    if (((range.groups[at]! ^ groups[at]!) & mask) !== 0) return false;
    bits -= 16;
  }
  return true;
}
