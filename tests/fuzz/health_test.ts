// Thousands of random histories of one endpoint, told to `observe` in runs and to a naive model one by one. The model
// keeps every observation in a list and is written from the rules, not from the code.

import assert from "node:assert/strict";
import fc from "fast-check";
import { freshHealth, type Health, observe, settle } from "../../src/core/health.ts";
import { sumOfWindow, WINDOW_BUCKETS } from "../../src/core/health_window.ts";
import type { HealthParams } from "../../src/core/plan.ts";
import type { EvidenceSource } from "../../src/core/report.ts";

const RUNS = 4000 * Number(Deno.env.get("HALE_FUZZ_FACTOR") ?? 1);

interface Step {
  readonly waitMs: number;
  readonly source: EvidenceSource;
  readonly isSuccess: boolean;
  readonly count: number;
  readonly readmits: boolean;
  readonly mayEject: boolean;
  /** 0: the present epoch. */
  readonly epochOff: number;
}

/** One endpoint, remembered the long way. */
class Model {
  state: "healthy" | "ejected" | "half_open" = "healthy";
  epoch = 1;
  until = 0;
  healthySince = 0;
  streaks = { traffic: 0, probe: 0 };
  seen: { readonly at: number; readonly failed: boolean }[] = [];
  ejections = 0;
  doublings = 0;

  constructor(readonly params: HealthParams, readonly probeThreshold: number) {}

  tick(now: number): void {
    if (this.params.recovery === "probes") return;
    if (this.state === "ejected" && this.until <= now) this.enter("half_open");
  }

  enter(state: "healthy" | "ejected" | "half_open"): void {
    this.state = state;
    this.epoch += 1;
  }

  streakFor(source: EvidenceSource): number {
    return this.params.streak === "shared" ? this.streaks.traffic + this.streaks.probe : this.streaks[source];
  }

  success(source: EvidenceSource, readmits: boolean, now: number): void {
    if (this.state === "healthy") {
      if (source === "traffic") this.seen.push({ at: now, failed: false });
      this.streaks[source] = 0;
      if (this.params.streak === "shared") this.streaks = { traffic: 0, probe: 0 };
      return;
    }
    const { recovery, mode } = this.params;
    const byProbe = source === "probe" && readmits && ["either", "probes"].includes(recovery);
    const byTraffic = source === "traffic" && ["either", "timer"].includes(recovery) &&
      !(mode === "observe" && this.state === "ejected");
    if (byProbe || byTraffic) this.restore(now);
  }

  restore(now: number): void {
    this.enter("healthy");
    this.clear();
    this.healthySince = now;
  }

  clear(): void {
    this.streaks = { traffic: 0, probe: 0 };
    this.seen = [];
  }

  failure(source: EvidenceSource, mayEject: boolean, now: number): void {
    if (this.state === "ejected") return;
    if (this.state === "half_open") return this.eject(now);
    if (source === "traffic") this.seen.push({ at: now, failed: true });
    this.streaks[source] += 1;
    if (mayEject && (this.isStreakFull(source) || (source === "traffic" && this.isRatioFull(now)))) {
      this.eject(now);
    }
  }

  isStreakFull(source: EvidenceSource): boolean {
    const threshold = source === "traffic" ? this.params.consecutiveFailures : this.probeThreshold;
    return this.streakFor(source) >= threshold;
  }

  /** Undecided when forgetting up to a twentieth of the window early decides it. */
  isRatioFull(now: number): boolean {
    return this.ratioVerdicts(now).at(-1)!;
  }

  recent(now: number, windowMs: number) {
    return this.seen.filter((each) => now - each.at <= windowMs);
  }

  /** What the rule says when everything older than some age is forgotten: for each age that may be, the exact one last. */
  ratioVerdicts(now: number): boolean[] {
    const { windowMs } = this.params;
    const least = windowMs * (1 - 1 / WINDOW_BUCKETS);
    const between = this.seen.map(({ at }) => now - at).filter((age) => age > least && age < windowMs);
    return [least, ...between, windowMs].map((ms) => {
      const recent = this.recent(now, ms);
      const failed = recent.filter((each) => each.failed).length;
      return recent.length >= this.params.failureMinVolume &&
        failed / recent.length >= this.params.failureRatio;
    });
  }

