// Loops, plans that change, faults, stalls and limits of active probing. How one probe goes is in probe_test.ts, how
// its report counts in health_keeper_test.ts.

import assert from "node:assert/strict";
import { ActiveProbes, MAX_IN_FLIGHT } from "../../../src/control/active_probes.ts";
import type { ProbeDial } from "../../../src/control/probe.ts";
import type { ActiveParams, Upstream } from "../../../src/core/plan.ts";
import { settled } from "../../support/fake_clock.ts";
import { HealthWorld } from "../../support/health_world.ts";
import { activeParams, endpoint, healthParams, planOf, upstream } from "../../support/plans.ts";
import { answering, type EndpointScript, ScriptedDial, silent } from "../../support/scripted_dial.ts";
import { StallingClock } from "../../support/stalling_clock.ts";

const OK = answering("HTTP/1.1 200 OK\r\n\r\n");
const BAD = answering("HTTP/1.1 503 Service Unavailable\r\n\r\n");
const A = "10.0.0.1:80";
const B = "10.0.0.2:80";

interface Given {
  readonly script?: EndpointScript;
  readonly random?: () => number;
  readonly dial?: ProbeDial;
}

/** A world whose endpoints are probed. Dispose of it. */
class ProbedWorld implements AsyncDisposable {
  readonly world: HealthWorld;
  readonly dial: ScriptedDial;
  readonly probes: ActiveProbes;
  readonly #clock: StallingClock;

  constructor(upstreams: readonly Upstream[], given: Given = {}) {
    this.#clock = new StallingClock();
    this.world = new HealthWorld(this.#clock);
    this.world.adopt(...upstreams);
    this.dial = new ScriptedDial(given.script ?? OK);
    this.probes = new ActiveProbes({
      clock: this.#clock,
      random: given.random ?? (() => 0),
      emit: (event) => this.world.events.push(event),
      keeper: this.world.keeper,
      dial: given.dial ?? this.dial.dial,
    });
    void this.probes.respawn(planOf(upstreams));
  }

  get clock(): StallingClock {
    return this.#clock;
  }

  /** How many probes were dialled since the last call, by port. */
  dialled(): Record<number, number> {
    const counts: Record<number, number> = {};
    for (const { port } of this.dial.targets.splice(0)) counts[port] = (counts[port] ?? 0) + 1;
    return counts;
  }

  adopt(...upstreams: readonly Upstream[]): Promise<void> {
    this.world.adopt(...upstreams);
    return this.probes.respawn(planOf(upstreams));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.probes.abortAll();
    this.world[Symbol.dispose]();
    await settled();
    assert.equal(this.clock.sleeping, 0, "no loop and no timer is left");
    assert.equal(this.dial.open, 0, "no connection is left");
  }
}

function probed(changes: Partial<ActiveParams> = {}, keys: readonly string[] = [A]): Upstream {
  return upstream("app", keys, {
    health: healthParams({ recovery: "either", ejectMs: 1e7 }),
    activeHealth: activeParams({ jitterMs: 0, ...changes }),
  });
}

const onePort = (counts: Record<number, number>) => counts[80] ?? 0;

Deno.test("a loop sleeps the interval, then probes, and so on", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000, timeoutMs: 500 })]);
  await it.clock.advance(999);
  assert.equal(onePort(it.dialled()), 0);
  await it.clock.advance(1);
  assert.equal(onePort(it.dialled()), 1);
  await it.clock.advance(10_000);
  assert.equal(onePort(it.dialled()), 10);
});

Deno.test("each sleep gets its own jitter of 0 to below jitter_ms", async () => {
  const chances = [0, 0.999999, 0.5];
  let draw = 0;
  await using it = new ProbedWorld([probed({ intervalMs: 1000, jitterMs: 500 })], {
    random: () => chances[draw++ % chances.length]!,
  });
  const dueTimes = [1000, 2499, 3749];
  for (const due of dueTimes) {
    await it.clock.advance(due - it.clock.now() - 1);
    assert.equal(onePort(it.dialled()), 0, `before ${due}`);
    await it.clock.advance(1);
    assert.equal(onePort(it.dialled()), 1, `at ${due}`);
  }
});

