import assert from "node:assert/strict";
import {
  configOf,
  problemsOf,
  upstreamOf,
  withListener,
  withProtocol,
  withUpstream,
} from "../../support/config_text.ts";

/** The message of the only problem, without its place. */
function messageOf(text: string): string {
  const problems = problemsOf(text);
  assert.equal(problems.length, 1, problems.join("\n"));
  return problems[0]!.replace(/^\d+:\d+ {2}\S+ {2}/, "");
}

/** Every integer field of an upstream: block, field, least, greatest. */
const INTEGERS: readonly [block: string, field: string, min: number, max: number][] = [
  ["health", "window_ms", 1000, 3600000],
  ["health", "consecutive_failures", 1, 1000],
  ["health", "failure_min_volume", 1, 1000000],
  ["health", "half_open_probes", 1, 100],
  ["health", "max_ejected_percent", 1, 100],
  ["health", "eject_max_ms", 30000, 604800000],
  ["timeouts", "connect_ms", 1, 3600000],
  ["timeouts", "read_ms", 1, 86400000],
  ["timeouts", "happy_eyeballs_ms", 0, 3600000],
  ["active_health", "interval_ms", 1, 86400000],
  ["active_health", "timeout_ms", 1, 5000],
  ["active_health", "jitter_ms", 0, 5000],
  ["active_health", "success_threshold", 1, 1000],
  ["active_health", "failure_threshold", 1, 1000],
  ["active_health", "port", 1, 65535],
];

const withField = (block: string, field: string, value: string) =>
  withUpstream(`${block}: { ${field}: ${value} }`, ...(block === "active_health" ? ["health:"] : []));

Deno.test("every integer field takes its least and its greatest value, and nothing beyond", () => {
  for (const [block, field, min, max] of INTEGERS) {
    for (const good of [min, max]) {
      assert.deepEqual(problemsOf(withField(block, field, `${good}`)), [], `${field}: ${good}`);
    }
    for (const bad of [min - 1, max + 1]) {
      assert.equal(problemsOf(withField(block, field, `${bad}`)).length, 1, `${field}: ${bad}`);
    }
  }
});

Deno.test("every integer field takes only plain decimal digits", () => {
  const odd = [
    "010",
    "0x10",
    "0o17",
    "1e3",
    "9001.0",
    "1_000",
    "+5",
    ".inf",
    "-.inf",
    ".nan",
    "-5",
    "5s",
    "'5'",
    '"5"',
    "true",
    "[5]",
    "{}",
    "",
    "~",
    "1:30",
    "99999999999999999999",
  ];
  for (const [block, field] of INTEGERS) {
    for (const value of odd) {
      assert.equal(problemsOf(withField(block, field, value)).length, 1, `${field}: ${value}`);
    }
  }
});

Deno.test("a number that is not taken is met with the reason", () => {
  const of = (value: string) => messageOf(withField("health", "eject_ms", value));
  const want = "want a whole number of milliseconds, 1 to 86400000)";
  assert.equal(of("010"), `Numbers are written in plain decimal digits here (got 010, ${want}`);
  assert.equal(of("0x2329"), `Numbers are written in plain decimal digits here (got 0x2329, ${want}`);
  assert.equal(of("9e3"), `Numbers are written in plain decimal digits here (got 9e3, ${want}`);
  assert.equal(of("9001.0"), `Numbers are written in plain decimal digits here (got 9001.0, ${want}`);
  assert.equal(of("1_000"), `Wrong kind of value (got "1_000", ${want}`);
  assert.equal(of("30s"), `Wrong kind of value (got "30s", ${want}`);
  assert.equal(of('"5"'), `Leave the quotes out (got "5", ${want}`);
  assert.equal(of(".inf"), `Not a finite number (got .inf, ${want}`);
  assert.equal(of(".nan"), `Not a finite number (got .nan, ${want}`);
  assert.equal(of("-5"), `Out of range (got -5, ${want}`);
  assert.equal(of("0"), `Out of range (got 0, ${want}`);
  assert.equal(of("~"), `Empty (got nothing, ${want}`);
  assert.equal(of(""), `Empty (got nothing, ${want}`);
  assert.equal(of("yes"), `Wrong kind of value (got "yes", ${want}`);
  assert.equal(of("[1, 2]"), `Wrong kind of value (got a list, ${want}`);
  assert.equal(of("{ a: 1 }"), `Wrong kind of value (got a block, ${want}`);
});

