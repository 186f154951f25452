// The rules of ejection and recovery one by one (SPEC H1 to H15). Random histories are in tests/fuzz/health_test.ts.

import assert from "node:assert/strict";
import {
  freshHealth,
  type Health,
  type HealthEvidence,
  mayEject,
  observe,
  reportParams,
  settle,
} from "../../../src/core/health.ts";
import type { HealthParams } from "../../../src/core/plan.ts";
import { activeParams, healthParams } from "../../support/plans.ts";

/** A record under rules, to which things happen one after the other. */
class Subject {
  health: Health;
  now = 1000;
  mayEject = true;

  constructor(readonly params: HealthParams) {
    this.health = freshHealth(1, this.now);
  }

  see(change: Partial<HealthEvidence> & Pick<HealthEvidence, "verdict">, params = this.params): Health {
    this.health = settle(this.health, this.now, params);
    const evidence: HealthEvidence = { epoch: this.health.epoch, source: "traffic", count: 1, ...change };
    return this.health = observe(this.health, evidence, { params, now: this.now, mayEject: this.mayEject });
  }

  fail(count = 1): Health {
    return this.see({ verdict: "failure", count });
  }

  succeed(count = 1): Health {
    return this.see({ verdict: "success", count });
  }

  probe(verdict: "success" | "failure", readmits = false): Health {
    const params = reportParams(this.params, activeParams({ failureThreshold: 3 }));
    return this.see({ verdict, source: "probe", readmits }, params);
  }

  pass(ms: number): Health {
    this.now += ms;
    return this.health = settle(this.health, this.now, this.params);
  }
}

const subject = (changes: Partial<HealthParams> = {}) => new Subject(healthParams(changes));

Deno.test("an endpoint begins healthy", () => {
  const { health } = subject();
  assert.equal(health.state, "healthy");
  assert.equal(health.streak, 0);
  assert.equal(health.ejections, 0);
});

Deno.test("the failure that completes the streak ejects, for eject_ms, with streak and window cleared", () => {
  const it = subject({ consecutiveFailures: 3, ejectMs: 5000 });
  assert.equal(it.fail(2).state, "healthy");
  const health = it.fail();
  assert.equal(health.state, "ejected");
  assert.equal(health.until, it.now + 5000);
  assert.equal(health.since, it.now);
  assert.equal(health.streak, 0);
  assert.deepEqual(health.window, []);
  assert.equal(health.ejections, 1);
  assert.equal(health.epoch, 2);
  assert.deepEqual(health.cause, { rule: "streak", source: "traffic", failures: 3 });
});

Deno.test("a success sets the streak to 0", () => {
  const it = subject({ consecutiveFailures: 3 });
  it.fail(2);
  assert.equal(it.succeed().streak, 0);
  assert.equal(it.fail(2).state, "healthy");
  assert.equal(it.fail().state, "ejected");
});

Deno.test("the ratio rule ejects from the least volume on, at just the ratio", () => {
  const it = subject({ consecutiveFailures: 100, failureRatio: 0.5, failureMinVolume: 20 });
  for (let pair = 0; pair < 9; pair++) {
    it.succeed();
    assert.equal(it.fail().state, "healthy", `after ${pair + 1} pairs`);
  }
  it.succeed();
  const health = it.fail();
  assert.equal(health.state, "ejected");
  assert.deepEqual(health.cause, { rule: "ratio", failures: 10, volume: 20 });
});

Deno.test("a ratio that is a decimal fraction is met at just that share", () => {
  // 0.07 * 100 is 7.000000000000001.
  const it = subject({ consecutiveFailures: 1000, failureRatio: 0.07, failureMinVolume: 100 });
  it.succeed(93);
  assert.equal(it.fail(6).state, "healthy");
  assert.equal(it.fail().state, "ejected");
});

Deno.test("a success never ejects, however bad the window is", () => {
  const it = subject({ consecutiveFailures: 1000, failureMinVolume: 20, failureRatio: 0.5 });
  it.fail(19);
  assert.equal(it.succeed().state, "healthy");
  assert.equal(it.fail().state, "ejected");
});

Deno.test("an observation older than the window never counts", () => {
  const it = subject({ consecutiveFailures: 1000, failureRatio: 1, failureMinVolume: 3, windowMs: 10_000 });
  it.fail(2);
  it.pass(10_001);
  assert.equal(it.fail().state, "healthy");
  assert.equal(it.fail().state, "healthy");
  assert.equal(it.fail().state, "ejected");
});

