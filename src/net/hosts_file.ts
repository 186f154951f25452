// Reading /etc/hosts: an address and its names per line. What is not understood is skipped.

import { canonicalHost, isIpLiteral, isIpv6 } from "../core/address.ts";

/** The addresses of one name, in the order of the file. */
export interface HostsEntry {
  readonly v4: readonly string[];
  readonly v6: readonly string[];
}

/** Entries by name, in lower case. */
export type Hosts = ReadonlyMap<string, HostsEntry>;

/** Reads the text of a hosts file. Any text will do. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, { v4: string[]; v6: string[] }>();
  for (const line of text.split(/\r?\n/)) {
    const [first, ...names] = line.replace(/#.*$/, "").trim().split(/\s+/);
    const address = canonicalHost(first!);
    if (address === undefined || !isIpLiteral(address)) continue;
    for (const written of names) {
      const name = canonicalHost(written);
      if (name === undefined) continue;
      const entry = hosts.get(name) ?? { v4: [], v6: [] };
      const list: string[] = isIpv6(address) ? entry.v6 : entry.v4;
      if (!list.includes(address)) list.push(address);
      hosts.set(name, entry);
    }
  }
  return hosts;
}

/** The entry of a name. `localhost` and names below it are this machine also when the file does not say so (RFC 6761). */
export function hostsEntryOf(hosts: Hosts, name: string): HostsEntry | undefined {
  const entry = hosts.get(name);
  if (entry !== undefined) return entry;
  const isLocal = name === "localhost" || name.endsWith(".localhost");
  return isLocal ? { v4: ["127.0.0.1"], v6: ["::1"] } : undefined;
}
