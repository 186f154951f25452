// The system's resolver behind the same type, with a stand-in for the runtime's call.

import assert from "node:assert/strict";
import type { Resolved, Unresolved } from "../../../src/net/dns_types.ts";
import { type ResolveDns, SystemResolver } from "../../../src/net/system_resolver.ts";
import { TableResolver } from "../../support/table_resolver.ts";

function failureOf(end: Resolved | Unresolved): string {
  return "failure" in end ? end.failure : "ok";
}

const throwing = (error: unknown): ResolveDns => () => Promise.reject(error);

Deno.test("addresses and services are read, without a known lifetime", async () => {
  const resolver = new SystemResolver({
    resolveDns: (_name, type) =>
      Promise.resolve(
        type === "SRV"
          ? [{ priority: 1, weight: 2, port: 80, target: "N1.Example.test." }]
          : ["10.0.0.1", "2001:DB8::1"],
      ),
  });
  const a = await resolver.resolve({ name: "app.example.test.", type: "A" });
  assert.ok("addresses" in a);
  assert.deepEqual(a.addresses.map((record) => record.address), ["10.0.0.1", "2001:db8::1"]);
  assert.equal(a.ttlMs, Infinity);
  const srv = await resolver.resolve({ name: "_http._tcp.app.example.test", type: "SRV" });
  assert.ok("services" in srv);
  assert.equal(srv.services[0]!.target, "n1.example.test");
});

Deno.test("failures are told apart as far as the system does", async () => {
  const ends: [unknown, string][] = [
    [new Deno.errors.NotFound("proto error: no records found for Query"), "nxdomain"],
    [new Deno.errors.TimedOut("request timed out"), "timeout"],
    [new Error("something else"), "unreachable"],
  ];
  for (const [error, wanted] of ends) {
    const resolver = new SystemResolver({ resolveDns: throwing(error) });
    assert.equal(failureOf(await resolver.resolve({ name: "app.example.test", type: "A" })), wanted);
  }
  const empty = new SystemResolver({ resolveDns: () => Promise.resolve([]) });
  assert.equal(failureOf(await empty.resolve({ name: "app.example.test", type: "A" })), "nodata");
});

Deno.test("the last resort is asked only when the system has no name server", async () => {
  const lastResort = new TableResolver();
  lastResort.set("app.example.test", "A", ["10.0.0.1"]);
  for (const message of ["no nameservers found in config", "No such file or directory (os error 2)"]) {
    const resolver = new SystemResolver({
      resolveDns: throwing(new Error(`io error: ${message}`)),
      lastResort,
    });
    assert.equal(failureOf(await resolver.resolve({ name: "app.example.test", type: "A" })), "ok");
  }
  assert.equal(lastResort.asked.length, 2);
  const silent = new SystemResolver({ resolveDns: throwing(new Deno.errors.TimedOut("x")), lastResort });
  assert.equal(failureOf(await silent.resolve({ name: "app.example.test", type: "A" })), "timeout");
  assert.equal(lastResort.asked.length, 2);
});

Deno.test("an abort rejects with its reason", async () => {
  const stop = new AbortController();
  const resolver = new SystemResolver({
    resolveDns: (_name, _type, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const pending = resolver.resolve({ name: "app.example.test", type: "A" }, stop.signal);
  stop.abort("enough");
  await assert.rejects(pending, (reason) => reason === "enough");
});
