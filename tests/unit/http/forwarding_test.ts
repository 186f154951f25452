// Who is believed about the client.

import assert from "node:assert/strict";
import { clientFacts, TrustedProxies } from "../../../src/http/forwarding.ts";
import { stringOf } from "../../support/http_heads.ts";

Deno.test("trusted proxies are addresses and ranges, IPv4 also when it comes mapped", () => {
  const trusted = new TrustedProxies(["10.0.0.0/8", "192.0.2.7", "2001:db8::/33", "fe80::1"]);
  for (const host of ["10.255.0.1", "::ffff:10.0.0.1", "192.0.2.7", "2001:db8:7fff::1", "fe80::1%eth0"]) {
    assert.equal(trusted.includes(host), true, host);
  }
  for (const host of ["11.0.0.1", "192.0.2.8", "2001:db8:8000::1", "fe80::2", "", "unix"]) {
    assert.equal(trusted.includes(host), false, host);
  }
});

Deno.test("a range of length 0 holds one family only, unless it is IPv6", () => {
  assert.equal(new TrustedProxies(["0.0.0.0/0"]).includes("::1"), false);
  assert.equal(new TrustedProxies(["0.0.0.0/0"]).includes("203.0.113.1"), true);
  assert.equal(new TrustedProxies(["::/0"]).includes("203.0.113.1"), true);
});

Deno.test("nobody is trusted by an empty list, and nonsense is refused", () => {
  assert.equal(new TrustedProxies([]).includes("127.0.0.1"), false);
  for (const text of ["x", "10.0.0.0/33", "10.0.0.0/x", "::/129"]) {
    assert.throws(() => new TrustedProxies([text]), RangeError);
  }
});

Deno.test("a mapped IPv4 address is written as IPv4", () => {
  const facts = clientFacts("::ffff:127.0.0.1", { tls: true, isTrusted: false });
  assert.deepEqual([facts.address, stringOf(facts.scheme as Uint8Array)], [
    "127.0.0.1",
    "https",
  ]);
});
