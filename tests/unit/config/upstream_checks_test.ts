import assert from "node:assert/strict";
import { problemsOf, withProtocol, withUpstream } from "../../support/config_text.ts";

/** Asserts that there is exactly one problem, at this path, with a message like this. */
function assertProblem(text: string, path: string, message: RegExp): void {
  const problems = problemsOf(text);
  assert.equal(problems.length, 1, `${path}: ${problems.join("\n")}`);
  const [, got, said] = problems[0]!.split("  ");
  assert.equal(got, path);
  assert.match(said!, message);
}

const UP = "upstreams[0]";

Deno.test("the same endpoint twice is found in whatever spelling", () => {
  const pairs = [
    ["a:1", "A:1"],
    ["a.example:1", "a.example.:1"],
    ["App.Internal.:1", "app.internal:1"],
    ["10.0.0.1:1", "[::ffff:10.0.0.1]:1"],
    ["10.0.0.1:1", "[::FFFF:a00:1]:1"],
    ["[::1]:1", "[0:0:0:0:0:0:0:1]:1"],
    ["[2001:db8::1]:1", "[2001:0DB8:0::0:1]:1"],
    ["[fe80::1%eth0]:1", "[FE80::1%eth0]:1"],
  ];
  for (const [a, b] of pairs) {
    assertProblem(
      withUpstream(`endpoints: ["${a}", { address: "${b}", weight: 2 }]`),
      `${UP}.endpoints[1]`,
      /stands twice, first on line 6$/,
    );
  }
});

Deno.test("endpoints that differ in port, zone or upstream are not the same", () => {
  assert.deepEqual(
    problemsOf(withUpstream(`endpoints: ["a:1", "a:2", "b:1", "[fe80::1%a]:1", "[fe80::1%b]:1", "[::1]:1"]`)),
    [],
  );
});

Deno.test("every further copy of an endpoint is named", () => {
  assert.equal(problemsOf(withUpstream("endpoints: [a:1, a:1, b:1, a:1]")).length, 2);
});

Deno.test("an upstream without endpoints needs discovery", () => {
  const want = /No endpoint \(got nothing, want at least one endpoint, or dns_discovery\)/;
  assertProblem(withUpstream("endpoints: []"), `${UP}.endpoints`, want);
  assert.deepEqual(problemsOf(withUpstream("endpoints: []", "dns_discovery: { hostname: a, port: 1 }")), []);
  assert.deepEqual(problemsOf(withUpstream("dns_discovery: { hostname: a, port: 1 }")), []);
  assert.deepEqual(
    problemsOf(withUpstream("endpoints: [a:1]", "dns_discovery: { hostname: a, port: 1 }")),
    [],
  );
});

Deno.test("a broken discovery block is named alone, not the missing endpoints too", () => {
  assert.equal(problemsOf(withUpstream("dns_discovery: 5")).length, 1);
  assert.equal(problemsOf(withUpstream("dns_discovery: { port: 1 }")).length, 1);
});

Deno.test("all record types but SRV need a port", () => {
  for (const type of ["A", "AAAA", "A+AAAA"]) {
    assertProblem(
      withUpstream(`dns_discovery: { hostname: a, record_type: ${type} }`),
      `${UP}.dns_discovery.port`,
      new RegExp(
        `Missing \\(got nothing, want the port of the endpoints, ${
          type.replace("+", "\\+")
        } records carry none\\)`,
      ),
    );
  }
  assertProblem(
    withUpstream("dns_discovery: { hostname: a }"),
    `${UP}.dns_discovery.port`,
    /A records carry none/,
  );
  assert.deepEqual(problemsOf(withUpstream("dns_discovery: { hostname: a, record_type: SRV }")), []);
  assert.deepEqual(problemsOf(withUpstream("dns_discovery: { hostname: a, record_type: SRV, port: 1 }")), []);
});

Deno.test("a faulty port or record type is named once", () => {
  assertProblem(
    withUpstream("dns_discovery: { hostname: a, port: 0 }"),
    `${UP}.dns_discovery.port`,
    /Out of range/,
  );
  assertProblem(
    withUpstream("dns_discovery: { hostname: a, record_type: SVR }"),
    `${UP}.dns_discovery.record_type`,
    /did you mean SRV/,
  );
});

Deno.test("active_health needs health, present in whatever form", () => {
  assertProblem(withUpstream("active_health: {}"), `${UP}.active_health`, /add the line health: \{\}/);
  assertProblem(withUpstream("active_health:"), `${UP}.active_health`, /add the line health: \{\}/);
  for (const health of ["health:", "health: {}", "health: ~"]) {
    assert.deepEqual(problemsOf(withUpstream(health, "active_health:")), []);
  }
  assertProblem(withUpstream("health: 5", "active_health:"), `${UP}.health`, /Wrong kind of value/);
});

Deno.test("recovery by probes needs probes", () => {
  assertProblem(
    withUpstream("health: { recovery: probes }"),
    `${UP}.health.recovery`,
    /Nothing would ever readmit an endpoint/,
  );
  assert.deepEqual(problemsOf(withUpstream("health: { recovery: probes }", "active_health:")), []);
  assert.deepEqual(problemsOf(withUpstream("health: { recovery: timer }", "active_health:")), []);
  assert.deepEqual(problemsOf(withUpstream("health: { recovery: either }")), []);
});

