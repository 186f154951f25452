// Running states as control would hand them to the admin room: a healthy one, a sick one, one with a refused edit, and
// as big a one as a test wants. Fixed times, so that what is made of them can be compared.

import { Recent } from "../../src/admin/recent.ts";
import type { EndpointState, RunningState, UpstreamState } from "../../src/admin/running_state.ts";
import { GATE } from "../../src/core/board.ts";
import { BUCKET_COUNT } from "../../src/core/histogram.ts";
import type { Endpoint, HealthParams, Listener, Upstream } from "../../src/core/plan.ts";
import type { Evidence } from "../../src/core/report.ts";
import type { UpstreamStats } from "../../src/core/stats.ts";
import { activeParams, endpoint, healthParams, listener, upstream } from "./plans.ts";

/** Wall clock of all states, milliseconds. */
export const WALL_MS = Date.UTC(2030, 0, 2, 3, 12, 45);

/** Monotonic moment of all states, milliseconds. */
export const NOW = 300_000_000;

/** Health rules with the usual defaults beside probes. */
export function healthRules(over: Partial<HealthParams> = {}): HealthParams {
  return healthParams({ recovery: "either", ...over });
}

/** An endpoint of a plan. */
export const endpointAt = endpoint;

/** An http upstream with health and probes. */
export function upstreamOf(
  name: string,
  endpoints: readonly Endpoint[],
  over: Partial<Upstream> = {},
): Upstream {
  return { ...upstream(name, endpoints), health: healthRules(), activeHealth: activeParams(), ...over };
}

/** An http listener of a plan. */
export function listenerOf(name: string, port: number, over: Partial<Listener> = {}): Listener {
  const { upstream: _, ...plain } = listener(name, port);
  return { ...plain, address: { host: "0.0.0.0", port }, protocol: "http", ...over };
}

/** Evidence some seconds ago. */
export function evidenceOf(secondsAgo: number, over: Partial<Evidence> = {}): Evidence {
  return {
    at: WALL_MS - secondsAgo * 1000,
    source: "probe",
    outcome: "probe_ok",
    count: 1,
    durationMs: 2.4,
    detail: "200",
    ...over,
  };
}

/** A healthy endpoint's numbers, with traffic that depends on `seed`. */
export function wellState(seed: number, over: Partial<EndpointState> = {}): EndpointState {
  return {
    health: "healthy",
    gate: 0,
    trials: 0,
    sinceAt: WALL_MS - 86_400_000 - seed * 1_000_000,
    streak: 0,
    ejections: 0,
    wouldEject: 0,
    inFlight: seed % 7,
    picks: 10_000 + seed * 37,
    failures: [],
    last: evidenceOf(1 + seed % 4, { durationMs: 1.2 + (seed % 9) / 3 }),
    recent: recentOf(seed),
    ...over,
  };
}

/** A minute of traffic that rises and falls. */
export function recentOf(seed: number): Recent {
  const recent = new Recent();
  let picks = 0;
  for (let step = 0; step <= 30; step++) {
    picks += Math.round(2 * (40 + 25 * Math.sin((step + seed) / 4) + (seed * 13 + step * 7) % 11));
    recent.sample(picks, NOW - (30 - step) * 2000);
    recent.note(3 + (seed * 5 + step * 3) % 9, 60, NOW - (30 - step) * 2000);
    recent.note(40 + (seed * 11 + step) % 30, 1, NOW - (30 - step) * 2000);
  }
  return recent;
}

function statsOf(over: Partial<UpstreamStats> = {}): UpstreamStats {
  const exchangeBuckets = new Array<number>(BUCKET_COUNT).fill(0);
  exchangeBuckets[2] = 100;
  exchangeBuckets[3] = 40;
  exchangeBuckets[BUCKET_COUNT - 1] = 1;
  return {
    responses: { "2xx": 139, "5xx": 2 },
    exchangeBuckets,
    exchangeCount: 141,
    exchangeSumMs: 61_000,
    noEndpoint: 0,
    ...over,
  };
}

const PROBES: UpstreamState = { failOpenPicks: 0, probes: { probe_ok: 34_120, refused: 3 } };

const APP = upstreamOf("app", [
  endpointAt("10.0.0.1:8080", 0, { weight: 2 }),
  endpointAt("10.0.0.2:8080", 1),
  endpointAt("10.0.0.3:8080", 2),
  endpointAt("10.0.0.4:8080", 3),
]);

