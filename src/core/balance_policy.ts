// What every balancing policy promises and gets. A policy orders; whether an endpoint may be used at all (gate, permit,
// full, already tried) is asked of the caller, so a policy knows nothing of health.

/** One endpoint as a policy sees it. */
export interface BalanceEndpoint {
  /** Identity within the upstream: cursors follow it when the set changes. */
  readonly key: string;
  /** 0 or more; see `sharesOf`. */
  readonly weight: number;
  /** Groups with a higher number are used only when no endpoint of a lower one is usable (D2). */
  readonly priority: number;
  /** Live numbers, read at each pick. */
  readonly load: BalanceLoad;
}

/** The live numbers of one endpoint. */
export interface BalanceLoad {
  /** Sessions and exchanges under way, over all workers. Below 0 counts as 0. */
  readonly inFlight: number;
  /** Decaying peak latency in milliseconds (`PeakLatency`); 0 while unknown. Read by peak_ewma only. */
  readonly latencyMs: number;
}

/** Who asks for an endpoint, and what may be used. */
export interface PickContext {
  /** Hash of the client's address, any 32-bit number (`hashText`). Read by ip_hash only. */
  readonly clientHash: number;
  /** Whether the endpoint at `index` may be used. Without side effects; asked at most once per endpoint and pick. */
  isUsable(index: number): boolean;
}

/** Chooses endpoints of one upstream. */
export interface Balancer {
  /** The index of the endpoint to use, or -1 when none is usable. One bounded pass; allocates nothing. */
  pick(context: PickContext): number;
}

/** An endpoint with its place in the upstream: policies work on one priority group, callers on the whole set. */
export interface Member extends BalanceEndpoint {
  readonly index: number;
  /** Its weight among the group, above 0. */
  readonly share: number;
}

/**
 * The weights that policies use. Beside others, 0 is the smallest share: a tenth of weight 1 (the others are multiplied
 * by 10 then, so all stay whole numbers). Equal weights, all 0 included, are 1 each.
 */
export function sharesOf(weights: readonly number[]): number[] {
  if (weights.every((weight) => weight === weights[0])) return weights.map(() => 1);
  if (weights.every((weight) => weight > 0)) return [...weights];
  return weights.map((weight) => (weight > 0 ? weight * 10 : 1));
}

/** A 32-bit hash of a text, the same in every worker, process and release. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}

/** Spreads a 32-bit number evenly over 0..2^32-1: every bit of the input moves about half of the output's. */
export function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
