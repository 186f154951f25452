// From DNS records to a set of endpoints, and when two sets are the same (D2, D3). Pure.

import { canonicalHost, formatAddress } from "../core/address.ts";
import type { DiscoveryParams, EndpointConfig } from "../core/plan.ts";
import type { AddressRecord, ServiceRecord } from "../net/dns_types.ts";

/** Endpoints by key, sorted: the order in which DNS gives its records means nothing. */
export type EndpointSet = readonly EndpointConfig[];

/** The endpoints of plain address records. Their TLS name is the discovery host name. */
export function addressEndpoints(params: DiscoveryParams, records: readonly AddressRecord[]): EndpointSet {
  return setOf(records.map(({ address }) => ({
    ...place(address, params.port),
    weight: 1,
    priority: 0,
    source: "discovered",
    serverName: params.hostname.replace(/\.$/, ""),
  })));
}

/** The endpoints of one SRV record whose target has those addresses. Their TLS name is the target. */
export function serviceEndpoints(service: ServiceRecord, addresses: readonly string[]): EndpointConfig[] {
  return addresses.map((address) => ({
    ...place(address, service.port),
    weight: service.weight,
    priority: service.priority,
    source: "discovered",
    serverName: service.target,
  }));
}

function place(host: string, port: number): Pick<EndpointConfig, "key" | "host" | "port"> {
  return { key: formatAddress({ host, port }), host, port };
}

/** Each address and port once, sorted by key. Of several the most preferred stays: least priority, then most weight. */
export function setOf(endpoints: readonly EndpointConfig[]): EndpointSet {
  const byKey = new Map<string, EndpointConfig>();
  for (const endpoint of endpoints) {
    const other = byKey.get(endpoint.key);
    if (other === undefined || isPreferred(endpoint, other)) byKey.set(endpoint.key, endpoint);
  }
  return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function isPreferred(a: EndpointConfig, b: EndpointConfig): boolean {
  return a.priority !== b.priority ? a.priority < b.priority : a.weight > b.weight;
}

/** Whether two sets would serve alike. */
export function isSameSet(a: EndpointSet, b: EndpointSet): boolean {
  return a.length === b.length && a.every((endpoint, i) => isSameEndpoint(endpoint, b[i]!));
}

function isSameEndpoint(a: EndpointConfig, b: EndpointConfig): boolean {
  return a.key === b.key && a.weight === b.weight && a.priority === b.priority && a.source === b.source &&
    a.serverName === b.serverName;
}

/** The SRV records that can be used, and the host names of their targets; "." and what is no host name are not. */
export function usableServices(services: readonly ServiceRecord[]): readonly ServiceRecord[] {
  return services.filter((service) =>
    service.target !== "." && service.port > 0 && canonicalHost(service.target) === service.target
  );
}