Deno.test("the period drifts by the probe's own duration", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000, timeoutMs: 400 })], { script: silent });
  await it.clock.advance(1400 * 5);
  assert.equal(onePort(it.dialled()), 5);
});

Deno.test("probes eject at their threshold and readmit at theirs, before eject_ms", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000, failureThreshold: 3, successThreshold: 2 })], {
    script: BAD,
  });
  await it.clock.advance(2000);
  assert.deepEqual(it.world.reasons(0), []);
  await it.clock.advance(1000);
  assert.deepEqual(it.world.reasons(0), ["ejected"]);
  it.dial.script = OK;
  await it.clock.advance(1000);
  assert.deepEqual(it.world.reasons(0), ["ejected"]);
  await it.clock.advance(1000);
  assert.deepEqual(it.world.reasons(0), []);
});

const CAUSES: Readonly<Record<string, EndpointScript>> = {
  "503": BAD,
  "418": answering("HTTP/1.1 418 Teapot\r\n\r\n"),
  "301": answering("HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n"),
  refused: "refused",
  "TLS failure": "tls_failed",
  timeout: silent,
};

for (const [cause, script] of Object.entries(CAUSES)) {
  for (const between of ["nothing", "a reload", "a reload with another path"] as const) {
    Deno.test(`case 10: an endpoint ejected for ${cause} is back after its repair, with ${between} in between`, async () => {
      const interval = { intervalMs: 1000, timeoutMs: 500 };
      await using it = new ProbedWorld([probed(interval)], { script });
      await it.clock.advance(4600);
      assert.deepEqual(it.world.reasons(0), ["ejected"]);
      it.dial.script = OK;
      if (between === "a reload") await it.adopt(probed(interval));
      if (between === "a reload with another path") await it.adopt(probed({ ...interval, path: "/ready" }));
      await it.clock.advance(2 * 1500);
      assert.deepEqual(it.world.reasons(0), []);
      const { evidence } = it.world.keeper.view(0)!;
      const probes = Object.values(it.world.keeper.probesOf("app"));
      const count = probes.reduce((sum, each) => sum + each, 0);
      assert.equal(evidence.reduce((sum, piece) => sum + piece.count, 0), count, "every probe counts");
    });
  }
}

Deno.test("successes from before an ejection do not readmit after it", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000, successThreshold: 3 })]);
  await it.clock.advance(20_500);
  it.world.traffic(0, "refused", { count: 5 });
  await it.clock.advance(2000);
  assert.deepEqual(it.world.reasons(0), ["ejected"]);
  await it.clock.advance(1000);
  assert.deepEqual(it.world.reasons(0), []);
});

Deno.test("a probe that began before the ejection decides nothing after it", async () => {
  let answer: (() => void) | undefined;
  const late: EndpointScript = async (conn) => {
    await new Promise<void>((resolve) => answer = resolve);
    await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n"));
  };
  await using it = new ProbedWorld([probed({ intervalMs: 1000, successThreshold: 1 })], { script: late });
  await it.clock.advance(1100);
  it.world.traffic(0, "refused", { count: 5 });
  answer!();
  await settled();
  assert.deepEqual(it.world.reasons(0), ["ejected"]);
  assert.equal(it.world.keeper.view(0)!.last!.outcome, "probe_ok");
});

Deno.test("half_open by time in the middle of counting does not start the count anew", async () => {
  const it = upstream("app", [A], {
    health: healthParams({ recovery: "either", ejectMs: 5500 }),
    activeHealth: activeParams({ intervalMs: 1000, jitterMs: 0, successThreshold: 3 }),
  });
  await using world = new ProbedWorld([it], { script: BAD });
  await world.clock.advance(4600);
  world.world.kinds();
  await world.clock.advance(1500);
  world.dial.script = OK;
  await world.clock.advance(3000);
  assert.deepEqual(world.world.reasons(0), []);
});