const CATALOGUE = upstreamOf("catalogue", [
  endpointAt("10.1.4.11:9000", 4, { source: "discovered" }),
  endpointAt("10.1.4.12:9000", 5, { source: "discovered" }),
  endpointAt("[2001:db8:0:4::17]:9000", 6, { source: "discovered", priority: 10 }),
], {
  loadBalancer: "peak_ewma",
  discovery: {
    hostname: "catalogue.service.internal",
    port: 9000,
    recordType: "A+AAAA",
    refreshIntervalMs: 30_000,
    failOpen: true,
    minEndpoints: 1,
    nameservers: [],
  },
});

const PG = upstreamOf("pg", [endpointAt("10.0.2.1:5432", 7), endpointAt("10.0.2.2:5432", 8)], {
  protocol: "tcp",
  loadBalancer: "least_requests",
  maxConnections: 100,
  health: healthRules({ recovery: "probes", streak: "separate", consecutiveFailures: 3 }),
});

/** Nine endpoints in three upstreams, all well. */
export function healthyState(): RunningState {
  return {
    version: "0.1.0",
    now: NOW,
    wallMs: WALL_MS,
    startedAt: NOW - 277_000_000,
    phase: "running",
    plan: {
      generation: 7,
      revision: 12,
      limits: { maxConnections: 10_000 },
      access: "errors",
      resolver: "stub",
      listeners: [
        listenerOf("web", 8080, { upstream: "app" }),
        listenerOf("postgres", 5432, { upstream: "pg", protocol: "tcp" }),
      ],
      upstreams: [APP, CATALOGUE, PG],
    },
    limits: { maxConnections: 10_000 },
    config: {
      hash: "3f9a61c27be04d5585e1cf0a7d1a9b0e6c2f4d88",
      loadedAt: WALL_MS - 5_400_000,
      lastAttempt: { at: WALL_MS - 5_400_000, ok: true, problems: [] },
      reloads: { accepted: 7, refused: 1, unchanged: 2 },
    },
    workers: [
      { id: 0, sessions: 212, restarts: 0, loopLagMs: 1.2 },
      { id: 1, sessions: 198, restarts: 0, loopLagMs: 0.9 },
    ],
    workerRestarts: 0,
    stats: {
      listeners: {
        web: {
          active: 380,
          accepted: 918_233,
          outcomes: { finished: 917_800, client_aborted: 53 },
          bytesIn: 8.1e9,
          bytesOut: 7.4e11,
        },
        postgres: {
          active: 30,
          accepted: 4_120,
          outcomes: { finished: 4_081, idle: 9 },
          bytesIn: 1.2e9,
          bytesOut: 9.9e9,
        },
      },
      upstreams: { app: statsOf(), catalogue: statsOf({ noEndpoint: 3 }) },
      notCharged: { client_aborted: 53, client_garbage: 12, idle: 9 },
      loopLagMs: 1.2,
    },
    upstreams: new Map<string, UpstreamState>([
      ["app", PROBES],
      ["catalogue", {
        ...PROBES,
        discovery: {
          sinceAt: WALL_MS - 7_200_000,
          ttlMs: 20_000,
          nextRefresh: NOW + 11_400,
          refreshes: 12_400,
          failures: { timeout: 2 },
        },
      }],
      ["pg", PROBES],
    ]),
    endpoints: new Map(Array.from({ length: 9 }, (_, slot) => [slot, wellState(slot)])),
    mainLoopLagMs: 0.4,
    process: {
      startedAtWall: WALL_MS - 277_000_000,
      cpuSeconds: 8123.4,
      residentBytes: 143_000_000,
      openDescriptors: 1412,
      maxDescriptors: 65_536,
    },
  };
}

const REFUSED: Partial<Evidence> = {
  outcome: "refused",
  detail: "ECONNREFUSED",
  durationMs: 0.3,
  source: "traffic",
};

