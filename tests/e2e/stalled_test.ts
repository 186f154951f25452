// Peers that stop reading while bytes for them wait: no session may outlive its limit because of them, and no stop may.

import assert from "node:assert/strict";
import { startHale } from "../support/hale_process.ts";
import { askHttp, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

/** An endpoint that sends without end, as fast as it is let. */
function flood(): { port: number; [Symbol.asyncDispose](): Promise<void> } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conns = new Set<Deno.Conn>();
  const serve = async (conn: Deno.Conn) => {
    const block = new Uint8Array(1_000_000);
    try {
      await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n"));
      while (true) await conn.write(block);
    } catch {
      // Cut from the other side, or by the end of the test: the flood is over.
    }
    conns.delete(conn);
    closeQuietly(conn);
  };
  const accepting = (async () => {
    const serving: Promise<void>[] = [];
    for await (const conn of listener) {
      conns.add(conn);
      serving.push(serve(conn));
    }
    for (const conn of conns) closeQuietly(conn);
    await Promise.all(serving);
  })();
  const dispose = async () => {
    listener.close();
    await accepting;
  };
  return { port: listener.addr.port, [Symbol.asyncDispose]: dispose };
}

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // Closed by the other path.
  }
}

/** Connects, asks, and never reads a byte of what comes. */
async function stall(port: number): Promise<Deno.Conn> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  await conn.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: flood.test\r\n\r\n"));
  return conn;
}

async function sessionsOf(admin: number): Promise<number> {
  const { body } = await askHttp(admin, "/metrics");
  const counts = [...body.matchAll(/^hale_sessions\{.*\} (\d+)$/gm)].map((found) => Number(found[1]));
  return counts.reduce((a, b) => a + b, 0);
}

Deno.test("a TCP session whose client stopped reading ends by the idle limit", async () => {
  await using endpoint = flood();
  const [port, admin] = [freePort(), freePort()];
  await using running = await startHale(`
admin: { address: "127.0.0.1:${admin}" }
drain: { timeout_ms: 1000 }
listeners: [{ name: lines, address: "127.0.0.1:${port}", protocol: tcp, upstream: lines, idle_timeout_ms: 1500 }]
upstreams: [{ name: lines, protocol: tcp, endpoints: [{ address: "127.0.0.1:${endpoint.port}" }] }]
`);
  using _conn = await stall(port);
  await until("the session to be seen", async () => await sessionsOf(admin) === 1);
  await until("the session to end", async () => await sessionsOf(admin) === 0);
  assert.equal(await running.hale.stop(), 0);
});

for (const protocol of ["tcp", "http"] as const) {
  Deno.test(`${protocol}: a client that stopped reading does not hold up the stop`, async () => {
    await using endpoint = flood();
    const [port, admin] = [freePort(), freePort()];
    await using running = await startHale(`
admin: { address: "127.0.0.1:${admin}" }
drain: { timeout_ms: 500 }
listeners: [{ name: some, address: "127.0.0.1:${port}", protocol: ${protocol}, upstream: some }]
upstreams:
  - { name: some, protocol: ${
      protocol === "tcp" ? "tcp" : "http1"
    }, endpoints: [{ address: "127.0.0.1:${endpoint.port}" }] }
`);
    using _conn = await stall(port);
    await until("the session to be seen", async () => await sessionsOf(admin) === 1);
    assert.equal(await running.hale.stop(), 3);
  });
}
