// The plan: everything the workers need to know to serve, as one immutable value of plain data (it travels by
// postMessage). A `Config` is what the files say; control turns it into a `Plan` by adding the discovered endpoints,
// slots on the board and a generation. Identities: a listener is its address, an upstream its name, an endpoint
// (upstream, key).

import type { Address } from "./address.ts";

/** What the files say, decoded, checked and with all defaults filled in. */
export interface Config {
  /** How many worker threads, 1..256; "auto" is one per core. */
  readonly workers: number | "auto";
  /** Absent: no admin endpoint. */
  readonly admin?: AdminConfig;
  readonly log: LogConfig;
  readonly limits: Limits;
  readonly drain: DrainConfig;
  /** "stub": our own resolver by /etc/resolv.conf. "system": the runtime's. "auto": stub where that file exists. */
  readonly resolver: "auto" | "stub" | "system";
  readonly listeners: readonly Listener[];
  readonly upstreams: readonly UpstreamConfig[];
}

/** Where the admin endpoint listens, and who may use it. */
export interface AdminConfig {
  readonly address: Address;
  /** Contents of the token file, trimmed. Needed when the address is not loopback. Never shown or logged. */
  readonly token?: string;
}

/** What is logged, and how. */
export interface LogConfig {
  readonly level: "debug" | "info" | "warning" | "error";
  readonly format: "text" | "json";
  /** Which sessions and exchanges are logged: none, those that ended badly, all. */
  readonly access: "off" | "errors" | "all";
}

/** Bounds on what hale takes on at a time. */
export interface Limits {
  /** Client connections at a time over all listeners and workers. */
  readonly maxConnections: number;
}

/** How long a stop may take. */
export interface DrainConfig {
  /** How long to keep accepting after a stop signal, milliseconds, 0 or more. */
  readonly acceptMs: number;
  /** How long live sessions may go on after that, milliseconds, 0 or more. */
  readonly timeoutMs: number;
}

/** An address hale accepts clients on, and where what they send goes. */
export interface Listener {
  readonly name: string;
  readonly address: Address;
  readonly protocol: "tcp" | "http";
  /** The upstream for what no route takes. A tcp listener always has one. */
  readonly upstream?: string;
  readonly routes: readonly Route[];
  /** No byte in either direction for this long ends a session (T2); for http, upgraded connections only. */
  readonly idleTimeoutMs: number;
  /** How long a session with one side ended may stay silent (T1). */
  readonly halfCloseTimeoutMs: number;
  /** Peers whose X-Forwarded-* are believed: addresses or CIDR, canonical. */
  readonly trustedProxies: readonly string[];
  readonly tls?: ListenerTls;
}

/** Certificate and key as PEM text; the paths are for messages and watching. */
export interface ListenerTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** One route of an http listener (W5). */
export interface Route {
  /** Exact host or "*.suffix", lower case, without port; absent: any host. */
  readonly host?: string;
  /** Begins with "/"; matches on whole segments. */
  readonly pathPrefix?: string;
  readonly upstream: string;
}

/** How an upstream orders its endpoints (SPEC B1). */
export type LoadBalancer = "round_robin" | "least_requests" | "random" | "ip_hash" | "peak_ewma";

/** One upstream as the files say it: endpoints without slots, discovery not yet asked. */
export interface UpstreamConfig extends UpstreamPolicy {
  readonly endpoints: readonly EndpointConfig[];
}

/** Everything of an upstream but its endpoints. */
export interface UpstreamPolicy {
  readonly name: string;
  readonly protocol: "tcp" | "http1" | "https";
  /** Present for https, and for tcp with a `tls` block. */
  readonly tls?: UpstreamTls;
  readonly loadBalancer: LoadBalancer;
  /** How many different endpoints one session or exchange may try, 1..10. */
  readonly connectAttempts: number;
  /** Most sessions and exchanges at a time per endpoint, across workers; absent: no limit. */
  readonly maxConnections?: number;
  readonly timeouts: Timeouts;
  /** Which Host goes out: the client's, the endpoint's address, or a name (W3). */
  readonly host: "keep" | "endpoint" | { readonly name: string };
  /** Retries on answer statuses; absent: off (W6). */
  readonly retries?: { readonly statuses: readonly number[]; readonly attempts: number };
  /** Absent: health is off, endpoints are always healthy. */
  readonly health?: HealthParams;
  readonly activeHealth?: ActiveParams;
  readonly discovery?: DiscoveryParams;
}

