import assert from "node:assert/strict";
import { decode, defaultPaths } from "../../../src/config/decode.ts";
import { type Problem, renderProblem } from "../../../src/config/problem.ts";
import { memoryFiles } from "../../support/memory_config_files.ts";
import { configOf, problemsOf } from "../../support/config_text.ts";

const cert = Deno.readTextFileSync(new URL("../../cases/certs/good.pem", import.meta.url));
const key = Deno.readTextFileSync(new URL("../../cases/certs/good.key", import.meta.url));
const ca = Deno.readTextFileSync(new URL("../../cases/certs/ca.pem", import.meta.url));

const LISTENER = `listeners: [{ name: web, address: "127.0.0.1:8080", protocol: http, upstream: app }]\n`;
const UPSTREAM = `upstreams: [{ name: app, protocol: http1, endpoints: ["127.0.0.1:9001"] }]\n`;

function lines(problems: readonly Problem[]): string[] {
  return problems.map(renderProblem);
}

function refusal(paths: string[], contents: Parameters<typeof memoryFiles>[0]): string[] {
  const decoded = decode(paths, memoryFiles(contents));
  return "problems" in decoded ? lines(decoded.problems) : [];
}

Deno.test("a minimal file gives a config with every default of the table", () => {
  assert.deepEqual(configOf(LISTENER + UPSTREAM), {
    workers: "auto",
    log: { level: "info", format: "text", access: "errors" },
    limits: { maxConnections: 10000 },
    drain: { acceptMs: 0, timeoutMs: 30000 },
    resolver: "auto",
    listeners: [{
      name: "web",
      address: { host: "127.0.0.1", port: 8080 },
      protocol: "http",
      upstream: "app",
      routes: [],
      idleTimeoutMs: 3600000,
      halfCloseTimeoutMs: 30000,
      trustedProxies: [],
    }],
    upstreams: [{
      name: "app",
      protocol: "http1",
      loadBalancer: "round_robin",
      connectAttempts: 3,
      timeouts: { connectMs: 5000, readMs: 60000, happyEyeballsMs: 250 },
      host: "keep",
      endpoints: [{
        key: "127.0.0.1:9001",
        host: "127.0.0.1",
        port: 9001,
        weight: 1,
        priority: 0,
        source: "static",
      }],
    }],
  });
});

Deno.test("blocks that are present with nothing in them are on, with the defaults of the table", () => {
  const text = LISTENER +
    "upstreams:\n- name: app\n  protocol: http1\n  endpoints: [a:1]\n  health:\n  active_health:\n" +
    "  dns_discovery: { hostname: app.internal, port: 80 }\n";
  const [upstream] = configOf(text).upstreams;
  assert.deepEqual(upstream?.health, {
    windowMs: 60000,
    consecutiveFailures: 5,
    failureRatio: 0.5,
    failureMinVolume: 20,
    ejectMs: 30000,
    ejectMaxMs: 30000,
    halfOpenProbes: 1,
    maxEjectedPercent: 100,
    recovery: "either",
    streak: "shared",
    allDown: "fail_open",
    mode: "enforce",
  });
  assert.deepEqual(upstream?.activeHealth, {
    kind: "http",
    path: "/healthz",
    intervalMs: 5000,
    timeoutMs: 2000,
    jitterMs: 500,
    successThreshold: 2,
    failureThreshold: 3,
    expectStatus: [[200, 299]],
    method: "GET",
    headers: [],
  });
  assert.deepEqual(upstream?.discovery, {
    hostname: "app.internal",
    port: 80,
    recordType: "A",
    refreshIntervalMs: 30000,
    failOpen: true,
    minEndpoints: 1,
    nameservers: [],
  });
});

