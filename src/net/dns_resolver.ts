// The stub resolver (D6): hosts file, search list, several name servers with retries, CNAME chains across queries, all
// within one deadline. How one server is asked is `Ask`'s business; what answers are used for is the caller's.

import { type Address, canonicalHost } from "../core/address.ts";
import type { Clock, Random } from "../core/clock.ts";
import { type ChainEnd, followChain, MAX_CHAIN } from "./dns_chain.ts";
import { type DnsAnswer, type DnsRecord, RCODE, rcodeName } from "./dns_message.ts";
import { type Ask, askServer, serverName } from "./dns_query.ts";
import type {
  AddressRecord,
  DnsFailureKind,
  Question,
  Resolved,
  Resolver,
  ServiceRecord,
  Unresolved,
} from "./dns_types.ts";
import { type Hosts, hostsEntryOf, parseHosts } from "./hosts_file.ts";
import { ownShortage } from "./socket_errors.ts";
import { parseResolvConf, type ResolvConf } from "./resolv_conf.ts";
import { type FileSource, WatchedFile } from "./watched_file.ts";

/** What the hosts file says holds this long; the file itself is watched. */
const HOSTS_TTL_S = 10;

/** A server that did not answer is asked after the others for this long, milliseconds. */
const SILENCE_MS = 30_000;

/** Most queries that follow one chain, over all answers. */
const MAX_FOLLOWED = 8;

/** What a resolver stands on. All but the clock has the defaults of the system. */
export interface DnsResolverOptions {
  readonly clock: Clock;
  /** Where `rotate` begins; default Math.random. */
  readonly random?: Random;
  /** Asked instead of those in resolv.conf; search list, ndots and the like still come from there. */
  readonly nameservers?: readonly Address[];
  readonly resolvConf?: FileSource<ResolvConf>;
  readonly hosts?: FileSource<Hosts>;
  /** For everything that one question leads to, milliseconds; default 10000. */
  readonly deadlineMs?: number;
  readonly ask?: Ask;
}

/** Where libc keeps its settings. */
export const RESOLV_CONF = "/etc/resolv.conf";
const HOSTS = "/etc/hosts";

/** Public resolvers, asked only when nothing on this machine says whom to ask (D6). */
export const PUBLIC_NAMESERVERS: readonly Address[] = [
  { host: "8.8.8.8", port: 53 },
  { host: "8.8.4.4", port: 53 },
];

const ENDS_SEARCH: ReadonlySet<DnsFailureKind> = new Set(["timeout", "unreachable", "own_limit"]);

/** One question on its way. */
interface Lookup {
  readonly conf: ResolvConf;
  readonly servers: readonly Address[];
  readonly dueAt: number;
  readonly signal: AbortSignal | undefined;
}

interface Heard {
  readonly answer: DnsAnswer;
  readonly source: string;
}

/** Resolves by asking name servers. */
export class DnsResolver implements Resolver {
  readonly #options: DnsResolverOptions;
  readonly #ask: Ask;
  readonly #conf: FileSource<ResolvConf>;
  readonly #hosts: FileSource<Hosts>;
  /** Until when a server counts as silent, by its address. */
  readonly #silentUntil = new Map<string, number>();

  constructor(options: DnsResolverOptions) {
    this.#options = options;
    this.#ask = options.ask ?? askServer;
    this.#conf = options.resolvConf ?? new WatchedFile(RESOLV_CONF, parseResolvConf);
    this.#hosts = options.hosts ?? new WatchedFile(HOSTS, parseHosts);
  }

  /** Answers a question. A name that ends in a dot is taken as it is, others go through the search list. */
  async resolve(question: Question, signal?: AbortSignal): Promise<Resolved | Unresolved> {
    try {
      return await this.#resolve(question, signal);
    } catch (error) {
      const shortage = ownShortage(error);
      if (shortage === undefined) throw error;
      return { failure: "own_limit", detail: shortage };
    }
  }

