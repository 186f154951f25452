// How long to wait before the next try, after a number of failures in a row.

import type { Random } from "./clock.ts";

/** The shortest and the longest wait, milliseconds. */
export interface BackoffRange {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The full wait after `failures` (1 or more) in a row: `firstMs`, doubled for each further one, up to `maxMs`. */
export function backoffMs(failures: number, range: BackoffRange): number {
  return Math.min(range.firstMs * 2 ** (Math.max(1, failures) - 1), range.maxMs);
}

/** A wait spread evenly over the later half of `ms`, [ms/2, ms), so that many who failed at once do not return at once. */
export function spreadMs(ms: number, random: Random): number {
  return ms / 2 + random() * (ms / 2);
}

/** A whole number drawn evenly from 0 to below `bound` (0 or more); 0 when the bound is below 1. */
export function nextBelow(bound: number, random: Random): number {
  return bound < 1 ? 0 : Math.floor(random() * bound);
}
