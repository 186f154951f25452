// What an answer does to the set in force: floors, seeds, halves, clearing, SRV (D2 to D5).

import assert from "node:assert/strict";
import { APP, DiscoveryDesk, staticEndpoint } from "../../support/discovery_desk.ts";

const SEED = [staticEndpoint("10.0.0.1:80"), staticEndpoint("10.0.0.2:80")];
const SERVICE = `_http._tcp.${APP}`;
const SRV = { hostname: SERVICE, recordType: "SRV", port: 0 } as const;

function srv(...records: [target: string, port: number, weight?: number, priority?: number][]) {
  return {
    answer: records.map(([target, port, weight = 1, priority = 10]) => ({
      name: SERVICE,
      type: "SRV",
      ttl: 60,
      data: { priority, weight, port, target },
    })),
  };
}

Deno.test("a discovered endpoint carries the host name for TLS, and its place", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"]);
  await desk.begin({ port: 8443 });
  assert.deepEqual(desk.set(), [{
    key: "127.0.0.11:8443",
    host: "127.0.0.11",
    port: 8443,
    weight: 1,
    priority: 0,
    source: "discovered",
    serverName: APP,
  }]);
  await desk.end();
});

Deno.test("order, duplicates and case of the answer mean nothing", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.12", "127.0.0.11"]);
  await desk.begin();
  desk.script.setA(APP.toUpperCase(), ["127.0.0.11", "127.0.0.12", "127.0.0.11"]);
  await desk.clock.advance(10_000);
  assert.equal(desk.updates.length, 1);
  await desk.end();
});

Deno.test("an answer below the floor keeps the set, says so once, and is taken when it has grown", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11", "127.0.0.12", "127.0.0.13"]);
  await desk.begin({ minEndpoints: 2 });
  desk.script.setA(APP, ["127.0.0.14"]);
  await desk.clock.advance(10_000);
  assert.equal(desk.keys()!.length, 3);
  assert.deepEqual(desk.events.filter((event) => event.kind === "discovery_too_few"), [{
    kind: "discovery_too_few",
    upstream: "app",
    hostname: APP,
    got: 1,
    minEndpoints: 2,
    kept: 3,
  }]);
  const state = desk.tasks.stateOf("app")!;
  assert.deepEqual([state.failure, state.note], [
    undefined,
    "kept 3 endpoints, the answer had 1 of at least 2",
  ]);
  desk.script.setA(APP, ["127.0.0.14", "127.0.0.15"]);
  await desk.clock.advance(1000);
  assert.deepEqual(desk.keys(), ["127.0.0.14:80", "127.0.0.15:80"]);
  assert.equal(desk.tasks.stateOf("app")!.note, "");
  await desk.end();
});

Deno.test("below the floor from the start: the seed stays; without one the answer is better than nothing", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"]);
  await desk.begin({ minEndpoints: 3 }, SEED);
  assert.equal(desk.updates.length, 0);
  assert.equal(desk.tasks.stateOf("app")!.note, "kept 2 endpoints, the answer had 1 of at least 3");
  await desk.end();
  const bare = new DiscoveryDesk();
  bare.script.setA(APP, ["127.0.0.11"]);
  await bare.begin({ minEndpoints: 3 });
  assert.deepEqual(bare.keys(), ["127.0.0.11:80"]);
  assert.equal(bare.tasks.stateOf("app")!.note, "the answer had 1 of at least 3");
  assert.ok(!bare.kinds().includes("discovery_too_few"));
  await bare.end();
});

Deno.test("a floor of 0 asks for nothing", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"]);
  await desk.begin({ minEndpoints: 0 });
  assert.deepEqual(desk.keys(), ["127.0.0.11:80"]);
  await desk.end();
});

Deno.test("no address at all is a failure, not an answer below the floor", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"]);
  await desk.begin({ minEndpoints: 0 });
  desk.script.setA(APP, []);
  await desk.clock.advance(5000);
  assert.deepEqual(desk.toldFailures(), ["nodata"]);
  assert.deepEqual(desk.keys(), ["127.0.0.11:80"]);
  await desk.end();
});

Deno.test("the seed serves until the first answer, also through failures without fail_open", async () => {
  for (const failOpen of [true, false]) {
    const desk = new DiscoveryDesk();
    desk.script.set(APP, "A", { rcode: "SERVFAIL" });
    await desk.begin({ failOpen }, SEED);
    await desk.clock.advance(60_000);
    assert.equal(desk.updates.length, 0);
    const told = desk.events[0]!;
    assert.ok(told.kind === "discovery_failed");
    assert.equal(told.kept, 2);
    desk.script.setA(APP, ["127.0.0.11"]);
    await desk.clock.advance(30_000);
    assert.deepEqual(desk.keys(), ["127.0.0.11:80"]);
    await desk.end();
  }
});