  eject(now: number): void {
    const { ejectMs, ejectMaxMs } = this.params;
    if (this.state === "healthy") {
      for (let quiet = ejectMs; quiet <= now - this.healthySince && this.doublings > 0; quiet += ejectMs) {
        this.doublings -= 1;
      }
    }
    let time = ejectMs;
    for (let step = 0; step < this.doublings; step++) time *= 2;
    if (time >= ejectMaxMs) time = ejectMaxMs;
    else this.doublings += 1;
    this.enter("ejected");
    this.clear();
    this.until = now + time;
    this.ejections += 1;
  }
}

const paramsArbitrary = fc.record({
  windowMs: fc.constantFrom(1000, 5000, 60_000),
  consecutiveFailures: fc.integer({ min: 1, max: 8 }),
  failureRatio: fc.constantFrom(0.07, 0.3, 0.5, 0.9, 1),
  // The ratio rule has its own test: whether a bucket has just been forgotten is not for the model to say.
  failureMinVolume: fc.constant(Infinity),
  ejectMs: fc.integer({ min: 1, max: 3000 }),
  ejectFactor: fc.integer({ min: 1, max: 20 }),
  recovery: fc.constantFrom("either", "probes", "timer"),
  streak: fc.constantFrom("shared", "separate"),
  mode: fc.constantFrom("enforce", "observe"),
}).map(({ ejectFactor, ...params }): HealthParams => ({
  ...params,
  ejectMaxMs: params.ejectMs * ejectFactor,
  halfOpenProbes: 1,
  maxEjectedPercent: 100,
  allDown: "fail_open",
}));

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  waitMs: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 5000 })),
  source: fc.constantFrom("traffic", "probe"),
  isSuccess: fc.boolean(),
  count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 })),
  readmits: fc.boolean(),
  mayEject: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
  epochOff: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.integer({ min: -2, max: 1 })),
});

function tellModel(model: Model, step: Step, now: number): void {
  model.tick(now);
  const epoch = model.epoch + step.epochOff;
  for (let piece = 0; piece < step.count; piece++) {
    if (epoch !== model.epoch) return;
    if (step.isSuccess) model.success(step.source, step.readmits, now);
    else model.failure(step.source, step.mayEject, now);
  }
}

function tellHealth(health: Health, step: Step, rules: { params: HealthParams; now: number }): Health {
  const settled = settle(health, rules.now, rules.params);
  return observe(settled, {
    epoch: settled.epoch + step.epochOff,
    source: step.source,
    verdict: step.isSuccess ? "success" : "failure",
    count: step.count,
    readmits: step.readmits,
  }, { ...rules, mayEject: step.mayEject });
}

function paramsFor(source: EvidenceSource, params: HealthParams, probeThreshold: number): HealthParams {
  return source === "traffic"
    ? params
    : { ...params, consecutiveFailures: probeThreshold, failureMinVolume: Infinity };
}

Deno.test("random histories go as in the naive model", () => {
  fc.assert(
    fc.property(
      paramsArbitrary,
      fc.integer({ min: 1, max: 5 }),
      fc.array(stepArbitrary, { minLength: 1, maxLength: 80 }),
      (params, probeThreshold, steps) => {
        const model = new Model(params, probeThreshold);
        let health = freshHealth(1, 0);
        let now = 0;
        for (const step of steps) {
          now += step.waitMs;
          tellModel(model, step, now);
          health = tellHealth(health, step, { params: paramsFor(step.source, params, probeThreshold), now });
          const { state, epoch, ejections } = health;
          assert.deepEqual({ state, epoch, ejections }, {
            state: model.state,
            epoch: model.epoch,
            ejections: model.ejections,
          });
          if (state === "ejected") assert.equal(health.until, model.until);
          if (state === "healthy") {
            assert.equal(health.streak + health.probeStreak, model.streaks.traffic + model.streaks.probe);
          }
        }
      },
    ),
    { numRuns: RUNS },
  );
});