/** The same with one ejected, one on trial, one drained, one in maintenance, one full and failing discovery. */
export function sickState(): RunningState {
  const well = healthyState();
  const endpoints = new Map(well.endpoints);
  endpoints.set(
    2,
    wellState(2, {
      health: "ejected",
      gate: GATE.ejected,
      sinceAt: WALL_MS - 161_000,
      until: NOW + 12_300,
      cause: "5 connect failures in a row, last: refused (ECONNREFUSED)",
      ejections: 4,
      inFlight: 0,
      failures: [{ source: "traffic", outcome: "refused", count: 20 }, {
        source: "probe",
        outcome: "refused",
        count: 32,
      }],
      last: evidenceOf(2, { ...REFUSED, source: "probe" }),
      recent: new Recent(),
    }),
  );
  endpoints.set(
    3,
    wellState(3, {
      health: "half_open",
      gate: GATE.half_open,
      trials: 0,
      sinceAt: WALL_MS - 4000,
      cause: "12 of 24 attempts failed, last: status_5xx (503)",
      ejections: 1,
      last: evidenceOf(4, { source: "traffic", outcome: "status_5xx", detail: "503", durationMs: 61 }),
    }),
  );
  endpoints.set(5, wellState(5, { gate: GATE.drained, sinceAt: WALL_MS - 1_260_000, inFlight: 3 }));
  endpoints.set(
    7,
    wellState(7, {
      health: "ejected",
      gate: GATE.ejected | GATE.maintenance,
      sinceAt: WALL_MS - 9_960_000,
      until: NOW + 30_000,
      cause: "3 connect failures in a row, last: connect_timeout",
      ejections: 1,
      inFlight: 0,
      last: evidenceOf(3, { outcome: "connect_timeout", detail: "", durationMs: 1000 }),
      recent: new Recent(),
    }),
  );
  endpoints.set(8, wellState(8, { inFlight: 100 }));
  const upstreams = new Map(well.upstreams);
  upstreams.set("catalogue", {
    ...PROBES,
    discovery: {
      failure: "servfail",
      sinceAt: WALL_MS - 640_000,
      nextRefresh: NOW + 7_900,
      note: "kept 3 endpoints",
      refreshes: 12_431,
      failures: { timeout: 2, servfail: 29 },
    },
  });
  return { ...well, endpoints, upstreams };
}

/** The healthy one after an edit that was refused. */
export function refusedState(): RunningState {
  const well = healthyState();
  return {
    ...well,
    config: {
      ...well.config,
      lastAttempt: {
        at: WALL_MS - 42_000,
        ok: false,
        problems: [
          {
            file: "/etc/hale/hale.yaml",
            line: 31,
            column: 19,
            path: "upstreams[0].health.eject_ms",
            message: 'Wanted a whole number of 1..86400000, got "30s"',
          },
          {
            file: "/etc/hale/hale.yaml",
            line: 44,
            column: 5,
            path: "upstreams[1]",
            message: "Unknown key dns_discover, did you mean dns_discovery?",
          },
          { file: "", line: 0, column: 0, path: "", message: "Cannot bind 0.0.0.0:443: permission denied" },
        ],
      },
      reloads: { accepted: 7, refused: 2, unchanged: 2 },
    },
  };
}

/** Before the first plan. */
export function startingState(): RunningState {
  const { plan: _plan, ...well } = healthyState();
  return {
    ...well,
    phase: "starting",
    config: { hash: "", reloads: { accepted: 0, refused: 0, unchanged: 0 } },
    endpoints: new Map(),
  };
}

/** `count` endpoints in upstreams of at most `perUpstream`; every 97th is ejected. */
export function bigState(count: number, perUpstream: number): RunningState {
  const all = Array.from(
    { length: count },
    (_, slot) => endpointAt(`10.${slot >> 16}.${(slot >> 8) & 255}.${slot & 255}:80`, slot),
  );
  const upstreams = Array.from(
    { length: Math.ceil(count / perUpstream) },
    (_, at) => upstreamOf(`service-${at}`, all.slice(at * perUpstream, (at + 1) * perUpstream)),
  );
  const well = healthyState();
  const shapes = Array.from({ length: 20 }, (_, seed) => recentOf(seed));
  const endpoints = new Map(all.map(({ slot }) => {
    const out = slot % 97 === 5;
    return [
      slot,
      wellState(slot, {
        recent: shapes[slot % 20]!,
        failures: [{ source: "traffic", outcome: "refused", count: slot % 5 }],
        ...(out &&
          {
            health: "ejected",
            gate: GATE.ejected,
            until: NOW + 20_000,
            cause: "5 connect failures in a row, last: refused",
          }),
      }),
    ];
  }));
  return { ...well, plan: { ...well.plan!, upstreams }, endpoints };
}
