// Cases 16 to 25 and 27: what discovery makes of the answers in tests/cases/*.dns.json.

import assert from "node:assert/strict";
import { APP, DiscoveryDesk } from "../../support/discovery_desk.ts";

const SRV = { hostname: `_http._tcp.${APP}`, recordType: "SRV", port: 0 } as const;
const PAIR = ["127.0.0.11:80", "127.0.0.12:80"];

Deno.test("case 16: with fail_open a failing stretch changes nothing, and recovery is by itself", async () => {
  const desk = new DiscoveryDesk("16-nxdomain-blip");
  await desk.begin();
  const shown = new Set<string>();
  for (let i = 0; i < 600 && desk.asked() < 15; i++) {
    await desk.clock.advance(500);
    if (desk.asked() < 14) assert.deepEqual(desk.keys(), PAIR);
    shown.add(desk.tasks.stateOf("app")!.failure ?? "ok");
  }
  assert.deepEqual(desk.keys(), ["127.0.0.12:80", "127.0.0.13:80"]);
  assert.deepEqual([...shown], ["ok", "nxdomain", "servfail", "timeout", "refused"]);
  assert.deepEqual(desk.toldFailures(), ["nxdomain", "servfail", "timeout", "refused"]);
  assert.deepEqual(desk.kinds().slice(-2), ["discovery_recovered", "discovery_updated"]);
  assert.equal(desk.updates.length, 2);
  await desk.end();
});

Deno.test("case 16: without fail_open the set is empty until DNS recovers", async () => {
  const desk = new DiscoveryDesk("16-nxdomain-blip");
  await desk.begin({ failOpen: false });
  await desk.clock.advance(600_000);
  assert.deepEqual(desk.updates.map(([, set]) => set.map((endpoint) => endpoint.key)), [
    PAIR,
    [],
    ["127.0.0.12:80", "127.0.0.13:80"],
  ]);
  await desk.end();
});

Deno.test("case 17: no data and no such name are told apart, and each stretch ends by itself", async () => {
  const desk = new DiscoveryDesk("17-nodata-vs-nxdomain");
  await desk.begin();
  await desk.clock.advance(120_000);
  assert.deepEqual(desk.toldFailures(), ["nodata", "nxdomain"]);
  assert.deepEqual({ ...desk.tasks.stateOf("app")!.failures }, { nodata: 3, nxdomain: 3 });
  assert.equal(desk.tasks.stateOf("app")!.failure, undefined);
  assert.deepEqual(desk.updates.length, 1);
  await desk.end();
});

Deno.test("case 18: a TTL of 0 is asked for once a second", async () => {
  const desk = new DiscoveryDesk("18-ttl0-flood", { random: () => 0.99 });
  await desk.begin();
  await desk.clock.advance(10_000);
  assert.equal(desk.asked(), 11);
  assert.equal(desk.updates.length, 1);
  await desk.end();
});

Deno.test("case 18: an unchanged set is no update, whatever its TTL does", async () => {
  const desk = new DiscoveryDesk("18-ttl0-flipflop");
  await desk.begin();
  await desk.clock.advance(20_000);
  assert.equal(desk.updates.length, 1);
  assert.deepEqual(desk.kinds(), ["discovery_updated"]);
  assert.ok(desk.asked() >= 6 && desk.asked() <= 9, `asked ${desk.asked()} times`);
  await desk.end();
});

Deno.test("case 19: all 120 addresses of a truncated answer are used", async () => {
  const desk = new DiscoveryDesk("19-tc-then-tcp");
  await desk.begin();
  assert.equal(desk.keys()!.length, 120);
  await desk.end();
});

Deno.test("case 19: a truncated answer is never the set, and the loop goes on", async () => {
  const desk = new DiscoveryDesk("19-tc-no-tcp");
  await desk.begin();
  await desk.clock.advance(60_000);
  assert.deepEqual(desk.keys(), PAIR);
  assert.equal(desk.tasks.stateOf("app")!.failure, "unreachable");
  assert.ok(desk.asked() > 5);
  await desk.end();
});

Deno.test("case 20: a moved alias is seen within its own short lifetime", async () => {
  const desk = new DiscoveryDesk("20-cname-ttl");
  await desk.begin({ refreshIntervalMs: 3_600_000 });
  await desk.clock.advance(4000);
  assert.deepEqual(desk.keys(), ["127.0.0.12:80"]);
  await desk.end();
});

Deno.test("case 20: strangers do not count, a cut chain is followed, a circle is a failure", async () => {
  for (const name of ["20-cname-unrelated-a", "20-cname-without-a"]) {
    const desk = new DiscoveryDesk(name);
    await desk.begin();
    assert.deepEqual(desk.keys(), ["127.0.0.11:80"], name);
    await desk.end();
  }
  const desk = new DiscoveryDesk("20-cname-chain-loop");
  await desk.begin();
  await desk.clock.advance(3_600_000);
  assert.equal(desk.tasks.stateOf("app")!.failure, "malformed");
  assert.equal(desk.updates.length, 0);
  assert.ok(desk.asked() < 300, `asked ${desk.asked()} times in an hour`);
  await desk.end();
});

