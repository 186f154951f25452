// Probes over real sockets (P2 to P5, cases 9, 12, 14, 52): the same dialing and trust as traffic, whole connections
// from dial to close.

import assert from "node:assert/strict";
import { ActiveProbes } from "../../src/control/active_probes.ts";
import { HealthKeeper } from "../../src/control/health_keeper.ts";
import { type ProbeDial, probeOnce, type ProbeResult, probeTargetOf } from "../../src/control/probe.ts";
import { Board, reasonsOf } from "../../src/core/board.ts";
import type { HaleEvent } from "../../src/core/event.ts";
import { textOf } from "../../src/core/event_text.ts";
import type { ActiveParams, Upstream } from "../../src/core/plan.ts";
import { dial } from "../../src/net/dial.ts";
import { Handshakes } from "../../src/net/handshakes.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { activeParams, endpoint, healthParams, planOf, upstream } from "../support/plans.ts";
import { TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";
import { pem } from "../support/tls_endpoint.ts";
import { until } from "../support/until.ts";

const clock = new SystemClock();
const handshakes = new Handshakes(clock);

const dialNow: ProbeDial = (target, options) =>
  dial(target, {
    ...options,
    clock,
    handshakes,
    resolveHost: () => Promise.resolve({ addresses: ["127.0.0.1"] }),
  });

interface Asked {
  readonly active?: Partial<ActiveParams>;
  readonly upstream?: Partial<Upstream>;
  readonly endpoint?: Parameters<typeof endpoint>[2];
  readonly host?: string;
}

function probe(port: number, asked: Asked = {}): Promise<ProbeResult> {
  const at = endpoint(`${asked.host ?? "127.0.0.1"}:${port}`, 0, asked.endpoint);
  const activeHealth = activeParams({ timeoutMs: 10_000, ...asked.active });
  const target = probeTargetOf({ ...upstream("app", [at], asked.upstream), activeHealth }, at);
  return probeOnce(target, { dial: dialNow, clock, signal: new AbortController().signal });
}

const encode = (text: string) => new TextEncoder().encode(text);

/** Reads one request head. */
async function readHead(conn: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(4096);
  let head = "";
  while (!head.endsWith("\r\n\r\n")) {
    const count = await conn.read(buffer);
    if (count === null) return "";
    head += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return head;
}

/** An https endpoint that answers 200 for one host and path, 404 for all else, and waits for the other side to close. */
class HttpsEndpoint implements AsyncDisposable {
  readonly heads: string[] = [];
  readonly #listener: Deno.TlsListener;
  readonly #serving: Promise<void>[] = [];
  readonly #accepting: Promise<void>;
  readonly #good: string;

  constructor(leaf: string, good = "GET /healthz HTTP/1.1\r\n") {
    this.#good = good;
    this.#listener = Deno.listenTls({
      hostname: "127.0.0.1",
      port: 0,
      cert: pem(`${leaf}.pem`),
      key: pem(`${leaf}.key`),
      alpnProtocols: ["http/1.1"],
    });
    this.#accepting = this.#acceptAll();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async #acceptAll(): Promise<void> {
    try {
      for (;;) this.#serving.push(this.#serve(await this.#listener.accept()));
    } catch {
      // Closed.
    }
  }

  async #serve(conn: Deno.TlsConn): Promise<void> {
    try {
      const head = await readHead(conn);
      if (head === "") return;
      this.heads.push(head);
      const status = head.startsWith(this.#good) ? "200 OK" : "404 Not Found";
      await writeBytes(conn, encode(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`));
      await conn.read(new Uint8Array(1));
    } catch {
      // The prober did not like our certificate, or has closed.
    } finally {
      conn.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#accepting;
    await Promise.all(this.#serving);
  }
}

function https(ca: string, serverName?: string): Partial<Upstream> {
  return { protocol: "https", tls: { ca: pem(ca), ...(serverName !== undefined && { serverName }) } };
}

const APP = "app.example.test";

const LEAVES:
  readonly (readonly [leaf: string, ca: string, name: string | undefined, detail: RegExp | undefined])[] = [
    ["good", "ca.pem", APP, undefined],
    ["wildcard", "ca.pem", APP, undefined],
    ["by-ip", "ca.pem", undefined, undefined],
    ["other-ca", "both.pem", APP, undefined],
    ["expired", "ca.pem", APP, /expired/],
    ["not-yet", "ca.pem", APP, /not valid yet/],
    ["other-ca", "ca.pem", APP, /unknown authority/],
    ["other-name", "ca.pem", APP, /not valid for name "app\.example\.test"/],
    ["selfca", "ca.pem", APP, /certificate/],
    ["good", "ca.pem", undefined, /not valid for name "127\.0\.0\.1"/],
  ];

for (const [leaf, ca, name, refused] of LEAVES) {
  const end = refused === undefined ? "passes" : "is refused";
  Deno.test(`case 52: a probe of ${leaf} with ${ca}, asked as ${name ?? "its address"}, ${end}`, async () => {
    await using server = new HttpsEndpoint(leaf);
    const result = await probe(server.port, { upstream: https(ca, name) });
    if (refused === undefined) {
      assert.equal(result.outcome, "probe_ok", result.detail);
      assert.ok(result.stages.tlsMs! > 0 && result.stages.answerMs! > 0);
      assert.match(server.heads[0]!, new RegExp(`\r\nHost: 127\\.0\\.0\\.1:${server.port}\r\n`));
    } else {
      assert.equal(result.outcome, "tls_failed");
      assert.match(result.detail, refused);
      assert.deepEqual(server.heads, []);
    }
  });
}

Deno.test("case 52: a discovered endpoint is checked by the name it was discovered by", async () => {
  await using server = new HttpsEndpoint("good");
  const named = { upstream: https("ca.pem"), endpoint: { source: "discovered", serverName: APP } } as const;
  assert.equal((await probe(server.port, named)).outcome, "probe_ok");
  const other = {
    upstream: https("ca.pem"),
    endpoint: { source: "discovered", serverName: "x.test" },
  } as const;
  assert.equal((await probe(server.port, other)).outcome, "tls_failed");
});

Deno.test("case 12: Host and TLS name of the config make a name-based endpoint healthy; without, the reason tells", async () => {
  await using server = new HttpsEndpoint("good", `GET /healthz?deep=1 HTTP/1.1\r\nHost: ${APP}\r\n`);
  const active = { path: "/healthz?deep=1", host: APP, serverName: APP };
  const configured = await probe(server.port, { active, upstream: https("ca.pem") });
  assert.equal(configured.outcome, "probe_ok");
  const noHost = await probe(server.port, {
    active: { path: "/healthz?deep=1", serverName: APP },
    upstream: https("ca.pem"),
  });
  assert.deepEqual([noHost.outcome, noHost.detail], ["unexpected_status", "404 Not Found"]);
  for (const head of server.heads) {
    assert.equal(head.match(/\r\nhost:/gi)?.length, 1);
    assert.ok(!/cookie|authorization|forwarded/i.test(head));
    assert.ok(head.includes("\r\nConnection: close\r\n"));
  }
});

Deno.test("case 12: the ClientHello carries the configured TLS name, a literal carries none", async () => {
  const hellos: string[] = [];
  await using server = new TcpEndpoint(async (conn) => {
    const buffer = new Uint8Array(4096);
    const count = await conn.read(buffer);
    hellos.push(String.fromCharCode(...buffer.subarray(0, count ?? 0)));
  });
  const failed = await probe(server.port, { active: { serverName: APP }, upstream: https("ca.pem") });
  assert.equal(failed.outcome, "tls_failed");
  await probe(server.port, { upstream: https("ca.pem") });
  assert.deepEqual(hellos.map((hello) => hello.includes(APP)), [true, false]);
  assert.ok(!hellos[1]!.includes("127.0.0.1"));
});

Deno.test("an endpoint given by name is resolved, and the stage is timed", async () => {
  await using server = new HttpsEndpoint("good");
  const result = await probe(server.port, { host: APP, upstream: https("ca.pem") });
  assert.equal(result.outcome, "probe_ok");
  assert.equal(result.remote!.host, "127.0.0.1");
  assert.ok(result.stages.resolveMs !== undefined);
});

for (
  const file of [
    "101",
    "302-login",
    "404-nonempty",
    "http09-html",
    "http2-settings",
    "ssh-banner",
    "status-2000",
    "status-garbage",
  ]
) {
  Deno.test(`case 14: the answer ${file} fails at once, and the socket is closed`, async () => {
    const bytes = Deno.readFileSync(new URL(`../cases/14-probe-${file}.probe-answer.http`, import.meta.url));
    let closed = false;
    await using server = new TcpEndpoint(async (conn) => {
      await readHead(conn);
      await writeBytes(conn, bytes);
      await conn.read(new Uint8Array(1)).catch(() => null);
      closed = true;
    });
    const result = await probe(server.port, { active: { timeoutMs: 60_000 } });
    assert.ok(["unexpected_status", "answer_malformed"].includes(result.outcome), result.outcome);
    assert.ok(result.durationMs < 30_000);
    await until(() => closed);
  });
}

Deno.test("case 9: an endpoint that accepts and is dead passes tcp and fails http by timeout", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  assert.equal((await probe(port, { active: { kind: "tcp" } })).outcome, "probe_ok");
  const http = await probe(port, { active: { timeoutMs: 200 } });
  assert.equal(http.outcome, "answer_timeout");
  const tls = await probe(port, { active: { timeoutMs: 200 }, upstream: https("ca.pem", APP) });
  assert.equal(tls.outcome, "connect_timeout");
  listener.close();
  await until(() => handshakes.unanswered === 0);
});

Deno.test("a tcp probe closes cleanly: the endpoint reads the end, no reset", async () => {
  const seen: (number | null | string)[] = [];
  await using server = new TcpEndpoint(async (conn) => {
    seen.push(await conn.read(new Uint8Array(1)).catch((error) => String(error)));
  });
  assert.equal((await probe(server.port, { active: { kind: "tcp" } })).outcome, "probe_ok");
  await until(() => seen.length > 0);
  assert.deepEqual(seen, [null]);
});

Deno.test("a closed port is refused", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const result = await probe(port);
  assert.deepEqual([result.outcome, result.detail], ["refused", "refused (ECONNREFUSED)"]);
});

Deno.test("loops over real sockets: a bad certificate ejects, a good one brings the endpoint back", async () => {
  const events: HaleEvent[] = [];
  const emit = (event: HaleEvent) => void events.push(event);
  const board = new Board();
  board.grow(1);
  const keeper = new HealthKeeper(board, { clock, emit });
  const probes = new ActiveProbes({ clock, random: Math.random, emit, keeper, dial: dialNow });
  await using server = new HttpsEndpoint("good");
  const planFor = (name: string) =>
    planOf([
      upstream("app", [`127.0.0.1:${server.port}`], {
        ...https("ca.pem", name),
        health: healthParams({ recovery: "probes" }),
        activeHealth: activeParams({ intervalMs: 20, timeoutMs: 5000, jitterMs: 5 }),
      }),
    ]);
  const bring = (name: string) => {
    keeper.adopt(planFor(name));
    return probes.respawn(planFor(name));
  };
  await bring("wrong.example.test");
  await until(() => reasonsOf(board.cells(0).gate).includes("ejected"));
  assert.match(textOf(events[0]!), /: 3 connect failures in a row, last: tls_failed \(.*not valid for name/);
  await bring(APP);
  await until(() => board.cells(0).gate === 0);
  await probes.abortAll();
  keeper.stop();
  const handled = server.heads.length;
  assert.ok(handled >= 2);
});