Deno.test("the longest ejection is not shorter than the first", () => {
  assertProblem(
    withUpstream("health: { eject_ms: 10, eject_max_ms: 9 }"),
    `${UP}.health.eject_max_ms`,
    /got 9, want at least eject_ms, 10/,
  );
  assertProblem(
    withUpstream("health: { eject_max_ms: 29999 }"),
    `${UP}.health.eject_max_ms`,
    /want at least eject_ms, 30000/,
  );
  assert.deepEqual(problemsOf(withUpstream("health: { eject_ms: 10, eject_max_ms: 10 }")), []);
  assertProblem(
    withUpstream("health: { eject_ms: x, eject_max_ms: 9 }"),
    `${UP}.health.eject_ms`,
    /Wrong kind/,
  );
});

Deno.test("a probe's limit and jitter fit into its interval", () => {
  const probe = (fields: string) => withUpstream("health:", `active_health: { ${fields} }`);
  assertProblem(
    probe("interval_ms: 100, timeout_ms: 101"),
    `${UP}.active_health.timeout_ms`,
    /got 101, want at most interval_ms, 100/,
  );
  assertProblem(
    probe("interval_ms: 100, jitter_ms: 101"),
    `${UP}.active_health.jitter_ms`,
    /got 101, want at most interval_ms, 100/,
  );
  assertProblem(
    probe("timeout_ms: 5001"),
    `${UP}.active_health.timeout_ms`,
    /want at most interval_ms, 5000/,
  );
  assert.deepEqual(problemsOf(probe("interval_ms: 100, timeout_ms: 100, jitter_ms: 100")), []);
  assert.deepEqual(problemsOf(probe("interval_ms: 100, jitter_ms: 0")), []);
  assertProblem(probe("interval_ms: x, timeout_ms: 99999"), `${UP}.active_health.interval_ms`, /Wrong kind/);
});

Deno.test("fields of HTTP have no place in a tcp probe", () => {
  for (
    const field of [
      "path: /x",
      "expect_status: [200]",
      "host: a",
      "server_name: a",
      "method: GET",
      "headers: { a: b }",
    ]
  ) {
    assertProblem(
      withProtocol("https", ["health:", `active_health: { kind: tcp, ${field} }`]),
      `${UP}.active_health.${field.split(":")[0]}`,
      /is for kind: http, a tcp probe only connects/,
    );
  }
  assert.deepEqual(problemsOf(withUpstream("health:", "active_health: { kind: tcp, port: 5 }")), []);
  assert.deepEqual(
    problemsOf(withProtocol("tcp", ["health:", "active_health: { kind: http, path: /x, port: 5 }"])),
    [],
  );
});

Deno.test("a probe asks for a TLS name only where TLS is spoken", () => {
  const lines = ["health:", "active_health: { server_name: a }"];
  assertProblem(
    withProtocol("http1", lines),
    `${UP}.active_health.server_name`,
    /TLS, which this upstream does not speak/,
  );
  assertProblem(
    withProtocol("tcp", lines),
    `${UP}.active_health.server_name`,
    /TLS, which this upstream does not speak/,
  );
  assert.deepEqual(problemsOf(withProtocol("https", lines)), []);
  assert.deepEqual(problemsOf(withProtocol("tcp", ["tls:", ...lines])), []);
});

Deno.test("http fields have no place in a tcp upstream", () => {
  assertProblem(withProtocol("tcp", ["host: endpoint"]), `${UP}.host`, /"host" is for HTTP/);
  assertProblem(
    withProtocol("tcp", ["retries: { statuses: [503] }"]),
    `${UP}.retries`,
    /"retries" is for HTTP/,
  );
});

Deno.test("TLS fields have a place only where TLS is spoken, and only once", () => {
  assertProblem(withProtocol("http1", ["tls: {}"]), `${UP}.tls`, /write protocol: https/);
  assertProblem(
    withProtocol("http1", ["server_name: a"]),
    `${UP}.server_name`,
    /"server_name" needs protocol: https/,
  );
  assertProblem(withProtocol("tcp", ["server_name: a"]), `${UP}.server_name`, /only with the block tls/);
  assertProblem(
    withProtocol("https", ["server_name: a", "tls: { server_name: b }"]),
    `${UP}.server_name`,
    /stands twice, here and under tls/,
  );
  assert.deepEqual(problemsOf(withProtocol("tcp", ["server_name: a", "tls:"])), []);
  assert.deepEqual(problemsOf(withProtocol("https", ["tls: { server_name: b }"])), []);
});

Deno.test("verification has no switch", () => {
  for (
    const field of [
      "verify: false",
      "insecure: true",
      "tls: { verify: false }",
      "tls: { insecure_skip_verify: true }",
    ]
  ) {
    assert.equal(problemsOf(withProtocol("https", [field])).length, 1, field);
  }
});
