// The admin app: routes, refusals, headers, errors.

import assert from "node:assert/strict";
import type { AdminPorts } from "../../../src/admin/app.ts";
import type { RunningState } from "../../../src/admin/running_state.ts";
import { parsePrometheus } from "../../support/prometheus.ts";
import { AdminFake } from "../../support/admin_fake.ts";
import {
  endpointAt,
  healthyState,
  sickState,
  startingState,
  upstreamOf,
} from "../../support/admin_states.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const HOST = "http://127.0.0.1:9900";

function fake(state: RunningState = sickState(), over: Partial<AdminPorts> = {}): AdminFake {
  return new AdminFake(state, new FakeClock(), over);
}

const get = (it: AdminFake, path: string, headers: Record<string, string> = {}) =>
  it.app.fetch(new Request(HOST + path, { headers }));
const post = (it: AdminFake, path: string, headers: Record<string, string> = {}) =>
  it.app.fetch(new Request(HOST + path, { headers, method: "POST" }));

async function errorOf(response: Response): Promise<{ status: number; code: string }> {
  assert.match(response.headers.get("content-type")!, /^application\/json/);
  const { error } = await response.json();
  assert.deepEqual(Object.keys(error), ["code", "message"]);
  return { status: response.status, code: error.code };
}

Deno.test("/status gives the view as JSON", async () => {
  const response = await get(fake(), "/status");
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type")!, /^application\/json/);
  const view = await response.json();
  assert.equal(view.generation, 7);
  assert.deepEqual(view.upstreams.map((upstream: { name: string }) => upstream.name), [
    "app",
    "catalogue",
    "pg",
  ]);
});

Deno.test("/metrics gives Prometheus text", async () => {
  const response = await get(fake(), "/metrics");
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.ok(parsePrometheus(await response.text()).has("hale_endpoint_usable"));
});

Deno.test("a view that has to be waited for is waited for", async () => {
  const it: AdminFake = fake(sickState(), { view: () => Promise.resolve({ slow: true } as never) });
  assert.deepEqual(await (await get(it, "/status")).json(), { slow: true });
});

Deno.test("/livez is always well; /readyz is 503 before the first plan and while draining", async () => {
  const it = fake();
  assert.equal((await get(it, "/livez")).status, 200);
  const ready = await get(it, "/readyz");
  assert.equal(ready.status, 200);
  assert.deepEqual(await ready.json(), { ready: true, phase: "running", without_usable_endpoint: ["pg"] });
  it.state = { ...it.state, phase: "draining" };
  const draining = await get(it, "/readyz");
  assert.equal(draining.status, 503);
  assert.equal((await draining.json()).phase, "draining");
  it.state = startingState();
  assert.equal((await get(it, "/readyz")).status, 503);
  assert.equal((await get(it, "/livez")).status, 200);
});

Deno.test("why tells reasons and evidence; an unknown endpoint is 404", async () => {
  const it = fake();
  const why = await (await get(it, "/upstreams/app/endpoints/10.0.0.3%3A8080/why")).json();
  assert.deepEqual([why.state, why.reasons, why.evidence.length], ["ejected", ["ejected"], 32]);
  const unescaped = await get(it, "/upstreams/app/endpoints/10.0.0.3:8080/why");
  assert.equal(unescaped.status, 200);
  assert.deepEqual(await errorOf(await get(it, "/upstreams/app/endpoints/nobody/why")), {
    status: 404,
    code: "no_such_endpoint",
  });
});

Deno.test("drain, maintenance and ready reach the operator port and can be repeated", async () => {
  const it = fake(healthyState());
  const path = "/upstreams/app/endpoints/10.0.0.1:8080";
  const reasons = async () => (await (await get(it, `${path}/why`)).json()).reasons;
  for (
    const [state, wanted] of [["drain", ["drained"]], ["drain", ["drained"]], ["maintenance", [
      "maintenance",
    ]], ["ready", []]]
  ) {
    const response = await post(it, `${path}/${state}`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { upstream: "app", endpoint: "10.0.0.1:8080", state });
    assert.deepEqual(await reasons(), wanted);
  }
  assert.deepEqual(await errorOf(await post(it, "/upstreams/app/endpoints/x:1/drain")), {
    status: 404,
    code: "no_such_endpoint",
  });
});

Deno.test("upstream names and addresses with odd characters are found by their escaped path", async () => {
  const state = healthyState();
  const names = ['we"ird\\name', "a/b", "50%", "%2F", "a?b#c", "é ü"];
  const upstreams = names.map((name, slot) => upstreamOf(name, [endpointAt("[2001:db8::1]:80", slot)]));
  const it = fake({ ...state, plan: { ...state.plan!, upstreams } });
  for (const name of names) {
    const path = `/upstreams/${encodeURIComponent(name)}/endpoints/${
      encodeURIComponent("[2001:db8::1]:80")
    }/why`;
    assert.equal((await (await get(it, path)).json()).upstream, name);
  }
});