Deno.test("a ratio is a plain fraction above 0 and up to 1", () => {
  const ratio = (value: string) =>
    upstreamOf(withField("health", "failure_ratio", value)).health?.failureRatio;
  for (
    const [text, number] of [["0.5", 0.5], ["1", 1], ["1.0", 1], [".25", 0.25], ["0.001", 0.001], [
      "1.000",
      1,
    ]] as const
  ) {
    assert.equal(ratio(text), number);
  }
  for (
    const text of [
      "0",
      "0.0",
      "-0.5",
      "1.1",
      "2",
      "5e-1",
      ".inf",
      ".nan",
      "50%",
      "'0.5'",
      "1/2",
      "01",
      "~",
      "true",
    ]
  ) {
    assert.equal(problemsOf(withField("health", "failure_ratio", text)).length, 1, text);
  }
});

Deno.test("true and false are the only flags", () => {
  const flag = (value: string) =>
    problemsOf(withUpstream(`dns_discovery: { hostname: a, port: 1, fail_open: ${value} }`));
  for (const value of ["true", "false", "True", "FALSE"]) assert.deepEqual(flag(value), []);
  for (const value of ["yes", "no", "on", "off", "1", "0", '"true"', "~"]) {
    assert.equal(flag(value).length, 1, value);
  }
  assert.match(flag("no")[0]!, /Wrong kind of value \(got "no", want true or false\)/);
});

Deno.test("off is a word where a word is wanted", () => {
  assert.equal(configOf(`log: { access: off }\n${withUpstream()}`).log.access, "off");
});