Deno.test("without fail_open a failure clears the set once, and it returns with the next answer", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"]);
  await desk.begin({ failOpen: false }, SEED);
  desk.script.set(APP, "A", { rcode: "NXDOMAIN" });
  await desk.clock.advance(60_000);
  desk.script.setA(APP, ["127.0.0.11"]);
  await desk.clock.advance(30_000);
  assert.deepEqual(desk.updates.map(([, set]) => set.length), [1, 0, 1]);
  assert.deepEqual(desk.kinds(), [
    "discovery_updated",
    "discovery_failed",
    "discovery_updated",
    "discovery_recovered",
    "discovery_updated",
  ]);
  await desk.end();
});

Deno.test("without fail_open our own shortage clears nothing, whatever part of the answer it took", async () => {
  const cases = [
    { record: { recordType: "A" }, unasked: [APP] },
    { record: { recordType: "A+AAAA" }, unasked: [APP] },
    { record: SRV, unasked: [SERVICE] },
    { record: SRV, unasked: ["n1.example.test."] },
  ] as const;
  for (const { record, unasked } of cases) {
    const desk = new DiscoveryDesk();
    desk.script.set(SERVICE, "SRV", srv(["n1.example.test", 80], ["n2.example.test", 80]));
    for (const name of [APP, "n1.example.test"]) desk.script.setA(name, ["127.0.0.11"], 1);
    desk.script.setA("n2.example.test", ["127.0.0.12"], 1);
    await desk.begin({ ...record, failOpen: false });
    const [before, real] = [desk.keys(), desk.resolver];
    assert.notEqual(before, undefined);
    desk.resolver = {
      resolve: (question, signal) =>
        (unasked as readonly string[]).includes(question.name) && question.type !== "AAAA"
          ? Promise.resolve({ failure: "own_limit", detail: "too many open files in this process" })
          : real.resolve(question, signal),
    };
    await desk.clock.advance(60_000);
    assert.deepEqual(desk.keys(), before);
    assert.equal(desk.updates.length, 1);
    assert.equal(desk.tasks.stateOf("app")!.failure, "own_limit");
    assert.deepEqual(desk.toldFailures(), ["own_limit"]);
    desk.resolver = real;
    await desk.clock.advance(60_000);
    assert.equal(desk.tasks.stateOf("app")!.failure, undefined);
    await desk.end();
  }
});

Deno.test("after clearing, an answer below the floor is taken: there is nothing better to keep", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11", "127.0.0.12"]);
  await desk.begin({ failOpen: false, minEndpoints: 2 }, SEED);
  desk.script.set(APP, "A", { rcode: "NXDOMAIN" });
  await desk.clock.advance(5000);
  desk.script.setA(APP, ["127.0.0.13"]);
  await desk.clock.advance(30_000);
  assert.deepEqual(desk.keys(), ["127.0.0.13:80"]);
  await desk.end();
});

Deno.test("with fail_open a family that fails keeps its endpoints, one without records does not", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11", "127.0.0.12"]);
  desk.script.setAAAA(APP, ["::1"]);
  await desk.begin({ recordType: "A+AAAA" });
  desk.script.set(APP, "A", { rcode: "SERVFAIL" });
  desk.script.setAAAA(APP, ["::2"]);
  await desk.clock.advance(2000);
  assert.deepEqual(desk.keys(), ["127.0.0.11:80", "127.0.0.12:80", "[::2]:80"]);
  assert.equal(desk.tasks.stateOf("app")!.note, "A failed (servfail), its 2 endpoints stay");
  desk.script.setA(APP, []);
  await desk.clock.advance(2000);
  assert.deepEqual(desk.keys(), ["[::2]:80"]);
  await desk.end();
});

Deno.test("without fail_open the half that answered is the set", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA(APP, ["127.0.0.11"]);
  desk.script.setAAAA(APP, ["::1"]);
  await desk.begin({ recordType: "A+AAAA", failOpen: false });
  desk.script.set(APP, "A", { rcode: "SERVFAIL" });
  await desk.clock.advance(2000);
  assert.deepEqual(desk.keys(), ["[::1]:80"]);
  await desk.end();
});

Deno.test("a service that is not offered is told as that", async () => {
  const desk = new DiscoveryDesk();
  desk.script.set(SERVICE, "SRV", srv([".", 0]));
  await desk.begin(SRV);
  assert.equal(desk.tasks.stateOf("app")!.failure, "not_offered");
  await desk.end();
});

