import assert from "node:assert/strict";
import type { WhyView } from "../../../src/admin/view.ts";
import { renderWhy } from "../../../src/cli/why_text.ts";

const ejected: WhyView = {
  upstream: "pg",
  address: "10.0.0.2:5432",
  now: "2030-01-01T12:00:25.000Z",
  weight: 1,
  priority: 0,
  source: "static",
  state: "ejected",
  usable: false,
  reasons: ["ejected", "drained"],
  reason: "5 connect failures in a row, last: refused (ECONNREFUSED); drained by an operator",
  since: "2030-01-01T12:00:00.000Z",
  returns_in_ms: 5000,
  returns: "when an operator sets it ready, and on trial when its time is over",
  streak: 0,
  in_flight: 2,
  ejections: 1,
  would_eject: 0,
  picks_total: 812,
  failures_total: 8,
  failures: [
    { source: "traffic", outcome: "refused", count: 7 },
    { source: "probe", outcome: "connect_timeout", count: 1 },
  ],
  last: null,
  probing: "on",
  rate_per_s: 0,
  rates: [],
  p50_ms: null,
  p99_ms: null,
  evidence: [
    {
      at: "2030-01-01T12:00:20.250Z",
      source: "probe",
      outcome: "probe_ok",
      verdict: "success",
      sentence: "passed the probe",
      detail: "200 OK",
      duration_ms: 12.3,
      count: 1,
    },
    {
      at: "2030-01-01T12:00:00.000Z",
      source: "traffic",
      outcome: "refused",
      verdict: "failure",
      sentence: "refused the connection",
      detail: "ECONNREFUSED",
      duration_ms: 0.4,
      count: 7,
    },
  ],
};

Deno.test("an endpoint that is out: where, why, what brings it back, then the evidence", () => {
  assert.equal(
    renderWhy(ejected),
    [
      "pg/10.0.0.2:5432  ejected for 25 s, not usable (ejected, drained)",
      "  why       5 connect failures in a row, last: refused (ECONNREFUSED); drained by an operator",
      "  returns   when an operator sets it ready, and on trial when its time is over; its time is over in 5 s",
      "  now       2 in flight, 812 picks, 0 failures in a row, 1 ejections",
      "  failures  traffic refused 7, probe connect_timeout 1",
      "  evidence  newest first",
      "    2030-01-01 12:00:20.250  probe    +   12 ms  passed the probe (200 OK)",
      "    2030-01-01 12:00:00.000  traffic  -  0.4 ms  refused the connection (ECONNREFUSED), 7 times",
    ].join("\n"),
  );
});

Deno.test("an endpoint that is in says so, with nothing to wait for", () => {
  const { reasons: _, ...rest } = ejected;
  const healthy: WhyView = {
    ...rest,
    reasons: [],
    state: "healthy",
    usable: true,
    reason: "",
    returns: "",
    returns_in_ms: null,
    failures: [],
    evidence: [],
    would_eject: 3,
  };
  assert.equal(
    renderWhy(healthy),
    [
      "pg/10.0.0.2:5432  healthy for 25 s, usable",
      "  why       nothing keeps it out",
      "  now       2 in flight, 812 picks, 0 failures in a row, 1 ejections, 3 only noted",
      "  evidence  none yet",
    ].join("\n"),
  );
});

Deno.test("without a time there is none in the text", () => {
  const text = renderWhy({ ...ejected, returns: "after 2 good probes in a row", returns_in_ms: null });
  assert.match(text, /\n {2}returns {3}after 2 good probes in a row\n/);
});
