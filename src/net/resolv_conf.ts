// Reading /etc/resolv.conf the way libc does: what is not understood is skipped, the last `search` or `domain` line
// wins, limits are silently kept. Skipped name servers are told, so that `hale resolve` can show them. Nothing fails.

import { type Address, canonicalHost, isIpLiteral } from "../core/address.ts";

/** Limits of libc (MAXNS and the RES_MAX constants of resolv.h). */
const MAX_NAMESERVERS = 3;
const MAX_NDOTS = 15;
const MAX_TIMEOUT_S = 30;
const MAX_ATTEMPTS = 5;
/** Newer libcs have no limit; a file that is this far out is not a search list. */
const MAX_SEARCH = 32;

/** What the file says, with libc's defaults where it says nothing. */
export interface ResolvConf {
  /** Never empty: without a usable line the one on this machine is asked, as libc does. */
  readonly nameservers: readonly Address[];
  /** Suffixes without dots at the ends; names with fewer dots than `ndots` are tried with these first. */
  readonly search: readonly string[];
  /** 0..15. */
  readonly ndots: number;
  /** How long one server may take for one try, milliseconds, 1000..30000. */
  readonly timeoutMs: number;
  /** How often all servers are asked, 1..5. */
  readonly attempts: number;
  /** Begin with another server each time. */
  readonly rotate: boolean;
  /** Always ask over TCP. */
  readonly useTcp: boolean;
  /** Lines that were skipped and should not have been there, for people. */
  readonly warnings: readonly string[];
}

/** Reads the text of a resolv.conf. Any text will do. */
export function parseResolvConf(text: string): ResolvConf {
  const nameservers: Address[] = [];
  const warnings: string[] = [];
  let search: readonly string[] = [];
  let options: readonly string[] = [];
  for (const [keyword, words] of linesOf(text)) {
    if (keyword === "nameserver") {
      const host = nameserverOf(words[0]);
      if (host === undefined) warnings.push(`nameserver "${words[0] ?? ""}" is no IP address`);
      else nameservers.push({ host, port: 53 });
    } else if (keyword === "search" || keyword === "domain") {
      search = searchOf(keyword === "domain" ? words.slice(0, 1) : words, warnings);
    } else if (keyword === "options") {
      options = [...options, ...words];
    } else if (keyword.trim().toLowerCase() === "nameserver") {
      warnings.push(
        `"${keyword} ${words[0] ?? ""}" is skipped, as libc does: wanted "nameserver" at the line's start`,
      );
    }
  }
  if (nameservers.length === 0) {
    warnings.push("It names no usable nameserver: asking 127.0.0.1");
    nameservers.push({ host: "127.0.0.1", port: 53 });
  }
  return {
    nameservers: nameservers.slice(0, MAX_NAMESERVERS),
    search,
    ndots: Math.min(numberOf(options, "ndots", 1, 0), MAX_NDOTS),
    timeoutMs: Math.min(numberOf(options, "timeout", 5, 1), MAX_TIMEOUT_S) * 1000,
    attempts: Math.min(numberOf(options, "attempts", 2, 1), MAX_ATTEMPTS),
    rotate: options.includes("rotate"),
    useTcp: options.includes("use-vc"),
    warnings,
  };
}

/** Keyword and words of each line. As in libc a keyword begins at the very start of its line, in lower case. */
function linesOf(text: string): [string, string[]][] {
  return text.split(/\r?\n/).flatMap((line): [string, string[]][] => {
    const match = /^([A-Za-z]+|[ \t]+[A-Za-z]+)(?:[ \t]+(.*))?$/.exec(line);
    if (match === null) return [];
    const words = (match[2] ?? "").replace(/[;#].*$/, "").split(/[ \t]+/).filter((word) => word !== "");
    return [[match[1]!, words]];
  });
}

function nameserverOf(word: string | undefined): string | undefined {
  const host = canonicalHost(word ?? "");
  return host !== undefined && isIpLiteral(host) ? host : undefined;
}

function searchOf(words: readonly string[], warnings: string[]): readonly string[] {
  const suffixes: string[] = [];
  for (const word of words.slice(0, MAX_SEARCH)) {
    const name = canonicalHost(word);
    if (name !== undefined && !isIpLiteral(name)) suffixes.push(name);
    // The root is the name as it is, which is tried anyway.
    else if (word !== ".") warnings.push(`search "${word}" is no name`);
  }
  return suffixes;
}

/** The value of the last `name:number` option that is a number of at least `least`. */
function numberOf(options: readonly string[], name: string, fallback: number, least: number): number {
  const values = options.filter((option) => option.startsWith(`${name}:`))
    .map((option) => option.slice(name.length + 1))
    .filter((value) => /^[0-9]{1,9}$/.test(value) && Number(value) >= least);
  return values.length === 0 ? fallback : Number(values[values.length - 1]);
}
