// One question of discovery to DNS, with all it leads to: both families, SRV targets, what was left out and why. Whether
// the answer is taken is the loop's business (discovery.ts).

import type { DiscoveryParams, EndpointConfig } from "../core/plan.ts";
import {
  type AddressesFound,
  type AddressType,
  type HalfFailure,
  lookUpAddresses,
} from "../net/address_lookup.ts";
import type { DnsFailureKind, HostFailure, Resolved, Resolver, ServiceRecord } from "../net/dns_types.ts";
import {
  addressEndpoints,
  type EndpointSet,
  serviceEndpoints,
  setOf,
  usableServices,
} from "./discovery_set.ts";

/** An SRV target without addresses. */
export interface LeftOut {
  readonly target: string;
  readonly failure: DnsFailureKind;
}

/** DNS gave endpoints: one or more. */
export interface Discovered {
  readonly endpoints: EndpointSet;
  /** The least lifetime over all records used, milliseconds, unclamped; Infinity: not known. */
  readonly ttlMs: number;
  /** Families whose question failed while the other one was answered. */
  readonly halves: readonly HalfFailure[];
  readonly leftOut: readonly LeftOut[];
}

/** How many SRV targets are resolved at a time. */
const TARGETS_AT_A_TIME = 16;

const FAMILIES: Readonly<Record<"A" | "AAAA" | "A+AAAA", readonly AddressType[]>> = {
  "A": ["A"],
  "AAAA": ["AAAA"],
  "A+AAAA": ["AAAA", "A"],
};

/** Asks. Rejects only with the reason of `signal`, once that is aborted. */
export async function discover(
  params: DiscoveryParams,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Discovered | HostFailure> {
  if (params.recordType === "SRV") return await discoverServices(params, resolver, signal);
  const types = FAMILIES[params.recordType];
  const found = await lookUpAddresses(resolver, { name: params.hostname, types }, signal);
  if ("failure" in found) return found;
  const unasked = unaskedOf(found);
  if (unasked !== undefined) return unasked;
  const { ttlMs, halves } = found;
  return { endpoints: addressEndpoints(params, found.records), ttlMs, halves, leftOut: [] };
}

async function discoverServices(
  params: DiscoveryParams,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Discovered | HostFailure> {
  const answer = await resolver.resolve({ name: params.hostname, type: "SRV" }, signal);
  if ("failure" in answer) return answer;
  const services = usableServices(answer.services);
  if (services.length === 0) return nothingUsable(answer);
  const targets = [...new Set(services.map((service) => service.target))];
  const lookups = await lookUpTargets(targets, answer, { resolver, signal });
  for (const found of lookups.values()) {
    const unasked = unaskedOf(found);
    if (unasked !== undefined) return unasked;
  }
  const endpoints: EndpointConfig[] = [];
  let { ttlMs } = answer;
  for (const service of services) {
    const found = lookups.get(service.target)!;
    if ("failure" in found) continue;
    ttlMs = Math.min(ttlMs, found.ttlMs);
    endpoints.push(...serviceEndpoints(service, found.records.map((record) => record.address)));
  }
  const leftOut = targets.flatMap((target) => leftOutOf(target, lookups));
  if (endpoints.length === 0) return allLeftOut(leftOut);
  return {
    endpoints: setOf(endpoints),
    ttlMs,
    halves: [],
    leftOut: [...leftOut, ...unusable(answer.services)],
  };
}

/** What could not be asked for want of our own means: the rest is no answer to go by then. */
function unaskedOf(found: AddressesFound | HostFailure): HostFailure | undefined {
  const ends: readonly HostFailure[] = "failure" in found ? [found] : found.halves;
  return ends.find(({ failure }) => failure === "own_limit");
}

type Lookups = ReadonlyMap<string, AddressesFound | HostFailure>;

async function lookUpTargets(
  targets: readonly string[],
  answer: Resolved,
  { resolver, signal }: { readonly resolver: Resolver; readonly signal: AbortSignal },
): Promise<Lookups> {
  const lookups = new Map<string, AddressesFound | HostFailure>();
  const open = targets.filter((target) => !addFromAdditional(target, answer, lookups));
  for (let start = 0; start < open.length; start += TARGETS_AT_A_TIME) {
    await Promise.all(
      open.slice(start, start + TARGETS_AT_A_TIME).map(async (target) => {
        // A target is an absolute name: no search list.
        const question = { name: `${target}.`, types: FAMILIES["A+AAAA"] };
        lookups.set(target, await lookUpAddresses(resolver, question, signal));
      }),
    );
  }
  return lookups;
}

/** Whether the answer brought the target's addresses along. */
function addFromAdditional(
  target: string,
  answer: Resolved,
  lookups: Map<string, AddressesFound | HostFailure>,
): boolean {
  const records = answer.additional.filter((record) => record.name === target);
  if (records.length === 0) return false;
  lookups.set(target, {
    records,
    ttlMs: Math.min(...records.map((record) => record.ttlS)) * 1000,
    halves: [],
  });
  return true;
}

function leftOutOf(target: string, lookups: Lookups): LeftOut[] {
  const found = lookups.get(target)!;
  return "failure" in found ? [{ target, failure: found.failure }] : [];
}

/** Records beside usable ones that say nothing one could dial: port 0, or a target that is no host name. */
function unusable(services: readonly ServiceRecord[]): LeftOut[] {
  const usable = usableServices(services);
  return services.filter((service) => service.target !== "." && !usable.includes(service))
    .map(({ target }) => ({ target, failure: "malformed" }));
}

function nothingUsable(answer: Resolved): HostFailure {
  const isOffered = answer.services.some((service) => service.target !== ".");
  return isOffered
    ? { failure: "malformed", detail: `${answer.source}: no SRV record has a host name and a port` }
    : { failure: "not_offered", detail: `${answer.source} says the service is not offered (target ".")` };
}

function allLeftOut(leftOut: readonly LeftOut[]): HostFailure {
  const targets = leftOut.map(({ target, failure }) => `${target} (${failure})`).join(", ");
  return { failure: leftOut[0]!.failure, detail: `no SRV target resolves: ${targets}` };
}
