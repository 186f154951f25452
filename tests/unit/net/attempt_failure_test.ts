import assert from "node:assert/strict";
import { attemptFailure } from "../../../src/net/attempt_failure.ts";
import { coded } from "../../support/memory_duplex.ts";

const running = { deadline: { struck: undefined }, limitMs: 100 };

function outcomeOf(host: string, code: string, hasIpv6: boolean): string {
  return attemptFailure(coded(code, "failed"), { host, ...running }, () => hasIpv6).outcome;
}

Deno.test("an IPv6 address can not be reached where there is no IPv6; want of a local port is ours", () => {
  assert.equal(outcomeOf("2001:db8::1", "EADDRNOTAVAIL", false), "unreachable");
  assert.equal(outcomeOf("2001:db8::1", "EADDRNOTAVAIL", true), "own_limit");
  assert.equal(outcomeOf("192.0.2.1", "EADDRNOTAVAIL", false), "own_limit");
  assert.equal(outcomeOf("2001:db8::1", "ECONNREFUSED", false), "refused");
});

Deno.test("a deadline that struck decides, whatever the error", () => {
  const failed = (struck: "timeout" | "cancelled") =>
    attemptFailure(coded("EADDRNOTAVAIL", "x"), { host: "::1", deadline: { struck }, limitMs: 100 });
  assert.deepEqual(failed("timeout"), { outcome: "connect_timeout", reason: "no answer within 100 ms" });
  assert.equal(failed("cancelled").outcome, "cancelled");
});
