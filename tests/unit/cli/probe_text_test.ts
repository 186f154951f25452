import assert from "node:assert/strict";
import { renderProbe } from "../../../src/cli/probe_text.ts";
import { type ProbeResult, type ProbeTarget, probeTargetOf } from "../../../src/control/probe.ts";
import type { ActiveParams, Upstream } from "../../../src/core/plan.ts";
import { activeParams, endpoint, upstream } from "../../support/plans.ts";

const KEY = "10.0.0.1:8080";

function targetOf(
  changes: Partial<ActiveParams> = {},
  more: { upstream?: Partial<Upstream>; endpoint?: Parameters<typeof endpoint>[2] } = {},
): ProbeTarget {
  const at = endpoint(KEY, 0, more.endpoint);
  return probeTargetOf(
    { ...upstream("app", [at], more.upstream), activeHealth: activeParams(changes) },
    at,
  );
}

Deno.test("the text of a probe shows each stage and the verdict", () => {
  const https = targetOf({}, {
    upstream: { protocol: "https", tls: {} },
    endpoint: { serverName: "app.internal" },
  });
  const passed = renderProbe(`app/${KEY}`, https, {
    outcome: "probe_ok",
    detail: "200 OK",
    durationMs: 12.34,
    stages: { connectMs: 0.4, tlsMs: 8, requestMs: 0.1, answerMs: 3.1 },
    remote: { host: "10.0.0.1", port: 8080 },
  });
  assert.equal(
    passed,
    [
      "app/10.0.0.1:8080  GET https://10.0.0.1:8080/healthz",
      "  connect     0.4 ms  10.0.0.1:8080",
      "  tls           8 ms  app.internal",
      "  request     0.1 ms",
      "  answer      3.1 ms",
      "  passed in 12 ms (200 OK)",
    ].join("\n"),
  );
});

Deno.test("the text of a failed probe ends at the stage that failed", () => {
  const lines = (target: ProbeTarget, result: Pick<ProbeResult, "outcome" | "detail" | "stages">) =>
    renderProbe("app/x", target, { durationMs: 5, ...result }).split("\n").slice(1);
  assert.deepEqual(lines(targetOf(), { outcome: "refused", detail: "10.0.0.1: refused", stages: {} }), [
    "  connect          -",
    "  FAILED after 5 ms: refused the connection (10.0.0.1: refused)",
  ]);
  const https = targetOf({}, { upstream: { protocol: "https", tls: {} } });
  assert.deepEqual(lines(https, { outcome: "tls_failed", detail: "expired", stages: {} }), [
    "  tls              -",
    "  FAILED after 5 ms: failed the TLS handshake (expired)",
  ]);
  assert.deepEqual(lines(targetOf(), { outcome: "name_unresolved", detail: "nxdomain", stages: {} }), [
    "  resolve          -",
    "  NO VERDICT after 5 ms: its name could not be resolved (nxdomain)",
  ]);
  const tcp = targetOf({ kind: "tcp" });
  assert.deepEqual(lines(tcp, { outcome: "probe_ok", detail: "connected", stages: { connectMs: 2 } }), [
    "  connect       2 ms",
    "  passed in 5 ms (connected)",
  ]);
});
