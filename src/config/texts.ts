// Readers for the texts of a config: addresses, names, paths, headers, statuses, networks. Each takes the text as it
// stands and gives the value in canonical spelling, or `problem`: what is wrong, as the beginning of a sentence.

import {
  type Address,
  canonicalHost,
  formatIpv6,
  isIpLiteral,
  isIpv6,
  parseAddress,
  parseIpv4,
  parseIpv6,
  unmapped,
} from "../core/address.ts";

/** What is wrong with a text. */
export interface TextProblem {
  readonly problem: string;
}

/** A name for people, metrics and URLs: 1 to 100 characters, no control characters, no blanks at its ends, not "." or "..". */
export function readName(text: string): string | TextProblem {
  if (text === "") return { problem: "Empty name" };
  if (text.length > 100) return { problem: "The name is too long" };
  if (text.trim() !== text) return { problem: "A blank at the beginning or end" };
  if (text === "." || text === "..") {
    return { problem: "A name of dots alone would be lost in the URLs of the admin API" };
  }
  return hasControl(text) ? { problem: "A control character in the name" } : text;
}

/** An address to listen on; port 0 takes any free port. */
export function readListenAddress(text: string): Address | TextProblem {
  if (/^(\*|):[0-9]+$/.test(text)) {
    const port = text.replace("*", "");
    return { problem: `All interfaces are written [::]${port}, those of IPv4 alone 0.0.0.0${port}` };
  }
  return readAddress(text, { allowPortZero: true });
}

/** An address to connect to. */
export function readEndpointAddress(text: string): Address | TextProblem {
  if (/^[a-z]+:\/\//i.test(text)) {
    return { problem: "A URL is no address, leave the scheme and the path out" };
  }
  const address = readAddress(text, {});
  if ("problem" in address) return address;
  const problem = unreachableHost(address.host);
  return problem === undefined ? address : { problem };
}

function readAddress(text: string, options: { allowPortZero?: boolean }): Address | TextProblem {
  const address = parseAddress(text, options);
  if ("problem" in address) return { problem: capital(address.problem) };
  return { host: unmapped(address.host), port: address.port };
}

/** Why nothing can be connected to under this host, if so. */
function unreachableHost(host: string): string | undefined {
  const bytes = parseIpv4(host);
  const groups = isIpv6(host) ? parseIpv6(host.split("%")[0]!) : undefined;
  if (host === "0.0.0.0" || groups?.every((group) => group === 0)) return "All interfaces are no endpoint";
  if (bytes !== undefined && bytes[0]! >= 224) {
    return "A multicast, reserved or broadcast address is no endpoint";
  }
  if (groups !== undefined && groups[0]! >= 0xff00) return "A multicast address is no endpoint";
  return undefined;
}

/** The address of a name server: an IP literal, port 53 unless another one stands behind it. */
export function readNameserver(text: string): Address | TextProblem {
  const bare = isIpLiteral(text) ? canonicalHost(text) : undefined;
  if (bare !== undefined) return { host: unmapped(bare), port: 53 };
  const address = readAddress(text, {});
  if ("problem" in address) return address;
  return isIpLiteral(address.host) ? address : { problem: "A name server is given by IP address" };
}

/** A name to look up, in lower case. A final dot is kept: it says that no search domain is to be tried. */
export function readDiscoveryName(text: string): string | TextProblem {
  const host = canonicalHost(text);
  if (host === undefined) return { problem: "Not a host name" };
  if (isIpLiteral(host)) return { problem: "An IP address needs no discovery, write it under endpoints" };
  return text.endsWith(".") ? `${host}.` : host;
}

/** The name or IP literal that a certificate must be made for. */
export function readServerName(text: string): string | TextProblem {
  const host = canonicalHost(text);
  return host === undefined || host.includes("%") ? { problem: "Not a host name or IP address" } : host;
}

/** A Host header: `name`, `name:port`, `[v6]:port`. The spelling is kept. */
export function readHostHeader(text: string): string | TextProblem {
  const bare = /^\[([0-9A-Fa-f:.]+)\]$/.exec(text)?.[1];
  const isBare = bare === undefined
    ? isHostName(text)
    : bare.includes(":") && canonicalHost(bare) !== undefined;
  return isBare || !("problem" in parseAddress(text)) ? text : { problem: "Not a Host header" };
}

function isHostName(text: string): boolean {
  return !text.includes(":") && canonicalHost(text) !== undefined;
}

