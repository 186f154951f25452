// The drain as a whole (case 36): sessions of every kind under way at SIGTERM, what the admin endpoint says meanwhile,
// what stops, and a config that is edited all the while.

import assert from "node:assert/strict";
import { HaleProcess, type Running, startHale } from "../support/hale_process.ts";
import { MoodyEndpoint } from "../support/moody_endpoint.ts";
import { askHttp, until } from "../support/named_endpoint.ts";
import { NameServer } from "../support/name_server.ts";
import { freePort } from "../support/ports.ts";
import { readAll, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";

const CHUNK = 65_536;
const CHUNKS = 20;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Does what the first byte asks: "d" sends 20 chunks over two seconds and ends, "e" echoes, "f" sends for ever. */
async function serve(conn: Deno.TcpConn): Promise<void> {
  const [asked] = await readExactly(conn, 1);
  const buffer = new Uint8Array(CHUNK);
  if (asked === 100) {
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      await writeBytes(conn, buffer);
      await pause(100);
    }
  } else if (asked === 102) {
    for (;;) {
      await writeBytes(conn, buffer.subarray(0, 1000));
      await pause(20);
    }
  } else {
    for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
      await writeBytes(conn, buffer.subarray(0, count));
    }
  }
}

interface World extends AsyncDisposable {
  readonly hale: HaleProcess;
  readonly running: Running;
  readonly port: number;
  readonly admin: number;
  readonly probed: MoodyEndpoint;
  readonly dns: NameServer;
  config(edit: number): string;
}

/** hale with sessions to carry, an endpoint to probe and a name to look up every second. */
async function setUp(drainMs: number): Promise<World> {
  const endpoint = new TcpEndpoint(serve);
  const probed = await MoodyEndpoint.start();
  const dns = NameServer.start();
  dns.setA("app.example.test", ["127.0.0.1"]);
  const [port, admin] = [freePort(), freePort()];
  const config = (edit: number) => `
# edit ${edit}
admin: { address: "127.0.0.1:${admin}" }
drain: { timeout_ms: ${drainMs} }
listeners: [{ name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]
upstreams:
  - { name: up, protocol: tcp, endpoints: [{ address: "${endpoint.address}", weight: ${1 + edit % 9} }] }
  - name: probed
    protocol: http1
    endpoints: ["${probed.address}"]
    health: {}
    active_health: { kind: http, interval_ms: 100, timeout_ms: 100, jitter_ms: 0 }
  - name: found
    protocol: tcp
    dns_discovery: { hostname: app.example.test, port: 9, nameservers: ["127.0.0.1:${dns.address.port}"] }
`;
  const running = await startHale(config(0));
  const dispose = async () => {
    await running[Symbol.asyncDispose]();
    await endpoint[Symbol.asyncDispose]();
    await probed[Symbol.asyncDispose]();
    await dns.close();
  };
  return { hale: running.hale, running, port, admin, probed, dns, config, [Symbol.asyncDispose]: dispose };
}

async function open(port: number, first: string): Promise<Deno.TcpConn> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  await writeBytes(conn, new TextEncoder().encode(first));
  return conn;
}

async function untilSessions(admin: number, count: number): Promise<void> {
  await until(
    `${count} sessions`,
    async () => (await askHttp(admin, "/metrics")).body.includes(`hale_sessions{listener="in"} ${count}\n`),
  );
}

async function refuses(port: number): Promise<boolean> {
  return await Deno.connect({ hostname: "127.0.0.1", port }).then(
    (conn) => (conn.close(), false),
    () => true,
  );
}

