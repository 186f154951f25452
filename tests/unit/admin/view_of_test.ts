// The view: the shape of /status, and what is derived from the numbers.

import assert from "node:assert/strict";
import { Recent } from "../../../src/admin/recent.ts";
import type { EndpointState, RunningState } from "../../../src/admin/running_state.ts";
import type { EndpointView } from "../../../src/admin/view.ts";
import { readinessOf, viewOf, whyOf } from "../../../src/admin/view_of.ts";
import { GATE } from "../../../src/core/board.ts";
import type { Upstream } from "../../../src/core/plan.ts";
import {
  endpointAt,
  evidenceOf,
  healthRules,
  healthyState,
  NOW,
  refusedState,
  sickState,
  startingState,
  upstreamOf,
  WALL_MS,
  wellState,
} from "../../support/admin_states.ts";

function endpointOf(state: RunningState, address: string): EndpointView {
  const all = viewOf(state).upstreams.flatMap((upstream) => upstream.endpoints);
  return all.find((endpoint) => endpoint.address === address)!;
}

/** A state with one upstream whose endpoints have the given numbers. */
function stateOf(numbers: readonly Partial<EndpointState>[], over: Partial<Upstream> = {}): RunningState {
  const state = healthyState();
  const endpoints = numbers.map((_, slot) => endpointAt(`10.0.0.${slot}:80`, slot));
  return {
    ...state,
    plan: { ...state.plan!, upstreams: [upstreamOf("u", endpoints, over)] },
    endpoints: new Map(numbers.map((number, slot) => [slot, wellState(slot, number)])),
  };
}

const EJECTED: Partial<EndpointState> = { health: "ejected", gate: GATE.ejected, until: NOW + 12_300 };
const HALF_OPEN: Partial<EndpointState> = { health: "half_open", gate: GATE.half_open };

Deno.test("the view has the fields of /status and is plain JSON", () => {
  const view = viewOf(sickState());
  assert.deepEqual(JSON.parse(JSON.stringify(view)), view);
  const fields = (value: object, wanted: string) =>
    assert.deepEqual(wanted.split(" ").filter((name) => !(name in value)), []);
  fields(view, "version uptime_ms generation config workers listeners upstreams");
  fields(view.config, "hash loaded_at last_attempt");
  fields(view.config.last_attempt, "at ok problems");
  fields(view.workers[0]!, "id sessions restarts");
  fields(view.listeners[0]!, "name address protocol sessions accepted_total");
  fields(view.upstreams[0]!, "name protocol load_balancer usable total fail_open endpoints");
  fields(view.upstreams[1]!.discovery!, "hostname record_type state failure since ttl_ms next_refresh_ms");
  const endpoint = view.upstreams[0]!.endpoints[2]!;
  fields(
    endpoint,
    "address weight priority source state usable reasons since returns_in_ms streak in_flight ejections picks_total failures_total last",
  );
  fields(endpoint.last!, "at source outcome detail duration_ms");
});

Deno.test("an ejected endpoint tells why, since when, and when it returns", () => {
  const endpoint = endpointOf(sickState(), "10.0.0.3:8080");
  assert.equal(endpoint.state, "ejected");
  assert.equal(endpoint.usable, false);
  assert.deepEqual(endpoint.reasons, ["ejected"]);
  assert.equal(endpoint.reason, "5 connect failures in a row, last: refused (ECONNREFUSED)");
  assert.equal(endpoint.since, new Date(WALL_MS - 161_000).toISOString());
  assert.equal(endpoint.returns_in_ms, 12_300);
  assert.equal(endpoint.returns, "on trial when its time is over, or sooner after 2 good probes in a row");
  assert.equal(endpoint.failures_total, 52);
});

Deno.test("an endpoint without a recorded cause tells its last evidence", () => {
  const last = evidenceOf(1, { outcome: "refused", detail: "ECONNREFUSED" });
  const [endpoint] = viewOf(stateOf([{ ...EJECTED, last }])).upstreams[0]!.endpoints;
  assert.equal(endpoint!.reason, "last evidence: refused the connection (ECONNREFUSED)");
});

Deno.test("that hale itself stopped probing is seen, beside whatever else there is to say", () => {
  const of = (state: Partial<EndpointState>) => viewOf(stateOf([state])).upstreams[0]!.endpoints[0]!;
  assert.deepEqual([of({}).probing, of({}).reason], ["on", ""]);
  const state = stateOf([{}]);
  const { activeHealth: _, ...unprobed } = state.plan!.upstreams[0]!;
  const plain = viewOf({ ...state, plan: { ...state.plan!, upstreams: [unprobed] } });
  assert.equal(plain.upstreams[0]!.endpoints[0]!.probing, "off");
  const stopped = of({ isProbeStopped: true });
  assert.deepEqual([stopped.probing, stopped.usable], ["stopped", true]);
  assert.equal(stopped.reason, "probing has stopped after three faults of hale itself");
  const both = of({ ...EJECTED, isProbeStopped: true }).reason;
  assert.match(both, /^.+; probing has stopped after three faults of hale itself$/);
});

