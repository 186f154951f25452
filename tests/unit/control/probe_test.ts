import assert from "node:assert/strict";
import { probeOnce, type ProbeResult, type ProbeTarget, probeTargetOf } from "../../../src/control/probe.ts";
import { verdictOf } from "../../../src/core/outcome.ts";
import type { ActiveParams, Upstream } from "../../../src/core/plan.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";
import { activeParams, endpoint, upstream } from "../../support/plans.ts";
import {
  answering,
  type EndpointScript,
  readHead,
  ScriptedDial,
  silent,
} from "../../support/scripted_dial.ts";

const KEY = "10.0.0.1:8080";

function targetOf(
  changes: Partial<ActiveParams> = {},
  more: { upstream?: Partial<Upstream>; endpoint?: Parameters<typeof endpoint>[2]; key?: string } = {},
): ProbeTarget {
  const activeHealth = activeParams(changes);
  const at = endpoint(more.key ?? KEY, 0, more.endpoint);
  return probeTargetOf({ ...upstream("app", [at], more.upstream), activeHealth }, at);
}

interface Probed extends ProbeResult {
  readonly dial: ScriptedDial;
  readonly clock: FakeClock;
}

async function probe(
  script: EndpointScript,
  target = targetOf(),
  run?: (clock: FakeClock) => Promise<void>,
): Promise<Probed> {
  const dial = new ScriptedDial(script);
  const clock = new FakeClock();
  const { signal } = new AbortController();
  const probing = probeOnce(target, { dial: dial.dial, clock, signal });
  await settled();
  await run?.(clock);
  const result = await probing;
  assert.equal(dial.open, 0, "the connection is closed");
  assert.equal(clock.sleeping, 0, "no timer is left");
  return { ...result, dial, clock };
}

Deno.test("the request has one Host, our name, and Connection: close", async () => {
  const seen: string[] = [];
  const { outcome, detail } = await probe(answering("HTTP/1.1 200 OK\r\n\r\n", seen));
  assert.deepEqual(seen, [
    "GET /healthz HTTP/1.1\r\nHost: 10.0.0.1:8080\r\nUser-Agent: hale-probe\r\nConnection: close\r\n\r\n",
  ]);
  assert.equal(outcome, "probe_ok");
  assert.equal(detail, "200 OK");
});

const headOf = (target: ProbeTarget) => target.request.split("\r\n").slice(0, -2);

Deno.test("IPv6 addresses stand in brackets, the port is always in Host", () => {
  const host = (key: string) => headOf(targetOf({}, { key }))[1];
  assert.equal(host("[2001:db8::1]:80"), "Host: [2001:db8::1]:80");
  assert.equal(host("app.example.test:80"), "Host: app.example.test:80");
});

Deno.test("case 12: path with query, Host and TLS name come from the config where it has them", () => {
  const target = targetOf(
    { path: "/healthz?deep=1", host: "www.example.test", serverName: "www.example.test", port: 9443 },
    { upstream: { protocol: "https", tls: { ca: "PEM" } } },
  );
  assert.equal(headOf(target)[0], "GET /healthz?deep=1 HTTP/1.1");
  assert.deepEqual(headOf(target).filter((line) => line.startsWith("Host")), ["Host: www.example.test"]);
  assert.deepEqual(target.dial, {
    host: "10.0.0.1",
    port: 9443,
    tls: { serverName: "www.example.test", ca: "PEM", alpn: ["http/1.1"] },
  });
});

Deno.test("case 12: without that, Host is what traffic would send, and the TLS name what it would check", () => {
  const https = { protocol: "https", tls: {} } as const;
  assert.equal(
    headOf(targetOf({}, { upstream: { host: { name: "app.example.test" } } }))[1],
    "Host: app.example.test",
  );
  assert.equal(headOf(targetOf({ port: 9000 }))[1], "Host: 10.0.0.1:9000");
  const discovered = targetOf({}, { upstream: https, endpoint: { serverName: "app.internal" } });
  assert.equal(discovered.dial.tls!.serverName, "app.internal");
  assert.equal(targetOf({}, { upstream: https }).dial.tls!.serverName, "10.0.0.1");
  const named = { protocol: "https", tls: { serverName: "tls.example.test" } } as const;
  assert.equal(targetOf({}, { upstream: named }).dial.tls!.serverName, "tls.example.test");
});