Deno.test("a wrong word is met with the one that was meant", () => {
  assert.match(
    problemsOf(`log: { level: warn }\n${withUpstream()}`)[0]!,
    /did you mean warning\? \(got "warn", want one of debug, info, warning, error\)/,
  );
  assert.match(problemsOf(withUpstream("load_balancer: roundrobin"))[0]!, /did you mean round_robin\?/);
  assert.match(
    problemsOf(withUpstream("load_balancer: least_conn"))[0]!,
    /Unknown word \(got "least_conn", want one of round_robin, /,
  );
  assert.match(problemsOf(withUpstream("health: { mode: Enforce }"))[0]!, /did you mean enforce\?/);
  assert.match(
    problemsOf(withUpstream("health: { mode: 5 }"))[0]!,
    /Wrong kind of value \(got 5, want enforce or observe\)/,
  );
});

Deno.test("unknown keys are problems on every level, with the key that was meant", () => {
  const cases: readonly [text: string, place: string, meant: string][] = [
    [`listner: []\n${withUpstream()}`, "1:1  listner", "listeners"],
    [withUpstream("active_heath: {}"), "7:5  upstreams[0].active_heath", "active_health"],
    [withUpstream("health: { eject: 5 }"), "7:15  upstreams[0].health.eject", "eject_ms"],
    [
      withUpstream('endpoints: [{ address: "a:1", wieght: 2 }]'),
      "6:35  upstreams[0].endpoints[0].wieght",
      "weight",
    ],
    [
      withUpstream("dns_discovery: { hostname: a, prot: 1, port: 1 }"),
      "6:35  upstreams[0].dns_discovery.prot",
      "port",
    ],
    [
      withListener("address: 127.0.0.1:1", "protocol: http", "upstream: app", "route: []"),
      "6:5  listeners[0].route",
      "routes",
    ],
    [`admin: { adress: "a:1", address: "127.0.0.1:1" }\n${withUpstream()}`, "1:10  admin.adress", "address"],
  ];
  for (const [text, place, meant] of cases) {
    const [problem, ...others] = problemsOf(text);
    assert.ok(problem?.startsWith(`${place}  Unknown key, did you mean ${meant}?`), problem);
    assert.deepEqual(others, []);
  }
});

Deno.test("an unknown key that resembles none is met with the keys there are", () => {
  assert.equal(
    problemsOf(withUpstream("insecure: true"))[0]!.replace(/, want .*/, ""),
    `7:5  upstreams[0].insecure  Unknown key (got "insecure"`,
  );
  assert.match(
    messageOf(withUpstream("health: { foo: 1 }")),
    /want one of window_ms, consecutive_failures, /,
  );
});

Deno.test("a misspelt switch does not switch health off in silence", () => {
  for (const key of ["Health", "healths", "passive_health", "health_check", "active-health", "HEALTH"]) {
    assert.equal(problemsOf(withUpstream(`${key}: {}`)).length, 1, key);
  }
});

Deno.test("numbers and booleans where text is wanted are told to take quotes, if that would help", () => {
  assert.match(
    problemsOf(withUpstream().replaceAll("app", "5"))[0]!,
    /Put it in quotes, without them it is a number \(got 5, want the name of an upstream\)/,
  );
  assert.match(problemsOf(withUpstream().replaceAll("app", "010"))[0]!, /got 010,/);
  assert.match(
    problemsOf(withUpstream().replace("web", "true"))[0]!,
    /Put it in quotes, without them it is true or false \(got true/,
  );
  assert.match(messageOf(withUpstream("endpoints: [9001]")), /^This is a number \(got 9001, want host:port/);
  assert.match(
    messageOf(withUpstream("endpoints: [{ address: 9001 }]")),
    /^This is a number \(got 9001, want host:port/,
  );
  assert.match(
    messageOf(withUpstream("health:", "active_health: { headers: { X-A: 1 } }")),
    /^Put it in quotes, without them it is a number \(got 1/,
  );
});

Deno.test("null is no text, no list, no number, and a block only where a block alone says something", () => {
  for (
    const field of [
      "protocol",
      "load_balancer",
      "endpoints",
      "connect_attempts",
      "timeouts",
      "host",
      "retries",
      "dns_discovery",
      "server_name",
      "name",
    ]
  ) {
    const text = withUpstream(`${field}:`).replace(
      /^ {4}(protocol|endpoints): .+\n/gm,
      (line, key) => (key === field ? "" : line),
    );
    const problems = problemsOf(field === "name" ? withUpstream().replace("name: app", "name:") : text);
    assert.ok(problems.some((problem) => /Empty \(got nothing, want/.test(problem)), `${field}: ${problems}`);
  }
  for (const field of ["health:", "health: ~", "health: null", "health: {}"]) {
    assert.ok(upstreamOf(withUpstream(field)).health);
  }
  assert.ok(upstreamOf(withUpstream("health:", "active_health:")).activeHealth);
  assert.deepEqual(upstreamOf(withProtocol("tcp", ["tls:"])).tls, {});
  for (
    const key of [
      "admin",
      "log",
      "limits",
      "drain",
      "workers",
      "resolver",
      "listeners",
      "upstreams",
      "include",
    ]
  ) {
    assert.ok(
      problemsOf(`${key}:\n`).some((problem) => problem.includes(`1:1  ${key}  Empty (got nothing`)),
      key,
    );
  }
});

Deno.test("blocks that are no blocks are named once", () => {
  for (const value of ["5", "on", "true", "[]", "010", '""']) {
    assert.equal(problemsOf(withUpstream(`health: ${value}`, "active_health:")).length, 1, value);
    assert.equal(problemsOf(withUpstream(`timeouts: ${value}`)).length, 1, value);
  }
});

Deno.test("upstreams and listeners written as blocks are met with advice", () => {
  const text = 'upstreams:\n  app: { protocol: http1, endpoints: ["a:1"] }\nlisteners:\n  "a b": {}\n';
  assert.deepEqual(problemsOf(text), [
    `1:1  upstreams  A list is wanted here: begin each upstream with "- name: app" (got a block, want a list of upstreams)`,
    `3:1  listeners  A list is wanted here: begin each listener with "- name: app" (got a block, want a list of listeners)`,
  ]);
});

Deno.test("a file that is no block of keys is a problem", () => {
  for (
    const [text, got] of [
      ["[]", "an empty list"],
      ["- a", "a list"],
      ["just text", `"just text"`],
      ["5", "5"],
      ["0x5", "0x5"],
      ["true", "true"],
    ] as const
  ) {
    assert.deepEqual(problemsOf(text), [
      `1:1  Wrong kind of value (got ${got}, want keys such as "listeners:" and "upstreams:")`,
    ]);
  }
});

Deno.test("required fields are named when they are missing", () => {
  const problems = problemsOf("listeners: [{}]\nupstreams:\n- {}\n");
  assert.deepEqual(problems.map((line) => line.split("  ").slice(0, 2).join("  ")), [
    "1:13  listeners[0].name",
    "1:13  listeners[0].address",
    "1:13  listeners[0].protocol",
    "3:3  upstreams[0].name",
    "3:3  upstreams[0].protocol",
    "3:3  upstreams[0].endpoints",
  ]);
});

Deno.test("workers is auto or a number", () => {
  const workers = (value: string) => problemsOf(`workers: ${value}\n${withUpstream()}`);
  for (const value of ["auto", "1", "256"]) assert.deepEqual(workers(value), []);
  for (const value of ["0", "257", "Auto", "auto2", "1.5", "0x10", "010", "-1", "true", "'4'", "[]", "~"]) {
    assert.equal(workers(value).length, 1, value);
  }
  assert.match(workers("four")[0]!, /\(got "four", want auto or a whole number, 1 to 256\)/);
});

Deno.test("the shorthand of an endpoint is the same as its long form", () => {
  assert.deepEqual(
    upstreamOf(withUpstream("endpoints: [a:1]")),
    upstreamOf(withUpstream(`endpoints: [{ address: "a:1" }]`)),
  );
  assert.deepEqual(
    upstreamOf(withUpstream("endpoints: [a:1]")),
    upstreamOf(withUpstream(`endpoints: [{ address: "a:1", weight: 1 }]`)),
  );
});

Deno.test("names may be anything that can be read, prototypes included", () => {
  for (
    const name of [
      "__proto__",
      "constructor",
      "toString",
      'we"ird\\name',
      "a/b",
      "ä",
      "a b",
      "<b>",
      "x".repeat(100),
      "$HOME",
      "-",
      "5",
    ]
  ) {
    const text = JSON.stringify(name);
    const config = configOf(
      withUpstream().replace("name: app", `name: ${text}`).replace("upstream: app", `upstream: ${text}`),
    );
    assert.equal(config.upstreams[0]?.name, name);
    assert.equal(config.listeners[0]?.upstream, name);
  }
  for (const name of ["", " a", "a ", "a\nb", "a\u0000", "a\u007f", "\t", "x".repeat(101)]) {
    assert.equal(
      problemsOf(
        withListener("address: 127.0.0.1:1", "protocol: http", "upstream: app").replace(
          "name: web",
          `name: ${JSON.stringify(name)}`,
        ),
      ).length,
      1,
      JSON.stringify(name),
    );
  }
});

Deno.test("an upstream named like a part of a prototype is unknown unless it is there", () => {
  for (const name of ["__proto__", "constructor", "hasOwnProperty"]) {
    assert.match(
      problemsOf(withUpstream().replace("upstream: app", `upstream: ${name}`))[0]!,
      /Unknown upstream/,
    );
  }
});

Deno.test("a dollar sign is text, nothing comes from the environment", () => {
  const { activeHealth } = upstreamOf(
    withUpstream("health:", 'active_health: { headers: { X-A: "pa$HOME${PATH}$$" } }'),
  );
  assert.deepEqual(activeHealth?.headers, [["X-A", "pa$HOME${PATH}$$"]]);
});

Deno.test("a list of statuses takes numbers and ranges from 200 to 599", () => {
  const statuses = (value: string) => withUpstream("health:", `active_health: { expect_status: ${value} }`);
  assert.deepEqual(upstreamOf(statuses(`[200, "204", "300-399", 599]`)).activeHealth?.expectStatus, [
    [200, 200],
    [204, 204],
    [300, 399],
    [599, 599],
  ]);
  for (
    const bad of [
      "[]",
      "[100]",
      "[199]",
      "[600]",
      `["200-600"]`,
      `["299-200"]`,
      `["200 - 299"]`,
      `["2xx"]`,
      "[2000]",
      "[200.0]",
      "[0xC8]",
      "200",
      `["-"]`,
      `[""]`,
      "[~]",
      "[true]",
    ]
  ) {
    assert.equal(problemsOf(statuses(bad)).length, 1, bad);
  }
});

Deno.test("retries take statuses of errors and a number of attempts", () => {
  assert.deepEqual(upstreamOf(withUpstream("retries: { statuses: [429, 503] }")).retries, {
    statuses: [429, 503],
    attempts: 1,
  });
  for (
    const bad of [
      "{}",
      "{ statuses: [] }",
      "{ statuses: [200] }",
      `{ statuses: ["503"] }`,
      "{ statuses: [503], attempts: 0 }",
      "{ statuses: [503], attempts: 10 }",
      "[503]",
    ]
  ) {
    assert.equal(problemsOf(withUpstream(`retries: ${bad}`)).length, 1, bad);
  }
});

Deno.test("the default of timeout_ms and jitter_ms gives way to a short interval", () => {
  const probe = (value: string) =>
    upstreamOf(withUpstream("health:", `active_health: { ${value} }`)).activeHealth;
  const times = (
    value: string,
  ) => [probe(value)?.intervalMs, probe(value)?.timeoutMs, probe(value)?.jitterMs];
  assert.deepEqual(times("interval_ms: 300, timeout_ms: 200"), [300, 200, 300]);
  assert.deepEqual(times("interval_ms: 1000"), [1000, 1000, 500]);
  assert.deepEqual(times("interval_ms: 60000"), [60000, 2000, 500]);
});

Deno.test("recovery, streak and eject_max_ms have defaults that follow from the rest", () => {
  const health = (protocol: string, ...lines: string[]) => {
    const { recovery, streak, ejectMaxMs } = upstreamOf(withProtocol(protocol, lines)).health!;
    return [recovery, streak, ejectMaxMs];
  };
  assert.deepEqual(health("http1", "health:"), ["timer", "shared", 30000]);
  assert.deepEqual(health("https", "health: { eject_ms: 7 }", "active_health:"), ["either", "shared", 7]);
  assert.deepEqual(health("tcp", "health: { eject_ms: 7, eject_max_ms: 9 }"), ["timer", "separate", 9]);
  assert.deepEqual(
    health("tcp", "health: { streak: shared, recovery: timer }", "active_health: { kind: tcp }"),
    ["timer", "shared", 30000],
  );
});

Deno.test("https speaks TLS without being told, http1 never does", () => {
  assert.deepEqual(upstreamOf(withProtocol("https", [])).tls, {});
  assert.deepEqual(upstreamOf(withProtocol("https", ["tls: { server_name: a }"])).tls, { serverName: "a" });
  assert.equal(upstreamOf(withProtocol("http1", [])).tls, undefined);
  assert.equal(upstreamOf(withProtocol("tcp", [])).tls, undefined);
});

Deno.test("host is keep, endpoint or a Host header", () => {
  const host = (value: string) => upstreamOf(withUpstream(`host: ${value}`)).host;
  assert.equal(host("keep"), "keep");
  assert.equal(host("endpoint"), "endpoint");
  assert.deepEqual(host("www.example.com:8080"), { name: "www.example.com:8080" });
  for (const bad of ['"a b"', '"a\\r\\nX: y"', '""', "http://a", "a/b", "5", "a:b:c"]) {
    assert.equal(problemsOf(withUpstream(`host: ${bad}`)).length, 1, bad);
  }
});
