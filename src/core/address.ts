// Hosts and ports as people write them, and the one spelling in which hale compares them.
// Strict on purpose: a text that two programs could read as two addresses is refused, never guessed at.

/** A host (name, IPv4 or bare IPv6 literal, in canonical spelling) and a port (0..65535). */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Why a text is not an address, as the second half of a sentence: "the port is missing". */
export interface AddressProblem {
  readonly problem: string;
}

/** Reads `host:port` or `[v6]:port`. Port 0 passes only with `allowPortZero` (a listener that takes any port). */
export function parseAddress(
  text: string,
  options: { allowPortZero?: boolean } = {},
): Address | AddressProblem {
  const split = splitHostPort(text);
  if ("problem" in split) return split;
  const host = canonicalHost(split.host);
  if (host === undefined) return { problem: `"${split.host}" is no host name or IP address` };
  if (isIpv6(host) !== split.bracketed) {
    return { problem: "only an IPv6 address stands in brackets, as [::1]:80" };
  }
  const port = parsePort(split.port);
  if (port === undefined || (port === 0 && !options.allowPortZero)) {
    return { problem: `"${split.port}" is no port of 1..65535` };
  }
  return { host, port };
}

function splitHostPort(text: string): { host: string; port: string; bracketed: boolean } | AddressProblem {
  if (text.startsWith("[")) {
    const end = text.indexOf("]");
    if (end < 0 || text[end + 1] !== ":") {
      return { problem: "an IPv6 address in brackets is followed by a port, as [::1]:80" };
    }
    return { host: text.slice(1, end), port: text.slice(end + 2), bracketed: true };
  }
  const colon = text.lastIndexOf(":");
  if (colon < 0) return { problem: "the port is missing" };
  if (text.indexOf(":") !== colon) return { problem: "an IPv6 address needs brackets, as [::1]:80" };
  return { host: text.slice(0, colon), port: text.slice(colon + 1), bracketed: false };
}

/** Reads a decimal port of 0..65535 without sign, blank or leading zero; undefined for anything else. */
export function parsePort(text: string): number | undefined {
  if (!/^(0|[1-9][0-9]{0,4})$/.test(text)) return undefined;
  const port = Number(text);
  return port <= 65535 ? port : undefined;
}

/** Writes `host:port`, with brackets around IPv6. The reverse of `parseAddress`. */
export function formatAddress(address: Address): string {
  return `${bracketed(address.host)}:${address.port}`;
}

/** The host as it stands in a URL or Host header: IPv6 in brackets, all else as it is. */
export function bracketed(host: string): string {
  return isIpv6(host) ? `[${host}]` : host;
}

/** Whether the host needs no DNS. */
export function isIpLiteral(host: string): boolean {
  return isIpv6(host) || parseIpv4(host) !== undefined;
}

/** Whether a canonical host is an IPv6 literal: only those have colons. */
export function isIpv6(host: string): boolean {
  return host.includes(":");
}

/** Whether a canonical host never leaves this machine: 127.0.0.0/8, ::1, the IPv4-mapped forms, localhost. */
export function isLoopback(host: string): boolean {
  const plain = unmapped(host);
  return plain === "localhost" || plain === "::1" || parseIpv4(plain)?.[0] === 127;
}

/**
 * The one spelling of a host: names in lower case without a final dot, IPv4 as four decimal parts, IPv6 by RFC 5952
 * (IPv4-mapped ones stay IPv6). Undefined when the text is no host: bad characters, a label over 63, a name over 253,
 * or digits and dots that are not a four-part IPv4 address (`127.1`, `010.0.0.1`).
 */
export function canonicalHost(text: string): string | undefined {
  if (text.includes(":")) return canonicalIpv6(text);
  if (parseIpv4(text) !== undefined) return text;
  return canonicalName(text);
}

function canonicalName(text: string): string | undefined {
  // Before lowering: some letters outside ASCII, such as the Kelvin sign, would become one inside.
  if (!/^[A-Za-z0-9_.-]+$/.test(text)) return undefined;
  const name = (text.endsWith(".") ? text.slice(0, -1) : text).toLowerCase();
  if (name.length === 0 || name.length > 253) return undefined;
  const labels = name.split(".");
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) return undefined;
  // A name whose last label is a number would be read as an IPv4 address by others (WHATWG URL, inet_aton).
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels[labels.length - 1]!) ? undefined : name;
}

/** The four bytes of a dotted IPv4 address, strictly decimal; undefined for anything else. */
export function parseIpv4(text: string): readonly number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  if (!parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255)) return undefined;
  return parts.map(Number);
}

/** The eight 16-bit groups of an IPv6 address (a zone such as `%eth0` is not part of it); undefined for anything else. */
export function parseIpv6(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0]!, halves.length === 1);
  const tail = halves.length === 2 ? groupsOf(halves[1]!, true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...tail];
}

function groupsOf(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const last = mayEndInIpv4 ? parseIpv4(parts[parts.length - 1]!) : undefined;
  if (last !== undefined) parts.pop();
  if (!parts.every((part) => /^[0-9a-fA-F]{1,4}$/.test(part))) return undefined;
  const groups = parts.map((part) => parseInt(part, 16));
  if (last !== undefined) groups.push(last[0]! * 256 + last[1]!, last[2]! * 256 + last[3]!);
  return groups;
}

function canonicalIpv6(text: string): string | undefined {
  const percent = text.indexOf("%");
  const zone = percent < 0 ? "" : text.slice(percent);
  if (percent >= 0 && !/^%[A-Za-z0-9_.-]{1,32}$/.test(zone)) return undefined;
  const groups = parseIpv6(percent < 0 ? text : text.slice(0, percent));
  return groups === undefined ? undefined : formatIpv6(groups) + zone;
}

/** Writes eight 16-bit groups by RFC 5952: lower case, the longest run of two or more zero groups as `::`. */
export function formatIpv6(groups: readonly number[]): string {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.start < 0) return hex.join(":");
  return `${hex.slice(0, best.start).join(":")}::${hex.slice(best.start + best.length).join(":")}`;
}

/** An IPv4-mapped IPv6 address (`::ffff:127.0.0.1`, as dual-stack sockets show IPv4 peers) as plain IPv4; others unchanged. */
export function unmapped(host: string): string {
  if (!isIpv6(host)) return host;
  const groups = parseIpv6(host);
  if (groups === undefined || groups.slice(0, 5).some((group) => group !== 0) || groups[5] !== 0xffff) {
    return host;
  }
  return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join(".");
}
