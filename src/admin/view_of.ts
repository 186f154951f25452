// Makes the view of the running state: a pure function. Nothing is decided here but what is derived from the numbers:
// whether an endpoint is usable, when it returns, whether an upstream picks over the whole set.

import { formatAddress } from "../core/address.ts";
import { BUCKET_BOUNDS_MS } from "../core/histogram.ts";
import type { Listener, Upstream } from "../core/plan.ts";
import type { Evidence } from "../core/report.ts";
import type { UpstreamStats } from "../core/stats.ts";
import {
  endpointView,
  evidenceView,
  isoOf,
  millisUntil,
  quantileFields,
  reasonsFor,
  rounded,
} from "./endpoint_view.ts";
import { emptyWeights, type Quantiles, quantilesOf } from "./recent.ts";
import type { DiscoveryState, RunningState, UpstreamState } from "./running_state.ts";
import type {
  ConfigView,
  DiscoveryView,
  EndpointView,
  HistogramView,
  ListenerView,
  ProcessView,
  Readiness,
  Reason,
  UpstreamView,
  View,
  WhyView,
} from "./view.ts";

/** The view of `state`. Costs a few microseconds per endpoint. */
export function viewOf(state: RunningState): View {
  return {
    version: state.version,
    at: isoOf(state.wallMs),
    uptime_ms: Math.round(state.now - state.startedAt),
    phase: state.phase,
    generation: state.plan?.generation ?? 0,
    config: configView(state),
    limits: {
      sessions: state.workers.reduce((sum, worker) => sum + worker.sessions, 0),
      max_connections: state.limits.maxConnections,
    },
    workers: state.workers.map(({ id, sessions, restarts, loopLagMs }) => (
      { id, sessions, restarts, loop_lag_ms: loopLagMs }
    )),
    listeners: (state.plan?.listeners ?? []).map((listener) => listenerView(listener, state)),
    upstreams: (state.plan?.upstreams ?? []).map((upstream) => upstreamView(upstream, state)),
    not_charged: state.stats.notCharged,
    process: processView(state),
  };
}

function configView({ config }: RunningState): ConfigView {
  const attempt = config.lastAttempt;
  return {
    hash: config.hash,
    loaded_at: config.loadedAt === undefined ? null : isoOf(config.loadedAt),
    last_attempt: attempt === undefined
      ? { at: null, ok: true, problems: [] }
      : { at: isoOf(attempt.at), ok: attempt.ok, problems: attempt.problems },
    reloads: { ...config.reloads },
  };
}

function listenerView(listener: Listener, state: RunningState): ListenerView {
  const numbers = ownOf(state.stats.listeners, listener.name);
  return {
    name: listener.name,
    address: formatAddress(listener.address),
    protocol: listener.protocol,
    sessions: numbers?.active ?? 0,
    accepted_total: numbers?.accepted ?? 0,
    sessions_total: numbers?.outcomes ?? {},
    bytes_received: numbers?.bytesIn ?? 0,
    bytes_sent: numbers?.bytesOut ?? 0,
  };
}

/** Names come from config files, so one may be that of an inherited property. */
function ownOf<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

const NOT_MET: UpstreamState = { failOpenPicks: 0, probes: {} };

function upstreamView(upstream: Upstream, state: RunningState): UpstreamView {
  const numbers = state.upstreams.get(upstream.name) ?? NOT_MET;
  const stats = ownOf(state.stats.upstreams, upstream.name);
  const endpoints = upstream.endpoints.map((endpoint) => endpointView(upstream, endpoint, state));
  return {
    name: upstream.name,
    protocol: upstream.protocol,
    load_balancer: upstream.loadBalancer,
    usable: endpoints.filter((endpoint) => endpoint.usable).length,
    total: endpoints.length,
    fail_open: failsOpen(upstream, endpoints),
    fail_open_picks_total: numbers.failOpenPicks,
    no_endpoint_total: stats?.noEndpoint ?? 0,
    health: upstream.health?.mode ?? "off",
    rate_per_s: rounded(endpoints.reduce((sum, endpoint) => sum + endpoint.rate_per_s, 0)),
    ...quantileFields(upstreamQuantiles(upstream, state)),
    probes_total: numbers.probes,
    responses_total: stats?.responses ?? {},
    ...(upstream.protocol !== "tcp" && { exchange_seconds: histogramView(stats) }),
    ...(upstream.discovery && { discovery: discoveryView(upstream.discovery, numbers.discovery, state.now) }),
    endpoints,
  };
}

