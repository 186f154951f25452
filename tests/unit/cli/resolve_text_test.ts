// The lines of `hale resolve`.

import assert from "node:assert/strict";
import { askedLines, lifetime } from "../../../src/cli/resolve_text.ts";
import type { Resolved, Unresolved } from "../../../src/net/dns_types.ts";

const NAME = "app.example.test";

function lines(end: Partial<Resolved> | Unresolved, type: "A" | "SRV" = "A"): string[] {
  const none = {
    addresses: [],
    services: [],
    additional: [],
    ttlMs: 0,
    chain: [NAME],
    source: "10.0.0.53 (udp)",
  };
  const full = "failure" in end ? end : { ...none, ...end };
  return askedLines({ question: { name: NAME, type }, end: full as Resolved | Unresolved, tookMs: 3 });
}

Deno.test("records come with their lifetime, server, time and the way to them", () => {
  const addresses = [{ name: "b.example.test", address: "10.0.0.1", ttlS: 90 }];
  assert.deepEqual(lines({ addresses, ttlMs: 5000, chain: [NAME, "b.example.test"] }), [
    "app.example.test A: 1 record, by 10.0.0.53 (udp) in 3 ms",
    "  app.example.test -> b.example.test",
    "  10.0.0.1                                TTL 1 min 30 s",
  ]);
});

Deno.test("without a known lifetime that is said", () => {
  const addresses = [{ name: NAME, address: "10.0.0.1", ttlS: 0 }];
  assert.match(lines({ addresses, ttlMs: Infinity })[1]!, /TTL not known$/);
  assert.match(lines({ addresses, ttlMs: 0 })[1]!, /TTL 0 s$/);
});

Deno.test("a failure says its kind, how long it holds, and who said so", () => {
  assert.deepEqual(lines({ failure: "nxdomain", detail: "10.0.0.53 says NXDOMAIN", negativeTtlMs: 5000 }), [
    "app.example.test A: nxdomain after 3 ms, holds for 5 s",
    "  10.0.0.53 says NXDOMAIN",
  ]);
});

Deno.test("services come by priority, with the addresses that came along", () => {
  const service = { weight: 1, port: 80, target: "n1.example.test", ttlS: 60 };
  const services = [{ ...service, priority: 20 }, { ...service, priority: 10, target: "." }];
  const additional = [{ name: "n1.example.test", address: "10.0.0.1", ttlS: 9 }];
  assert.deepEqual(lines({ services, additional, ttlMs: 60_000 }, "SRV").slice(1), [
    '  not offered (target ".")  TTL 1 min',
    "  n1.example.test:80                      TTL 1 min, priority 20, weight 1",
    "    10.0.0.1                              TTL 9 s, came along",
  ]);
});

Deno.test("a lifetime is never told in parts of a second", () => {
  assert.deepEqual([0, 500, 1000, 86_400_000].map(lifetime), ["0 s", "0 s", "1 s", "1 d"]);
});
