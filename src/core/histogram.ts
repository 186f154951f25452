// Latency as counts per bucket: cheap to add to, cheap to sum over workers, and good enough for percentiles.

/** Upper bounds of the buckets, milliseconds; one more bucket holds what is above them all. */
export const BOUNDS_MS: readonly number[] = [
  0.5,
  1,
  2,
  3,
  5,
  7.5,
  10,
  15,
  25,
  50,
  75,
  100,
  150,
  250,
  500,
  750,
  1000,
  2500,
  5000,
  10_000,
  30_000,
  60_000,
];

/** Buckets, the open last one included. */
export const BUCKET_COUNT = BOUNDS_MS.length + 1;

/** The bucket for a duration in milliseconds: the first whose bound is not below it. */
export function bucketOf(durationMs: number): number {
  let low = 0;
  let high = BOUNDS_MS.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (BOUNDS_MS[middle]! < durationMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The duration in milliseconds that the share `q` (0..1) of the observations does not exceed, read linearly within its
 * bucket; the last bound for what lies above it. Undefined when there are no observations.
 */
export function quantile(counts: ArrayLike<number>, q: number): number | undefined {
  let total = 0;
  for (let at = 0; at < counts.length; at++) total += counts[at]!;
  if (total === 0) return undefined;
  let rest = q * total;
  for (let at = 0; at < BOUNDS_MS.length; at++) {
    const count = counts[at] ?? 0;
    const from = at === 0 ? 0 : BOUNDS_MS[at - 1]!;
    if (count > 0 && rest <= count) return from + (BOUNDS_MS[at]! - from) * (rest / count);
    rest -= count;
  }
  return BOUNDS_MS[BOUNDS_MS.length - 1];
}