Deno.test("every field reaches the config, files included", () => {
  const text = `
workers: 4
admin: { address: "[::]:9900", token_file: secrets/token }
log: { level: debug, format: json, access: off }
limits: { max_connections: 5 }
drain: { accept_ms: 1, timeout_ms: 2 }
resolver: system
listeners:
  - name: web
    address: "[::1]:0"
    protocol: http
    tls: { cert_file: cert.pem, key_file: ./key.pem }
    routes: [{ host: "*.Example.com.", path_prefix: /a, upstream: app }, { path_prefix: /b/, upstream: app }]
    idle_timeout_ms: 7
    half_close_timeout_ms: 1000
    trusted_proxies: [10.0.0.0/8, "::1"]
  - { name: db, address: "127.0.0.1:1", protocol: tcp, upstream: db, tls: { cert_file: cert.pem, key_file: key.pem } }
upstreams:
  - name: app
    protocol: https
    load_balancer: peak_ewma
    endpoints: [{ address: "A.internal.:1", weight: 0 }, "[::FFFF:10.0.0.1]:2"]
    connect_attempts: 10
    max_connections: 9
    timeouts: { connect_ms: 1, read_ms: 2, happy_eyeballs_ms: 0 }
    host: endpoint
    retries: { statuses: [503, 429], attempts: 2 }
    trusted_ca_file: ../ca.pem
    server_name: Name.Example
    health: { window_ms: 1000, consecutive_failures: 1, failure_ratio: 1, failure_min_volume: 1, eject_ms: 2,
      eject_max_ms: 3, half_open_probes: 4, max_ejected_percent: 5, recovery: probes, streak: separate,
      all_down: fail_closed, mode: observe }
    active_health: { path: "/x?y=1", interval_ms: 10, timeout_ms: 10, jitter_ms: 0, success_threshold: 1,
      failure_threshold: 2, expect_status: [204, "301-302"], host: "h:1", port: 8, server_name: s, method: HEAD,
      headers: { X-A: "1", x-b: "" } }
    dns_discovery: { hostname: S.internal., record_type: SRV, refresh_interval_s: 1, fail_open: false, min_endpoints: 0,
      nameservers: [10.0.0.53, "::1", "[::1]:5353"], drain_removed_ms: 0 }
  - { name: db, protocol: tcp, tls: { trusted_ca_file: /etc/ca.pem, server_name: 10.0.0.1 }, endpoints: [a:1] }
`;
  const decoded = decode(
    ["etc/hale.yaml"],
    memoryFiles({
      "etc/hale.yaml": text,
      "etc/secrets/token": " s3cret \n",
      "etc/cert.pem": cert,
      "etc/key.pem": key,
      "ca.pem": ca,
      "/etc/ca.pem": ca,
    }),
  );
  if ("problems" in decoded) assert.fail(lines(decoded.problems).join("\n"));
  const endpoint = (host: string, port: number, weight = 1) => ({
    key: `${host}:${port}`,
    host,
    port,
    weight,
    priority: 0,
    source: "static",
  });
  const tls = { certFile: "etc/cert.pem", keyFile: "etc/key.pem", cert, key };
  assert.deepEqual(decoded.config, {
    workers: 4,
    admin: { address: { host: "::", port: 9900 }, token: "s3cret" },
    log: { level: "debug", format: "json", access: "off" },
    limits: { maxConnections: 5 },
    drain: { acceptMs: 1, timeoutMs: 2 },
    resolver: "system",
    listeners: [{
      name: "web",
      address: { host: "::1", port: 0 },
      protocol: "http",
      routes: [{ host: "*.example.com", pathPrefix: "/a", upstream: "app" }, {
        pathPrefix: "/b/",
        upstream: "app",
      }],
      idleTimeoutMs: 7,
      halfCloseTimeoutMs: 1000,
      trustedProxies: ["10.0.0.0/8", "::1"],
      tls,
    }, {
      name: "db",
      address: { host: "127.0.0.1", port: 1 },
      protocol: "tcp",
      upstream: "db",
      routes: [],
      idleTimeoutMs: 3600000,
      halfCloseTimeoutMs: 30000,
      trustedProxies: [],
      tls,
    }],
    upstreams: [{
      name: "app",
      protocol: "https",
      tls: { ca, caFile: "ca.pem", serverName: "name.example" },
      loadBalancer: "peak_ewma",
      connectAttempts: 10,
      maxConnections: 9,
      timeouts: { connectMs: 1, readMs: 2, happyEyeballsMs: 0 },
      host: "endpoint",
      retries: { statuses: [503, 429], attempts: 2 },
      health: {
        windowMs: 1000,
        consecutiveFailures: 1,
        failureRatio: 1,
        failureMinVolume: 1,
        ejectMs: 2,
        ejectMaxMs: 3,
        halfOpenProbes: 4,
        maxEjectedPercent: 5,
        recovery: "probes",
        streak: "separate",
        allDown: "fail_closed",
        mode: "observe",
      },
      activeHealth: {
        kind: "http",
        path: "/x?y=1",
        intervalMs: 10,
        timeoutMs: 10,
        jitterMs: 0,
        successThreshold: 1,
        failureThreshold: 2,
        expectStatus: [[204, 204], [301, 302]],
        host: "h:1",
        port: 8,
        serverName: "s",
        method: "HEAD",
        headers: [["X-A", "1"], ["x-b", ""]],
      },
      discovery: {
        hostname: "s.internal.",
        port: 0,
        recordType: "SRV",
        refreshIntervalMs: 1000,
        failOpen: false,
        minEndpoints: 0,
        nameservers: [{ host: "10.0.0.53", port: 53 }, { host: "::1", port: 53 }, {
          host: "::1",
          port: 5353,
        }],
        drainRemovedMs: 0,
      },
      endpoints: [endpoint("a.internal", 1, 0), endpoint("10.0.0.1", 2)],
    }, {
      name: "db",
      protocol: "tcp",
      tls: { ca, caFile: "/etc/ca.pem", serverName: "10.0.0.1" },
      loadBalancer: "round_robin",
      connectAttempts: 3,
      timeouts: { connectMs: 5000, readMs: 60000, happyEyeballsMs: 250 },
      host: "keep",
      endpoints: [endpoint("a", 1)],
    }],
  });
  assert.deepEqual([...decoded.files].sort(), [
    "/etc/ca.pem",
    "ca.pem",
    "etc/cert.pem",
    "etc/hale.yaml",
    "etc/key.pem",
    "etc/secrets/token",
  ]);
  assert.deepEqual([...decoded.folders].sort(), [".", "/etc", "etc", "etc/secrets"]);
});