Deno.test("SRV records that say nothing one could dial are left out; alone they are a failure", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA("n1.example.test", ["127.0.0.11"], 60);
  desk.script.set(
    SERVICE,
    "SRV",
    srv(["n1.example.test", 0], ["-bad-.example.test", 80], ["n1.example.test", 81]),
  );
  await desk.begin(SRV);
  assert.deepEqual(desk.keys(), ["127.0.0.11:81"]);
  assert.equal(
    desk.tasks.stateOf("app")!.note,
    "left out n1.example.test (malformed); left out -bad-.example.test (malformed)",
  );
  await desk.end();
  const alone = new DiscoveryDesk();
  alone.script.set(SERVICE, "SRV", srv(["n1.example.test", 0]));
  await alone.begin(SRV);
  assert.equal(alone.tasks.stateOf("app")!.failure, "malformed");
  await alone.end();
});

Deno.test("when no target resolves that is the failure", async () => {
  const desk = new DiscoveryDesk();
  desk.script.set(SERVICE, "SRV", srv(["n1.example.test", 80], ["n2.example.test", 80]));
  for (const type of ["A", "AAAA"]) desk.script.set("n1.example.test", type, { rcode: "NXDOMAIN" });
  await desk.begin(SRV);
  const state = desk.tasks.stateOf("app")!;
  assert.equal(state.failure, "nxdomain");
  assert.equal(state.note, "no SRV target resolves: n1.example.test (nxdomain), n2.example.test (nodata)");
  await desk.end();
});

Deno.test("the lifetime of SRV target addresses counts too", async () => {
  const desk = new DiscoveryDesk();
  desk.script.set(SERVICE, "SRV", srv(["n1.example.test", 80]));
  desk.script.setA("n1.example.test", ["127.0.0.11"], 7);
  desk.script.setAAAA("n1.example.test", ["::1"], 9);
  await desk.begin(SRV);
  assert.deepEqual(desk.keys(), ["127.0.0.11:80", "[::1]:80"]);
  assert.equal(desk.tasks.stateOf("app")!.ttlMs, 7000);
  await desk.end();
});

Deno.test("one address and port named twice keeps the better priority, then the greater weight", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA("n1.example.test", ["127.0.0.11"], 60);
  desk.script.setA("n2.example.test", ["127.0.0.11"], 60);
  desk.script.set(
    SERVICE,
    "SRV",
    srv(["n1.example.test", 80, 9, 20], ["n2.example.test", 80, 3, 10], ["n1.example.test", 80, 5, 10]),
  );
  await desk.begin(SRV);
  assert.deepEqual(
    desk.set()!.map(({ key, weight, priority, serverName }) => [key, weight, priority, serverName]),
    [
      ["127.0.0.11:80", 5, 10, "n1.example.test"],
    ],
  );
  await desk.end();
});

Deno.test("a changed weight or priority is another set", async () => {
  const desk = new DiscoveryDesk();
  desk.script.setA("n1.example.test", ["127.0.0.11"], 1);
  desk.script.set(SERVICE, "SRV", srv(["n1.example.test", 80, 1]));
  await desk.begin(SRV);
  desk.script.set(SERVICE, "SRV", srv(["n1.example.test", 80, 2]));
  await desk.clock.advance(1000);
  assert.deepEqual(desk.updates.map(([, set]) => set[0]!.weight), [1, 2]);
  const last = desk.events.at(-1)!;
  assert.ok(last.kind === "discovery_updated");
  assert.deepEqual([last.added, last.removed], [[], []]);
  await desk.end();
});

Deno.test("a thousand SRV targets are resolved a few at a time", async () => {
  const desk = new DiscoveryDesk();
  const targets = Array.from({ length: 1000 }, (_, i) => `n${i}.example.test`);
  let atOnce = 0;
  let most = 0;
  const { resolver } = desk;
  desk.script.set(SERVICE, "SRV", srv(...targets.map((target): [string, number] => [target, 80])));
  targets.forEach((target, i) => desk.script.setA(target, [`10.1.${i >> 8}.${i & 255}`], 60));
  desk.resolver = {
    resolve: async (question, signal) => {
      most = Math.max(most, ++atOnce);
      try {
        return await resolver.resolve(question, signal);
      } finally {
        atOnce--;
      }
    },
  };
  await desk.begin(SRV);
  for (let i = 0; i < 1000 && desk.updates.length === 0; i++) await desk.clock.advance(0);
  assert.equal(desk.keys()!.length, 1000);
  assert.ok(most <= 32, `${most} at once`);
  await desk.end();
});
