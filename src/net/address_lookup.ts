// All addresses of a name: A and AAAA asked at the same time, each half judged by itself. A half that fails does not
// take the other with it (a bad AAAA answer is common); it is told beside the addresses.

import type { AddressRecord, DnsFailureKind, HostFailure, Resolver } from "./dns_types.ts";

/** The address families of a lookup. */
export type AddressType = "A" | "AAAA";

/** One family that gave nothing, for another reason than having none. */
export interface HalfFailure {
  readonly type: AddressType;
  readonly failure: DnsFailureKind;
  readonly detail: string;
}

/** Addresses were found: IPv6 first, each family in the order of its answer. */
export interface AddressesFound {
  readonly records: readonly AddressRecord[];
  /** The least lifetime met, milliseconds; Infinity: not known. */
  readonly ttlMs: number;
  readonly halves: readonly HalfFailure[];
}

/** What to look up. */
export interface AddressQuestion {
  readonly name: string;
  /** One or both. */
  readonly types: readonly AddressType[];
}

/** Looks up the addresses of a name. Rejects only with the reason of `signal`, once that is aborted. */
export async function lookUpAddresses(
  resolver: Resolver,
  question: AddressQuestion,
  signal?: AbortSignal,
): Promise<AddressesFound | HostFailure> {
  const ends = await Promise.all(question.types.map(async (type) => {
    return { type, end: await resolver.resolve({ name: question.name, type }, signal) };
  }));
  const found = ends.flatMap(({ end }) => ("failure" in end ? [] : [end]));
  const halves = ends.flatMap(({ type, end }) => ("failure" in end ? [{ type, ...end }] : []));
  if (found.length === 0) return failureOf(halves);
  const addresses = found.flatMap((end) => end.addresses);
  return {
    records: [...addresses.filter(isV6), ...addresses.filter((record) => !isV6(record))],
    ttlMs: Math.min(...found.map((end) => end.ttlMs)),
    // A name with one family only is no failure.
    halves: halves.filter(({ failure }) => failure !== "nodata")
      .map(({ type, failure, detail }) => ({ type, failure, detail })),
  };
}

function isV6(record: AddressRecord): boolean {
  return record.address.includes(":");
}

/** Not having been able to ask outweighs all else; not knowing "no data"; and that "no such name". */
function failureOf(halves: readonly HalfFailure[]): HostFailure {
  const half = halves.find(({ failure }) => failure === "own_limit") ??
    halves.find(({ failure }) => failure !== "nodata" && failure !== "nxdomain") ??
    halves.find(({ failure }) => failure === "nodata") ?? halves[0]!;
  return { failure: half.failure, detail: half.detail };
}
