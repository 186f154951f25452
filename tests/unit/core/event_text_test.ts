import assert from "node:assert/strict";
import type { EventKind, HaleEvent, TimedEvent } from "../../../src/core/event.ts";
import { causeText, jsonOf, severityOf, textOf } from "../../../src/core/event_text.ts";

const pg = { upstream: "pg", endpoint: "10.0.0.2:5432" };
const ejection = {
  ...pg,
  cause: { rule: "streak", source: "traffic", failures: 5 },
  noun: "connect failure",
  outcome: "refused",
  detail: "",
  ejectMs: 30_000,
  ejections: 1,
  recovery: "either",
} as const;
const app = { upstream: "app", hostname: "app.internal" };
const session = {
  listener: "web",
  protocol: "tcp",
  upstream: "pg",
  endpoint: "10.0.0.2:5432",
  client: "192.0.2.7:40000",
  outcome: "finished",
  bytesUp: 10,
  bytesDown: 20,
  durationMs: 1500,
  attempts: 1,
  at: 0,
} as const;

/** One event of each kind with its sentence: the record makes the compiler ask for those that are missing. */
const SENTENCES: {
  readonly [Kind in EventKind]: readonly [Extract<HaleEvent, { readonly kind: Kind }>, string];
} = {
  endpoint_ejected: [
    { kind: "endpoint_ejected", ...ejection },
    "Ejected pg/10.0.0.2:5432 for 30 s: 5 connect failures in a row, last: refused",
  ],
  would_eject: [
    { kind: "would_eject", ...ejection, recovery: "probes", detail: "ECONNREFUSED" },
    "Would eject pg/10.0.0.2:5432 until its probes pass: 5 connect failures in a row, last: refused " +
    "(ECONNREFUSED) (mode observe: it stays in)",
  ],
  ejection_withheld: [
    { kind: "ejection_withheld", ...pg, out: 1, size: 3 },
    "Kept pg/10.0.0.2:5432 in rotation although it fails: 1 of 3 are out already",
  ],
  endpoint_half_open: [
    { kind: "endpoint_half_open", ...pg, ejectedMs: 30_000, mode: "enforce" },
    "Trying pg/10.0.0.2:5432 again after 30 s: half_open",
  ],
  endpoint_restored: [
    { kind: "endpoint_restored", ...pg, by: "probe", outMs: 4000, mode: "enforce" },
    "Restored pg/10.0.0.2:5432 after 4 s: its probes pass",
  ],
  endpoint_operator: [
    { kind: "endpoint_operator", ...pg, state: "maintenance" },
    "Set pg/10.0.0.2:5432 to maintenance",
  ],
  all_down_entered: [
    { kind: "all_down_entered", upstream: "pg", policy: "fail_closed", ejected: 2, held: 1 },
    "Upstream pg has no usable endpoint (2 ejected, 1 held back by people): clients get no endpoint",
  ],
  all_down_left: [
    { kind: "all_down_left", upstream: "pg", downMs: 61_000 },
    "Upstream pg has a usable endpoint again after 1 min 1 s",
  ],
  probe_threw: [
    { kind: "probe_threw", ...pg, message: "x is undefined", inRow: 1 },
    "Probe of pg/10.0.0.2:5432 failed inside hale: x is undefined",
  ],
  probe_loop_stopped: [
    { kind: "probe_loop_stopped", ...pg, message: "x is undefined" },
    "Stopped probing pg/10.0.0.2:5432 until the next config edit, after three faults in a row: x is undefined",
  ],
  discovery_updated: [
    {
      kind: "discovery_updated",
      ...app,
      added: ["10.0.0.1:80"],
      removed: ["10.0.0.9:80"],
      total: 3,
      ttlMs: 5000,
    },
    "Discovered 3 endpoints of app by app.internal: added 10.0.0.1:80; removed 10.0.0.9:80",
  ],
  discovery_failed: [
    {
      kind: "discovery_failed",
      ...app,
      failure: "servfail",
      detail: "from 10.0.0.53",
      kept: 3,
      retryMs: 1000,
    },
    "Discovery of app by app.internal failed: servfail (from 10.0.0.53), keeping 3 endpoints, next try in 1 s",
  ],
  discovery_recovered: [
    { kind: "discovery_recovered", ...app, failedMs: 12_000 },
    "Discovery of app by app.internal works again after 12 s",
  ],
  discovery_too_few: [
    { kind: "discovery_too_few", ...app, got: 1, minEndpoints: 2, kept: 3 },
    "Kept 3 endpoints of app: app.internal gave 1, wanted at least 2",
  ],
  discovery_target_left_out: [
    { kind: "discovery_target_left_out", ...app, target: "n1.internal", failure: "nxdomain" },
    "Left out n1.internal of app: it does not resolve (nxdomain)",
  ],
  plan_taken: [
    {
      kind: "plan_taken",
      generation: 2,
      hash: "ab",
      trigger: "watch",
      listeners: 1,
      upstreams: 2,
      endpoints: 5,
    },
    "Took config generation 2 (watch): 1 listener, 2 upstreams, 5 endpoints",
  ],
  plan_refused: [
    { kind: "plan_refused", trigger: "signal", problems: ["a.yaml:1:2 x", "a.yaml:3:4 y"] },
    "Refused the config (signal), what runs goes on: a.yaml:1:2 x; a.yaml:3:4 y",
  ],
  plan_unchanged: [
    { kind: "plan_unchanged", trigger: "signal" },
    "Nothing to take from the config (signal): it is what runs",
  ],
  listener_added: [
    { kind: "listener_added", listener: "web", address: "0.0.0.0:80" },
    "Listening on 0.0.0.0:80 for web",
  ],
  listener_removed: [
    { kind: "listener_removed", listener: "web", address: "0.0.0.0:80" },
    "Stopped listening on 0.0.0.0:80 for web",
  ],
  watch_failed: [
    { kind: "watch_failed", path: "/etc/hale", message: "no space" },
    "Cannot watch /etc/hale, polling goes on: no space",
  ],
  started: [
    { kind: "started", version: "0.1.0", workers: 2, pid: 7 },
    "hale 0.1.0 is ready: 2 workers, process 7",
  ],
  admin_listening: [
    { kind: "admin_listening", address: "127.0.0.1:9900" },
    "Admin listens on http://127.0.0.1:9900/",
  ],
  admin_waiting: [
    { kind: "admin_waiting", address: "127.0.0.1:9900" },
    "Admin will listen on 127.0.0.1:9900 once the hale before has let go of it",
  ],
  worker_started: [{ kind: "worker_started", worker: 1 }, "Started worker 1"],
  worker_died: [
    { kind: "worker_died", worker: 1, message: "out of memory", deathsInMinute: 2 },
    "Worker 1 died (2 within a minute), starting another: out of memory",
  ],
  loop_error: [
    { kind: "loop_error", thread: "worker 1", message: "boom" },
    "Fault in worker 1, it goes on: boom",
  ],
  accept_failed: [
    { kind: "accept_failed", listener: "web", worker: 0, code: "EMFILE" },
    "Cannot accept on web in worker 0, trying on: EMFILE",
  ],
  accept_recovered: [
    { kind: "accept_recovered", listener: "web", worker: 0 },
    "Accepting on web in worker 0 again",
  ],
  connections_full: [
    { kind: "connections_full", maxConnections: 10 },
    "Reached limits.max_connections 10: new connections wait",
  ],
  handshakes_full: [
    { kind: "handshakes_full", maxHandshakes: 5, maxConnections: 10 },
    "Reached 5 unfinished TLS handshakes, the most for limits.max_connections 10: new TLS clients wait, others do not",
  ],
  records_dropped: [
    { kind: "records_dropped", count: 9 },
    "Dropped 9 access log lines: more sessions than can be logged",
  ],
  stalled: [{ kind: "stalled", thread: "main", lagMs: 700 }, "Thread main was stalled for 700 ms"],
  drain_begun: [
    { kind: "drain_begun", reason: "SIGTERM", sessions: 3, acceptMs: 0, timeoutMs: 30_000 },
    "Draining (SIGTERM): 3 sessions, accepting for 0 ms, cut after 30 s",
  ],
  drain_ended: [
    { kind: "drain_ended", cut: 0, tookMs: 1200 },
    "Drained in 1.2 s: all sessions ended by themselves",
  ],
  stopped: [{ kind: "stopped", exitCode: 0, message: "" }, "Stopped with exit code 0"],
  session_ended: [
    { kind: "session_ended", session },
    "web 192.0.2.7:40000 -> pg/10.0.0.2:5432: both sides finished, 10 bytes up, 20 down, 1.5 s",
  ],
};

