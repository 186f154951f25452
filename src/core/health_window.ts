// The rolling window of an endpoint's traffic outcomes as a small immutable value: a few buckets, each dated by the
// first outcome in it, so that a bucket that still counts holds nothing older than the window (H2). Adding a run costs
// the same however long the run is.

/** Outcomes that came within a twentieth of the window. */
export interface Bucket {
  /** When the first of them came, monotonic milliseconds. */
  readonly from: number;
  readonly successes: number;
  readonly failures: number;
}

/** Buckets in order of time. */
export type Window = readonly Bucket[];

/** How many buckets cover a window: outcomes are forgotten at most a twentieth of the window too early. */
export const WINDOW_BUCKETS = 20;

/** A window without outcomes. */
export const EMPTY_WINDOW: Window = [];

/** Adds outcomes that came `now` and forgets what is older than `windowMs`. */
export function addToWindow(
  window: Window,
  outcomes: { readonly successes: number; readonly failures: number },
  when: { readonly now: number; readonly windowMs: number },
): Window {
  const recent = window.filter((bucket) => bucket.from >= when.now - when.windowMs);
  const last = recent[recent.length - 1];
  if (last !== undefined && when.now < last.from + when.windowMs / WINDOW_BUCKETS) {
    recent[recent.length - 1] = {
      from: last.from,
      successes: last.successes + outcomes.successes,
      failures: last.failures + outcomes.failures,
    };
  } else recent.push({ from: when.now, ...outcomes });
  return recent;
}

/** How many outcomes of the last `windowMs` there are, and how many of them are failures. */
export function sumOfWindow(
  window: Window,
  now: number,
  windowMs: number,
): { volume: number; failures: number } {
  let volume = 0;
  let failures = 0;
  for (const bucket of window) {
    if (bucket.from < now - windowMs) continue;
    volume += bucket.successes + bucket.failures;
    failures += bucket.failures;
  }
  return { volume, failures };
}
