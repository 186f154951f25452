// The loops of discovery: when they ask, what respawn, hurry and abort do to them.

import assert from "node:assert/strict";
import {
  discoveringUpstream,
  DiscoveryDesk,
  discoveryParams,
  staticEndpoint,
} from "../../support/discovery_desk.ts";
import { APP } from "../../support/discovery_desk.ts";

/** When DNS was asked within `ms`, in milliseconds since the start, for an answer of that TTL. */
async function askedAt(ttlS: number, options: { ms: number; random: number }): Promise<number[]> {
  const desk = new DiscoveryDesk([], { random: () => options.random });
  desk.script.setA(APP, ["127.0.0.11"], ttlS);
  const at: number[] = [];
  const { resolver } = desk;
  desk.resolver = {
    resolve: (question, signal) => {
      at.push(desk.clock.now());
      return resolver.resolve(question, signal);
    },
  };
  await desk.begin();
  await desk.clock.advance(options.ms);
  await desk.end();
  return at;
}

Deno.test("the next question is due after the TTL, within 1 s and the refresh interval", async () => {
  assert.deepEqual(await askedAt(0, { ms: 3000, random: 0 }), [0, 1000, 2000, 3000]);
  assert.deepEqual(await askedAt(1, { ms: 3000, random: 0 }), [0, 1000, 2000, 3000]);
  assert.deepEqual(await askedAt(20, { ms: 60_000, random: 0 }), [0, 20_000, 40_000, 60_000]);
  assert.deepEqual(await askedAt(30, { ms: 60_000, random: 0 }), [0, 30_000, 60_000]);
  assert.deepEqual(await askedAt(86_400, { ms: 60_000, random: 0 }), [0, 30_000, 60_000]);
  assert.deepEqual(await askedAt(0xffffffff, { ms: 2000, random: 0 }), [0, 1000, 2000]);
});

Deno.test("it comes up to a tenth early, but never before a second", async () => {
  assert.deepEqual(await askedAt(20, { ms: 54_100, random: 0.999999 }).then((at) => at.map(Math.round)), [
    0,
    18_000,
    36_000,
    54_000,
  ]);
  assert.deepEqual(await askedAt(20, { ms: 38_000, random: 0.5 }), [0, 19_000, 38_000]);
  assert.deepEqual(await askedAt(1, { ms: 2000, random: 0.999999 }), [0, 1000, 2000]);
});

Deno.test("without a known TTL the refresh interval is the only clock", async () => {
  const desk = new DiscoveryDesk();
  let asked = 0;
  desk.resolver = {
    resolve: ({ name }) => {
      asked++;
      const addresses = [{ name, address: "127.0.0.11", ttlS: 0 }];
      return Promise.resolve({
        addresses,
        services: [],
        additional: [],
        ttlMs: Infinity,
        chain: [name],
        source: "",
      });
    },
  };
  await desk.begin();
  await desk.clock.advance(60_000);
  assert.equal(asked, 3);
  assert.equal(desk.tasks.stateOf("app")!.ttlMs, undefined);
  await desk.end();
});

Deno.test("after a failure it asks again soon, then ever more rarely up to the refresh interval", async () => {
  for (const random of [0, 0.999999]) {
    const desk = new DiscoveryDesk([], { random: () => random });
    desk.script.set(APP, "A", { rcode: "SERVFAIL" });
    await desk.begin();
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      const ms = desk.tasks.stateOf("app")!.nextRefresh! - desk.clock.now();
      waits.push(Math.round(ms));
      await desk.clock.advance(ms);
    }
    const full = [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000];
    assert.deepEqual(waits, random === 0 ? full.map((ms) => ms / 2) : full);
    desk.script.setA(APP, ["127.0.0.11"], 60);
    await desk.clock.advance(30_000);
    assert.equal(desk.tasks.stateOf("app")!.failure, undefined);
    desk.script.set(APP, "A", { rcode: "SERVFAIL" });
    while (desk.tasks.stateOf("app")!.failure === undefined) await desk.clock.advance(100);
    const { nextRefresh } = desk.tasks.stateOf("app")!;
    assert.ok(nextRefresh! - desk.clock.now() <= 1000, "a success makes it start anew");
    await desk.end();
  }
});