Deno.test("what is under way ends whole, the admin endpoint says draining, probes and lookups stop, exit 0", async () => {
  await using world = await setUp(30_000);
  const { hale, port, admin, probed, dns } = world;
  const downloads = await Promise.all(Array.from({ length: 5 }, () => open(port, "d")));
  const talks = await Promise.all(Array.from({ length: 2 }, () => open(port, "e")));
  const idle = await open(port, "");
  const received = downloads.map((conn) => readAll(conn));
  await untilSessions(admin, 8);
  hale.signal("SIGTERM");
  await until("new clients to be refused", () => refuses(port));
  assert.equal((await askHttp(admin, "/readyz")).status, 503);
  assert.match((await askHttp(admin, "/readyz")).body, /draining/);
  assert.equal((await askHttp(admin, "/livez")).status, 200);
  assert.equal((await askHttp(admin, "/status")).status, 200);
  const [probes, lookups] = [probed.accepted, dns.script.asked.length];
  for (const bytes of received) assert.equal((await bytes).length, CHUNK * CHUNKS);
  for (const conn of talks) {
    await writeBytes(conn, new Uint8Array([7]));
    assert.deepEqual([...await readExactly(conn, 1)], [7]);
  }
  assert.equal(probed.accepted, probes, "two seconds without a probe");
  assert.equal(dns.script.asked.length, lookups, "and without a question");
  for (const conn of [...talks, ...downloads]) conn.close();
  await until(
    "one session to be left",
    async () => (await askHttp(admin, "/metrics")).body.includes('hale_sessions{listener="in"} 1\n'),
  );
  const endedAt = performance.now();
  idle.close();
  assert.equal(await hale.exitCode(), 0);
  assert.ok(performance.now() - endedAt < 5000, "soon after the last session");
});

Deno.test("a session without end is cut when the drain time is over: exit 3, and the log says how many", async () => {
  await using world = await setUp(1000);
  const { hale, port, admin } = world;
  const endless = await open(port, "f");
  const quiet = await open(port, "e");
  await untilSessions(admin, 2);
  const from = performance.now();
  assert.equal(await hale.stop(), 3);
  const took = performance.now() - from;
  assert.ok(took > 900 && took < 6000, `${took} ms`);
  assert.match(hale.log, /2 sessions/);
  await readAll(endless).catch(() => {});
  for (const conn of [endless, quiet]) conn.close();
});

Deno.test("a second signal ends it within a moment, without a stack trace", async () => {
  await using world = await setUp(600_000);
  const { hale, port, admin } = world;
  const endless = await open(port, "f");
  await untilSessions(admin, 1);
  hale.signal("SIGTERM");
  await until("the drain", async () => (await askHttp(admin, "/readyz")).status === 503);
  await pause(700);
  const from = performance.now();
  hale.signal("SIGTERM");
  assert.equal(await hale.exitCode(), 3);
  assert.ok(performance.now() - from < 5000);
  assert.doesNotMatch(hale.log, /^\s+at .*(\.ts|ext:)/m);
  endless.close();
});

Deno.test("SIGTERM in a storm of edits and SIGHUPs: the drain is not disturbed and nothing listens again", async () => {
  await using world = await setUp(30_000);
  const { hale, port, admin, running, config } = world;
  const talk = await open(port, "e");
  await untilSessions(admin, 1);
  let isOver = false;
  const storm = (async () => {
    for (let edit = 1; !isOver; edit++) {
      running.folder.write("hale.yaml", config(edit));
      hale.signal("SIGHUP");
      await pause(5);
    }
  })();
  await until("edits to be taken", () => (hale.log.match(/Took config/g)?.length ?? 0) > 5);
  hale.signal("SIGTERM");
  await until("new clients to be refused", () => refuses(port));
  for (let turn = 0; turn < 50; turn++) {
    assert.ok(await refuses(port), "an edit opened the listener again");
    await pause(10);
  }
  await writeBytes(talk, new Uint8Array([7]));
  assert.deepEqual([...await readExactly(talk, 1)], [7]);
  talk.close();
  assert.equal(await hale.exitCode(), 0);
  isOver = true;
  await storm;
});

Deno.test("signals before hale is ready: SIGHUP does no harm, SIGTERM ends it with 0", async () => {
  await using world = await setUp(1000);
  assert.equal(await world.hale.stop(), 0);
  const path = `${world.running.folder.path}/hale.yaml`;
  await using hale = HaleProcess.start(["run", "-c", path]);
  await hale.waitForLog(/Listening on/);
  hale.signal("SIGHUP");
  await hale.ready();
  assert.equal((await askHttp(world.admin, "/readyz")).status, 200);
  assert.equal(await hale.stop(), 0);
});