  async #resolve(question: Question, signal?: AbortSignal): Promise<Resolved | Unresolved> {
    const name = question.name.toLowerCase();
    const known = await this.#fromHosts({ ...question, name });
    if (known !== undefined) return known;
    const conf = await this.#conf.read() ?? { ...parseResolvConf(""), nameservers: PUBLIC_NAMESERVERS };
    const lookup = {
      conf,
      servers: this.#inOrder(this.#options.nameservers ?? conf.nameservers, conf.rotate),
      dueAt: this.#options.clock.now() + (this.#options.deadlineMs ?? 10_000),
      signal,
    };
    return await this.#search({ ...question, name }, lookup);
  }

  async #fromHosts(question: Question): Promise<Resolved | Unresolved | undefined> {
    if (question.type === "SRV") return undefined;
    const name = canonicalHost(question.name);
    const entry = name && hostsEntryOf(await this.#hosts.read() ?? new Map(), name);
    if (!entry) return undefined;
    const list = question.type === "A" ? entry.v4 : entry.v6;
    if (list.length === 0) {
      return { failure: "nodata", detail: `${this.#hosts.path} has no ${question.type} for it` };
    }
    return {
      addresses: list.map((address) => ({ name, address, ttlS: HOSTS_TTL_S })),
      services: [],
      additional: [],
      ttlMs: HOSTS_TTL_S * 1000,
      chain: [name],
      source: this.#hosts.path,
    };
  }

  /** Silent servers last; otherwise in the order given, or with `rotate` from anywhere in it. */
  #inOrder(servers: readonly Address[], rotate: boolean): readonly Address[] {
    const start = rotate ? Math.floor((this.#options.random ?? Math.random)() * servers.length) : 0;
    const turned = [...servers.slice(start), ...servers.slice(0, start)];
    const now = this.#options.clock.now();
    const isSilent = (server: Address) => (this.#silentUntil.get(serverName(server)) ?? 0) > now;
    return [...turned.filter((server) => !isSilent(server)), ...turned.filter(isSilent)];
  }

  /** Tries the name with each suffix that applies. Nobody's answer ends it: that is not "no such name". */
  async #search(question: Question, lookup: Lookup): Promise<Resolved | Unresolved> {
    const failures: Unresolved[] = [];
    for (const name of candidates(question.name, lookup.conf)) {
      const end = await this.#lookUp({ ...question, name }, lookup);
      if (!("failure" in end)) return end;
      failures.push(end);
      if (ENDS_SEARCH.has(end.failure)) break;
    }
    return mostTelling(failures);
  }

  /** One absolute name, with the queries that its chain of CNAMEs takes. */
  async #lookUp(question: Question, lookup: Lookup): Promise<Resolved | Unresolved> {
    let end: ChainEnd = { kind: "open", records: [], chain: [question.name], ttlS: Infinity };
    for (let query = 0; query <= MAX_FOLLOWED; query++) {
      const owner = end.chain.at(-1)!;
      const heard = await this.#askServers({ name: owner, type: question.type }, lookup);
      if ("failure" in heard) return heard;
      const { answer, source } = heard;
      end = followChain(answer.answers, question.type, end);
      if (end.kind === "loop") return chainFailure(end, "the CNAMEs go round in a circle", source);
      if (end.kind === "long") return chainFailure(end, `more than ${MAX_CHAIN} CNAMEs`, source);
      if (end.kind === "records") return resolved(end, answer, source);
      const isCutShort = end.chain.at(-1) !== owner && !hasSoa(answer) && answer.rcode === RCODE.noError;
      if (!isCutShort) return notFound(end, answer, source);
    }
    return chainFailure(end, `more than ${MAX_FOLLOWED} queries for one chain`, "");
  }

  /** Asks the servers in turn until one says something definite. */
  async #askServers(question: Question, lookup: Lookup): Promise<Heard | Unresolved> {
    const said = new Map<string, Unresolved>();
    for (let attempt = 0; attempt < lookup.conf.attempts; attempt++) {
      for (const server of lookup.servers) {
        const before = said.get(serverName(server));
        if (before !== undefined && before.failure !== "timeout") continue;
        const heard = await this.#askOne(server, question, lookup);
        lookup.signal?.throwIfAborted();
        if (!("failure" in heard)) return heard;
        said.set(serverName(server), heard);
        if (this.#options.clock.now() >= lookup.dueAt) return worst(said, question);
      }
    }
    return worst(said, question);
  }

  async #askOne(server: Address, question: Question, lookup: Lookup): Promise<Heard | Unresolved> {
    const { clock } = this.#options;
    const reply = await this.#ask(server, question, {
      timeoutMs: Math.max(1, Math.min(lookup.conf.timeoutMs, lookup.dueAt - clock.now())),
      useTcp: lookup.conf.useTcp,
      ...(lookup.signal === undefined ? {} : { signal: lookup.signal }),
    });
    const name = serverName(server);
    if ("failure" in reply) {
      if (reply.failure === "timeout") this.#silentUntil.set(name, clock.now() + SILENCE_MS);
      return reply;
    }
    this.#silentUntil.delete(name);
    const { rcode } = reply.answer;
    if (rcode === RCODE.noError || rcode === RCODE.nxDomain) {
      return { answer: reply.answer, source: `${name} (${reply.transport})` };
    }
    return { failure: rcode === RCODE.refused ? "refused" : "servfail", detail: rcodeName(rcode) };
  }
}

