// `hale resolve NAME`: asks DNS as discovery and dialing do, and shows what came: records with their lifetimes, which
// name server said so and how fast, the way over CNAMEs, and when discovery would ask again.

import { readNameserver } from "../config/texts.ts";
import { type Address, canonicalHost, isIpLiteral } from "../core/address.ts";
import { EXIT } from "../core/exit_code.ts";
import { MIN_REFRESH_MS } from "../control/discovery_record.ts";
import { DnsResolver, RESOLV_CONF } from "../net/dns_resolver.ts";
import type { Question, RecordType, Resolved, Resolver } from "../net/dns_types.ts";
import { newResolver, resolverKindOf } from "../net/host_resolver.ts";
import { parseResolvConf } from "../net/resolv_conf.ts";
import { SystemClock } from "../net/system_clock.ts";
import { WatchedFile } from "../net/watched_file.ts";
import { type Asked, askedLines, lifetime } from "./resolve_text.ts";
import type { Io } from "./terminal.ts";
import { readArgs, type Usage } from "./usage.ts";

const USAGE: Usage = {
  synopsis: "hale resolve NAME [--type A|AAAA|A+AAAA|SRV] [--nameserver IP[:PORT]]...",
  purpose:
    "Asks DNS the way hale does and prints the records with their TTL, the name server and its time, and when " +
    "discovery would ask again. Exit code 1 when there is nothing.",
  options: [
    "--type TYPE             A, AAAA, A+AAAA or SRV (default: A+AAAA; SRV for names that begin with _)",
    "--nameserver IP[:PORT]  ask this one instead of those in /etc/resolv.conf; may repeat",
  ],
  examples: [
    "hale resolve app.service.internal",
    "hale resolve _http._tcp.app.service.internal --nameserver 10.0.0.53",
  ],
};

const OPTIONS = { type: { type: "string" }, nameserver: { type: "string", multiple: true } } as const;

const TYPES: Readonly<Record<string, readonly RecordType[]>> = {
  "A": ["A"],
  "AAAA": ["AAAA"],
  "A+AAAA": ["A", "AAAA"],
  "SRV": ["SRV"],
};

/** The default of `refresh_interval_s`, milliseconds. */
const REFRESH_MS = 30_000;

/** Resolves a name and tells. */
export async function resolveCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = readArgs(args, OPTIONS, { usage: USAGE, io, positionals: [1, 1] });
  if ("exitCode" in parsed) return parsed.exitCode;
  const name = parsed.positionals[0]!;
  const types = TYPES[parsed.values.type?.toUpperCase() ?? (name.startsWith("_") ? "SRV" : "A+AAAA")];
  if (types === undefined) {
    return misused(io, `--type wants A, AAAA, A+AAAA or SRV, got "${parsed.values.type}"`);
  }
  const host = canonicalHost(name);
  if (host === undefined) return misused(io, `"${name}" is no host name`);
  if (isIpLiteral(host)) {
    io.out(`${host} is an IP address: it never goes to DNS\n`);
    return EXIT.ok;
  }
  const nameservers = nameserversOf(parsed.values.nameserver ?? []);
  if ("problem" in nameservers) return misused(io, `--nameserver: ${nameservers.problem}`);
  await tellConfWarnings(io);
  const asker = new Asker(nameservers.list);
  return await tell(await asker.askAll(name, types), { asker, io });
}

function misused(io: Io, problem: string): number {
  io.err(`hale: ${problem}\nusage: ${USAGE.synopsis}\n`);
  return EXIT.usage;
}

function nameserversOf(texts: readonly string[]): { list: readonly Address[] } | { problem: string } {
  const list: Address[] = [];
  for (const text of texts) {
    const read = readNameserver(text);
    if ("problem" in read) return read;
    list.push(read);
  }
  return { list };
}

/** What was skipped in resolv.conf explains many surprises. */
async function tellConfWarnings(io: Io): Promise<void> {
  const conf = await new WatchedFile(RESOLV_CONF, parseResolvConf).read();
  for (const warning of conf?.warnings ?? []) io.err(`${RESOLV_CONF}: ${warning}\n`);
}

class Asker {
  readonly #clock = new SystemClock();
  readonly #resolver: Resolver;

  constructor(nameservers: readonly Address[]) {
    const clock = this.#clock;
    this.#resolver = nameservers.length > 0
      ? new DnsResolver({ clock, nameservers })
      : newResolver(resolverKindOf("auto"), clock);
  }

  askAll(name: string, types: readonly RecordType[]): Promise<Asked[]> {
    return Promise.all(types.map((type) => this.#ask({ name, type })));
  }

  async #ask(question: Question): Promise<Asked> {
    const startedAt = this.#clock.now();
    const end = await this.#resolver.resolve(question);
    return { question, end, tookMs: this.#clock.now() - startedAt };
  }

  /** The SRV targets whose addresses did not come along, asked for one after the other. */
  async targetsOf(answer: Resolved): Promise<ReadonlyMap<string, readonly Asked[]>> {
    const known = new Set(answer.additional.map((record) => record.name));
    const targets = new Map<string, readonly Asked[]>();
    for (const { target } of answer.services) {
      if (target === "." || known.has(target) || targets.has(target)) continue;
      targets.set(target, await this.askAll(`${target}.`, ["A", "AAAA"]));
    }
    return targets;
  }
}

async function tell(
  all: readonly Asked[],
  { asker, io }: { readonly asker: Asker; readonly io: Io },
): Promise<number> {
  let ttlMs = Infinity;
  let count = 0;
  for (const asked of all) {
    const { end } = asked;
    const targets = "failure" in end ? undefined : await asker.targetsOf(end);
    for (const line of askedLines(asked, targets)) io.out(`${line}\n`);
    if ("failure" in end) continue;
    count += addressCount(end, targets!);
    ttlMs = Math.min(ttlMs, end.ttlMs, ...targetTtls(end, targets!));
  }
  if (count === 0) return EXIT.problems;
  io.out(`next refresh in ${refreshText(ttlMs)}\n`);
  return EXIT.ok;
}

/** What one could connect to: records of targets for SRV. */
function addressCount(end: Resolved, targets: ReadonlyMap<string, readonly Asked[]>): number {
  const looked = [...targets.values()].flat().flatMap((
    asked,
  ) => ("failure" in asked.end ? [] : asked.end.addresses));
  return end.addresses.length + end.additional.length + looked.length;
}

function targetTtls(end: Resolved, targets: ReadonlyMap<string, readonly Asked[]>): number[] {
  const looked = [...targets.values()].flat().flatMap((
    asked,
  ) => ("failure" in asked.end ? [] : [asked.end.ttlMs]));
  return [...end.additional.map((record) => record.ttlS * 1000), ...looked];
}

function refreshText(ttlMs: number): string {
  const wait = lifetime(Math.min(REFRESH_MS, Math.max(ttlMs, MIN_REFRESH_MS)));
  if (ttlMs === Infinity) return `${wait} (refresh_interval_s by default; no TTL is known)`;
  if (ttlMs > REFRESH_MS) return `${wait} (refresh_interval_s by default; least TTL ${lifetime(ttlMs)})`;
  return `${wait} (least TTL${ttlMs < MIN_REFRESH_MS ? " 0 s, asked for once a second" : ""})`;
}
