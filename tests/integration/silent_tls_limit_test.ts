// TLS clients that never shake hands, in numbers: they take half of the places of all workers at most, so that whoever
// can reach a TLS listener locks nobody out of plain ones.

import assert from "node:assert/strict";
import type { HaleEvent } from "../../src/core/event.ts";
import { textOf } from "../../src/core/event_text.ts";
import { Supervisor } from "../../src/control/supervisor.ts";
import { spawnThread } from "../../src/control/worker_link.ts";
import { probeBind } from "../../src/net/listen.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { configOf, InlineHale } from "../support/inline_hale.ts";
import { askTcp, until } from "../support/named_endpoint.ts";
import { echo, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";
import { pem } from "../support/tls_endpoint.ts";

const FILES = { "c.pem": pem("local.pem"), "k.pem": pem("local.key") };
const TLS = "tls: { cert_file: c.pem, key_file: k.pem }";

function config(endpoint: TcpEndpoint, maxConnections: number): string {
  return `
workers: 2
log: { access: all }
limits: { max_connections: ${maxConnections} }
listeners:
  - { name: plain, address: "127.0.0.1:0", protocol: tcp, upstream: up }
  - { name: secure, address: "127.0.0.1:0", protocol: tcp, upstream: up, ${TLS} }
  - { name: web, address: "127.0.0.1:0", protocol: http, upstream: web, ${TLS} }
upstreams:
  - { name: up, protocol: tcp, endpoints: ["${endpoint.address}"] }
  - { name: web, protocol: http1, endpoints: ["${endpoint.address}"] }
`;
}

const connect = (port: number) => Deno.connect({ hostname: "127.0.0.1", port });

function silent(port: number, count: number): Promise<Deno.TcpConn[]> {
  return Promise.all(Array.from({ length: count }, () => connect(port)));
}

/** A client that shakes hands, within half a minute: who is locked out fails its test, and does not hold it up. */
async function shaken(port: number): Promise<Deno.TlsConn> {
  const conn = await Deno.startTls(await connect(port), { hostname: "localhost", caCerts: [pem("ca.pem")] });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("No handshake in time")), 30_000);
  await Promise.race([conn.handshake(), late.promise]).finally(() => clearTimeout(timer));
  return conn;
}

async function answers(conn: Deno.Conn): Promise<boolean> {
  await writeBytes(conn, new Uint8Array([7]));
  return (await readExactly(conn, 1))[0] === 7;
}

/** Whether a plain and a TLS client are served, the one after the other. */
async function askBoth(plain: number, secure: number): Promise<void> {
  assert.equal(await askTcp(plain, "x"), "x");
  using conn = await shaken(secure);
  assert.ok(await answers(conn));
}

Deno.test({
  name: "silent clients of several TLS listeners lock out no plain client, and TLS ones only while they stay",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using endpoint = new TcpEndpoint(echo);
    await using hale = await InlineHale.start(config(endpoint, 20), FILES);
    const { workers } = hale.supervisor;
    const [plain, secure, web] = ["plain", "secure", "web"].map((name) => hale.port(name)) as [
      number,
      number,
      number,
    ];
    using kept = await shaken(secure);
    assert.ok(await answers(kept));
    // Below the limit nobody notices anything.
    const early = await silent(secure, 4);
    await until("the first of them to be in", () => workers.sessions === 5);
    for (let turn = 0; turn < 5; turn++) await askBoth(plain, secure);
    assert.deepEqual(hale.sentences("handshakes_full"), []);

    const conns = [...early, ...await silent(secure, 20), ...await silent(web, 20)];
    await until("the limit to be told", () => hale.sentences("handshakes_full").length > 0);
    const last = shaken(secure);
    for (let turn = 0; turn < 20; turn++) {
      assert.equal(await askTcp(plain, "x"), "x");
      assert.ok(await answers(kept));
      assert.ok(workers.sessions < 18, `${workers.sessions} connections hold places`);
    }
    assert.deepEqual(hale.sentences("handshakes_full"), [
      "Reached 10 unfinished TLS handshakes, the most for limits.max_connections 20: new TLS clients wait, " +
      "others do not",
    ]);
    assert.deepEqual(hale.sentences("connections_full"), []);

    for (const conn of conns) conn.close();
    using waited = await last;
    assert.ok(await answers(waited), "who waited in the queue is served");
    await askBoth(plain, secure);
    await until("the places to be free", () => workers.sessions === 2);
  },
});

Deno.test({
  name: "workers that die give back the places of handshakes, too",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using endpoint = new TcpEndpoint(echo);
    const events: HaleEvent[] = [];
    const hale = new Supervisor({
      clock: new SystemClock(),
      random: Math.random,
      emit: (event) => events.push(event),
      spawn: spawnThread,
      probeBind,
      cores: 2,
      reusePort: true,
      fatal: assert.fail,
    });
    const full = () => events.filter(({ kind }) => kind === "handshakes_full").map(textOf).length;
    try {
      const origin = { hash: "test", trigger: "start" } as const;
      assert.deepEqual(await hale.apply(configOf(config(endpoint, 16), FILES), origin), []);
      const [plain, secure] = hale.plan!.listeners.map(({ address }) => address.port) as [number, number];
      for (let round = 1; round <= 2; round++) {
        const conns = await silent(secure, 8);
        await until("the handshakes to take half of the places", () => hale.workers.sessions === 8);
        await until("the limit to be told", () => full() === round);
        assert.equal(await askTcp(plain, "x"), "x");
        for (const worker of [0, 1]) hale.workers.kill(worker);
        await until("both kinds of clients to be served", () => {
          return askBoth(plain, secure).then(() => true, () => false);
        });
        for (const conn of conns) conn.close();
        await until("all to be quiet", () => hale.workers.sessions === 0);
      }
    } finally {
      await hale.terminate();
    }
  },
});
