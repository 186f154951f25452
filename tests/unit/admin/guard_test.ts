// Host, Origin and token.

import assert from "node:assert/strict";
import { foreignRefusal, type GuardRules, tokenRefusal } from "../../../src/admin/guard.ts";

const LOOPBACK: GuardRules = { address: { host: "127.0.0.1", port: 9900 } };

function codeFor(
  headers: Record<string, string>,
  rules: GuardRules = LOOPBACK,
  method = "GET",
): string | undefined {
  return foreignRefusal(new Request("http://127.0.0.1:9900/status", { headers, method }), rules)?.code;
}

Deno.test("loopback names and addresses are let in, with any port", () => {
  for (
    const host of [
      "127.0.0.1:9900",
      "127.0.0.1",
      "LOCALHOST:9900",
      "localhost.",
      "[::1]:9900",
      "127.8.9.1",
      "localhost:8080",
      "[::ffff:127.0.0.1]:1",
    ]
  ) {
    assert.equal(codeFor({ host }), undefined, host);
  }
});

Deno.test("any other host is foreign: a name that was rebound, another address, nonsense", () => {
  const foreign = [
    "evil.example.com:9900",
    "localhost.evil.example.com",
    "127.0.0.1.evil.example.com",
    "10.0.0.5:9900",
    "[2001:db8::1]:9900",
    "",
    "127.1",
    "127.0.0.1:9900:1",
    "localhost@evil",
    "[::1",
    "a b",
  ];
  for (const host of foreign) assert.equal(codeFor({ host }), "foreign_host", host);
});

Deno.test("without a Host header the host of the URL counts", () => {
  const refusal = (url: string) => foreignRefusal(new Request(url), LOOPBACK)?.code;
  assert.equal(refusal("http://localhost:9900/"), undefined);
  assert.equal(refusal("http://evil.example.com/"), "foreign_host");
});

Deno.test("the configured address and allowed names are let in", () => {
  const rules = { address: { host: "10.0.0.5", port: 9900 }, allowedHosts: ["Hale.internal."] };
  assert.equal(codeFor({ host: "10.0.0.5:9900" }, rules), undefined);
  assert.equal(codeFor({ host: "hale.internal:9900" }, rules), undefined);
  assert.equal(codeFor({ host: "10.0.0.6:9900" }, rules), "foreign_host");
});

Deno.test("bound to all addresses, every literal is ours, but no name", () => {
  for (const host of ["0.0.0.0", "::"]) {
    const rules = { address: { host, port: 9900 } };
    assert.equal(codeFor({ host: "10.1.2.3:9900" }, rules), undefined);
    assert.equal(codeFor({ host: "[2001:db8::1]:9900" }, rules), undefined);
    assert.equal(codeFor({ host: "evil.example.com" }, rules), "foreign_host");
  }
});

Deno.test("the own origin is let in, foreign ones and null are not", () => {
  const host = "localhost:9900";
  assert.equal(codeFor({ host, origin: "http://localhost:9900" }, LOOPBACK, "POST"), undefined);
  assert.equal(codeFor({ host, origin: "HTTP://LOCALHOST:9900" }, LOOPBACK, "POST"), undefined);
  for (
    const origin of ["https://evil.example.com", "http://localhost:9901", "http://localhost", "null", "", "x"]
  ) {
    assert.equal(codeFor({ host, origin }, LOOPBACK, "POST"), "foreign_origin", origin);
    assert.equal(codeFor({ host, origin }), "foreign_origin", origin);
  }
});

Deno.test("tools without Origin may act, a cross-site form may not, a link may be followed", () => {
  const host = "localhost:9900";
  assert.equal(codeFor({ host }, LOOPBACK, "POST"), undefined);
  assert.equal(codeFor({ host, "sec-fetch-site": "cross-site" }, LOOPBACK, "POST"), "foreign_origin");
  assert.equal(codeFor({ host, "sec-fetch-site": "cross-site" }), undefined);
});

Deno.test("with a token only the exact token is let in", () => {
  const rules = { ...LOOPBACK, token: "correct horse" };
  const code = (authorization?: string) =>
    tokenRefusal(
      new Request("http://h/", { headers: authorization === undefined ? {} : { authorization } }),
      rules,
    )?.code;
  assert.equal(code("Bearer correct horse"), undefined);
  assert.equal(code("bearer  correct horse"), undefined);
  for (
    const wrong of [
      undefined,
      "Bearer",
      "Bearer ",
      "Bearer correct hors",
      "Bearer correct horse2",
      "Basic correct horse",
      "correct horse",
    ]
  ) {
    assert.equal(code(wrong), "token_required", wrong);
  }
});

Deno.test("without a token nobody is asked for one", () => {
  assert.equal(tokenRefusal(new Request("http://h/"), LOOPBACK), undefined);
});
