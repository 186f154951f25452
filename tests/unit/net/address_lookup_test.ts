// Both families of a name, each judged by itself.

import assert from "node:assert/strict";
import { lookUpAddresses } from "../../../src/net/address_lookup.ts";
import type { DnsFailureKind } from "../../../src/net/dns_types.ts";
import { addressesResolved, TableResolver } from "../../support/table_resolver.ts";

const APP = "app.example.test";
const BOTH = { name: APP, types: ["AAAA", "A"] } as const;

function table(a: DnsFailureKind | string[], aaaa: DnsFailureKind | string[]): TableResolver {
  const resolver = new TableResolver();
  const end = (it: DnsFailureKind | string[], ttlS: number) =>
    typeof it === "string" ? { failure: it, detail: `it is ${it}` } : addressesResolved(APP, it, ttlS);
  resolver.ends.set(`${APP} A`, end(a, 60));
  resolver.ends.set(`${APP} AAAA`, end(aaaa, 30));
  return resolver;
}

Deno.test("the least lifetime of both counts", async () => {
  const found = await lookUpAddresses(table(["10.0.0.1"], ["::1"]), BOTH);
  assert.ok("records" in found);
  assert.deepEqual(found.records.map((record) => record.address), ["::1", "10.0.0.1"]);
  assert.equal(found.ttlMs, 30_000);
  assert.deepEqual(found.halves, []);
});

Deno.test("case 24: a half that fails is told, one without records is not worth a word", async () => {
  const bad = await lookUpAddresses(table(["10.0.0.1"], "servfail"), BOTH);
  assert.ok("records" in bad);
  assert.deepEqual(bad.halves, [{ type: "AAAA", failure: "servfail", detail: "it is servfail" }]);
  assert.equal(bad.ttlMs, 60_000);
  const none = await lookUpAddresses(table(["10.0.0.1"], "nodata"), BOTH);
  assert.ok("records" in none);
  assert.deepEqual(none.halves, []);
  const mirror = await lookUpAddresses(table("servfail", ["::1"]), BOTH);
  assert.ok("records" in mirror);
  assert.deepEqual(mirror.records.map((record) => record.address), ["::1"]);
});

Deno.test("when both fail the one that says least about the name is told: not knowing, then no data", async () => {
  const cases: [DnsFailureKind, DnsFailureKind, DnsFailureKind][] = [
    ["nodata", "nxdomain", "nodata"],
    ["nxdomain", "nodata", "nodata"],
    ["nxdomain", "nxdomain", "nxdomain"],
    ["nodata", "timeout", "timeout"],
    ["servfail", "nxdomain", "servfail"],
  ];
  for (const [a, aaaa, wanted] of cases) {
    const end = await lookUpAddresses(table(a, aaaa), BOTH);
    assert.equal("failure" in end && end.failure, wanted, `${a} and ${aaaa}`);
  }
});

Deno.test("only the families asked for are looked up", async () => {
  const resolver = table(["10.0.0.1"], ["::1"]);
  await lookUpAddresses(resolver, { name: APP, types: ["A"] });
  assert.deepEqual(resolver.asked, [`${APP} A`]);
});
