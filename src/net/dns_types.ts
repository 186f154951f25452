// The words in which name resolution answers: addresses, or one of a few kinds of failure that must never be mixed
// up (D4). Shared by the resolvers, the cache, dialing and discovery; no behaviour lives here.

/**
 * Why a name gave nothing (D4). `nxdomain`: no such name. `nodata`: the name exists without such records.
 * `not_offered`: SRV target ".". `timeout`: nobody answered in time. `servfail`, `refused`: what the name server said.
 * `malformed`: an answer that cannot be read or used. `unreachable`: no name server could be asked at all.
 */
export type DnsFailureKind =
  | "timeout"
  | "servfail"
  | "refused"
  | "nxdomain"
  | "nodata"
  | "not_offered"
  | "malformed"
  | "unreachable";

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