Deno.test("an observation of just the window's age counts", () => {
  const it = subject({ consecutiveFailures: 1000, failureRatio: 1, failureMinVolume: 3, windowMs: 10_000 });
  it.fail(2);
  it.pass(10_000);
  assert.equal(it.fail().state, "ejected");
});

Deno.test("failures while ejected neither extend the ejection nor change anything", () => {
  const it = subject();
  const ejected = it.fail(5);
  it.pass(10_000);
  assert.equal(it.fail(50), ejected);
  assert.equal(it.probe("failure"), ejected);
});

Deno.test("an ejection that ran out becomes half_open with a new epoch", () => {
  const it = subject({ ejectMs: 5000 });
  it.fail(5);
  assert.equal(it.pass(4999).state, "ejected");
  const health = it.pass(1);
  assert.equal(health.state, "half_open");
  assert.equal(health.epoch, 3);
  assert.equal(health.since, it.now);
});

Deno.test("a success in half_open restores outright", () => {
  const it = subject();
  it.fail(5);
  it.pass(30_000);
  const health = it.succeed();
  assert.equal(health.state, "healthy");
  assert.equal(health.epoch, 4);
  assert.equal(health.streak, 0);
  assert.deepEqual(health.window, []);
  assert.equal(health.cause, undefined);
  assert.equal(health.ejections, 1);
});

for (const source of ["traffic", "probe"] as const) {
  Deno.test(`one failure of ${source} in half_open ejects for the full time again`, () => {
    const it = subject({ ejectMs: 5000 });
    it.fail(5);
    it.pass(5000);
    const health = source === "traffic" ? it.fail() : it.probe("failure");
    assert.equal(health.state, "ejected");
    assert.equal(health.until, it.now + 5000);
    assert.equal(health.ejections, 2);
    assert.deepEqual(health.cause, { rule: "trial", source });
  });
}

Deno.test("probes never enter the window", () => {
  const it = subject({ streak: "separate" });
  it.probe("failure");
  it.probe("success");
  assert.deepEqual(it.health.window, []);
});

Deno.test("either can eject, on its own threshold, from one shared streak", () => {
  const byProbe = subject({ consecutiveFailures: 5 });
  byProbe.fail(2);
  assert.equal(byProbe.probe("failure").state, "ejected");
  const byTraffic = subject({ consecutiveFailures: 3 });
  byTraffic.probe("failure");
  byTraffic.probe("failure");
  assert.equal(byTraffic.fail().state, "ejected");
});

Deno.test("a traffic failure does not use the probe's lower threshold", () => {
  const it = subject({ consecutiveFailures: 5 });
  assert.equal(it.fail(4).state, "healthy");
  assert.equal(it.fail().state, "ejected");
});

Deno.test("a shared streak is reset by successes of either", () => {
  const it = subject({ consecutiveFailures: 5 });
  it.fail(4);
  assert.equal(it.probe("success").streak, 0);
  it.probe("failure");
  it.probe("failure");
  assert.equal(it.succeed().streak, 0);
});

Deno.test("separate streaks do not mask each other", () => {
  const it = subject({ consecutiveFailures: 5, streak: "separate" });
  it.probe("failure");
  it.succeed();
  it.probe("failure");
  it.succeed(1000);
  const health = it.probe("failure");
  assert.equal(health.state, "ejected");
  assert.deepEqual(health.cause, { rule: "streak", source: "probe", failures: 3 });

  const other = subject({ consecutiveFailures: 5, streak: "separate" });
  other.fail(4);
  other.probe("success");
  assert.equal(other.fail().state, "ejected");
});

Deno.test("separate streaks do not add up", () => {
  const it = subject({ consecutiveFailures: 5, streak: "separate" });
  it.fail(4);
  assert.equal(it.probe("failure").state, "healthy");
  assert.equal(it.probe("failure").state, "healthy");
});

Deno.test("a probe success below the threshold resets the streak of a healthy endpoint and readmits nobody", () => {
  const it = subject({ recovery: "either" });
  it.fail(3);
  assert.equal(it.probe("success").streak, 0);
  const ejected = it.fail(5);
  assert.equal(it.probe("success"), ejected);
  it.pass(30_000);
  const halfOpen = it.health;
  assert.equal(it.probe("success"), halfOpen);
});