Deno.test("a folder means its yaml files in name order, dot files and other names skipped", () => {
  const decoded = decode(
    ["conf/"],
    memoryFiles({
      "conf/b.yml": UPSTREAM,
      "conf/a.yaml": LISTENER,
      "conf/.c.yaml": "nonsense: 1",
      "conf/d.yaml.bak": "nonsense: 1",
      "conf/e.txt": "nonsense: 1",
      "conf/sub/f.yaml": "nonsense: 1",
    }),
  );
  if ("problems" in decoded) assert.fail(lines(decoded.problems).join("\n"));
  assert.deepEqual(decoded.files, ["conf/a.yaml", "conf/b.yml"]);
  assert.deepEqual(decoded.folders, ["conf"]);
});

Deno.test("name order is that of the characters, whatever the language of the machine", () => {
  const contents = Object.fromEntries(
    ["ä", "z", "B", "a", "10", "9"].map((name) => [`conf/${name}.yaml`, ""]),
  );
  const { files } = decode(["conf"], memoryFiles(contents));
  assert.deepEqual(files.map((file) => file.slice(5, -5)), ["10", "9", "B", "a", "z", "ä"]);
});

Deno.test("a folder without yaml files, a missing file and a missing folder are problems", () => {
  assert.deepEqual(refusal(["conf"], { "conf/a.txt": "" }), [
    `conf:1:1  Can not read "conf": the folder has no *.yaml or *.yml file`,
  ]);
  assert.deepEqual(refusal(["hale.yaml"], {}), [`hale.yaml:1:1  Can not read "hale.yaml": no such file`]);
  assert.deepEqual(refusal([], {}), [`:1:1  No config file was named`]);
});

