// Adding up what several workers counted.

import type { ListenerStats, PlaneStats, UpstreamStats } from "../core/stats.ts";

/** The sum over all parts; the lag is that of the worst. */
export function mergeStats(parts: readonly PlaneStats[]): PlaneStats {
  return {
    listeners: mergeNamed(parts.map((part) => part.listeners), addListeners),
    upstreams: mergeNamed(parts.map((part) => part.upstreams), addUpstreams),
    notCharged: mergeNamed(parts.map((part) => part.notCharged), (a, b) => a + b),
    loopLagMs: Math.max(0, ...parts.map((part) => part.loopLagMs)),
  };
}

function mergeNamed<T>(
  parts: readonly Readonly<Record<string, T>>[],
  add: (a: T, b: T) => T,
): Record<string, T> {
  const sums = new Map<string, T>();
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      const sum = sums.get(name);
      sums.set(name, sum === undefined ? value : add(sum, value));
    }
  }
  return Object.fromEntries(sums);
}

const addNumbers = (a: number, b: number): number => a + b;

function addListeners(a: ListenerStats, b: ListenerStats): ListenerStats {
  return {
    active: a.active + b.active,
    accepted: a.accepted + b.accepted,
    outcomes: mergeNamed([a.outcomes, b.outcomes], addNumbers),
    bytesIn: a.bytesIn + b.bytesIn,
    bytesOut: a.bytesOut + b.bytesOut,
  };
}

function addUpstreams(a: UpstreamStats, b: UpstreamStats): UpstreamStats {
  return {
    responses: mergeNamed([a.responses, b.responses], addNumbers),
    exchangeBuckets: a.exchangeBuckets.map((count, at) => count + (b.exchangeBuckets[at] ?? 0)),
    exchangeCount: a.exchangeCount + b.exchangeCount,
    exchangeSumMs: a.exchangeSumMs + b.exchangeSumMs,
    noEndpoint: a.noEndpoint + b.noEndpoint,
  };
}