Deno.test("configured headers take the place of ours; Connection stays ours", () => {
  const target = targetOf({
    headers: [["host", "h.example.test"], ["USER-AGENT", "mine"], ["X-A", "1"], ["connection", "keep-alive"]],
  });
  assert.deepEqual(headOf(target).slice(1), [
    "host: h.example.test",
    "USER-AGENT: mine",
    "X-A: 1",
    "Connection: close",
  ]);
});

Deno.test("methods that mean a body say that there is none", () => {
  assert.ok(headOf(targetOf({ method: "POST" })).includes("Content-Length: 0"));
  assert.ok(!headOf(targetOf({ method: "HEAD" })).includes("Content-Length: 0"));
});

Deno.test("tcp probes and plain upstreams use no TLS, http probes of tcp upstreams with tls do", () => {
  const tls = { protocol: "tcp", tls: {} } as const;
  assert.equal(targetOf({ kind: "tcp" }, { upstream: tls }).dial.tls, undefined);
  assert.equal(targetOf({ kind: "http" }, { upstream: { protocol: "tcp" } }).dial.tls, undefined);
  assert.ok(targetOf({ kind: "http" }, { upstream: tls }).dial.tls !== undefined);
});

const ANSWERS: readonly (readonly [answer: string, outcome: string, detail: string])[] = [
  ["HTTP/1.1 200 OK\r\n\r\n", "probe_ok", "200 OK"],
  ["HTTP/1.0 299 Fine\r\n\r\n", "probe_ok", "299 Fine"],
  ["HTTP/1.1 204\r\n\r\n", "probe_ok", "204"],
  ["HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "probe_ok", "200 OK"],
  ["HTTP/1.1 199 Odd\r\n\r\nHTTP/1.1 300 Choices\r\n", "unexpected_status", "300 Choices"],
  ["HTTP/1.1 101 Switching Protocols\r\n\r\n", "unexpected_status", "101 Switching Protocols"],
  ["HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n", "unexpected_status", "302 Found"],
  ["HTTP/1.1 418 Teapot\r\n\r\n", "unexpected_status", "418 Teapot"],
  ["HTTP/1.1 503 Service Unavailable\r\n\r\n", "unexpected_status", "503 Service Unavailable"],
  ["HTTP/1.1 500 \x1b[31mred\r\n", "answer_malformed", 'got "HTTP/1.1 500 ?[31mred"'],
  ["SSH-2.0-OpenSSH_9.6\r\n", "answer_malformed", 'got "SSH-2.0-OpenSSH_9.6"'],
];

for (const [answer, outcome, detail] of ANSWERS) {
  Deno.test(`the answer ${JSON.stringify(answer)} is ${outcome}`, async () => {
    const result = await probe(answering(answer));
    assert.deepEqual([result.outcome, result.detail], [outcome, detail]);
  });
}

Deno.test("expect_status decides which statuses pass", async () => {
  const target = targetOf({ expectStatus: [[200, 200], [401, 403]] });
  const outcomeOf = async (status: number) =>
    (await probe(answering(`HTTP/1.1 ${status} X\r\n\r\n`), target)).outcome;
  assert.deepEqual(await Promise.all([200, 201, 401, 403, 404].map(outcomeOf)), [
    "probe_ok",
    "unexpected_status",
    "probe_ok",
    "probe_ok",
    "unexpected_status",
  ]);
});

Deno.test("an endpoint that closes before its answer, or within it, fails", async () => {
  const closing = (answer: string): EndpointScript => async (conn) => {
    await readHead(conn);
    if (answer !== "") await conn.write(new TextEncoder().encode(answer));
    conn.close();
  };
  assert.equal((await probe(closing(""))).outcome, "no_answer");
  assert.equal((await probe(closing("HTTP/1.1 20"))).outcome, "answer_cut");
  assert.equal((await probe(closing("HTTP/1.1 100 Continue\r\n\r\n"))).outcome, "answer_cut");
  assert.equal((await probe(closing("HTTP/1.1 200 OK\r\n"))).outcome, "probe_ok");
});

Deno.test("an endpoint that resets fails with what the system said", async () => {
  const result = await probe(async (conn) => {
    await readHead(conn);
    conn.reset();
  });
  assert.deepEqual([result.outcome, result.detail], ["no_answer", "Connection reset by peer"]);
  const early = await probe((conn) => conn.reset());
  assert.equal(early.outcome, "no_answer");
});

Deno.test("silence fails at timeout_ms, also in the middle of a line", async () => {
  for (const script of [silent, answering("HTTP/1.1 200 O")]) {
    const result = await probe(script, targetOf({ timeoutMs: 700 }), (clock) => clock.advance(700));
    assert.deepEqual([result.outcome, result.detail], ["answer_timeout", "no answer within 700 ms"]);
    assert.equal(result.durationMs, 700);
    assert.deepEqual(result.dial.timeouts, [700]);
  }
});

Deno.test("an endpoint that never reads fails at timeout_ms", async () => {
  const target = { ...targetOf({ timeoutMs: 700 }), request: "x".repeat(200_000) };
  const result = await probe(() => undefined, target, (clock) => clock.advance(700));
  assert.equal(result.outcome, "answer_timeout");
});

Deno.test("time spent on connecting is taken from the answer's", async () => {
  const clock = new FakeClock();
  const scripted = new ScriptedDial(silent);
  const slowDial: typeof scripted.dial = async (target, options) => {
    await clock.sleep(400);
    return await scripted.dial(target, options);
  };
  const { signal } = new AbortController();
  const probing = probeOnce(targetOf({ timeoutMs: 700 }), { dial: slowDial, clock, signal });
  await clock.advance(699);
  assert.equal(scripted.open, 1);
  await clock.advance(1);
  assert.equal((await probing).outcome, "answer_timeout");
});

Deno.test("an aborted probe closes its connection and ends as cancelled", async () => {
  const dial = new ScriptedDial(silent);
  const clock = new FakeClock();
  const stop = new AbortController();
  const probing = probeOnce(targetOf(), { dial: dial.dial, clock, signal: stop.signal });
  await settled();
  stop.abort();
  const { outcome } = await probing;
  assert.equal(outcome, "cancelled");
  assert.equal(dial.open, 0);
  assert.equal(clock.sleeping, 0);
});

Deno.test("what the dial says is passed on", async () => {
  for (
    const outcome of ["refused", "tls_failed", "connect_timeout", "unreachable", "name_unresolved"] as const
  ) {
    const result = await probe(outcome);
    assert.deepEqual([result.outcome, result.detail], [outcome, `10.0.0.1: ${outcome}`]);
    assert.deepEqual(result.stages, {});
  }
});

Deno.test("a tcp probe passes once connected, sends nothing and closes cleanly", async () => {
  const seen: (number | null)[] = [];
  const result = await probe(async (conn) => {
    seen.push(await conn.read(new Uint8Array(10)));
  }, targetOf({ kind: "tcp" }));
  assert.equal(result.outcome, "probe_ok");
  await settled();
  assert.deepEqual(seen, [null]);
});

Deno.test("a tcp probe of an endpoint that resets at once passes: it did accept", async () => {
  assert.equal((await probe((conn) => conn.reset(), targetOf({ kind: "tcp" }))).outcome, "probe_ok");
});

Deno.test("stages have their times", async () => {
  const clock = new FakeClock();
  const scripted = new ScriptedDial(async (conn) => {
    await readHead(conn);
    await clock.sleep(30);
    await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n"));
  });
  const { signal } = new AbortController();
  const probing = probeOnce(targetOf({ timeoutMs: 700 }), { dial: scripted.dial, clock, signal });
  await clock.advance(30);
  const { stages, durationMs } = await probing;
  assert.deepEqual(stages, { connectMs: 1, requestMs: 0, answerMs: 30 });
  assert.equal(durationMs, 30);
});

Deno.test("every outcome a probe can have but our own is a success or a failure", () => {
  for (const outcome of ["probe_ok", "unexpected_status", "answer_malformed", "answer_timeout"] as const) {
    assert.notEqual(verdictOf(outcome), "none");
  }
  for (const outcome of ["no_answer", "answer_cut", "refused", "tls_failed", "connect_timeout"] as const) {
    assert.equal(verdictOf(outcome), "failure");
  }
});
