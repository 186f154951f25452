// What a scripted name server says: rules in order, as the files tests/cases/*.dns.json have them, and addresses that
// a test sets while it runs. Bytes in, bytes out; sockets are name_server.ts's business. It speaks with `dns-packet`,
// so that our own reading and writing of messages is checked against another.

import { Buffer } from "node:buffer";
import packet from "dns-packet";

/** A record as the case files write it. */
export interface ScriptRecord {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  // deno-lint-ignore no-explicit-any
  readonly data: any;
}

/** One answer of a rule. */
export interface ScriptReply {
  readonly rcode?: string;
  readonly flags?: { readonly tc?: boolean; readonly aa?: boolean };
  readonly answer?: readonly ScriptRecord[];
  readonly authority?: readonly ScriptRecord[];
  readonly additional?: readonly ScriptRecord[];
  readonly drop?: boolean;
  readonly refuse_connection?: boolean;
}

/** One rule. */
export interface ScriptRule {
  readonly match: { readonly name: string; readonly type: string };
  readonly transport?: "udp" | "tcp";
  readonly times?: number | "forever";
  readonly reply?: ScriptReply;
  readonly cycle?: readonly ScriptReply[];
  readonly raw?: {
    readonly flags_hex: string;
    readonly counts: readonly [number, number, number, number];
    readonly after_question_hex: string;
  };
}

/** A question that was asked. */
export interface AskedQuestion {
  readonly name: string;
  readonly type: string;
  readonly transport: "udp" | "tcp";
  /** Of `performance.now`. */
  readonly at: number;
}

/** A case file by its name without ".dns.json". */
export function readScript(name: string): readonly ScriptRule[] {
  const url = new URL(`../cases/${name}.dns.json`, import.meta.url);
  return JSON.parse(Deno.readTextFileSync(url)).script;
}

const RCODES = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];

/** Answers queries by rules. Rules set with `setA` and the like come before those of the script. */
export class DnsScript {
  readonly asked: AskedQuestion[] = [];
  #rules: readonly ScriptRule[];
  #set = new Map<string, ScriptReply>();
  readonly #used = new Map<ScriptRule, number>();

  constructor(rules: readonly ScriptRule[] = []) {
    this.#rules = rules;
  }

  /** Changes to other rules; what was set stays set. */
  load(rules: readonly ScriptRule[]): void {
    this.#rules = rules;
  }

  /** Whether TCP connections are refused by a rule. */
  get refusesTcp(): boolean {
    return this.#rules.some((rule) => rule.reply?.refuse_connection);
  }

  /** From now on the name has exactly these IPv4 addresses. */
  setA(name: string, addresses: readonly string[], ttl = 1): void {
    this.set(name, "A", { answer: addresses.map((data) => ({ name, type: "A", ttl, data })) });
  }

  /** From now on the name has exactly these IPv6 addresses. */
  setAAAA(name: string, addresses: readonly string[], ttl = 1): void {
    this.set(name, "AAAA", { answer: addresses.map((data) => ({ name, type: "AAAA", ttl, data })) });
  }

  /** From now on questions of that name and type get this reply. */
  set(name: string, type: string, reply: ScriptReply): void {
    this.#set.set(`${bare(name)} ${type}`, reply);
  }

  /** What was set for that name and type is forgotten. */
  unset(name: string, type: string): void {
    this.#set.delete(`${bare(name)} ${type}`);
  }

  /** How often a name and type was asked. */
  count(name: string, type: string): number {
    return this.asked.filter((one) => one.name === bare(name) && one.type === type).length;
  }

  /** The answer to a query; undefined: say nothing. */
  answer(query: Uint8Array, transport: "udp" | "tcp"): Uint8Array | undefined {
    const asked = packet.decode(Buffer.from(query));
    const { name, type } = asked.questions[0];
    this.asked.push({ name: bare(name), type, transport, at: performance.now() });
    const set = this.#set.get(`${bare(name)} ${type}`);
    if (set !== undefined) return encodeReply(asked, set);
    const rule = this.#rules.find((one) => this.#applies(one, { name, type, transport }));
    if (rule === undefined) return encodeReply(asked, {});
    const used = this.#used.get(rule) ?? 0;
    this.#used.set(rule, used + 1);
    if (rule.raw !== undefined) return encodeRaw(query, rule.raw);
    return encodeReply(asked, rule.cycle?.[used % rule.cycle.length] ?? rule.reply!);
  }

  #applies(rule: ScriptRule, asked: { name: string; type: string; transport: string }): boolean {
    const isLeft = typeof rule.times !== "number" || (this.#used.get(rule) ?? 0) < rule.times;
    return isLeft && rule.match.type === asked.type && matches(rule.match.name, asked.name) &&
      (rule.transport === undefined || rule.transport === asked.transport);
  }
}

function bare(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

function matches(pattern: string, name: string): boolean {
  const [wanted, got] = [bare(pattern), bare(name)];
  return wanted.startsWith("*.") ? got.endsWith(wanted.slice(1)) : wanted === got;
}

// deno-lint-ignore no-explicit-any
function encodeReply(asked: any, reply: ScriptReply): Uint8Array | undefined {
  if (reply.drop || reply.refuse_connection) return undefined;
  const flags = (reply.flags?.tc ? packet.TRUNCATED_RESPONSE : 0) |
    (reply.flags?.aa ? packet.AUTHORITATIVE_ANSWER : 0) | packet.RECURSION_DESIRED |
    packet.RECURSION_AVAILABLE;
  return packet.encode({
    id: asked.id,
    type: "response",
    flags: flags | RCODES.indexOf(reply.rcode ?? "NOERROR"),
    questions: asked.questions,
    answers: (reply.answer ?? []).map(packetRecord),
    authorities: (reply.authority ?? []).map(packetRecord),
    additionals: (reply.additional ?? []).map(packetRecord),
  });
}

function packetRecord(record: ScriptRecord) {
  if (record.type !== "SOA" || typeof record.data !== "string") return { ...record };
  const [mname, rname, serial, refresh, retry, expire, minimum] = record.data.split(" ");
  const numbers = { serial, refresh, retry, expire, minimum };
  const data = Object.fromEntries(Object.entries(numbers).map(([key, text]) => [key, Number(text)]));
  return { ...record, data: { mname, rname, ...data } };
}

/** Id and question of the query, with flags, counts and the rest from the rule. */
function encodeRaw(query: Uint8Array, raw: NonNullable<ScriptRule["raw"]>): Uint8Array {
  let end = 12;
  while (query[end] !== 0) end += query[end]! + 1;
  const question = query.subarray(12, end + 5);
  const counts = raw.counts.flatMap((count) => [count >> 8, count & 255]);
  return Uint8Array.from([
    query[0]!,
    query[1]!,
    ...Buffer.from(raw.flags_hex, "hex"),
    ...counts,
    ...question,
    ...Buffer.from(raw.after_question_hex, "hex"),
  ]);
}
