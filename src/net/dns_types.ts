// The words in which name resolution asks and answers: records with their lifetimes, or one of a few kinds of failure
// that must never be mixed up (D4). Shared by the resolvers, the cache, dialing and discovery; no behaviour lives here.

/**
 * Why a name gave nothing (D4). `nxdomain`: no such name. `nodata`: the name exists without such records.
 * `not_offered`: SRV target ".". `timeout`: nobody answered in time. `servfail`, `refused`: what the name server said.
 * `malformed`: an answer that cannot be read or used. `unreachable`: no name server could be asked at all.
 * `own_limit`: we had no file descriptor, port or memory left to ask: that says nothing about the name.
 */
export type DnsFailureKind =
  | "timeout"
  | "servfail"
  | "refused"
  | "nxdomain"
  | "nodata"
  | "not_offered"
  | "malformed"
  | "unreachable"
  | "own_limit";

/** What can be asked for. */
export type RecordType = "A" | "AAAA" | "SRV";

/** One question. The name may end in a dot, which makes it absolute: no search list then. */
export interface Question {
  readonly name: string;
  readonly type: RecordType;
}

/** An A or AAAA record. */
export interface AddressRecord {
  /** The owner, in lower case without a final dot. */
  readonly name: string;
  /** IPv4, or IPv6 in canonical spelling. */
  readonly address: string;
  /** Seconds, 0..2147483647; one with the top bit set counts as 0 (RFC 2181). */
  readonly ttlS: number;
}

/** An SRV record (RFC 2782). */
export interface ServiceRecord {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  /** In lower case without a final dot; "." when the service is not offered. */
  readonly target: string;
  readonly ttlS: number;
}

/** Records were found: addresses for A and AAAA, services for SRV. */
export interface Resolved {
  readonly addresses: readonly AddressRecord[];
  readonly services: readonly ServiceRecord[];
  /** A and AAAA records of SRV targets that came along. */
  readonly additional: readonly AddressRecord[];
  /** The least lifetime over the records and the CNAMEs that led to them, milliseconds; Infinity: not known. */
  readonly ttlMs: number;
  /** The names gone through, from the one that was asked for (search suffix included) to the owner of the records. */
  readonly chain: readonly string[];
  /** Who said so: "10.0.0.2:53 (udp)", "/etc/hosts", "the system". */
  readonly source: string;
}

/** No records. */
export interface Unresolved {
  readonly failure: DnsFailureKind;
  /** For people: which servers were asked, and what they said. */
  readonly detail: string;
  /** How long "nxdomain" and "nodata" hold (RFC 2308), milliseconds; absent: not said. */
  readonly negativeTtlMs?: number;
}

/** Answers questions, by asking name servers or the system. */
export interface Resolver {
  /** Rejects only with the reason of `signal`, once that is aborted. */
  resolve(question: Question, signal?: AbortSignal): Promise<Resolved | Unresolved>;
}

/** The addresses of a host name, in the order in which they should be tried. Never empty. */
export interface HostAddresses {
  readonly addresses: readonly string[];
}

/** No address for a host name. `detail` is for people and names the servers asked. */
export interface HostFailure {
  readonly failure: DnsFailureKind;
  readonly detail: string;
}

/** Turns a host name into addresses. Never asked about an address literal (D8). Does not reject. */
export type ResolveHost = (host: string) => Promise<HostAddresses | HostFailure>;