Deno.test("respawn keeps unchanged loops: however often it is called, the due time stays", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000 })]);
  for (let swap = 0; swap < 50; swap++) {
    await it.clock.advance(100);
    await it.adopt(structuredClone(probed({ intervalMs: 1000 })));
  }
  assert.equal(onePort(it.dialled()), 5, "probing starves");
});

Deno.test("frequent swaps do not cut a slow probe off either", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000, timeoutMs: 900, failureThreshold: 2 })], {
    script: silent,
  });
  for (let swap = 0; swap < 39; swap++) {
    await it.clock.advance(100);
    await it.adopt(probed({ intervalMs: 1000, timeoutMs: 900, failureThreshold: 2 }));
  }
  assert.deepEqual(it.world.reasons(0), ["ejected"]);
});

Deno.test("what does not concern probing changes no loop", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000 })]);
  await it.clock.advance(900);
  await it.adopt({
    ...probed({ intervalMs: 1000 }),
    endpoints: [endpoint(A, 0, { weight: 7 })],
    loadBalancer: "random",
    health: healthParams({ consecutiveFailures: 9 }),
  });
  await it.clock.advance(100);
  assert.equal(onePort(it.dialled()), 1);
});

const CHANGES: Readonly<Record<string, Partial<ActiveParams>>> = {
  path: { path: "/ready" },
  interval: { intervalMs: 900 },
  host: { host: "www.example.test" },
  port: { port: 81 },
  kind: { kind: "tcp" },
  statuses: { expectStatus: [[200, 200]] },
};

for (const [what, change] of Object.entries(CHANGES)) {
  Deno.test(`case 15: a changed ${what} is probed within one interval`, async () => {
    await using it = new ProbedWorld([probed({ intervalMs: 1000 })]);
    await it.clock.advance(950);
    await it.adopt(probed({ intervalMs: 1000, ...change }));
    assert.equal(it.dial.targets.length, 0);
    await it.clock.advance(1000);
    assert.equal(it.dial.targets.length, 1, "exactly one loop goes on");
    assert.equal(it.dial.targets[0]!.port, change.port ?? 80);
  });
}

Deno.test("TLS settings are part of what a loop depends on", async () => {
  const https = (tls: Upstream["tls"]): Upstream => ({
    ...probed({ intervalMs: 1000 }),
    protocol: "https",
    ...(tls && { tls }),
  });
  await using it = new ProbedWorld([https({ ca: "one" })]);
  await it.clock.advance(900);
  await it.adopt(https({ ca: "one" }));
  await it.clock.advance(100);
  assert.equal(onePort(it.dialled()), 1, "the same bundle: the loop goes on");
  await it.clock.advance(500);
  await it.adopt(https({ ca: "two" }));
  await it.clock.advance(1000);
  assert.deepEqual(it.dial.targets.map(({ tls }) => tls!.ca), ["two"]);
});

Deno.test("case 13: after 1000 respawns there is one loop per endpoint, and none for what is gone", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000 })]);
  for (let swap = 0; swap < 1000; swap++) {
    await it.adopt(probed({ intervalMs: 1000, path: `/${swap % 2}` }, swap % 3 === 0 ? [A] : [A, B]));
  }
  assert.equal(it.probes.size, 1);
  it.dialled();
  await it.clock.advance(10_000);
  assert.deepEqual(it.dialled(), { 80: 10 });
  await it.adopt(upstream("app", [A], { health: healthParams() }));
  assert.equal(it.probes.size, 0);
  await it.clock.advance(10_000);
  assert.deepEqual(it.dialled(), {});
});

Deno.test("an aborted probe reports nothing, and respawn waits for its end", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000 })], { script: silent });
  await it.clock.advance(1100);
  assert.equal(it.dial.open, 1);
  await it.adopt(upstream("app", [A], { health: healthParams() }));
  assert.equal(it.dial.open, 0);
  assert.deepEqual(it.world.keeper.view(0)!.evidence, []);
});