Deno.test("reasons are a set: an operator's hold and an ejection stand side by side", () => {
  const endpoint = endpointOf(sickState(), "10.0.2.1:5432");
  assert.deepEqual(endpoint.reasons, ["ejected", "maintenance"]);
  assert.equal(endpoint.returns_in_ms, null, "no time is promised while people have the say");
  assert.equal(endpoint.returns, "when an operator sets it ready, and after 2 good probes in a row");
});

Deno.test("half_open is a reason only while no trial permit is free", () => {
  const of = (trials: number) =>
    viewOf(stateOf([{ ...HALF_OPEN, trials }], { health: healthRules({ halfOpenProbes: 2 }) })).upstreams[0]!
      .endpoints[0]!;
  assert.deepEqual([of(1).usable, of(1).reasons], [true, []]);
  assert.match(of(1).reason, /^on trial: /);
  assert.deepEqual([of(2).usable, of(2).reasons], [false, ["half_open"]]);
  assert.match(of(2).reason, /^on trial, all 2 places taken: /);
});

Deno.test("an endpoint at its max_connections is full, and only then", () => {
  const of = (inFlight: number) => viewOf(stateOf([{ inFlight }], { maxConnections: 10 })).upstreams[0]!;
  assert.deepEqual(of(9).endpoints[0]!.reasons, []);
  assert.deepEqual(of(10).endpoints[0]!.reasons, ["full"]);
  assert.equal(of(10).endpoints[0]!.reason, "full: 10 in flight of at most 10");
  assert.equal(of(10).fail_open, false, "full endpoints do not trigger fail_open");
});

Deno.test("recovery decides what is said about the return", () => {
  const of = (recovery: "either" | "probes" | "timer", numbers: Partial<EndpointState>) => {
    const endpoint = viewOf(stateOf([numbers], { health: healthRules({ recovery }) })).upstreams[0]!
      .endpoints[0]!;
    return [endpoint.returns_in_ms, endpoint.returns];
  };
  assert.deepEqual(of("timer", EJECTED), [12_300, "on trial when its time is over"]);
  assert.deepEqual(of("probes", EJECTED), [null, "after 2 good probes in a row"]);
  assert.deepEqual(of("timer", HALF_OPEN), [null, "after one good answer"]);
  assert.deepEqual(of("either", HALF_OPEN), [null, "after one good answer, or after 2 good probes in a row"]);
});

Deno.test("mode observe: the gate is open, the endpoint usable, and the view says what would be", () => {
  const health = healthRules({ mode: "observe" });
  const upstream = viewOf(stateOf([{ ...EJECTED, gate: 0, cause: "5 failures in a row" }], { health }))
    .upstreams[0]!;
  assert.equal(upstream.health, "observe");
  const [endpoint] = upstream.endpoints;
  assert.deepEqual([endpoint!.state, endpoint!.usable, endpoint!.reasons], ["ejected", true, []]);
  assert.equal(endpoint!.reason, "would be out (mode observe): 5 failures in a row");
  assert.equal(endpoint!.returns, "");
});

Deno.test("fail_open is in force when all that people allow are out for their health", () => {
  const failOpen = (numbers: Partial<EndpointState>[], health = healthRules()) =>
    viewOf(stateOf(numbers, { health })).upstreams[0]!.fail_open;
  assert.equal(failOpen([EJECTED, EJECTED]), true);
  assert.equal(failOpen([EJECTED, {}]), false);
  assert.equal(failOpen([EJECTED, { gate: GATE.drained }]), true);
  assert.equal(failOpen([{ gate: GATE.drained }, { gate: GATE.maintenance }]), false);
  assert.equal(failOpen([EJECTED, { ...HALF_OPEN, trials: 1 }]), true);
  assert.equal(failOpen([EJECTED, HALF_OPEN]), false, "a free trial permit is taken first");
  assert.equal(failOpen([EJECTED], healthRules({ allDown: "fail_closed" })), false);
  assert.equal(failOpen([]), false);
});

Deno.test("usable counts what may be picked", () => {
  const counts = viewOf(sickState()).upstreams.map(({ name, usable, total }) => [name, usable, total]);
  assert.deepEqual(counts, [["app", 3, 4], ["catalogue", 2, 3], ["pg", 0, 2]]);
});

Deno.test("an endpoint without a record yet is healthy", () => {
  const state = { ...healthyState(), endpoints: new Map() };
  const endpoint = endpointOf(state, "10.0.0.1:8080");
  assert.deepEqual([endpoint.state, endpoint.usable, endpoint.picks_total, endpoint.last], [
    "healthy",
    true,
    0,
    null,
  ]);
});