Deno.test("the state shows failure, since when, lifetime and next question", async () => {
  const desk = new DiscoveryDesk();
  const startedAt = desk.clock.wallMs();
  desk.script.setA(APP, ["127.0.0.11"], 10);
  await desk.begin();
  assert.deepEqual(desk.tasks.stateOf("app"), {
    sinceAt: startedAt,
    ttlMs: 10_000,
    nextRefresh: 10_000,
    note: "",
    refreshes: 1,
    failures: {},
  });
  desk.script.set(APP, "A", { rcode: "REFUSED" });
  await desk.clock.advance(10_000);
  const failing = desk.tasks.stateOf("app")!;
  assert.equal(failing.failure, "refused");
  assert.equal(failing.sinceAt, startedAt + 10_000);
  assert.match(failing.note!, /127.0.0.53: REFUSED/);
  assert.deepEqual(failing.failures, { refused: 1 });
  await desk.clock.advance(500);
  assert.equal(desk.tasks.stateOf("app")!.sinceAt, startedAt + 10_000);
  assert.equal(desk.tasks.stateOf("nobody"), undefined);
  await desk.end();
});

Deno.test("a stepped wall clock moves no question", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"], 10);
  await desk.begin();
  desk.clock.stepWall(-86_400_000);
  await desk.clock.advance(9999);
  assert.equal(desk.asked(), 1);
  await desk.clock.advance(1);
  assert.equal(desk.asked(), 2);
  await desk.end();
});

Deno.test("a failure is told when its kind is new, not at every try", async () => {
  const desk = new DiscoveryDesk();
  desk.script.set(APP, "A", { rcode: "SERVFAIL" });
  await desk.begin();
  await desk.clock.advance(600_000);
  desk.script.set(APP, "A", { rcode: "NXDOMAIN" });
  await desk.clock.advance(600_000);
  assert.deepEqual(desk.kinds(), ["discovery_failed", "discovery_failed"]);
  assert.deepEqual(desk.toldFailures(), ["servfail", "nxdomain"]);
  const told = desk.events[0]!;
  assert.ok(told.kind === "discovery_failed");
  assert.deepEqual([told.kept, told.retryMs], [0, 500]);
  desk.script.setA(APP, ["127.0.0.11"]);
  await desk.clock.advance(30_000);
  const recovered = desk.events[2]!;
  assert.ok(recovered.kind === "discovery_recovered");
  assert.ok(recovered.failedMs >= 1_200_000, `${recovered.failedMs}`);
  await desk.end();
});

Deno.test("reload with the same block: no question, no update, the due time stays", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"], 10);
  await desk.begin();
  for (let i = 0; i < 20; i++) {
    await desk.clock.advance(450);
    await desk.begin();
  }
  assert.equal(desk.asked(), 1);
  await desk.clock.advance(1000);
  assert.equal(desk.asked(), 2);
  assert.equal(desk.updates.length, 1);
  await desk.end();
});

Deno.test("reload while DNS is down: the set is not touched", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"]);
  await desk.begin();
  desk.script.set(APP, "A", { drop: true });
  await desk.clock.advance(60_000);
  await desk.begin();
  await desk.begin({ refreshIntervalMs: 5000 });
  await desk.clock.advance(60_000);
  assert.equal(desk.updates.length, 1);
  await desk.end();
});

Deno.test("a changed block asks at once and keeps the set until it is answered", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"], 60);
  desk.script.setA("other.example.test", ["127.0.0.11", "127.0.0.99"], 60);
  await desk.begin();
  await desk.begin({ hostname: "other.example.test" });
  assert.equal(desk.script.count("other.example.test", "A"), 1);
  assert.deepEqual(desk.updates.map(([, set]) => set.length), [1, 2]);
  const last = desk.events.at(-1)!;
  assert.ok(last.kind === "discovery_updated");
  // The same addresses under another name have another TLS name: that is another set, of the same endpoints.
  assert.deepEqual([last.added, last.removed], [["127.0.0.99:80"], []]);
  await desk.end();
});

