// Rules of listeners: what tcp and http listeners need, where their routes lead, and that no two things accept on one
// address. Upstreams are looked up by name over all files.

import { type Address, formatAddress, isLoopback } from "../core/address.ts";
import type { ListenerValue, UpstreamValue } from "./file_schema.ts";
import { quoted } from "./problem.ts";
import { complaint } from "./raw.ts";
import { below, type Item, placeText, rawAt, type Report, type Spot } from "./report.ts";
import { nearest } from "./suggest.ts";

/** The upstreams by name; `isComplete` false: some name could not be read, so a missing one proves nothing. */
export interface Upstreams {
  readonly byName: ReadonlyMap<string, Item<UpstreamValue>>;
  readonly isComplete: boolean;
}

/** Checks one listener. */
export function checkListener(listener: Item<ListenerValue>, upstreams: Upstreams, report: Report): void {
  checkNeeds(listener, report);
  checkRoutes(listener, report);
  for (const target of targetsOf(listener)) checkTarget(listener, target, upstreams, report);
}

interface Target {
  readonly spot: Spot;
  readonly name: string;
}

/** The upstreams that a listener names, each with the place of the name. */
function targetsOf(listener: Item<ListenerValue>): Target[] {
  const { upstream, routes = [] } = listener.value;
  const routed = routes.map((route, index) => ({
    spot: below(listener, "routes", index, "upstream"),
    name: route?.upstream,
  }));
  return [{ spot: below(listener, "upstream"), name: upstream }, ...routed]
    .flatMap(({ spot, name }) => (name === undefined ? [] : [{ spot, name }]));
}

function checkNeeds(listener: Item<ListenerValue>, report: Report): void {
  const { protocol, routes, trusted_proxies } = listener.value;
  const hasUpstream = rawAt(below(listener, "upstream")) !== undefined;
  if (protocol === "tcp") {
    if (!hasUpstream) {
      const message = complaint("A tcp listener leads somewhere", undefined, "the name of a tcp upstream");
      report.add(below(listener, "upstream"), message);
    }
    const message = (what: string) => `A tcp listener does not look inside, it has no ${what}`;
    if ((routes ?? []).length > 0) report.add(below(listener, "routes"), message("routes"), "key");
    if ((trusted_proxies ?? []).length > 0) {
      report.add(below(listener, "trusted_proxies"), message("trusted_proxies"), "key");
    }
  } else if (protocol === "http" && !hasUpstream && routes?.length === 0) {
    report.add(listener, complaint("The listener leads nowhere", undefined, "an upstream, or routes"));
  }
}

function checkRoutes(listener: Item<ListenerValue>, report: Report): void {
  const firsts = new Map<string, number>();
  for (const [index, route] of (listener.value.routes ?? []).entries()) {
    const isWhole = route !== undefined &&
      ["host", "path_prefix"].every((field) => !report.isFaulty(below(listener, "routes", index, field)));
    if (!isWhole) continue;
    const key = JSON.stringify([route.host, route.path_prefix]);
    const first = firsts.get(key);
    firsts.set(key, first ?? index);
    const spot = below(listener, "routes", index);
    if (first !== undefined) {
      report.add(
        spot,
        `The route can never be taken, the one at ${
          placeText(below(listener, "routes", first))
        } takes the same requests`,
      );
    } else if (
      route.host === undefined && route.path_prefix === undefined &&
      rawAt(below(listener, "upstream")) !== undefined
    ) {
      report.add(
        spot,
        `The route takes every request, so that the listener's own upstream is never used; leave one of them out`,
      );
    }
  }
}

function checkTarget(
  listener: Item<ListenerValue>,
  target: Target,
  upstreams: Upstreams,
  report: Report,
): void {
  const upstream = upstreams.byName.get(target.name);
  if (upstream !== undefined) {
    checkSpokenProtocol(listener, { target, upstream }, report);
    checkLoop(listener, { target, upstream }, report);
  } else if (upstreams.isComplete) {
    const names = [...upstreams.byName.keys()];
    const meant = nearest(target.name, names);
    const what = meant === undefined ? "Unknown upstream" : `Unknown upstream, did you mean ${meant}?`;
    const want = names.length === 0 ? "an upstream of that name" : `one of ${names.slice(0, 20).join(", ")}`;
    report.add(target.spot, complaint(what, target.name, want));
  }
}

interface Link {
  readonly target: Target;
  readonly upstream: Item<UpstreamValue>;
}

function checkSpokenProtocol(
  listener: Item<ListenerValue>,
  { target, upstream }: Link,
  report: Report,
): void {
  const [accepted, spoken] = [listener.value.protocol, upstream.value.protocol];
  if (accepted === undefined || spoken === undefined || (accepted === "tcp") === (spoken === "tcp")) return;
  const want = accepted === "tcp"
    ? "an upstream with protocol: tcp"
    : "an upstream with protocol: http1 or https";
  const message = `The listener is ${accepted}, but the upstream ${quoted(target.name)} is ${spoken}`;
  report.add(target.spot, complaint(message, target.name, want));
}

function checkLoop(listener: Item<ListenerValue>, { target, upstream }: Link, report: Report): void {
  const { address } = listener.value;
  const isRewritten = typeof upstream.value.host === "object";
  if (address === undefined || address.port === 0 || isRewritten) return;
  const endpoint = (upstream.value.endpoints ?? []).find((candidate) =>
    candidate?.address !== undefined && leadsTo(candidate.address, address)
  );
  if (endpoint?.address === undefined) return;
  const message = `The upstream ${quoted(target.name)} leads back to this listener by its endpoint ${
    formatAddress(endpoint.address)
  }`;
  report.add(target.spot, message);
}

function leadsTo(endpoint: Address, listener: Address): boolean {
  if (endpoint.port !== listener.port) return false;
  return endpoint.host === listener.host || (isWildcard(listener) && isLoopback(endpoint.host));
}

function isWildcard(address: Address): boolean {
  return address.host === "0.0.0.0" || address.host === "::";
}

/** Something that accepts on an address, for messages. */
export interface Acceptor {
  readonly what: string;
  readonly spot: Spot;
  readonly address: Address;
}

/** Checks that no two of them accept on one address. `0.0.0.0` and `[::]` are one, as `[::]` takes IPv4 too. */
export function checkAddresses(acceptors: readonly Acceptor[], report: Report): void {
  const firsts = new Map<string, Acceptor>();
  for (const acceptor of acceptors) {
    const { address, spot } = acceptor;
    // On port 0 each gets a port of its own.
    if (address.port === 0) continue;
    const key = isWildcard(address) ? `*:${address.port}` : formatAddress(address);
    const first = firsts.get(key);
    firsts.set(key, first ?? acceptor);
    if (first === undefined) continue;
    report.add(
      spot,
      `The address ${formatAddress(address)} is taken by ${first.what} at ${placeText(first.spot)}`,
    );
  }
}
