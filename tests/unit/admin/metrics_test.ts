// The metrics text, read back by a strict parser.

import assert from "node:assert/strict";
import { METRICS } from "../../../src/admin/metrics.ts";
import { metricsText } from "../../../src/admin/metrics_text.ts";
import type { RunningState } from "../../../src/admin/running_state.ts";
import { viewOf } from "../../../src/admin/view_of.ts";
import { type Family, parsePrometheus } from "../../support/prometheus.ts";
import {
  bigState,
  endpointAt,
  healthyState,
  sickState,
  startingState,
  upstreamOf,
  wellState,
} from "../../support/admin_states.ts";

const read = (state: RunningState) => parsePrometheus(metricsText(METRICS, viewOf(state)));

function valueOf(families: ReadonlyMap<string, Family>, name: string, labels: Record<string, string> = {}) {
  const family = families.get(name.replace(/_(bucket|sum|count)$/, "")) ?? families.get(name);
  return family?.samples.find((sample) =>
    sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  )?.value;
}

Deno.test("every metric of the table is in the text with its type, help and labels", () => {
  const families = read(sickState());
  assert.deepEqual([...families.keys()], METRICS.map(({ name }) => name));
  for (const metric of METRICS) {
    const family = families.get(metric.name)!;
    assert.equal(family.type, metric.type);
    assert.equal(family.help, metric.help);
    for (const { labels } of family.samples) {
      assert.deepEqual(Object.keys(labels).filter((label) => label !== "le"), [...metric.labels]);
    }
  }
});

Deno.test("the metrics of the behaviour are all there", () => {
  const wanted = [
    "hale_endpoint_usable hale_endpoint_in_flight hale_endpoint_picks_total hale_endpoint_ejections_total",
    "hale_endpoint_failures_total hale_fail_open_picks_total hale_probes_total hale_discovery_refreshes_total",
    "hale_discovery_endpoints hale_discovery_failures_total hale_config_generation hale_config_reloads_total",
    "hale_sessions hale_sessions_total hale_bytes_total hale_exchange_seconds hale_responses_total",
    "hale_not_charged_total hale_worker_restarts_total hale_loop_lag_seconds",
  ].join(" ").split(" ");
  const names = new Set(METRICS.map(({ name }) => name));
  assert.deepEqual(wanted.filter((name) => !names.has(name)), []);
});

Deno.test("numbers of the state arrive as values", () => {
  const families = read(sickState());
  const ejected = { upstream: "app", endpoint: "10.0.0.3:8080" };
  assert.equal(valueOf(families, "hale_endpoint_usable", ejected), 0);
  assert.equal(valueOf(families, "hale_endpoint_usable", { upstream: "app", endpoint: "10.0.0.1:8080" }), 1);
  assert.equal(valueOf(families, "hale_endpoint_ejections_total", ejected), 4);
  assert.equal(valueOf(families, "hale_endpoint_failures_total", { ...ejected, source: "probe" }), 32);
  assert.equal(valueOf(families, "hale_endpoint_in_flight", { endpoint: "10.0.2.2:5432" }), 100);
  assert.equal(valueOf(families, "hale_discovery_endpoints", { upstream: "catalogue" }), 3);
  assert.equal(valueOf(families, "hale_discovery_failures_total", { kind: "servfail" }), 29);
  assert.equal(valueOf(families, "hale_config_reloads_total", { result: "refused" }), 1);
  assert.equal(valueOf(families, "hale_bytes_total", { listener: "web", direction: "sent" }), 7.4e11);
  assert.equal(valueOf(families, "hale_loop_lag_seconds", { thread: "main" }), 0.0004);
  assert.equal(valueOf(families, "hale_no_endpoint_total", { upstream: "catalogue" }), 3);
});

Deno.test("exchange times are a cumulative histogram in seconds, and tcp upstreams have none", () => {
  const families = read(healthyState());
  assert.equal(valueOf(families, "hale_exchange_seconds_bucket", { upstream: "app", le: "0.0025" }), 100);
  assert.equal(valueOf(families, "hale_exchange_seconds_bucket", { upstream: "app", le: "60" }), 140);
  assert.equal(valueOf(families, "hale_exchange_seconds_bucket", { upstream: "app", le: "+Inf" }), 141);
  assert.equal(valueOf(families, "hale_exchange_seconds_sum", { upstream: "app" }), 61);
  assert.equal(valueOf(families, "hale_exchange_seconds_count", { upstream: "pg" }), undefined);
});