/** The host of a route: exact, or `*.suffix` (W5). */
export function readRouteHost(text: string): string | TextProblem {
  if (text === "*") return { problem: "Leave host out for a route that takes every host" };
  const wildcard = text.startsWith("*.");
  const rest = wildcard ? text.slice(2) : text;
  if (/:[0-9]+$/.test(rest) && !isIpLiteral(rest)) {
    return { problem: "The port of a Host header is not looked at, leave it out" };
  }
  const bare = /^\[(.*)\]$/.exec(rest);
  const host = canonicalHost(bare?.[1] ?? rest);
  if (host === undefined || (wildcard && isIpLiteral(host))) return { problem: "Not a host name" };
  const canonical = isIpv6(host) ? `[${host}]` : host;
  return wildcard ? `*.${canonical}` : canonical;
}

/** The beginning of a path; compared byte for byte, on whole segments (W5). */
export function readPathPrefix(text: string): string | TextProblem {
  if (text.includes("?")) return { problem: "Routes do not look at the query" };
  return readPath(text);
}

/** A request target in origin form: begins with "/", visible ASCII, no fragment. */
export function readPath(text: string): string | TextProblem {
  if (!text.startsWith("/")) return { problem: `A path begins with "/"` };
  if (text.length > 4096) return { problem: "The path is too long" };
  if (text.includes("#")) return { problem: "A fragment is never sent" };
  return /^[\x21-\x7e]+$/.test(text)
    ? text
    : { problem: "A blank, control or non-ASCII character, write it as %XX" };
}

/** A method: a token in upper case, other than CONNECT. */
export function readMethod(text: string): string | TextProblem {
  if (text === "CONNECT") return { problem: "A probe asks an endpoint, it opens no tunnel" };
  if (text !== text.toUpperCase() && isToken(text)) return { problem: "Methods are written in capitals" };
  return isToken(text) && text.length <= 32 ? text : { problem: "Not a method" };
}

/** Inclusive range of statuses from `204` or `200-299`. 1xx are never the final answer. */
export function readStatusRange(text: string): readonly [from: number, to: number] | TextProblem {
  const match = /^([1-9][0-9]{2})(?:-([1-9][0-9]{2}))?$/.exec(text);
  if (match === null) return { problem: "Not a status or range" };
  const [from, to] = [Number(match[1]), Number(match[2] ?? match[1])];
  if (from < 200 || to > 599) return { problem: "Out of range" };
  return from <= to ? [from, to] : { problem: "The range is empty, its end lies before its beginning" };
}

/** An address or network (CIDR) in canonical spelling; IPv4-mapped ones as IPv4. */
export function readNetwork(text: string): string | TextProblem {
  const [, host = text, bits] = /^([^/]*)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? [];
  const canonical = isIpLiteral(host) ? canonicalHost(host) : undefined;
  if (canonical === undefined || canonical.includes("%")) return { problem: "Not an IP address or network" };
  if (bits === undefined) return unmapped(canonical);
  const bytes = bytesOf(canonical);
  const prefix = Number(bits);
  if (prefix > bytes.length * 8) {
    return { problem: `A prefix length of at most ${bytes.length * 8} is possible` };
  }
  const base = masked(bytes, prefix);
  if (base.some((byte, index) => byte !== bytes[index])) {
    return { problem: `Bits are set behind the prefix, the network is ${networkText(base, prefix)}` };
  }
  return networkText(base, prefix);
}

function bytesOf(host: string): readonly number[] {
  return parseIpv4(host) ?? parseIpv6(host)!.flatMap((group) => [group >> 8, group & 255]);
}

function masked(bytes: readonly number[], prefix: number): readonly number[] {
  return bytes.map((byte, index) =>
    byte & (0xff << (8 - Math.min(8, Math.max(0, prefix - index * 8)))) & 0xff
  );
}

function networkText(bytes: readonly number[], prefix: number): string {
  if (bytes.length === 4) return `${bytes.join(".")}/${prefix}`;
  const groups = Array.from({ length: 8 }, (_, index) => bytes[index * 2]! * 256 + bytes[index * 2 + 1]!);
  const host = formatIpv6(groups);
  const plain = unmapped(host);
  return plain !== host && prefix >= 96 ? `${plain}/${prefix - 96}` : `${host}/${prefix}`;
}

/** Why a probe can not send this header, if so. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!isToken(name) || name.length > 256) return "Not a header name";
  if (name.toLowerCase() === "host") return `Write the Host header as the field "host"`;
  if (/^(connection|content-length|transfer-encoding|upgrade|te|trailer|expect)$/i.test(name)) {
    return `The probe decides about ${name} itself`;
  }
  if (value.length > 4096) return "The value is too long";
  return /^[\t\x20-\x7e]*$/.test(value)
    ? undefined
    : "A line break, control or non-ASCII character in the value";
}

function isToken(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

/** The path of a file as it is written. */
export function readFilePath(text: string): string | TextProblem {
  if (text.trim() === "") return { problem: "Empty path" };
  return hasControl(text) ? { problem: "A control character in the path" } : text;
}

function hasControl(text: string): boolean {
  return [...text].some((char) => char < " " || (char >= "\x7f" && char < "\xa0"));
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