/** How connections to endpoints are encrypted and whom they trust (L1). */
export interface UpstreamTls {
  /** PEM bundle that is trusted INSTEAD of the public roots; absent: public roots. */
  readonly ca?: string;
  readonly caFile?: string;
  /** Name asked for and checked; absent: the endpoint's own (L1). */
  readonly serverName?: string;
}

/** Time limits of one upstream, milliseconds. */
export interface Timeouts {
  /** Resolve + TCP + TLS, milliseconds. */
  readonly connectMs: number;
  /** Until the response head, milliseconds. */
  readonly readMs: number;
  /** Delay before the next address is tried beside (RFC 8305); 0: one address at a time. */
  readonly happyEyeballsMs: number;
}

/** Rules of passive health and ejection (SPEC H, table in C). Times in milliseconds. */
export interface HealthParams {
  readonly windowMs: number;
  readonly consecutiveFailures: number;
  readonly failureRatio: number;
  /** Infinity switches the ratio rule off. */
  readonly failureMinVolume: number;
  readonly ejectMs: number;
  readonly ejectMaxMs: number;
  readonly halfOpenProbes: number;
  readonly maxEjectedPercent: number;
  readonly recovery: "either" | "probes" | "timer";
  readonly streak: "shared" | "separate";
  readonly allDown: "fail_open" | "fail_closed";
  readonly mode: "enforce" | "observe";
}

/** Resolved active probe parameters (SPEC P, table in C). Times in milliseconds. */
export interface ActiveParams {
  readonly kind: "http" | "tcp";
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly jitterMs: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
  /** Inclusive ranges of statuses that count as success. */
  readonly expectStatus: readonly (readonly [from: number, to: number])[];
  /** Host header; absent: the endpoint's address:port. */
  readonly host?: string;
  /** Port to probe; absent: the endpoint's own. */
  readonly port?: number;
  readonly serverName?: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** DNS discovery of one upstream (SPEC D, table in C). */
export interface DiscoveryParams {
  readonly hostname: string;
  /** 0 for SRV, where the records carry it. */
  readonly port: number;
  readonly recordType: "A" | "AAAA" | "A+AAAA" | "SRV";
  readonly refreshIntervalMs: number;
  readonly failOpen: boolean;
  readonly minEndpoints: number;
  /** Empty: those of the system. */
  readonly nameservers: readonly Address[];
  /** Close connections to a removed endpoint after this long; absent: never. */
  readonly drainRemovedMs?: number;
}

/** One endpoint as a file or a discovery names it, without a place on the board. */
export interface EndpointConfig {
  /** `formatAddress` of host and port: the endpoint's identity within its upstream. */
  readonly key: string;
  readonly host: string;
  readonly port: number;
  /** 0..1000000. 0 beside others: the smallest share. */
  readonly weight: number;
  /** SRV priority; groups with a higher number are used only when no lower one is usable. 0 for static ones. */
  readonly priority: number;
  readonly source: "static" | "discovered";
  /** TLS name for discovered endpoints: the discovery host name or SRV target, without final dot. */
  readonly serverName?: string;
  /** False: spoken to in plain text although the upstream has `tls` (a mixed set from the command line). Absent: as the upstream. */
  readonly tls?: false;
}

/** An endpoint with its place on the board. */
export interface Endpoint extends EndpointConfig {
  /** Place on the board. */
  readonly slot: number;
}

/** An upstream as the workers see it. */
export interface Upstream extends UpstreamPolicy {
  readonly endpoints: readonly Endpoint[];
}

/** The immutable value in force. */
export interface Plan {
  /** 1, 2, 3 ... one per accepted edit; discovery updates keep it. */
  readonly generation: number;
  /** Grows with every plan sent, discovery updates included: dates acknowledgements. */
  readonly revision: number;
  readonly limits: Limits;
  readonly access: LogConfig["access"];
  readonly resolver: "stub" | "system";
  readonly listeners: readonly Listener[];
  readonly upstreams: readonly Upstream[];
}

/** Whether connections to the endpoint are TLS. */
export function usesTls(upstream: UpstreamPolicy, endpoint: EndpointConfig): boolean {
  return upstream.tls !== undefined && endpoint.tls !== false;
}

/** The host that TLS asks for and checks (L1). */
export function tlsNameOf(upstream: UpstreamPolicy, endpoint: EndpointConfig): string {
  return upstream.tls?.serverName ?? endpoint.serverName ?? endpoint.host;
}