for (const [event, text] of Object.values(SENTENCES)) {
  Deno.test(`${event.kind} reads: ${text}`, () => {
    assert.equal(textOf(event), text);
    assert.match(text, /[^.]$/);
    assert.ok(["debug", "info", "warning", "error"].includes(severityOf(event)));
  });
}

Deno.test("sessions of http name the request, its status and further attempts", () => {
  const http = {
    method: "GET",
    target: "/a",
    host: "app.example.test",
    status: 200,
    requestId: "r1",
    dialMs: 1,
    firstByteMs: 2,
  };
  const text = textOf({
    kind: "session_ended",
    session: { ...session, protocol: "http", outcome: "answered", attempts: 2, http },
  });
  assert.equal(
    text,
    'web 192.0.2.7:40000 "GET app.example.test/a" 200 -> pg/10.0.0.2:5432: answered, 10 bytes up, 20 down, ' +
      "1.5 s, 2 attempts",
  );
});

Deno.test("a client of http whose TLS handshake came to nothing is told as that", () => {
  const text = textOf({
    kind: "session_ended",
    session: { ...session, protocol: "http", upstream: "", endpoint: "", outcome: "client_slow" },
  });
  assert.equal(
    text,
    "web 192.0.2.7:40000 TLS handshake: the client was too slow, 10 bytes up, 20 down, 1.5 s",
  );
});

