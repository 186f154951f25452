// DNS messages on the wire (RFC 1035): writing a query, reading an answer. Reading is strict, since answers come from
// anywhere: a record whose data does not fit its type and length makes the message unreadable, never an address.

import { formatIpv6 } from "../core/address.ts";
import { decodeName, encodeName } from "./dns_name.ts";
import type { Question } from "./dns_types.ts";

/** The largest answer we take over UDP: fits every path without fragments. */
const UDP_PAYLOAD_BYTES = 1232;

const TYPE_NUMBERS = { A: 1, CNAME: 5, SOA: 6, AAAA: 28, SRV: 33, OPT: 41 } as const;
const CLASS_IN = 1;

/** Answer codes that hale tells apart; others are shown by number. */
export const RCODE = { noError: 0, formErr: 1, servFail: 2, nxDomain: 3, notImp: 4, refused: 5 } as const;

/** A record of an answer. `ttlS` as in `AddressRecord`; names in lower case without a final dot. */
export type DnsRecord =
  & { readonly name: string; readonly ttlS: number }
  & (
    | { readonly type: "A" | "AAAA"; readonly address: string }
    | { readonly type: "CNAME"; readonly target: string }
    | {
      readonly type: "SRV";
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: string;
    }
    | { readonly type: "SOA"; readonly minimumS: number }
    | { readonly type: "other" }
  );

/** An answer. When it is truncated nothing but the header counts, and the record lists are empty. */
export interface DnsAnswer {
  readonly rcode: number;
  readonly isTruncated: boolean;
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  readonly additional: readonly DnsRecord[];
}

/** The bytes of a query with that id (0..65535); undefined when the name is none that DNS can be asked for. */
export function encodeQuery(
  question: Question,
  options: { readonly id: number; readonly edns: boolean },
): Uint8Array<ArrayBuffer> | undefined {
  const name = encodeName(question.name);
  if (name === undefined) return undefined;
  const { id } = options;
  const header = [id >> 8, id & 255, 1, 0, 0, 1, 0, 0, 0, 0, 0, options.edns ? 1 : 0];
  const tail = [0, TYPE_NUMBERS[question.type], 0, CLASS_IN];
  const opt = [0, 0, TYPE_NUMBERS.OPT, UDP_PAYLOAD_BYTES >> 8, UDP_PAYLOAD_BYTES & 255, 0, 0, 0, 0, 0, 0];
  return Uint8Array.from([...header, ...name, ...tail, ...(options.edns ? opt : [])]);
}

/**
 * Reads the answer to a query. "not ours": another id, another question, or no answer at all; wait for the right one.
 * `malformed`: ours, but not readable.
 */
export function decodeAnswer(
  bytes: Uint8Array,
  query: Uint8Array,
): DnsAnswer | "not ours" | { readonly malformed: string } {
  if (bytes.length < 12 || bytes[0] !== query[0] || bytes[1] !== query[1]) return "not ours";
  if ((bytes[2]! & 0x80) === 0) return "not ours";
  try {
    return new MessageReader(bytes).answerTo(query);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const isCut = error.message.includes("DataView");
    return { malformed: isCut ? "the message ends too early" : error.message };
  }
}

class MessageReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 12;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  answerTo(query: Uint8Array): DnsAnswer | "not ours" | { malformed: string } {
    const flags = this.#view.getUint16(2);
    const rcode = flags & 15;
    const [questions, answers, authority, additional] = [4, 6, 8, 10].map((at) => this.#view.getUint16(at));
    // Some servers leave the question out when they could not read it.
    const isBare = questions === 0 && rcode !== RCODE.noError;
    if (!isBare && (questions !== 1 || !this.#repeatsQuestion(query))) return "not ours";
    if (((flags >> 11) & 15) !== 0) return { malformed: "an operation that is no query" };
    if ((flags & 0x0200) !== 0) {
      return { rcode, isTruncated: true, answers: [], authority: [], additional: [] };
    }
    const sections = [answers!, authority!, additional!].map((count) => this.#records(count));
    const extended = sections[2]!.find((record) => "extendedRcode" in record)?.extendedRcode ?? 0;
    return {
      rcode: extended * 16 + rcode,
      isTruncated: false,
      answers: sections[0]!,
      authority: sections[1]!,
      additional: sections[2]!,
    };
  }

  #repeatsQuestion(query: Uint8Array): boolean {
    const asked = decodeName(query, 12);
    const repeated = this.#name();
    const isSameType = this.#view.getUint32(this.#at) ===
      new DataView(query.buffer, query.byteOffset).getUint32(asked.end);
    this.#at += 4;
    return isSameType && repeated === asked.name;
  }

  #name(): string {
    const { name, end } = decodeName(this.#bytes, this.#at);
    this.#at = end;
    return name;
  }

  #records(count: number): (DnsRecord & { extendedRcode?: number })[] {
    const records = [];
    for (let i = 0; i < count; i++) records.push(this.#record());
    return records;
  }

  #record(): DnsRecord & { extendedRcode?: number } {
    const name = this.#name();
    const type = this.#view.getUint16(this.#at);
    const dnsClass = this.#view.getUint16(this.#at + 2);
    const rawTtl = this.#view.getUint32(this.#at + 4);
    const length = this.#view.getUint16(this.#at + 8);
    const start = this.#at + 10;
    this.#at = start;
    if (start + length > this.#bytes.length) {
      throw new RangeError("a record runs past the end of the message");
    }
    if (type === TYPE_NUMBERS.OPT) {
      this.#at = start + length;
      return { name, ttlS: 0, type: "other", extendedRcode: rawTtl >>> 24 };
    }
    const ttlS = rawTtl > 0x7fffffff ? 0 : rawTtl;
    const data = dnsClass === CLASS_IN ? this.#data(type, length) : { type: "other" } as const;
    if (data.type === "other") this.#at = start + length;
    if (this.#at !== start + length) throw new RangeError(`a record of type ${type} has a wrong length`);
    return { name, ttlS, ...data };
  }

  #data(type: number, length: number) {
    switch (type) {
      case TYPE_NUMBERS.A:
        return { type: "A", address: this.#address(length, 4) } as const;
      case TYPE_NUMBERS.AAAA:
        return { type: "AAAA", address: this.#address(length, 16) } as const;
      case TYPE_NUMBERS.CNAME:
        return { type: "CNAME", target: this.#name() } as const;
      case TYPE_NUMBERS.SRV:
        return this.#service();
      case TYPE_NUMBERS.SOA:
        return this.#startOfAuthority();
      default:
        return { type: "other" } as const;
    }
  }

  #address(length: number, wanted: 4 | 16): string {
    if (length !== wanted) throw new RangeError(`an address of ${length} bytes instead of ${wanted}`);
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    if (wanted === 4) return bytes.join(".");
    return formatIpv6(Array.from({ length: 8 }, (_, i) => bytes[2 * i]! * 256 + bytes[2 * i + 1]!));
  }

  #service() {
    const [priority, weight, port] = [0, 2, 4].map((offset) => this.#view.getUint16(this.#at + offset));
    this.#at += 6;
    return { type: "SRV", priority: priority!, weight: weight!, port: port!, target: this.#name() } as const;
  }

  #startOfAuthority() {
    this.#name();
    this.#name();
    const minimumS = this.#view.getUint32(this.#at + 16);
    this.#at += 20;
    return { type: "SOA", minimumS } as const;
  }
}

/** How an answer code is called: "NXDOMAIN", "code 9". */
export function rcodeName(rcode: number): string {
  return ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"][rcode] ?? `code ${rcode}`;
}