Deno.test("abortAll ends everything and a later plan begins anew", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000 }, [A, B])], { script: silent });
  await it.clock.advance(1100);
  await it.probes.abortAll();
  assert.equal(it.dial.open, 0);
  assert.equal(it.probes.size, 0);
  await it.clock.advance(10_000);
  it.dialled();
  await it.adopt(probed({ intervalMs: 1000 }, [A, B]));
  await it.clock.advance(1000);
  assert.deepEqual(it.dialled(), { 80: 2 });
});

function many(count: number, changes: Partial<ActiveParams>): Upstream {
  const keys = Array.from({ length: count }, (_, at) => `10.0.${at >> 8}.${at & 255}:${1000 + at}`);
  return probed(changes, keys);
}

Deno.test("500 endpoints are each probed once per interval, spread by jitter", async () => {
  let chance = 0;
  const random = () => (chance = (chance + 0.381966) % 1);
  await using it = new ProbedWorld([many(500, { intervalMs: 5000, jitterMs: 1000 })], { random });
  await it.clock.advance(6000);
  assert.ok(Object.values(it.dialled()).every((count) => count === 1));
  assert.equal(it.dial.near.length, 500);
  await it.clock.advance(6000);
  assert.ok(Object.values(it.dialled()).every((count) => count === 1 || count === 2));
});

Deno.test("at most 64 probes are in flight, and waiting does not count against timeout_ms", async () => {
  let inFlight = 0;
  let most = 0;
  const slow: EndpointScript = async (conn) => {
    most = Math.max(most, ++inFlight);
    await it.clock.sleep(800);
    inFlight--;
    await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n")).catch(() => undefined);
  };
  await using it = new ProbedWorld([many(200, { intervalMs: 5000, timeoutMs: 1000 })], { script: slow });
  await it.clock.advance(5000);
  assert.equal(most, MAX_IN_FLIGHT);
  await it.clock.advance(4 * 800);
  assert.equal(most, MAX_IN_FLIGHT);
  assert.deepEqual(it.world.keeper.probesOf("app"), { probe_ok: 200 });
});

Deno.test("a fault of ours is told, charges nobody and costs an extra interval", async () => {
  let dials = 0;
  const scripted = new ScriptedDial(OK);
  await using it = new ProbedWorld([probed({ intervalMs: 1000, successThreshold: 2 })], {
    dial: (target, options) => {
      if (++dials === 2) throw new TypeError("oops");
      return scripted.dial(target, options);
    },
  });
  await it.clock.advance(2000);
  assert.equal(dials, 2);
  assert.deepEqual(it.world.texts(), ["Probe of app/10.0.0.1:80 failed inside hale: oops"]);
  assert.equal(it.world.keeper.view(0)!.failures.length, 0);
  await it.clock.advance(1999);
  assert.equal(dials, 2);
  await it.clock.advance(1);
  assert.equal(dials, 3);
});

Deno.test("a fault sets the streak of successes to 0", async () => {
  const scripted = new ScriptedDial(OK);
  let dials = 0;
  await using it = new ProbedWorld([probed({ intervalMs: 1000, successThreshold: 2 })], {
    dial: (target, options) => {
      if (++dials === 2) throw new TypeError("oops");
      return scripted.dial(target, options);
    },
  });
  it.world.traffic(0, "refused", { count: 5 });
  await it.clock.advance(4000);
  assert.deepEqual([dials, it.world.reasons(0)], [3, ["ejected"]]);
  await it.clock.advance(1000);
  assert.deepEqual(it.world.reasons(0), []);
});

