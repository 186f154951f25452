// Small plans for tests: every field has a value that stands in nobody's way; what a test is about it says itself.

import type {
  ActiveParams,
  Endpoint,
  HealthParams,
  Listener,
  Plan,
  Upstream,
  UpstreamConfig,
} from "../../src/core/plan.ts";

/** Health rules with the defaults of the configuration. */
export function healthParams(changes: Partial<HealthParams> = {}): HealthParams {
  const ejectMs = changes.ejectMs ?? 30_000;
  return {
    windowMs: 60_000,
    consecutiveFailures: 5,
    failureRatio: 0.5,
    failureMinVolume: 20,
    ejectMs,
    ejectMaxMs: ejectMs,
    halfOpenProbes: 1,
    maxEjectedPercent: 100,
    recovery: "timer",
    streak: "shared",
    allDown: "fail_open",
    mode: "enforce",
    ...changes,
  };
}

/** Probe parameters with the defaults of the configuration. */
export function activeParams(changes: Partial<ActiveParams> = {}): ActiveParams {
  return {
    kind: "http",
    path: "/healthz",
    intervalMs: 5000,
    timeoutMs: 2000,
    jitterMs: 500,
    successThreshold: 2,
    failureThreshold: 3,
    expectStatus: [[200, 299]],
    method: "GET",
    headers: [],
    ...changes,
  };
}

/** An endpoint `host:port` at a slot. */
export function endpoint(key: string, slot: number, changes: Partial<Endpoint> = {}): Endpoint {
  const colon = key.lastIndexOf(":");
  return {
    key,
    host: key.slice(0, colon).replace(/^\[|\]$/g, ""),
    port: Number(key.slice(colon + 1)),
    weight: 1,
    priority: 0,
    source: "static",
    slot,
    ...changes,
  };
}

/** An upstream with these endpoints; keys stand for endpoints at slots 0, 1, 2 ... */
export function upstream(
  name: string,
  endpoints: readonly (Endpoint | string)[],
  changes: Partial<Omit<UpstreamConfig, "endpoints">> = {},
): Upstream {
  return {
    name,
    protocol: "http1",
    loadBalancer: "round_robin",
    connectAttempts: 3,
    timeouts: { connectMs: 5000, readMs: 60_000, happyEyeballsMs: 250 },
    host: "keep",
    endpoints: endpoints.map((each, slot) => typeof each === "string" ? endpoint(each, slot) : each),
    ...changes,
  };
}

/** A tcp listener on 127.0.0.1 for upstream "up". */
export function listener(name: string, port: number, changes: Partial<Listener> = {}): Listener {
  return {
    name,
    address: { host: "127.0.0.1", port },
    protocol: "tcp",
    upstream: "up",
    routes: [],
    idleTimeoutMs: 3_600_000,
    halfCloseTimeoutMs: 30_000,
    trustedProxies: [],
    ...changes,
  };
}

/** A plan of these upstreams without listeners. */
export function planOf(upstreams: readonly Upstream[], changes: Partial<Plan> = {}): Plan {
  return {
    generation: 1,
    revision: 1,
    limits: { maxConnections: 10_000 },
    access: "off",
    resolver: "stub",
    listeners: [],
    upstreams,
    ...changes,
  };
}