Deno.test("only discovered upstreams have discovery series", () => {
  const upstreams = read(healthyState()).get("hale_discovery_refreshes_total")!.samples.map((it) =>
    it.labels.upstream
  );
  assert.deepEqual(upstreams, ["catalogue"]);
});

Deno.test("series vanish with their endpoint and come back with it", () => {
  const state = healthyState();
  const [app, ...others] = state.plan!.upstreams;
  const without = { ...app!, endpoints: app!.endpoints.slice(1) };
  const gone = read({ ...state, plan: { ...state.plan!, upstreams: [without, ...others] } });
  const text = JSON.stringify([...gone.values()]);
  assert.ok(!text.includes("10.0.0.1:8080"));
  assert.ok(text.includes("10.0.0.2:8080"));
  assert.equal(valueOf(read(state), "hale_endpoint_usable", { endpoint: "10.0.0.1:8080" }), 1);
});

Deno.test("names with quotes, backslashes and line feeds are escaped and survive", () => {
  const names = ['we"ird\\name', "two\nlines", "back\\nslash", 'π {le="1"}'];
  const state = healthyState();
  const upstreams = names.map((name, slot) => upstreamOf(name, [endpointAt("10.9.9.9:80", slot)]));
  const families = read({ ...state, plan: { ...state.plan!, upstreams } });
  assert.deepEqual(families.get("hale_endpoint_usable")!.samples.map(({ labels }) => labels.upstream), names);
});

Deno.test("before the first plan there are no endpoint series, but generation 0", () => {
  const families = read(startingState());
  assert.equal(families.get("hale_endpoint_usable")!.samples.length, 0);
  assert.equal(valueOf(families, "hale_config_generation"), 0);
});

Deno.test("what the platform does not tell has no series", () => {
  const families = read({ ...healthyState(), process: { startedAtWall: 1_000 } });
  assert.equal(families.get("process_open_fds")!.samples.length, 0);
  assert.equal(valueOf(families, "process_start_time_seconds"), 1);
});

Deno.test("two upstreams with the same address have two series each", () => {
  const state = healthyState();
  const upstreams = ["a", "b"].map((name, slot) => upstreamOf(name, [endpointAt("10.0.0.1:80", slot)]));
  const endpoints = new Map([[0, wellState(0, { picks: 3 })], [1, wellState(1, { picks: 4 })]]);
  const families = read({ ...state, plan: { ...state.plan!, upstreams }, endpoints });
  assert.equal(valueOf(families, "hale_endpoint_picks_total", { upstream: "a" }), 3);
  assert.equal(valueOf(families, "hale_endpoint_picks_total", { upstream: "b" }), 4);
});

Deno.test("a scrape of 1,000 endpoints costs little", () => {
  const state = bigState(1000, 50);
  metricsText(METRICS, viewOf(state));
  const began = performance.now();
  for (let turn = 0; turn < 5; turn++) metricsText(METRICS, viewOf(state));
  const each = (performance.now() - began) / 5;
  // Wanted: 50 ms. Much less is usual; a busy machine may take longer than wanted.
  assert.ok(each < 250, `took ${each} ms`);
});

Deno.test("the strict parser refuses what a scraper could stumble over", () => {
  const ok = "# HELP a_total h\n# TYPE a_total counter\na_total 1\n";
  assert.equal(parsePrometheus(ok).get("a_total")!.samples.length, 1);
  const bad = [
    ok + ok,
    ok.trimEnd(),
    ok + "a_total 2\n",
    ok + 'a_total{x="1"} 2\n',
    ok + 'a_total{x="a"b"} 2\n',
    ok + 'a_total{x="\\q"} 2\n',
    ok + "b 1\n",
    "# TYPE a gauge\na 1\n",
    ok.replace(" 1\n", " one\n"),
    ok.replace(" 1\n", " -1\n"),
    '# HELP h h\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_sum 1\nh_count 1\n',
    '# HELP h h\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n',
  ];
  for (const text of bad) assert.throws(() => parsePrometheus(text), text);
});