/** Whether picks go over the whole set: all that people allow are out for their health, and fail_open is asked for (H8). */
function failsOpen(upstream: Upstream, endpoints: readonly EndpointView[]): boolean {
  if (upstream.health?.allDown !== "fail_open") return false;
  const allowed = endpoints.filter(({ reasons }) => !reasons.some(isFirm));
  return allowed.length > 0 &&
    allowed.every(({ reasons }) => reasons.includes("ejected") || reasons.includes("half_open"));
}

const isFirm = (reason: Reason): boolean =>
  reason === "drained" || reason === "maintenance" || reason === "removed";

function upstreamQuantiles(upstream: Upstream, state: RunningState): Quantiles {
  const weights = emptyWeights();
  for (const endpoint of upstream.endpoints) {
    state.endpoints.get(endpoint.slot)?.recent?.addTo(weights, state.now);
  }
  return quantilesOf(weights);
}

function histogramView(stats: UpstreamStats | undefined): HistogramView {
  let count = 0;
  const buckets = BUCKET_BOUNDS_MS.map((ms, at) =>
    [ms / 1000, count += stats?.exchangeBuckets[at] ?? 0] as const
  );
  count += stats?.exchangeBuckets[BUCKET_BOUNDS_MS.length] ?? 0;
  return { buckets, sum: (stats?.exchangeSumMs ?? 0) / 1000, count };
}

function discoveryView(
  params: NonNullable<Upstream["discovery"]>,
  numbers: DiscoveryState | undefined,
  now: number,
): DiscoveryView {
  return {
    hostname: params.hostname,
    record_type: params.recordType,
    state: numbers?.failure === undefined ? "ok" : "failing",
    failure: numbers?.failure ?? null,
    since: numbers?.sinceAt === undefined ? null : isoOf(numbers.sinceAt),
    ttl_ms: numbers?.ttlMs ?? null,
    next_refresh_ms: numbers?.nextRefresh === undefined ? null : millisUntil(numbers.nextRefresh, now),
    note: numbers?.note ?? "",
    refreshes_total: numbers?.refreshes ?? 0,
    failures_total: numbers?.failures ?? {},
  };
}

function processView(state: RunningState): ProcessView {
  const { process } = state;
  const lags = state.workers.map((worker) => [`worker-${worker.id}`, worker.loopLagMs / 1000] as const);
  return {
    started_at: isoOf(process.startedAtWall),
    cpu_seconds: process.cpuSeconds ?? null,
    resident_bytes: process.residentBytes ?? null,
    open_descriptors: process.openDescriptors ?? null,
    max_descriptors: process.maxDescriptors ?? null,
    worker_restarts_total: state.workerRestarts,
    loop_lag_seconds: Object.fromEntries([["main", state.mainLoopLagMs / 1000], ...lags]),
  };
}

/** The endpoint `key` of an upstream with its `evidence`, newest first; undefined: there is no such endpoint. */
export function whyOf(
  state: RunningState,
  of: { readonly upstream: string; readonly key: string },
  evidence: readonly Evidence[],
): WhyView | undefined {
  const upstream = state.plan?.upstreams.find(({ name }) => name === of.upstream);
  const endpoint = upstream?.endpoints.find(({ key }) => key === of.key);
  if (upstream === undefined || endpoint === undefined) return undefined;
  return {
    upstream: upstream.name,
    now: isoOf(state.wallMs),
    ...endpointView(upstream, endpoint, state),
    evidence: evidence.slice(0, 32).map(evidenceView),
  };
}

/** Whether traffic should be sent here: serving and not told to stop. Names the upstreams that can not serve now. */
export function readinessOf(state: Pick<RunningState, "phase" | "plan" | "endpoints">): Readiness {
  const usable = (upstream: Upstream) => {
    return upstream.endpoints.some((endpoint) => {
      const numbers = state.endpoints.get(endpoint.slot);
      return numbers === undefined || reasonsFor(upstream, numbers).length === 0;
    });
  };
  const upstreams = state.plan?.upstreams ?? [];
  return {
    ready: state.phase === "running" && state.plan !== undefined,
    phase: state.phase,
    without_usable_endpoint: upstreams.filter((upstream) => !usable(upstream)).map(({ name }) => name),
  };
}
