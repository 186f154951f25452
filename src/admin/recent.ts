// Rate and latency of one endpoint over the last minutes, in fixed memory (about 600 bytes): what the page shows as
// numbers and as a small curve. Main owns one per endpoint and feeds it; it knows no clock of its own. Latencies go
// into buckets a fourth root of two apart (so a quantile is right to 10 %) that lose half their weight every 30 s.

/** How often `sample` is to be called, milliseconds. */
export const SAMPLE_MS = 2000;

const SAMPLES = 30;
const BUCKETS = 88;
const STEPS_PER_DOUBLING = 4;
const FIRST_MS = 0.05;
const HALF_LIFE_MS = 30_000;
/** Below this weight a quantile says nothing about now. */
const LEAST_WEIGHT = 0.05;

/** Where a quantile lies, milliseconds; undefined when nothing was timed lately. */
export interface Quantiles {
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

/** Recent rate and latency of one endpoint. */
export class Recent {
  readonly #rates = new Float32Array(SAMPLES);
  #next = 0;
  #total: number | undefined;
  #sampledAt = 0;
  #buckets: Float32Array | undefined;
  #decayedAt = 0;

  /** Notes that `count` attempts took about `durationMs` each, at the monotonic moment `now`. */
  note(durationMs: number, count: number, now: number): void {
    this.#buckets ??= new Float32Array(BUCKETS);
    this.#decay(now);
    const bucket = bucketOf(durationMs);
    this.#buckets[bucket] = this.#buckets[bucket]! + count;
  }

  /** Takes the total of picks so far, about every `SAMPLE_MS`; the first call only sets the mark. */
  sample(picksTotal: number, now: number): void {
    if (this.#total !== undefined && now > this.#sampledAt) {
      const rate = Math.max(0, picksTotal - this.#total) * 1000 / (now - this.#sampledAt);
      this.#rates[this.#next] = rate;
      this.#next = (this.#next + 1) % SAMPLES;
    }
    this.#total = picksTotal;
    this.#sampledAt = now;
  }

  /** Picks per second: the mean of the last three samples, about six seconds. */
  get ratePerS(): number {
    let sum = 0;
    for (let back = 1; back <= 3; back++) sum += this.#rates[(this.#next - back + SAMPLES) % SAMPLES]!;
    return sum / 3;
  }

  /** The samples of the last minute, oldest first; empty when all are 0. */
  get rates(): number[] {
    if (this.#rates.every((rate) => rate === 0)) return [];
    return [...this.#rates.subarray(this.#next), ...this.#rates.subarray(0, this.#next)].map(tenth);
  }

  /** Adds the weights of the latency buckets to `sum` (made by `emptyWeights`) as they are at `now`. */
  addTo(sum: Float32Array, now: number): void {
    if (this.#buckets === undefined) return;
    this.#decay(now);
    for (let index = 0; index < BUCKETS; index++) sum[index] = sum[index]! + this.#buckets[index]!;
  }

  /** Median and 99th percentile as of `now`. */
  quantiles(now: number): Quantiles {
    if (this.#buckets === undefined) return { p50Ms: undefined, p99Ms: undefined };
    this.#decay(now);
    return quantilesOf(this.#buckets);
  }

  #decay(now: number): void {
    const passed = now - this.#decayedAt;
    if (passed < 1000) return;
    const factor = 0.5 ** (passed / HALF_LIFE_MS);
    this.#decayedAt = now;
    for (let index = 0; index < BUCKETS; index++) this.#buckets![index] = this.#buckets![index]! * factor;
  }
}

/** Weights of no observation, to add up those of several endpoints. */
export function emptyWeights(): Float32Array {
  return new Float32Array(BUCKETS);
}

/** Median and 99th percentile of bucket weights. */
export function quantilesOf(weights: Float32Array): Quantiles {
  let sum = 0;
  for (const weight of weights) sum += weight;
  if (sum < LEAST_WEIGHT) return { p50Ms: undefined, p99Ms: undefined };
  return { p50Ms: msAt(weights, sum * 0.5), p99Ms: msAt(weights, sum * 0.99) };
}

function msAt(weights: Float32Array, rank: number): number {
  let seen = 0;
  for (let index = 0; index < BUCKETS; index++) {
    seen += weights[index]!;
    if (seen >= rank) return middleOf(index);
  }
  return middleOf(BUCKETS - 1);
}

function bucketOf(durationMs: number): number {
  if (!(durationMs > FIRST_MS)) return 0;
  const index = Math.floor(Math.log2(durationMs / FIRST_MS) * STEPS_PER_DOUBLING) + 1;
  return Math.min(index, BUCKETS - 1);
}

function middleOf(bucket: number): number {
  return bucket === 0 ? FIRST_MS : FIRST_MS * 2 ** ((bucket - 0.5) / STEPS_PER_DOUBLING);
}

const tenth = (value: number): number => Math.round(value * 10) / 10;