Deno.test("case 21: duplicates are one endpoint", async () => {
  const desk = new DiscoveryDesk("21-duplicates");
  await desk.begin();
  assert.deepEqual(desk.keys(), PAIR);
  await desk.end();
});

Deno.test("case 21: SRV targets that differ in case are one", async () => {
  const desk = new DiscoveryDesk("21-srv-duplicates");
  await desk.begin(SRV);
  assert.deepEqual(desk.keys(), ["127.0.0.11:9001", "127.0.0.11:9002"]);
  await desk.end();
});

Deno.test("case 21: weights and priorities are those of the records", async () => {
  const desk = new DiscoveryDesk("21-srv-weight-mixed-priority");
  await desk.begin(SRV);
  assert.deepEqual(desk.set()!.map(({ key, weight, priority }) => [key, weight, priority]), [
    ["127.0.0.11:9001", 0, 10],
    ["127.0.0.11:9002", 9, 10],
    ["127.0.0.11:9003", 5, 20],
  ]);
  await desk.end();
  const zero = new DiscoveryDesk("21-srv-weight0");
  await zero.begin(SRV);
  assert.deepEqual(zero.set()!.map(({ key, weight }) => [key, weight]), [
    ["127.0.0.11:9001", 0],
    ["127.0.0.11:9002", 0],
  ]);
  await zero.end();
});

Deno.test("case 22: SRV targets without additional records are looked up; a bad one is left out and told", async () => {
  const desk = new DiscoveryDesk("22-srv-no-additional");
  await desk.begin(SRV);
  assert.deepEqual(desk.keys(), ["127.0.0.11:9001", "127.0.0.13:9001"]);
  assert.deepEqual(desk.events.filter((event) => event.kind === "discovery_target_left_out"), [{
    kind: "discovery_target_left_out",
    upstream: "app",
    hostname: SRV.hostname,
    target: "n2.example.test",
    failure: "servfail",
  }]);
  assert.equal(desk.tasks.stateOf("app")!.note, "left out n2.example.test (servfail)");
  await desk.clock.advance(120_000);
  assert.equal(desk.kinds().filter((kind) => kind === "discovery_target_left_out").length, 1);
  await desk.end();
});

Deno.test("case 23: the target's TLS name has no final dot and no capitals", async () => {
  const desk = new DiscoveryDesk("23-srv-trailing-dot");
  await desk.begin(SRV);
  assert.deepEqual(desk.set()!.map(({ key, serverName }) => [key, serverName]), [
    ["127.0.0.11:9443", "n1.example.test"],
  ]);
  await desk.end();
});

Deno.test("case 24: a bad AAAA answer of whatever kind leaves the A answer alone", async () => {
  const desk = new DiscoveryDesk("24-aaaa-nxdomain", { waits: true });
  await desk.begin({ recordType: "A+AAAA" });
  const notes = new Set<string>();
  for (let i = 0; i < 60; i++) {
    await desk.clock.advance(1000);
    notes.add(desk.tasks.stateOf("app")!.note ?? "");
  }
  assert.deepEqual(desk.updates.length, 1);
  assert.deepEqual(desk.keys(), ["127.0.0.11:80"]);
  // The dropped one was asked again within the same lookup, and then answered.
  assert.deepEqual([...notes].sort(), ["", "AAAA failed (nxdomain)", "AAAA failed (servfail)"]);
  await desk.end();
});

Deno.test("case 24: the mirror of it", async () => {
  const desk = new DiscoveryDesk("24-a-servfail-aaaa-ok");
  await desk.begin({ recordType: "A+AAAA" });
  assert.deepEqual(desk.keys(), ["[::1]:80"]);
  assert.equal(desk.tasks.stateOf("app")!.note, "A failed (servfail)");
  await desk.end();
});

Deno.test("case 25: hostile answers keep the set, and are told as unreadable", async () => {
  for (const name of ["25-pointer-self", "25-pointer-two-cycle", "25-rdlength-wrong"]) {
    const desk = new DiscoveryDesk(name);
    desk.script.setA(APP, ["127.0.0.11"]);
    await desk.begin();
    desk.script.unset(APP, "A");
    await desk.clock.advance(10_000);
    assert.deepEqual(desk.keys(), ["127.0.0.11:80"], name);
    assert.equal(desk.tasks.stateOf("app")!.failure, "malformed");
    await desk.end();
  }
});

Deno.test("case 27: another set comes as one step", async () => {
  const desk = new DiscoveryDesk("27-full-replacement");
  await desk.begin();
  await desk.clock.advance(5000);
  assert.equal(desk.updates.length, 2);
  assert.deepEqual(desk.updates.map(([, set]) => set.length), [10, 15]);
  const last = desk.events.at(-1)!;
  assert.ok(last.kind === "discovery_updated");
  assert.deepEqual([last.added.length, last.removed.length, last.total], [15, 10, 15]);
  await desk.end();
});
