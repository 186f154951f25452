// What the HTTP sessions of one worker share, beyond one plan: pools and latencies per endpoint, compiled routes per
// listener, and exchanges from a free list. Follows the plan: what left it is closed, what changed its address or its
// trust is opened anew.

import { bracketed } from "../core/address.ts";
import { TALLY } from "../core/board.ts";
import type { Clock, Random } from "../core/clock.ts";
import { PeakLatency } from "../core/peak_latency.ts";
import { type Listener, type Plan, tlsNameOf, type Upstream, usesTls } from "../core/plan.ts";
import type { TimerWheel } from "../core/wheel.ts";
import { Exchange } from "../http/exchange.ts";
import { TrustedProxies } from "../http/forwarding.ts";
import { Pool } from "../http/pool.ts";
import { Routes } from "../http/routes.ts";
import { ascii } from "../http/spans.ts";
import { createHttpTools, type HttpLimits, type HttpTools } from "../http/tools.ts";
import type { Place } from "./pick.ts";

/** How often pools are swept and latencies fade, milliseconds. */
const SWEEP_MS = 1000;
/** Most exchanges kept for use again. */
const MAX_FREE = 512;

/** One endpoint as HTTP sessions use it. */
export interface Site {
  readonly place: Place;
  readonly pool: Pool;
  readonly peak: PeakLatency;
  /** The Host that the upstream asks for; undefined: the client's (W3). */
  readonly host: Readonly<Uint8Array> | undefined;
  /** The Host for clients that gave none. */
  readonly endpointHost: Readonly<Uint8Array>;
}

/** One http listener, worked out. */
export interface HttpListener {
  readonly config: Listener;
  readonly routes: Routes;
  readonly trusted: TrustedProxies;
}

/** The common ground of the HTTP sessions of one worker. */
export class HttpOffice {
  readonly tools: HttpTools;
  readonly #sites = new Map<number, Site>();
  #listeners = new Map<string, HttpListener>();
  readonly #free: Exchange[] = [];
  #sweptAt = 0;
  #compared: { readonly one: Upstream; readonly other: Upstream; readonly isSame: boolean } | undefined;

  /** `limits` are those of W7 unless a test wants shorter ones. */
  constructor(
    base: { readonly wheel: TimerWheel; readonly clock: Clock },
    random: Random,
    limits?: HttpLimits,
  ) {
    this.tools = createHttpTools({ wheel: base.wheel, clock: base.clock, random }, limits);
  }

  /** The endpoint of a lease. */
  site(place: Place): Site {
    const { slot } = place.endpoint;
    const known = this.#sites.get(slot);
    if (known?.place === place) return known;
    const isSame = known !== undefined && this.#reachSame(known.place, place);
    if (!isSame) known?.pool.close();
    const site = siteOf(place, this.tools, isSame ? known : undefined);
    this.#sites.set(slot, site);
    return site;
  }

  /** The listener of a name as of the plan in force; undefined: it is not in it. */
  listener(name: string): HttpListener | undefined {
    return this.#listeners.get(name);
  }

  /** An exchange for one request. */
  takeExchange(): Exchange {
    return this.#free.pop() ?? new Exchange(this.tools);
  }

  /** Takes an exchange back that has ended. */
  giveExchange(exchange: Exchange): void {
    if (this.#free.length < MAX_FREE) this.#free.push(exchange);
  }

  /** Follows a new plan. */
  take(plan: Plan): void {
    const listeners = new Map<string, HttpListener>();
    for (const config of plan.listeners) {
      if (config.protocol !== "http") continue;
      const known = this.#listeners.get(config.name);
      listeners.set(config.name, known?.config === config ? known : listenerOf(config));
    }
    this.#listeners = listeners;
    this.#closeSites(plan);
  }

  #closeSites(plan: Plan): void {
    const wanted = new Map<number, Reached>();
    for (const upstream of plan.upstreams) {
      for (const endpoint of upstream.endpoints) wanted.set(endpoint.slot, { upstream, endpoint });
    }
    for (const [slot, site] of this.#sites) {
      const next = wanted.get(slot);
      if (next !== undefined && this.#reachSame(site.place, next)) continue;
      site.pool.close();
      this.#sites.delete(slot);
    }
  }

  /** Whether a connection to the one is as good as one to the other: when not, pooled ones are of no use any more. */
  #reachSame(one: Reached, other: Reached): boolean {
    const isTls = usesTls(one.upstream, one.endpoint);
    return one.upstream.name === other.upstream.name && one.endpoint.key === other.endpoint.key &&
      isTls === usesTls(other.upstream, other.endpoint) &&
      (!isTls || (tlsNameOf(one.upstream, one.endpoint) === tlsNameOf(other.upstream, other.endpoint) &&
        this.#trustSame(one.upstream, other.upstream)));
  }

  /** The last answer is kept: bundles are long, and all endpoints of an upstream ask about the same two. */
  #trustSame(one: Upstream, other: Upstream): boolean {
    if (this.#compared?.one !== one || this.#compared.other !== other) {
      this.#compared = { one, other, isSame: one.tls?.ca === other.tls?.ca };
    }
    return this.#compared.isSame;
  }

  /** To be called on every tick of the worker. */
  tick(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const { pool, peak, place } of this.#sites.values()) {
      pool.sweep(now);
      if (place.upstream.loadBalancer === "peak_ewma") place.row[TALLY.latencyMs] = peak.at(now);
    }
  }

  /** Closes idle connections to endpoints. Those in use are closed by their sessions. */
  close(): void {
    for (const { pool } of this.#sites.values()) pool.close();
    this.#sites.clear();
  }
}

/** Notes how long an endpoint took for an answer. */
export function noteLatency(site: Site, latencyMs: number, now: number): void {
  if (site.place.upstream.loadBalancer !== "peak_ewma") return;
  site.peak.add(latencyMs, now);
  site.place.row[TALLY.latencyMs] = site.peak.at(now);
}

function listenerOf(config: Listener): HttpListener {
  return {
    config,
    routes: new Routes(config.routes, config.upstream),
    trusted: new TrustedProxies(config.trustedProxies),
  };
}

type Reached = Pick<Place, "upstream" | "endpoint">;

/** A site that goes on with what is `known` of it. */
function siteOf(place: Place, tools: HttpTools, known: Site | undefined): Site {
  const { endpoint, upstream } = place;
  const endpointHost = ascii(hostHeader(endpoint.host, endpoint.port, usesTls(upstream, endpoint)));
  return {
    place,
    pool: known?.pool ?? new Pool(tools),
    peak: known?.peak ?? new PeakLatency(),
    host: hostPolicy(upstream, endpointHost),
    endpointHost,
  };
}

function hostPolicy(
  { host }: Upstream,
  endpointHost: Readonly<Uint8Array>,
): Readonly<Uint8Array> | undefined {
  if (host === "keep") return undefined;
  return host === "endpoint" ? endpointHost : ascii(host.name);
}

/** Host and port as they stand in a Host header: the port only when it is not the usual one of the scheme. */
function hostHeader(host: string, port: number, isTls: boolean): string {
  const name = bracketed(host.replace(/%.*$/, ""));
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`;
}