/** The absolute names to try, in order, each without a final dot. */
function candidates(name: string, conf: ResolvConf): readonly string[] {
  if (name.endsWith(".")) return [name.slice(0, -1)];
  const searched = conf.search.map((suffix) => `${name}.${suffix}`);
  const dots = name.split(".").length - 1;
  return dots >= conf.ndots ? [name, ...searched] : [...searched, name];
}

/** What went wrong at a server outweighs "no data", and that "no such name": only then does the name not exist. */
function mostTelling(failures: readonly Unresolved[]): Unresolved {
  const isPlain = ({ failure }: Unresolved) => failure === "nxdomain" || failure === "nodata";
  return failures.findLast((one) => !isPlain(one)) ?? failures.find((one) => one.failure === "nodata") ??
    failures[0]!;
}

/** No server said anything definite. An answer says more than silence; who was not asked might have answered. */
function worst(said: ReadonlyMap<string, Unresolved>, question: Question): Unresolved {
  const order = ["servfail", "refused", "malformed", "own_limit", "timeout", "unreachable"] as const;
  const kinds = [...said.values()].map((one) => one.failure);
  const failure = order.find((kind) => kinds.includes(kind)) ?? "unreachable";
  const details = [...said].map(([server, one]) => `${server}: ${one.detail}`).join("; ");
  return { failure, detail: `${question.name} ${question.type}: ${details}` };
}

function resolved(end: ChainEnd, answer: DnsAnswer, source: string): Resolved {
  const services = end.records.flatMap(asService);
  const targets = new Set(services.map((service) => service.target));
  return {
    addresses: end.records.flatMap(asAddress),
    services,
    additional: answer.additional.flatMap(asAddress).filter((record) => targets.has(record.name)),
    ttlMs: end.ttlS * 1000,
    chain: end.chain,
    source,
  };
}

function asAddress(record: DnsRecord): AddressRecord[] {
  if (record.type !== "A" && record.type !== "AAAA") return [];
  return [{ name: record.name, address: record.address, ttlS: record.ttlS }];
}

function asService(record: DnsRecord): ServiceRecord[] {
  if (record.type !== "SRV") return [];
  const { priority, weight, port, target, ttlS } = record;
  return [{ priority, weight, port, target, ttlS }];
}

function notFound(end: ChainEnd, answer: DnsAnswer, source: string): Unresolved {
  const soa = answer.authority.find((record) => record.type === "SOA");
  const isUnknown = answer.rcode === RCODE.nxDomain;
  return {
    failure: isUnknown ? "nxdomain" : "nodata",
    detail: `${source} says ${isUnknown ? "NXDOMAIN" : "no records of that type"} for ${
      end.chain.join(" -> ")
    }`,
    ...(soa?.type === "SOA" && {
      negativeTtlMs: Math.min(soa.ttlS, soa.minimumS, end.ttlS) * 1000,
    }),
  };
}

function hasSoa(answer: DnsAnswer): boolean {
  return answer.authority.some((record) => record.type === "SOA");
}

function chainFailure(end: ChainEnd, what: string, source: string): Unresolved {
  const by = source === "" ? "" : `${source}: `;
  return { failure: "malformed", detail: `${by}${what}: ${end.chain.join(" -> ")}` };
}