Deno.test("a file that was missing is still listed, so that its folder is watched", () => {
  const decoded = decode(["conf/hale.yaml"], memoryFiles({}));
  assert.deepEqual(decoded.files, ["conf/hale.yaml"]);
  assert.deepEqual(decoded.folders, ["conf"]);
});

Deno.test("several paths are joined, a file named twice is read once", () => {
  const decoded = decode(
    ["a.yaml", "./a.yaml", "conf"],
    memoryFiles({ "a.yaml": LISTENER, "conf/b.yaml": UPSTREAM }),
  );
  assert.ok("config" in decoded);
  assert.deepEqual(decoded.files, ["a.yaml", "conf/b.yaml"]);
});

Deno.test("include takes a folder or file beside the file that names it, also in turn", () => {
  const decoded = decode(
    ["etc/hale.yaml"],
    memoryFiles({
      "etc/hale.yaml": `include: conf.d/\n${LISTENER}`,
      "etc/conf.d/a.yaml": `include: [../more/b.yaml]\n`,
      "etc/more/b.yaml": UPSTREAM,
    }),
  );
  if ("problems" in decoded) assert.fail(lines(decoded.problems).join("\n"));
  assert.deepEqual(decoded.files, ["etc/hale.yaml", "etc/conf.d/a.yaml", "etc/more/b.yaml"]);
  assert.deepEqual(decoded.folders, ["etc", "etc/conf.d", "etc/more"]);
});

Deno.test("files that include each other, or themselves, are read once", () => {
  const decoded = decode(
    ["a.yaml"],
    memoryFiles({
      "a.yaml": `include: [b.yaml, ., a.yaml]\n${LISTENER}`,
      "b.yaml": `include: a.yaml\n${UPSTREAM}`,
    }),
  );
  if ("problems" in decoded) assert.fail(lines(decoded.problems).join("\n"));
  assert.deepEqual(decoded.files, ["a.yaml", "b.yaml"]);
});

Deno.test("an included folder may be empty, a missing include is a problem where it stands", () => {
  assert.deepEqual(problemsOf(`include: conf.d\n${LISTENER}${UPSTREAM}`, { "conf.d/readme.txt": "" }), []);
  assert.deepEqual(problemsOf(`${LISTENER}${UPSTREAM}include:\n  - conf.d/*.yaml\n`), [
    `4:5  include[0]  Can not read "conf.d/*.yaml": no such file`,
  ]);
  assert.deepEqual(problemsOf(`include: gone\n${LISTENER}${UPSTREAM}`), [
    `1:10  include  Can not read "gone": no such file`,
  ]);
});

Deno.test("a missing include does not make its upstreams unknown", () => {
  assert.deepEqual(problemsOf(`include: gone.yaml\n${LISTENER}`), [
    `1:10  include  Can not read "gone.yaml": no such file`,
  ]);
});

Deno.test("a chain of thousands of includes is followed", () => {
  const count = 3000;
  const contents = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${index}.yaml`, `include: ${index + 1}.yaml\n`]),
  );
  const decoded = decode(["0.yaml"], memoryFiles({ ...contents, [`${count}.yaml`]: LISTENER + UPSTREAM }));
  assert.ok("config" in decoded);
  assert.equal(decoded.files.length, count + 1);
});

Deno.test("single values may stand in one file only, and both places are shown", () => {
  const both = "workers: 1\nlog: {}\n";
  assert.deepEqual(
    refusal(["a.yaml", "b.yaml"], { "a.yaml": both + LISTENER, "b.yaml": `# b\n${both}${UPSTREAM}` }),
    [
      `b.yaml:2:1  workers  "workers" may stand in one file only, and is already set at a.yaml:1`,
      `b.yaml:3:1  log  "log" may stand in one file only, and is already set at a.yaml:2`,
    ],
  );
});

