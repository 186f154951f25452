// From checked files to the config of core/plan.ts: names in camel case, defaults that depend on other fields, and the
// texts of named files. Everything was checked before; what is missing here is a fault of this room, and throws.

import { type Address, formatAddress } from "../core/address.ts";
import type {
  ActiveParams,
  AdminConfig,
  Config,
  DiscoveryParams,
  EndpointConfig,
  HealthParams,
  Listener,
  ListenerTls,
  UpstreamConfig,
  UpstreamTls,
} from "../core/plan.ts";
import type { FileValue, ListenerValue, UpstreamValue } from "./file_schema.ts";

/** A checked file with the way to the files it names. */
export interface Origin {
  readonly value: FileValue;
  /** The path of a named file as others know it. */
  resolve(path: string): string;
  /** The text of a named file. */
  read(path: string): string;
}

/** Joins the files (C2) and fills in the defaults of what stands in none. */
export function buildConfig(origins: readonly Origin[]): Config {
  const single = <K extends keyof FileValue>(key: K) =>
    origins.find(({ value }) => value[key] !== undefined)?.value[key];
  const adminOrigin = origins.find(({ value }) => value.admin !== undefined);
  const { accept_ms = 0, timeout_ms = 30_000 } = single("drain") ?? {};
  return {
    workers: single("workers") ?? "auto",
    ...(adminOrigin !== undefined && { admin: buildAdmin(adminOrigin) }),
    log: single("log") ?? { level: "info", format: "text", access: "errors" },
    limits: { maxConnections: single("limits")?.max_connections ?? 10_000 },
    drain: { acceptMs: accept_ms, timeoutMs: timeout_ms },
    resolver: single("resolver") ?? "auto",
    listeners: origins.flatMap((origin) =>
      origin.value.listeners.map((value) => buildListener(value, origin))
    ),
    upstreams: origins.flatMap((origin) =>
      origin.value.upstreams.map((value) => buildUpstream(value, origin))
    ),
  };
}

function buildAdmin(origin: Origin): AdminConfig {
  const { address, token_file } = origin.value.admin!;
  return { address, ...(token_file !== undefined && { token: origin.read(token_file).trim() }) };
}

function buildListener(value: ListenerValue, origin: Origin): Listener {
  return {
    name: value.name,
    address: value.address,
    protocol: value.protocol,
    ...(value.upstream !== undefined && { upstream: value.upstream }),
    routes: value.routes.map(({ host, path_prefix, upstream }) => ({
      ...(host !== undefined && { host }),
      ...(path_prefix !== undefined && { pathPrefix: path_prefix }),
      upstream,
    })),
    idleTimeoutMs: value.idle_timeout_ms,
    halfCloseTimeoutMs: value.half_close_timeout_ms,
    trustedProxies: value.trusted_proxies,
    ...(value.tls !== undefined && { tls: buildListenerTls(value.tls, origin) }),
  };
}

function buildListenerTls(tls: NonNullable<ListenerValue["tls"]>, origin: Origin): ListenerTls {
  return {
    certFile: origin.resolve(tls.cert_file),
    keyFile: origin.resolve(tls.key_file),
    cert: origin.read(tls.cert_file),
    key: origin.read(tls.key_file),
  };
}

function buildUpstream(value: UpstreamValue, origin: Origin): UpstreamConfig {
  const { health, active_health, dns_discovery, retries, max_connections } = value;
  const hasTls = value.protocol === "https" || value.tls !== undefined;
  return {
    name: value.name,
    protocol: value.protocol,
    ...(hasTls && { tls: buildUpstreamTls(value, origin) }),
    loadBalancer: value.load_balancer,
    connectAttempts: value.connect_attempts,
    ...(max_connections !== undefined && { maxConnections: max_connections }),
    timeouts: {
      connectMs: value.timeouts.connect_ms,
      readMs: value.timeouts.read_ms,
      happyEyeballsMs: value.timeouts.happy_eyeballs_ms,
    },
    host: value.host,
    ...(retries !== undefined && { retries }),
    ...(health !== undefined && { health: buildHealth(health, value) }),
    ...(active_health !== undefined && { activeHealth: buildProbes(active_health) }),
    ...(dns_discovery !== undefined && { discovery: buildDiscovery(dns_discovery) }),
    endpoints: value.endpoints.map(({ address, weight }) => staticEndpoint(address, weight)),
  };
}

function buildUpstreamTls(value: UpstreamValue, origin: Origin): UpstreamTls {
  const caFile = value.trusted_ca_file ?? value.tls?.trusted_ca_file;
  const serverName = value.server_name ?? value.tls?.server_name;
  return {
    ...(caFile !== undefined && { ca: origin.read(caFile), caFile: origin.resolve(caFile) }),
    ...(serverName !== undefined && { serverName }),
  };
}

/** An endpoint as a file or the command line gives it. */
export function staticEndpoint({ host, port }: Address, weight = 1): EndpointConfig {
  return { key: formatAddress({ host, port }), host, port, weight, priority: 0, source: "static" };
}

function buildHealth(health: NonNullable<UpstreamValue["health"]>, upstream: UpstreamValue): HealthParams {
  return {
    windowMs: health.window_ms,
    consecutiveFailures: health.consecutive_failures,
    failureRatio: health.failure_ratio,
    failureMinVolume: health.failure_min_volume,
    ejectMs: health.eject_ms,
    ejectMaxMs: health.eject_max_ms ?? health.eject_ms,
    halfOpenProbes: health.half_open_probes,
    maxEjectedPercent: health.max_ejected_percent,
    recovery: health.recovery ?? (upstream.active_health === undefined ? "timer" : "either"),
    streak: health.streak ?? (upstream.protocol === "tcp" ? "separate" : "shared"),
    allDown: health.all_down,
    mode: health.mode,
  };
}

function buildProbes(probes: NonNullable<UpstreamValue["active_health"]>): ActiveParams {
  const { host, port, server_name } = probes;
  return {
    kind: probes.kind,
    path: probes.path ?? "/healthz",
    intervalMs: probes.interval_ms,
    // A short interval alone is no contradiction: the defaults give way.
    timeoutMs: probes.timeout_ms ?? Math.min(2000, probes.interval_ms),
    jitterMs: probes.jitter_ms ?? Math.min(500, probes.interval_ms),
    successThreshold: probes.success_threshold,
    failureThreshold: probes.failure_threshold,
    expectStatus: probes.expect_status ?? [[200, 299]],
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(server_name !== undefined && { serverName: server_name }),
    method: probes.method ?? "GET",
    headers: probes.headers ?? [],
  };
}

function buildDiscovery(discovery: NonNullable<UpstreamValue["dns_discovery"]>): DiscoveryParams {
  const { drain_removed_ms } = discovery;
  return {
    hostname: discovery.hostname,
    port: discovery.record_type === "SRV" ? 0 : discovery.port!,
    recordType: discovery.record_type,
    refreshIntervalMs: discovery.refresh_interval_s * 1000,
    failOpen: discovery.fail_open,
    minEndpoints: discovery.min_endpoints,
    nameservers: discovery.nameservers,
    ...(drain_removed_ms !== undefined && { drainRemovedMs: drain_removed_ms }),
  };
}
