// From an upstream's name to an open connection: pick, dial, and on failure report and pick again among the endpoints
// not yet tried (T4). Used for TCP sessions and for new connections of the HTTP pool.

import type { Duplex } from "../core/duplex.ts";
import type { Outcome } from "../core/outcome.ts";
import { type EndpointConfig, tlsNameOf, type UpstreamPolicy, usesTls } from "../core/plan.ts";
import { excusesTimeout } from "../core/stalls.ts";
import type { DialOptions, DialTarget } from "../net/dial.ts";
import type { Lease, Picker } from "./pick.ts";
import type { Service } from "./service.ts";

/** A lease with the connection to its endpoint. The caller releases the one and closes the other. */
export interface Connection {
  readonly lease: Lease;
  readonly conn: Duplex;
  /** Endpoints tried, this one included. */
  readonly attempts: number;
  readonly dialMs: number;
}

/** Why there is no connection. */
export interface NoConnection {
  readonly lease?: undefined;
  readonly outcome: Outcome;
  readonly attempts: number;
}

/** The session a connection is for. */
export interface Connecting {
  readonly clientHash: number;
  /** Set once it is cut: nothing more is tried. */
  readonly cutBy: Outcome | undefined;
  /** Slot of the endpoint that is dialed, then connected to; -1: none. */
  slot: number;
}

/** Connects to the first endpoint of the upstream that takes the connection, in at most `connectAttempts` tries. */
export async function connect(
  service: Service,
  picker: Picker,
  session: Connecting,
): Promise<Connection | NoConnection> {
  const { clientHash } = session;
  let tried: Set<string> | undefined;
  let last: Outcome = "no_endpoint"; // How the last one tried failed, once one has.
  for (let attempts = 1; attempts <= picker.upstream.connectAttempts; attempts++) {
    const lease = picker.pick({ clientHash, tried });
    if (lease === undefined) return { outcome: last, attempts: attempts - 1 };
    session.slot = lease.slot;
    const result = await dialEndpoint(service, lease);
    if ("conn" in result) return { lease, conn: result.conn, attempts, dialMs: result.dialMs };
    session.slot = -1;
    if (session.cutBy !== undefined) return { outcome: session.cutBy, attempts };
    last = result.outcome;
    if (last === "stalled") continue; // Says nothing about the endpoint: it may be tried again.
    tried ??= new Set();
    tried.add(lease.endpoint.key);
    if (last === "out_of_descriptors") return { outcome: last, attempts };
  }
  return { outcome: last, attempts: picker.upstream.connectAttempts };
}

/** Who may give a dial up. */
export interface DialWatcher {
  /** For `DialOptions.begun`. */
  readonly begun: NonNullable<DialOptions["begun"]>;
  /** Why it was given up; undefined: it was not. */
  readonly gone: Outcome | undefined;
}

/** One dial of the leased endpoint, reported. On failure the lease is released. */
export async function dialEndpoint(
  service: Service,
  lease: Lease,
  watcher?: DialWatcher,
): Promise<{ readonly conn: Duplex; readonly dialMs: number } | { readonly outcome: Outcome }> {
  const { endpoint, upstream } = lease.place;
  const started = service.clock.now();
  const dialed = await service.dial(dialTarget(upstream, endpoint), dialOptions(service, upstream, watcher));
  const dialMs = service.clock.now() - started;
  if ("conn" in dialed) return { conn: dialed.conn, dialMs };
  const isGivenUp = dialed.outcome === "cancelled" && watcher?.gone !== undefined;
  const outcome = isGivenUp
    ? watcher.gone
    : blamed(service, dialed.outcome, { started, limitMs: upstream.timeouts.connectMs });
  lease.report(outcome, dialMs, dialed.detail);
  lease[Symbol.dispose]();
  if (endpoint.source === "discovered" && outcome !== "stalled" && !isGivenUp) {
    service.unreached(endpoint.slot);
  }
  return { outcome };
}

/** A timeout charges nobody when for a good part of that time we could not have seen an answer (P5). */
function blamed(service: Service, outcome: Outcome, dial: { started: number; limitMs: number }): Outcome {
  const isOurs = outcome === "connect_timeout" &&
    excusesTimeout(service.longestStallSince(dial.started), dial.limitMs);
  return isOurs ? "stalled" : outcome;
}

/** What to dial for an endpoint (L1 for the TLS name). */
export function dialTarget(upstream: UpstreamPolicy, endpoint: EndpointConfig): DialTarget {
  if (!usesTls(upstream, endpoint)) return { host: endpoint.host, port: endpoint.port };
  const ca = upstream.tls?.ca;
  const alpn = upstream.protocol === "https" ? ["http/1.1"] as const : [];
  const tls = { serverName: tlsNameOf(upstream, endpoint), alpn, ...(ca === undefined ? {} : { ca }) };
  return { host: endpoint.host, port: endpoint.port, tls };
}

function dialOptions(service: Service, upstream: UpstreamPolicy, watcher?: DialWatcher): DialOptions {
  const { connectMs, happyEyeballsMs } = upstream.timeouts;
  const { resolveHost, clock, deadlines, handshakes } = service;
  return { connectMs, happyEyeballsMs, resolveHost, clock, deadlines, handshakes, begun: watcher?.begun };
}