Deno.test("three faults in a row stop that loop alone, visibly, until the next respawn", async () => {
  const scripted = new ScriptedDial(OK);
  let broken = true;
  const plan = [probed({ intervalMs: 1000 }, [A, "10.0.0.2:81"])];
  await using it = new ProbedWorld(plan, {
    dial: (target, options) => {
      if (target.port === 80 && broken) return Promise.reject(new TypeError("oops"));
      return scripted.dial(target, options);
    },
  });
  await it.clock.advance(20_000);
  assert.deepEqual(it.world.texts(), [
    "Probe of app/10.0.0.1:80 failed inside hale: oops",
    "Probe of app/10.0.0.1:80 failed inside hale: oops",
    "Probe of app/10.0.0.1:80 failed inside hale: oops",
    "Stopped probing app/10.0.0.1:80 until the next config edit, after three faults in a row: oops",
  ]);
  assert.deepEqual(it.probes.stopped, [{ upstream: "app", endpoint: A }]);
  assert.equal(it.probes.size, 1);
  assert.equal(scripted.targets.length, 20);
  broken = false;
  await it.adopt(...plan);
  assert.deepEqual(it.probes.stopped, []);
  await it.clock.advance(1000);
  assert.equal(it.world.keeper.view(0)!.last!.outcome, "probe_ok");
});

Deno.test("a timeout that our own stall explains charges nobody", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000, timeoutMs: 800, failureThreshold: 1 })], {
    script: silent,
  });
  await it.clock.advance(1100);
  it.clock.stall(600);
  await it.clock.advance(800);
  assert.deepEqual(it.world.reasons(0), []);
  assert.deepEqual(it.world.keeper.probesOf("app"), { stalled: 1 });
  await it.clock.advance(2000);
  assert.deepEqual(it.world.reasons(0), ["ejected"], "the next one is judged as ever");
});

Deno.test("a loop that woke late gives the endpoint its full time", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000, timeoutMs: 800, failureThreshold: 1 })]);
  await it.clock.advance(500);
  it.clock.stall(60_000);
  await it.clock.advance(600);
  assert.deepEqual(it.world.keeper.probesOf("app"), { probe_ok: 1 });
});

Deno.test("a stall excuses no refusal", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000, failureThreshold: 1 })], {
    script: "refused",
  });
  await it.clock.advance(900);
  it.clock.stall(5000);
  await it.clock.advance(200);
  assert.deepEqual(it.world.reasons(0), ["ejected"]);
});

Deno.test("two upstreams with one address are probed and judged apart", async () => {
  const red = { ...probed({ intervalMs: 1000, path: "/red" }), name: "red" };
  const blue = { ...probed({ intervalMs: 1000, path: "/blue" }), name: "blue", endpoints: [endpoint(A, 1)] };
  await using it = new ProbedWorld([red, blue], {
    script: async (conn) => {
      const buffer = new Uint8Array(100);
      const count = await conn.read(buffer);
      const isRed = new TextDecoder().decode(buffer.subarray(0, count!)).includes("/red");
      await conn.write(new TextEncoder().encode(`HTTP/1.1 ${isRed ? 500 : 200} X\r\n`));
    },
  });
  await it.clock.advance(30_500);
  assert.deepEqual([it.world.reasons(0), it.world.reasons(1)], [["ejected"], []]);
  assert.deepEqual(it.world.kinds(), ["endpoint_ejected", "all_down_entered"]);
});

Deno.test("only successes in a row readmit", async () => {
  let answers = 0;
  await using it = new ProbedWorld([probed({ intervalMs: 1000, successThreshold: 2 })], {
    script: async (conn) => {
      await conn.read(new Uint8Array(1000));
      const status = ++answers > 3 && answers % 2 === 0 ? 200 : 500;
      await conn.write(new TextEncoder().encode(`HTTP/1.1 ${status} X\r\n`));
    },
  });
  await it.clock.advance(20_500);
  assert.deepEqual(it.world.reasons(0), ["ejected"]);
});

Deno.test("an endpoint that got another slot is reported there", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000 })]);
  await it.adopt({ ...probed({ intervalMs: 1000 }), endpoints: [endpoint(A, 5)] });
  await it.clock.advance(1000);
  assert.equal(it.world.keeper.view(5)!.evidence.length, 1);
});

Deno.test("what an aborted probe throws is not told", async () => {
  await using it = new ProbedWorld([probed({ intervalMs: 1000 })], {
    dial: (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("late")))),
  });
  await it.clock.advance(1100);
  await it.probes.abortAll();
  assert.deepEqual(it.world.kinds(), []);
});
