import assert from "node:assert/strict";
import { decode } from "../../../src/config/decode.ts";
import { type Problem, renderProblem } from "../../../src/config/problem.ts";
import type { Config } from "../../../src/core/plan.ts";
import { diffConfig } from "../../../src/core/diff.ts";
import { memoryFiles } from "../../support/memory_config_files.ts";

const bytes = (name: string) => Deno.readFileSync(new URL(`../../cases/${name}.yaml`, import.meta.url));

function decodeCase(name: string) {
  return decode(["case.yaml"], memoryFiles({ "case.yaml": bytes(name) }));
}

function config(name: string): Config {
  const decoded = decodeCase(name);
  if ("problems" in decoded) assert.fail(decoded.problems.map(renderProblem).join("\n"));
  return decoded.config;
}

function problems(name: string): readonly Problem[] {
  const decoded = decodeCase(name);
  assert.ok("problems" in decoded, `${name} was taken`);
  return decoded.problems;
}

const places = (name: string) =>
  problems(name).map(({ line, column, path }) => `${line}:${column} ${path}`.trim());

Deno.test("upstreams that share an address keep their own rules", () => {
  const { upstreams } = config("11-shared-address");
  assert.deepEqual(upstreams.map(({ name, endpoints }) => [name, endpoints[0]?.key]), [
    ["red", "127.0.0.1:9001"],
    ["blue", "127.0.0.1:9001"],
    ["plain", "127.0.0.1:9001"],
  ]);
  assert.deepEqual(upstreams.map(({ activeHealth }) => activeHealth?.path), ["/red", "/blue", undefined]);
  assert.deepEqual(upstreams.map(({ health }) => health?.consecutiveFailures), [2, 2, undefined]);
});

Deno.test("an edit of the probe keeps the endpoints that stay", () => {
  const { upstreams, endpoints, listeners } = diffConfig(config("15-a"), config("15-b"));
  assert.deepEqual(listeners.kept.map(({ name }) => name), ["web"]);
  assert.deepEqual(
    upstreams.changed.map(({ before, after }) => [before.activeHealth?.path, after.activeHealth?.path]),
    [["/health", "/ready"]],
  );
  assert.deepEqual(endpoints.kept.map(({ endpoint }) => endpoint.port), [9001, 9002]);
  assert.deepEqual(endpoints.added.map(({ endpoint }) => endpoint.port), [9003]);
});

Deno.test("an edit that drops, turns and adds listeners is told as that", () => {
  const { listeners } = diffConfig(config("31-a"), config("31-b"));
  assert.deepEqual(listeners.removed.map(({ name }) => name), ["one"]);
  assert.deepEqual(listeners.added.map(({ name }) => name), ["three"]);
  assert.deepEqual(listeners.changed.map(({ before, after }) => [before.protocol, after.protocol]), [[
    "http",
    "tcp",
  ]]);
});

Deno.test("a byte order mark and Windows line ends change nothing", () => {
  assert.deepEqual([...bytes("32-bom-crlf").subarray(0, 3)], [0xef, 0xbb, 0xbf]);
  const { listeners, upstreams } = config("32-bom-crlf");
  assert.deepEqual(listeners.map(({ name, upstream }) => [name, upstream]), [["web", "app"]]);
  assert.deepEqual(upstreams[0]?.endpoints.map(({ key }) => key), ["127.0.0.1:9001"]);
});

Deno.test("ports and numbers in odd spelling are refused one by one, the plain one is not", () => {
  assert.deepEqual(places("32-leading-zero"), [
    "2:42 listeners[0].address",
    "7:19 upstreams[0].endpoints[0].address",
    "8:19 upstreams[0].endpoints[1].address",
    "9:19 upstreams[0].endpoints[2].address",
    "10:19 upstreams[0].endpoints[3].address",
    "12:19 upstreams[0].endpoints[5].address",
    "13:19 upstreams[0].endpoints[6].address",
    "14:36 upstreams[0].health.consecutive_failures",
    "14:52 upstreams[0].health.window_ms",
    "14:70 upstreams[0].health.eject_ms",
    "14:95 upstreams[0].health.half_open_probes",
    "14:121 upstreams[0].health.max_ejected_percent",
  ]);
});

Deno.test("nothing, infinity, not-a-number and negative numbers are refused one by one", () => {
  assert.deepEqual(places("32-null-and-empty"), [
    "6:5 upstreams[0].endpoints",
    "9:20 upstreams[0].active_health.interval_ms",
    "10:19 upstreams[0].active_health.timeout_ms",
    "11:18 upstreams[0].active_health.jitter_ms",
  ]);
});

Deno.test("host:port is never a number of base 60", () => {
  const said = problems("32-sexagesimal").map(renderProblem);
  assert.equal(said.length, 3);
  assert.match(said[0]!, /^case\.yaml:7:9 .*got "22:22"/);
  assert.match(said[1]!, /^case\.yaml:8:9 .*got "2122:22"/);
  assert.match(said[2]!, /^case\.yaml:10:28 .*got "1:30"/);
});

Deno.test("tabs, a second document and a misspelt key are named at their place", () => {
  assert.deepEqual(places("32-tab-indent"), ["2:1", "3:1", "4:1", "5:1"]);
  assert.match(problems("32-tab-indent")[0]!.message, /tab/);
  assert.deepEqual(places("32-two-documents"), ["3:1"]);
  assert.deepEqual(places("32-unknown-key"), ["6:5 upstreams[0].active_heath"]);
  assert.match(problems("32-unknown-key")[0]!.message, /did you mean active_health\?/);
});

Deno.test("hostile files are refused at once and without taking memory", () => {
  for (const name of ["33-alias-bomb", "33-alias-cycle", "33-deep-nesting"]) {
    const before = Deno.memoryUsage().heapUsed;
    const started = performance.now();
    assert.equal(problems(name).length, 1, name);
    assert.ok(performance.now() - started < 5_000, name);
    assert.ok(Deno.memoryUsage().heapUsed - before < 100 * 1024 * 1024, name);
  }
});

Deno.test("merge keys are refused where they stand, aliases of whole blocks are taken", () => {
  assert.deepEqual(places("33-merge-keys"), [`9:5 upstreams[1]["<<"]`, `12:5 upstreams[2]["<<"]`]);
  const { upstreams } = config("33-aliases-ok");
  assert.deepEqual(upstreams[0]?.health, upstreams[1]?.health);
  assert.deepEqual(upstreams[0]?.activeHealth, upstreams[1]?.activeHealth);
});

Deno.test("keys named after parts of a prototype are unknown keys, as names they are names", () => {
  assert.deepEqual(places("33-proto-key"), [
    "2:1 __proto__",
    "4:71 upstreams[0].__proto__",
    "5:73 upstreams[1].constructor",
  ]);
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.equal((Object as unknown as Record<string, unknown>)["polluted"], undefined);
});

Deno.test("a dollar sign is text", () => {
  assert.deepEqual(config("34-env").upstreams[0]?.activeHealth?.headers, [
    ["X-Secret", "pa$APP_PORTword$5$$end"],
    ["X-Trick", "${TRICK}"],
    ["X-Default", "${UNSET_ONE:-fallback}"],
    ["X-Unset", "${UNSET_ONE}"],
  ]);
});

Deno.test("an upstream may be named with a quote and a backslash", () => {
  assert.equal(config("35-b").upstreams[0]?.name, 'we"ird\\name');
  const { upstreams, endpoints } = diffConfig(config("35-a"), config("35-b"));
  assert.equal(upstreams.removed.length + upstreams.added.length, 2);
  assert.equal(endpoints.removed.length, 2);
});