Deno.test("what is gone from the config ends, while a question is out too", async () => {
  const desk = new DiscoveryDesk([], { waits: true });
  desk.script.set(APP, "A", { drop: true });
  await desk.begin();
  assert.equal(desk.tasks.size, 1);
  await desk.respawn(discoveringUpstream("app", undefined));
  assert.equal(desk.tasks.size, 0);
  await desk.clock.advance(60_000);
  assert.equal(desk.events.length, 0);
  assert.equal(desk.clock.sleeping, 0);
});

Deno.test("an answer that comes after the abort reports nothing", async () => {
  const desk = new DiscoveryDesk();
  const held = Promise.withResolvers<void>();
  desk.resolver = {
    resolve: async ({ name }) => {
      await held.promise;
      const addresses = [{ name, address: "127.0.0.11", ttlS: 1 }];
      return { addresses, services: [], additional: [], ttlMs: 1000, chain: [name], source: "" };
    },
  };
  await desk.begin();
  const ended = desk.end();
  held.resolve();
  await ended;
  assert.equal(desk.updates.length + desk.events.length, 0);
  assert.equal(desk.clock.sleeping, 0);
});

Deno.test("abortAll ends all loops, and hurry afterwards does nothing", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"], 60);
  await desk.respawn(...["a", "b", "c"].map((name) => discoveringUpstream(name, discoveryParams())));
  assert.equal(desk.tasks.size, 3);
  await desk.end();
  desk.tasks.hurry("a");
  await desk.clock.advance(600_000);
  assert.equal(desk.asked(), 3);
  assert.equal(desk.clock.sleeping, 0);
});

Deno.test("upstreams are discovered each by itself", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"], 60);
  desk.script.set("down.example.test", "A", { rcode: "SERVFAIL" });
  await desk.respawn(
    discoveringUpstream("good", discoveryParams()),
    discoveringUpstream("bad", discoveryParams({ hostname: "down.example.test" })),
    discoveringUpstream("static", undefined, [staticEndpoint("10.0.0.1:80")]),
  );
  assert.deepEqual(desk.keys("good"), ["127.0.0.11:80"]);
  assert.equal(desk.tasks.stateOf("bad")!.failure, "servfail");
  assert.equal(desk.tasks.size, 2);
  await desk.end();
});

Deno.test("hurry asks early, at most once a second however often it is called", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"], 60);
  await desk.begin();
  await desk.clock.advance(5000);
  for (let i = 0; i < 1000; i++) desk.tasks.hurry("app");
  await desk.clock.advance(0);
  assert.equal(desk.asked(), 2);
  for (let ms = 0; ms < 5000; ms += 10) {
    desk.tasks.hurry("app");
    await desk.clock.advance(10);
  }
  assert.equal(desk.asked(), 7);
  await desk.clock.advance(29_000);
  assert.equal(desk.asked(), 7);
  await desk.end();
});

Deno.test("a throw of ours is told and the loop goes on", async () => {
  const desk = new DiscoveryDesk();
  const { resolver } = desk;
  desk.script.setA(APP, ["127.0.0.11"], 1);
  desk.resolver = { resolve: () => Promise.reject(new Error("a fault of ours")) };
  await desk.begin();
  await desk.clock.advance(60_000);
  assert.ok(desk.kinds().every((kind) => kind === "loop_error"));
  assert.ok(desk.kinds().length >= 2 && desk.kinds().length < 10, `${desk.kinds().length} times`);
  desk.resolver = resolver;
  await desk.clock.advance(30_000);
  assert.deepEqual(desk.keys(), ["127.0.0.11:80"]);
  await desk.end();
});