Deno.test("what is not there is 404, a wrong method 405 with what is allowed", async () => {
  const it = fake();
  assert.deepEqual(await errorOf(await get(it, "/nothing")), { status: 404, code: "not_found" });
  const wrong = await post(it, "/status");
  assert.equal(wrong.headers.get("allow"), "GET, HEAD");
  assert.deepEqual(await errorOf(wrong), { status: 405, code: "wrong_method" });
  const drain = await get(it, "/upstreams/app/endpoints/10.0.0.1:8080/drain");
  assert.equal(drain.headers.get("allow"), "POST");
  assert.equal(drain.status, 405);
  assert.equal((await post(it, "/")).status, 405);
  assert.equal((await post(it, "/events")).status, 405);
});

Deno.test("HEAD gives the head alone and opens no event stream", async () => {
  const it = fake();
  const head = (path: string) => it.app.fetch(new Request(HOST + path, { method: "HEAD" }));
  const response = await head("/status");
  assert.deepEqual([response.status, await response.text()], [200, ""]);
  assert.equal((await head("/events")).status, 405);
});

Deno.test("every answer forbids framing, sniffing and storing; only the page may run its one script", async () => {
  const it = fake();
  for (const path of ["/", "/status", "/metrics", "/nothing", "/livez"]) {
    const { headers } = await get(it, path);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("access-control-allow-origin"), null);
    const policy = headers.get("content-security-policy")!;
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(policy.includes("script-src 'sha256-"), path === "/");
  }
});

Deno.test("foreign hosts and origins are refused on every route, before anything is done", async () => {
  const it = fake(healthyState());
  const drain = "/upstreams/app/endpoints/10.0.0.1:8080/drain";
  for (const path of ["/", "/status", "/livez", "/events", "/nothing"]) {
    const answer = await get(it, path, { host: "evil.example.com" });
    assert.deepEqual(await errorOf(answer), { status: 403, code: "foreign_host" });
  }
  const answer = await post(it, drain, { origin: "https://evil.example.com" });
  assert.deepEqual(await errorOf(answer), { status: 403, code: "foreign_origin" });
  assert.equal((await (await get(it, "/status")).json()).upstreams[0].endpoints[0].usable, true);
});

Deno.test("with a token everything but the page and the probes of life asks for it", async () => {
  const it = fake(sickState(), { token: "sesame" });
  const open = { authorization: "Bearer sesame" };
  for (
    const path of ["/status", "/metrics", "/events", "/upstreams/app/endpoints/10.0.0.1:8080/why", "/nothing"]
  ) {
    const refused = await get(it, path);
    assert.equal(refused.headers.get("www-authenticate"), 'Bearer realm="hale"');
    assert.deepEqual(await errorOf(refused), { status: 401, code: "token_required" });
  }
  assert.equal((await post(it, "/upstreams/app/endpoints/10.0.0.1:8080/drain")).status, 401);
  assert.equal((await get(it, "/status", open)).status, 200);
  assert.equal((await post(it, "/upstreams/app/endpoints/10.0.0.1:8080/drain", open)).status, 200);
  for (const path of ["/", "/livez"]) assert.equal((await get(it, path)).status, 200);
  assert.deepEqual(await (await get(it, "/readyz")).json(), { ready: true, phase: "running" });
  assert.deepEqual((await (await get(it, "/readyz", open)).json()).without_usable_endpoint, ["pg"]);
});

Deno.test("the token is in no answer", async () => {
  const it = fake(sickState(), { token: "sesame-open-sesame" });
  const open = { authorization: "Bearer sesame-open-sesame" };
  for (const path of ["/", "/status", "/metrics", "/readyz", "/nothing"]) {
    assert.ok(!(await (await get(it, path, open)).text()).includes("sesame"), path);
  }
});

Deno.test("events stream with ids and come back after Last-Event-ID", async () => {
  const it = fake(healthyState());
  for (let count = 0; count < 3; count++) it.setOperator("app", "10.0.0.1:8080", "drain");
  const first = await get(it, "/events?last=2");
  assert.equal(first.headers.get("content-type"), "text/event-stream");
  const reader = first.body!.pipeThrough(new TextDecoderStream()).getReader();
  await reader.read();
  const id = /^id: (\S+)\n/.exec((await reader.read()).value!)![1]!;
  assert.match(id, /-2$/);
  await reader.cancel();
  const again = (await get(it, "/events?last=3", { "last-event-id": id })).body!.pipeThrough(
    new TextDecoderStream(),
  );
  const second = again.getReader();
  await second.read();
  assert.match((await second.read()).value!, /^id: \S+-3\n/);
  await second.cancel();
});

Deno.test("too many event streams are refused, closing the app ends those there are", async () => {
  const it = fake();
  const streams = [];
  let response = await get(it, "/events");
  while (response.status === 200) {
    streams.push(response.body!.getReader());
    response = await get(it, "/events");
  }
  assert.equal(response.headers.get("retry-after"), "10");
  assert.deepEqual(await errorOf(response), { status: 503, code: "too_many_streams" });
  it.app.close();
  for (const reader of streams) {
    await reader.read();
    assert.equal((await reader.read()).done, true);
  }
});

Deno.test("a port that throws gives 500 without its message, and is reported", async () => {
  const fault = new Error("secret inside");
  const it: AdminFake = fake(sickState(), {
    view: () => {
      throw fault;
    },
  });
  const response = await get(it, "/status");
  const text = await response.clone().text();
  assert.ok(!text.includes("secret"));
  assert.deepEqual(await errorOf(response), { status: 500, code: "internal_error" });
  assert.deepEqual(it.faults, [fault]);
});