Deno.test("a drain that cut and a stop that failed matter more", () => {
  assert.equal(severityOf({ kind: "drain_ended", cut: 1, tookMs: 1 }), "warning");
  assert.equal(severityOf({ kind: "stopped", exitCode: 1, message: "x" }), "error");
  assert.equal(textOf({ kind: "stopped", exitCode: 1, message: "x" }), "Stopped with exit code 1: x");
  assert.match(textOf({ kind: "drain_ended", cut: 1, tookMs: 1 }), /cut 1 sessions$/);
});

Deno.test("causes tell their rule", () => {
  const base = { noun: "5xx answer", outcome: "status_5xx", detail: "503" };
  const text = (cause: Parameters<typeof causeText>[0]["cause"]) => causeText({ ...base, cause });
  assert.equal(
    text({ rule: "streak", source: "traffic", failures: 3 }),
    "3 5xx answers in a row, last: status_5xx (503)",
  );
  assert.equal(text({ rule: "streak", source: "probe", failures: 1 }), "1 5xx answer: status_5xx (503)");
  assert.equal(
    text({ rule: "ratio", failures: 14, volume: 20 }),
    "14 of 20 attempts failed, last: status_5xx (503)",
  );
  assert.equal(text({ rule: "trial", source: "traffic" }), "its trial failed: status_5xx (503)");
});

Deno.test("the JSON form has time, severity, sentence, and all data in snake_case", () => {
  const event: TimedEvent = { at: Date.UTC(2030, 0, 1), kind: "endpoint_ejected", ...ejection };
  assert.deepEqual(JSON.parse(jsonOf(event)), {
    at: "2030-01-01T00:00:00.000Z",
    severity: "warning",
    kind: "endpoint_ejected",
    text: "Ejected pg/10.0.0.2:5432 for 30 s: 5 connect failures in a row, last: refused",
    upstream: "pg",
    endpoint: "10.0.0.2:5432",
    cause: { rule: "streak", source: "traffic", failures: 5 },
    noun: "connect failure",
    outcome: "refused",
    detail: "",
    eject_ms: 30_000,
    ejections: 1,
    recovery: "either",
  });
});

Deno.test("numbers in the JSON form have at most three decimals", () => {
  const event: TimedEvent = { at: 0, kind: "drain_ended", cut: 0, tookMs: 24.737421000001632 };
  assert.equal(JSON.parse(jsonOf(event)).took_ms, 24.737);
});