Deno.test("a name taken twice, in one file or in two, shows both places", () => {
  const twice =
    `upstreams:\n- { name: app, protocol: http1, endpoints: [a:1] }\n- { name: app, protocol: http1, endpoints: [a:1] }\n`;
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": LISTENER + twice }), [
    `a.yaml:4:11  upstreams[1].name  The name "app" is taken by the upstream at a.yaml:3`,
  ]);
  assert.deepEqual(
    refusal(["a.yaml", "b.yaml"], {
      "a.yaml": LISTENER + UPSTREAM,
      "b.yaml": LISTENER.replace("8080", "8081"),
    }),
    [`b.yaml:1:21  listeners[0].name  The name "web" is taken by the listener at a.yaml:1`],
  );
});

Deno.test("upstreams of one file serve listeners of another", () => {
  assert.deepEqual(refusal(["a.yaml", "b.yaml"], { "a.yaml": LISTENER, "b.yaml": UPSTREAM }), []);
});

Deno.test("no listener at all is a problem, unless a file could not be understood", () => {
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": UPSTREAM }), [
    `a.yaml:1:1  listeners  No listener in any file (got nothing, want at least one listener)`,
  ]);
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": "" }), [
    `a.yaml:1:1  listeners  No listener in any file (got nothing, want at least one listener)`,
  ]);
  assert.deepEqual(refusal(["a.yaml", "b.yaml"], { "a.yaml": UPSTREAM, "b.yaml": "a: [" }).length, 1);
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": `listeners: 5\n${UPSTREAM}` }), [
    "a.yaml:1:12  listeners  Wrong kind of value (got 5, want a list of listeners)",
  ]);
});

Deno.test("all problems come at once: syntax of one file, schema of another, and rules between fields", () => {
  const problems = refusal(["a.yaml", "b.yaml", "c.yaml"], {
    "a.yaml":
      `listeners: [{ name: web, address: "127.0.0.1:8080", protocol: http, upstream: app }]\nwrokers: 2\n`,
    "b.yaml": "x: [\n",
    "c.yaml":
      `upstreams:\n- name: app\n  protocol: http1\n  endpoints: [a:1, A.:1, b]\n  active_health: { interval_ms: 5, timeout_ms: 6, path: x }\n`,
  });
  assert.deepEqual(problems.map((line) => line.split("  ").slice(0, 2).join(" ")), [
    "a.yaml:2:1 wrokers",
    `b.yaml:1:5 A "[" is not closed, or its "]" is indented too little`,
    "c.yaml:4:20 upstreams[0].endpoints[1]",
    "c.yaml:4:26 upstreams[0].endpoints[2].address",
    "c.yaml:5:3 upstreams[0].active_health",
    "c.yaml:5:48 upstreams[0].active_health.timeout_ms",
    "c.yaml:5:57 upstreams[0].active_health.path",
  ]);
});

Deno.test("problems are sorted by file, line and column", () => {
  const problems = refusal(["b.yaml", "a.yaml"], {
    "b.yaml": "z: 1\ny: 1\nx: [\n",
    "a.yaml": "n: 1\nm: 2\nlisteners: []\n",
  });
  assert.deepEqual(problems.map((line) => line.split("  ")[0]), ["b.yaml:3:5", "a.yaml:1:1", "a.yaml:2:1"]);
});

Deno.test("an endless list of problems is cut, and says how many more there are", () => {
  const endpoints = Array.from({ length: 900 }, () => "  - a:1").join("\n");
  const problems = problemsOf(
    `${LISTENER}upstreams:\n- name: app\n  protocol: http1\n  endpoints:\n${endpoints}\n`,
  );
  assert.equal(problems.length, 501);
  assert.match(
    problems.at(-1)!,
    /399 more problems, this one first: The endpoint a:1 stands twice, first on line 6/,
  );
});

Deno.test("the digest tells whether anything that was read has changed", () => {
  const files = {
    "hale.yaml":
      `${LISTENER}upstreams: [{ name: app, protocol: https, endpoints: [a:1], trusted_ca_file: ca.pem }]\n`,
    "ca.pem": ca,
  };
  const digest = (contents: typeof files) => decode(["hale.yaml"], memoryFiles(contents)).digestInput;
  assert.equal(digest(files), digest({ ...files }));
  assert.notEqual(digest(files), digest({ ...files, "hale.yaml": files["hale.yaml"] + "# comment\n" }));
  assert.notEqual(digest(files), digest({ ...files, "ca.pem": ca + "\n" }));
  assert.notEqual(digest(files), digest({ ...files, "ca.pem": "garbage" }));
});

