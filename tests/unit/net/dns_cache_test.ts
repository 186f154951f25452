// The cache in front of the dial path (D8), with a clock that stands still.

import assert from "node:assert/strict";
import { DnsCache } from "../../../src/net/dns_cache.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";
import { TableResolver } from "../../support/table_resolver.ts";

const APP = "app.example.test";

class Desk {
  readonly clock = new FakeClock();
  readonly table = new TableResolver();
  readonly cache = new DnsCache(this.table, this.clock);

  async addresses(host = APP): Promise<readonly string[] | string> {
    const end = await this.cache.resolve(host);
    return "failure" in end ? end.failure : end.addresses;
  }

  /** How many lookups; each asks for two families. */
  get lookups(): number {
    return this.table.asked.length / 2;
  }
}

Deno.test("both families are given, IPv6 first, and asked once for as long as they live", async () => {
  const desk = new Desk();
  desk.table.set(APP, "A", ["10.0.0.1", "10.0.0.2"], 60);
  desk.table.set(APP, "AAAA", ["::1"], 30);
  assert.deepEqual(await desk.addresses(), ["::1", "10.0.0.1", "10.0.0.2"]);
  await desk.clock.advance(29_999);
  await desk.addresses();
  assert.equal(desk.lookups, 1);
  await desk.clock.advance(1);
  await desk.addresses();
  await settled();
  assert.equal(desk.lookups, 2);
});

Deno.test("a name has one query in flight, however many ask", async () => {
  const desk = new Desk();
  desk.table.set(APP, "A", ["10.0.0.1"]);
  const held = Promise.withResolvers<void>();
  desk.table.hold = held.promise;
  const all = Array.from({ length: 100 }, () => desk.addresses());
  await settled();
  held.resolve();
  for (const one of await Promise.all(all)) assert.deepEqual(one, ["10.0.0.1"]);
  assert.equal(desk.lookups, 1);
});

Deno.test("a lifetime of 0 lasts a second, one of a year five minutes", async () => {
  const desk = new Desk();
  desk.table.set(APP, "A", ["10.0.0.1"], 0);
  for (let i = 0; i < 100; i++) {
    await desk.addresses();
    await desk.clock.advance(100);
  }
  assert.equal(desk.lookups, 10);
  const other = new Desk();
  other.table.set(APP, "A", ["10.0.0.1"], 31_536_000);
  await other.addresses();
  await other.clock.advance(299_999);
  await other.addresses();
  assert.equal(other.lookups, 1);
  await other.clock.advance(1);
  await other.addresses();
  await settled();
  assert.equal(other.lookups, 2);
});

Deno.test("an answer that has just run out is given at once while the next is fetched", async () => {
  const desk = new Desk();
  desk.table.set(APP, "A", ["10.0.0.1"], 10);
  await desk.addresses();
  await desk.clock.advance(11_000);
  desk.table.set(APP, "A", ["10.0.0.2"], 10);
  const held = Promise.withResolvers<void>();
  desk.table.hold = held.promise;
  assert.deepEqual(await desk.addresses(), ["10.0.0.1"]);
  held.resolve();
  await settled();
  assert.deepEqual(await desk.addresses(), ["10.0.0.2"]);
});

Deno.test("an answer that ran out long ago is fetched anew before it is given", async () => {
  const desk = new Desk();
  desk.table.set(APP, "A", ["10.0.0.1"], 10);
  await desk.addresses();
  await desk.clock.advance(3_600_000);
  desk.table.set(APP, "A", ["10.0.0.2"], 10);
  assert.deepEqual(await desk.addresses(), ["10.0.0.2"]);
});

Deno.test("while a refresh fails the last good answer goes on, and is tried again every five seconds", async () => {
  const desk = new Desk();
  desk.table.set(APP, "A", ["10.0.0.1"], 10);
  await desk.addresses();
  desk.table.fail(APP, "servfail");
  await desk.clock.advance(3_600_000);
  for (let i = 0; i < 10; i++) {
    assert.deepEqual(await desk.addresses(), ["10.0.0.1"]);
    await desk.clock.advance(1000);
  }
  await settled();
  assert.equal(desk.lookups, 3);
  desk.table.set(APP, "A", ["10.0.0.2"], 10);
  await desk.clock.advance(5000);
  await desk.addresses();
  await settled();
  assert.deepEqual(await desk.addresses(), ["10.0.0.2"]);
});

Deno.test("that we could not ask holds one second", async () => {
  const desk = new Desk();
  desk.table.fail(APP, "own_limit");
  assert.equal(await desk.addresses(), "own_limit");
  desk.table.set(APP, "A", ["10.0.0.1"]);
  await desk.clock.advance(999);
  assert.equal(await desk.addresses(), "own_limit");
  await desk.clock.advance(1);
  assert.deepEqual(await desk.addresses(), ["10.0.0.1"]);
});

Deno.test("a failure holds five seconds", async () => {
  const desk = new Desk();
  desk.table.fail(APP, "nxdomain");
  assert.equal(await desk.addresses(), "nxdomain");
  await desk.clock.advance(4999);
  assert.equal(await desk.addresses(), "nxdomain");
  assert.equal(desk.lookups, 1);
  await desk.clock.advance(1);
  desk.table.set(APP, "A", ["10.0.0.1"]);
  assert.deepEqual(await desk.addresses(), ["10.0.0.1"]);
});

Deno.test("case 24: one family's failure does not take the other with it", async () => {
  for (const failure of ["nxdomain", "servfail", "timeout", "nodata"] as const) {
    const desk = new Desk();
    desk.table.fail(APP, failure);
    desk.table.set(APP, "A", ["10.0.0.1"]);
    assert.deepEqual(await desk.addresses(), ["10.0.0.1"]);
  }
});

Deno.test("no more than 4096 names are kept, and those used last stay", async () => {
  const desk = new Desk();
  for (let i = 0; i < 5000; i++) {
    desk.table.set(`n${i}`, "A", ["10.0.0.1"]);
    await desk.addresses(`n${i}`);
    await desk.addresses("n0");
  }
  assert.equal(desk.cache.size, 4096);
  const before = desk.lookups;
  await desk.addresses("n0");
  await desk.addresses("n4999");
  assert.equal(desk.lookups, before);
  await desk.addresses("n1");
  assert.equal(desk.lookups, before + 1);
});

Deno.test("a resolver that throws is a failure, not a stuck name", async () => {
  const desk = new Desk();
  desk.table.hold = Promise.reject(new Error("broken"));
  assert.equal(await desk.addresses(), "unreachable");
  desk.table.hold = undefined;
  desk.table.set(APP, "A", ["10.0.0.1"]);
  await desk.clock.advance(5000);
  assert.deepEqual(await desk.addresses(), ["10.0.0.1"]);
});
