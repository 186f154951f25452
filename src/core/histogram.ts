// Durations by bucket, for `hale_exchange_seconds`. The bounds never change while hale runs, so that counts of several
// workers can be added place by place.

/** Upper bounds of the buckets, milliseconds, inclusive, ascending; one bucket more is above them all. */
export const BUCKET_BOUNDS_MS: readonly number[] = [
  0.5,
  1,
  2.5,
  5,
  10,
  25,
  50,
  100,
  250,
  500,
  1000,
  2500,
  5000,
  10_000,
  30_000,
  60_000,
];

/** How many buckets there are, the unbounded one included. */
export const BUCKET_COUNT: number = BUCKET_BOUNDS_MS.length + 1;

/** The bucket of a duration in milliseconds, 0..BUCKET_COUNT-1. What is no number goes to the last one. */
export function bucketOf(durationMs: number): number {
  let bucket = 0;
  while (bucket < BUCKET_BOUNDS_MS.length && !(durationMs <= BUCKET_BOUNDS_MS[bucket]!)) bucket++;
  return bucket;
}