Deno.test("an ejection that has run out but was not looked at returns in 0 ms", () => {
  const [endpoint] = viewOf(stateOf([{ ...EJECTED, until: NOW - 5 }])).upstreams[0]!.endpoints;
  assert.equal(endpoint!.returns_in_ms, 0);
});

Deno.test("failing discovery shows its kind, since when, and when it asks again", () => {
  const { discovery } = viewOf(sickState()).upstreams[1]!;
  assert.deepEqual([discovery!.state, discovery!.failure, discovery!.next_refresh_ms, discovery!.note], [
    "failing",
    "servfail",
    7900,
    "kept 3 endpoints",
  ]);
});

Deno.test("a refused edit shows its exact problems beside the generation that goes on", () => {
  const view = viewOf(refusedState());
  assert.equal(view.generation, 7);
  assert.equal(view.config.last_attempt.ok, false);
  assert.equal(view.config.last_attempt.problems[0]!.line, 31);
  assert.deepEqual(view.config.reloads, { accepted: 7, refused: 2, unchanged: 2 });
});

Deno.test("names of inherited properties are ordinary names", () => {
  const state = healthyState();
  const upstreams = ["constructor", "__proto__"].map((name, slot) =>
    upstreamOf(name, [endpointAt("10.0.0.1:80", slot)])
  );
  const view = viewOf({ ...state, plan: { ...state.plan!, upstreams } });
  assert.deepEqual(
    view.upstreams.map(({ responses_total, no_endpoint_total }) => [responses_total, no_endpoint_total]),
    [
      [{}, 0],
      [{}, 0],
    ],
  );
});

Deno.test("nothing secret gets into the view: TLS keys and tokens are not part of it", () => {
  const state = healthyState();
  const tls = { certFile: "c.pem", keyFile: "k.pem", cert: "CERT-TEXT", key: "KEY-TEXT" };
  const listeners = state.plan!.listeners.map((listener) => ({ ...listener, tls }));
  const text = JSON.stringify(viewOf({ ...state, plan: { ...state.plan!, listeners } }));
  assert.ok(!text.includes("KEY-TEXT") && !text.includes("CERT-TEXT"));
});

Deno.test("ready: with a plan and not draining; upstreams that cannot serve are named but do not count", () => {
  assert.deepEqual(readinessOf(sickState()), {
    ready: true,
    phase: "running",
    without_usable_endpoint: ["pg"],
  });
  assert.equal(readinessOf(startingState()).ready, false);
  assert.equal(readinessOf({ ...healthyState(), phase: "draining" }).ready, false);
  assert.equal(readinessOf({ ...startingState(), phase: "running" }).ready, false);
});

Deno.test("an upstream with no endpoint at all is named as one without a usable endpoint", () => {
  assert.deepEqual(readinessOf(stateOf([])).without_usable_endpoint, ["u"]);
});

Deno.test("why gives the endpoint's view with its newest evidence, at most 32 pieces", () => {
  const evidence = Array.from({ length: 40 }, (_, at) => evidenceOf(at, { detail: String(at) }));
  const why = whyOf(sickState(), { upstream: "app", key: "10.0.0.3:8080" }, evidence)!;
  assert.equal(why.upstream, "app");
  assert.equal(why.state, "ejected");
  assert.equal(why.evidence.length, 32);
  assert.deepEqual([why.evidence[0]!.detail, why.evidence[31]!.detail], ["0", "31"]);
  assert.deepEqual([why.evidence[0]!.verdict, why.evidence[0]!.sentence], ["success", "passed the probe"]);
});

Deno.test("why of an unknown upstream or endpoint is undefined", () => {
  assert.equal(whyOf(sickState(), { upstream: "app", key: "10.0.0.9:1" }, []), undefined);
  assert.equal(whyOf(sickState(), { upstream: "apq", key: "10.0.0.3:8080" }, []), undefined);
  assert.equal(whyOf(startingState(), { upstream: "app", key: "10.0.0.3:8080" }, []), undefined);
});

Deno.test("an upstream's rate is the sum of its endpoints', its quantiles those of all together", () => {
  const slow = new Recent();
  slow.note(1000, 10, NOW);
  const fast = new Recent();
  fast.note(10, 990, NOW);
  const upstream = viewOf(stateOf([{ recent: slow }, { recent: fast }])).upstreams[0]!;
  assert.ok(Math.abs(upstream.p50_ms! - 10) < 1.5, `p50 ${upstream.p50_ms}`);
  assert.ok(Math.abs(upstream.endpoints[0]!.p99_ms! - 1000) < 120, `p99 ${upstream.endpoints[0]!.p99_ms}`);
  const sum = upstream.endpoints.reduce((all, { rate_per_s }) => all + rate_per_s, 0);
  assert.ok(Math.abs(upstream.rate_per_s - sum) < 0.1);
});