for (const recovery of ["either", "probes"] as const) {
  Deno.test(`enough probe successes readmit at once, before until (recovery ${recovery})`, () => {
    const it = subject({ recovery });
    it.fail(5);
    it.pass(1);
    assert.equal(it.probe("success", true).state, "healthy");
  });
}

Deno.test("enough probe successes restore a half_open endpoint (recovery either)", () => {
  const it = subject({ recovery: "either" });
  it.fail(5);
  it.pass(30_000);
  assert.equal(it.probe("success", true).state, "healthy");
});

Deno.test("recovery timer: probes do not readmit, time and a trial do", () => {
  const it = subject({ recovery: "timer" });
  it.fail(5);
  assert.equal(it.probe("success", true).state, "ejected");
  it.pass(30_000);
  assert.equal(it.probe("success", true).state, "half_open");
  assert.equal(it.succeed().state, "healthy");
});

Deno.test("recovery probes: neither time nor traffic readmit", () => {
  const it = subject({ recovery: "probes" });
  const ejected = it.fail(5);
  assert.equal(it.pass(1e9), ejected);
  assert.equal(it.succeed(), ejected);
  assert.equal(it.probe("success"), ejected);
  assert.equal(it.probe("success", true).state, "healthy");
});

Deno.test("recovery that changed to probes in half_open: traffic readmits no more", () => {
  const it = subject({ recovery: "either" });
  it.fail(5);
  const halfOpen = it.pass(30_000);
  const probes = healthParams({ recovery: "probes" });
  assert.equal(it.see({ verdict: "success" }, probes), halfOpen);
  assert.equal(it.see({ verdict: "success", source: "probe", readmits: true }, probes).state, "healthy");
});

Deno.test("recovery that changed from probes to timer: the old ejection runs out", () => {
  const it = subject({ recovery: "probes", ejectMs: 5000 });
  it.fail(5);
  it.pass(1e6);
  assert.equal(settle(it.health, it.now, healthParams({ recovery: "timer" })).state, "half_open");
});

for (const recovery of ["either", "timer"] as const) {
  Deno.test(`a traffic success of a fail_open pick restores an ejected endpoint (recovery ${recovery})`, () => {
    const it = subject({ recovery });
    it.fail(5);
    assert.equal(it.succeed().state, "healthy");
  });
}

Deno.test("evidence of another epoch changes nothing", () => {
  const it = subject();
  const before = it.fail(2);
  assert.equal(it.see({ verdict: "failure", count: 10, epoch: 0 }), before);
  assert.equal(it.see({ verdict: "success", epoch: 7 }), before);
  const ejected = it.fail(3);
  assert.equal(it.see({ verdict: "success", epoch: 1 }), ejected);
});

Deno.test("evidence that says nothing changes nothing", () => {
  const it = subject();
  const before = it.fail(2);
  assert.equal(it.see({ verdict: "none" }), before);
  assert.equal(it.see({ verdict: "failure", count: 0 }), before);
});

Deno.test("a run of failures ejects inside the run, and the rest of it does not count", () => {
  const it = subject({ consecutiveFailures: 5 });
  it.fail(2);
  const health = it.fail(1000);
  assert.equal(health.ejections, 1);
  assert.deepEqual(health.cause, { rule: "streak", source: "traffic", failures: 5 });
  assert.equal(health.streak, 0);
});

Deno.test("a run names the ratio at the failure that fulfilled it", () => {
  const it = subject({ consecutiveFailures: 1000, failureMinVolume: 20, failureRatio: 0.5 });
  it.succeed(15);
  assert.deepEqual(it.fail(500).cause, { rule: "ratio", failures: 15, volume: 30 });
});

Deno.test("a run of successes restores once and leaves no trace in the new window", () => {
  const it = subject();
  it.fail(5);
  it.pass(30_000);
  const health = it.succeed(100);
  assert.equal(health.state, "healthy");
  assert.deepEqual(health.window, []);
});