Deno.test("the digest notices a file that vanished, and one that came into a folder", () => {
  const digest = (contents: Record<string, string>) => decode(["conf"], memoryFiles(contents)).digestInput;
  const all = { "conf/a.yaml": LISTENER, "conf/b.yaml": UPSTREAM };
  assert.notEqual(digest(all), digest({ "conf/a.yaml": LISTENER }));
  assert.notEqual(digest(all), digest({}));
  assert.notEqual(digest(all), digest({ ...all, "conf/c.yaml": "" }));
  assert.equal(digest(all), digest({ ...all, "conf/c.txt": "" }));
});

Deno.test("bytes are read as UTF-8, with or without byte order mark", () => {
  const bytes = new TextEncoder().encode(`\uFEFF${LISTENER}${UPSTREAM}`);
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": bytes }), []);
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": `\uFEFF${LISTENER}${UPSTREAM}` }), []);
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": new Uint8Array([0x61, 0xff, 0x3a]) }), [
    `a.yaml:1:1  Can not read "a.yaml": it is not UTF-8 text`,
  ]);
  const utf16 = new Uint8Array([0xff, 0xfe, 0x61, 0]);
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": utf16 }), [
    `a.yaml:1:1  Can not read "a.yaml": it is not UTF-8 text`,
  ]);
});

Deno.test("a file larger than any config is refused without a look inside", () => {
  const huge = `# ${"x".repeat(9 * 1024 * 1024)}`;
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": huge }), [
    `a.yaml:1:1  Can not read "a.yaml": it is larger than 8388608 characters`,
  ]);
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": huge.slice(0, 2 * 1024 * 1024) }), [
    "a.yaml:1:1  The file is too large (got 2097152, want at most 1048576 characters)",
  ]);
});

Deno.test("a file that may not be read is a problem with its reason", () => {
  assert.deepEqual(refusal(["a.yaml"], { "a.yaml": { error: "permission denied" } }), [
    `a.yaml:1:1  Can not read "a.yaml": permission denied`,
  ]);
});

Deno.test("a folder that may not be listed is a problem with its reason, and noticed by the digest", () => {
  const files = { ...memoryFiles({ "conf/a.yaml": "" }), list: () => ({ error: "permission denied" }) };
  const decoded = decode(["conf"], files);
  assert.ok("problems" in decoded);
  assert.deepEqual(lines(decoded.problems), [`conf:1:1  Can not read "conf": permission denied`]);
  assert.notEqual(
    decoded.digestInput,
    decode(["conf"], { ...files, list: () => ({ error: "other" }) }).digestInput,
  );
});

Deno.test("without a path ./hale.yaml is taken if there is one, readable or not, else /etc/hale", () => {
  assert.deepEqual(defaultPaths(memoryFiles({ "hale.yaml": "" })), ["hale.yaml"]);
  assert.deepEqual(defaultPaths(memoryFiles({ "hale.yaml": { error: "permission denied" } })), ["hale.yaml"]);
  assert.deepEqual(defaultPaths(memoryFiles({ "other.yaml": "" })), ["/etc/hale"]);
});

Deno.test("10000 endpoints decode in reasonable time, each once", () => {
  const endpoints = Array.from(
    { length: 10_000 },
    (_, i) => `  - { address: "10.${i >> 8}.${i & 255}.1:8080", weight: 2 }`,
  );
  const config = configOf(
    `${LISTENER}upstreams:\n- name: app\n  protocol: http1\n  endpoints:\n${endpoints.join("\n")}\n`,
  );
  assert.equal(new Set(config.upstreams[0]?.endpoints.map((endpoint) => endpoint.key)).size, 10_000);
});