Deno.test("the window holds what the model holds, less at most the oldest twentieth", () => {
  fc.assert(
    fc.property(paramsArbitrary, fc.array(stepArbitrary, { maxLength: 80 }), (params, steps) => {
      const patient = { ...params, consecutiveFailures: Infinity };
      const model = new Model(patient, Infinity);
      let health = freshHealth(1, 0);
      let now = 0;
      for (const step of steps) {
        now += step.waitMs;
        tellModel(model, step, now);
        health = tellHealth(health, step, { params: paramsFor(step.source, patient, Infinity), now });
        const { volume, failures } = sumOfWindow(health.window, now, params.windowMs);
        const most = model.recent(now, params.windowMs);
        const least = model.recent(now, params.windowMs * (1 - 1 / WINDOW_BUCKETS));
        assert.ok(least.length <= volume && volume <= most.length, `${volume} of ${most.length}`);
        const failedOf = (seen: typeof most) => seen.filter((each) => each.failed).length;
        assert.ok(failedOf(least) <= failures && failures <= failedOf(most));
      }
    }),
    { numRuns: RUNS },
  );
});

Deno.test("the ratio rule ejects as in the model wherever early forgetting makes no difference", () => {
  let decided = 0;
  const ratioArbitrary = fc.record({
    params: paramsArbitrary,
    failureMinVolume: fc.integer({ min: 1, max: 30 }),
  }).map(({ params, failureMinVolume }) => ({ ...params, failureMinVolume, consecutiveFailures: 1e9 }));
  fc.assert(
    fc.property(ratioArbitrary, fc.array(stepArbitrary, { maxLength: 60 }), (params, steps) => {
      const model = new Model(params, Infinity);
      let health = freshHealth(1, 0);
      let now = 0;
      for (const { waitMs, isSuccess, mayEject } of steps) {
        now += waitMs;
        const step: Step = {
          waitMs,
          isSuccess,
          mayEject,
          count: 1,
          source: "traffic",
          readmits: false,
          epochOff: 0,
        };
        tellModel(model, step, now);
        health = tellHealth(health, step, { params, now });
        const verdicts = new Set(model.ratioVerdicts(now));
        if (health.state !== model.state) {
          // They may part only where it matters how early one forgets; then this history ends.
          assert.ok(verdicts.size > 1 || model.state === "ejected", "parted without a reason");
          return;
        }
        if (health.state === "ejected") decided++;
        assert.equal(health.epoch, model.epoch);
      }
    }),
    { numRuns: RUNS },
  );
  assert.ok(decided > RUNS / 10, `only ${decided} ejections were seen`);
});

Deno.test("a run acts as its pieces would one after the other", () => {
  fc.assert(
    fc.property(
      paramsArbitrary,
      fc.integer({ min: 1, max: 30 }),
      fc.array(stepArbitrary, { maxLength: 60 }),
      (given, failureMinVolume, steps) => {
        const params = { ...given, failureMinVolume };
        let inRuns = freshHealth(1, 0);
        let oneByOne = freshHealth(1, 0);
        let now = 0;
        for (const step of steps) {
          now += step.waitMs;
          const rules = { params: paramsFor(step.source, params, 3), now };
          const { epoch } = settle(oneByOne, now, params);
          inRuns = tellHealth(inRuns, step, rules);
          for (let piece = 0; piece < step.count; piece++) {
            const epochOff = epoch + step.epochOff - settle(oneByOne, now, params).epoch;
            oneByOne = tellHealth(oneByOne, { ...step, count: 1, epochOff }, rules);
          }
          assert.deepEqual(inRuns, oneByOne);
        }
      },
    ),
    { numRuns: RUNS },
  );
});