Deno.test("a blocked ejection is judged again at the next failure", () => {
  const it = subject({ consecutiveFailures: 3 });
  it.mayEject = false;
  assert.equal(it.fail(10).state, "healthy");
  assert.equal(it.health.streak, 10);
  it.mayEject = true;
  assert.equal(it.health.state, "healthy");
  const health = it.fail();
  assert.equal(health.state, "ejected");
  assert.deepEqual(health.cause, { rule: "streak", source: "traffic", failures: 11 });
});

Deno.test("a failed trial ejects again even when nobody else may be ejected: it is counted already", () => {
  const it = subject();
  it.fail(5);
  it.pass(30_000);
  it.mayEject = false;
  assert.equal(it.fail().state, "ejected");
});

Deno.test("further ejections last twice as long each, up to eject_max_ms", () => {
  const it = subject({ ejectMs: 1000, ejectMaxMs: 5000, consecutiveFailures: 1 });
  const lengths = [];
  for (let round = 0; round < 5; round++) {
    it.fail();
    lengths.push(it.health.until - it.now);
    it.pass(it.health.until - it.now);
  }
  assert.deepEqual(lengths, [1000, 2000, 4000, 5000, 5000]);
});

Deno.test("one step of the ejection time is forgotten per quiet eject_ms", () => {
  const it = subject({ ejectMs: 1000, ejectMaxMs: 8000, consecutiveFailures: 1 });
  const lengthAfterQuiet = (quietMs: number) => {
    it.pass(quietMs);
    it.fail();
    const length = it.health.until - it.now;
    it.pass(length);
    it.succeed();
    return length;
  };
  assert.deepEqual([0, 0, 0, 0, 0].map(lengthAfterQuiet), [1000, 2000, 4000, 8000, 8000]);
  assert.equal(lengthAfterQuiet(999), 8000);
  assert.equal(lengthAfterQuiet(1000), 4000);
  assert.equal(lengthAfterQuiet(3000), 1000);
});

Deno.test("time spent ejected or half_open is not quiet time", () => {
  const it = subject({ ejectMs: 1000, ejectMaxMs: 8000, consecutiveFailures: 1 });
  it.fail();
  it.pass(100_000);
  it.fail();
  assert.equal(it.health.until - it.now, 2000);
});

Deno.test("mode observe: traffic that would not have come does not readmit, but a trial's success does", () => {
  const it = subject({ mode: "observe" });
  const ejected = it.fail(5);
  assert.equal(it.succeed(100), ejected);
  it.pass(30_000);
  assert.equal(it.succeed().state, "healthy");
});

Deno.test("new thresholds act on the old evidence at the next observation", () => {
  const it = subject({ consecutiveFailures: 10 });
  it.fail(6);
  assert.equal(it.see({ verdict: "failure" }, healthParams({ consecutiveFailures: 3 })).state, "ejected");
});

Deno.test("nothing new gives the same object", () => {
  const it = subject();
  const { health } = it;
  assert.equal(settle(health, 1e9, it.params), health);
  assert.equal(it.probe("success"), health);
});

Deno.test("reportParams takes the active threshold and switches the ratio rule off", () => {
  const passive = healthParams({ windowMs: 7000, ejectMs: 9000, halfOpenProbes: 4 });
  const params = reportParams(passive, activeParams({ failureThreshold: 7 }));
  assert.deepEqual(params, { ...passive, consecutiveFailures: 7, failureMinVolume: Infinity });
});

Deno.test("max_ejected_percent is rounded down and holds after the ejection", () => {
  const most = (size: number, percent: number) => {
    let out = 0;
    while (mayEject({ size, out }, percent)) out++;
    return out;
  };
  assert.equal(most(3, 67), 2);
  assert.equal(most(3, 66), 1);
  assert.equal(most(10, 50), 5);
  assert.equal(most(10, 100), 10);
  assert.equal(most(10, 29), 2);
  assert.equal(most(100, 29), 29);
  assert.equal(most(2, 1), 1);
  assert.equal(most(1, 100), 1);
  assert.equal(most(1, 99), 0);
  assert.equal(most(0, 100), 0);
});

Deno.test("probes are not judged by the ratio rule, whatever parameters they bring", () => {
  const it = subject({ consecutiveFailures: 100, failureMinVolume: 20, failureRatio: 0.5 });
  it.mayEject = false;
  it.fail(30);
  it.mayEject = true;
  assert.equal(it.see({ verdict: "failure", source: "probe" }).state, "healthy");
});
