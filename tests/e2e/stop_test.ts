// Signals: what ends hale, how, and with which exit code.

import assert from "node:assert/strict";
import { type Running, startHale } from "../support/hale_process.ts";
import { askTcp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

function startLines(port: number, endpoint: NamedEndpoint, drainMs: number): Promise<Running> {
  return startHale(`
drain: { timeout_ms: ${drainMs} }
listeners: [{ name: lines, address: "127.0.0.1:${port}", protocol: tcp, upstream: lines }]
upstreams: [{ name: lines, protocol: tcp, endpoints: [{ address: "${endpoint.address}" }] }]
`);
}

async function say(conn: Deno.Conn, text: string): Promise<string> {
  await conn.write(new TextEncoder().encode(text));
  const buffer = new Uint8Array(100);
  const count = await conn.read(buffer);
  return new TextDecoder().decode(buffer.subarray(0, count ?? 0));
}

async function refusesConnections(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return false;
  } catch {
    return true;
  }
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`${signal} with nothing under way ends hale with 0`, async () => {
    await using endpoint = NamedEndpoint.tcp("one");
    const port = freePort();
    await using running = await startLines(port, endpoint, 20_000);
    assert.equal(await askTcp(port, "x"), "one: x");
    running.hale.signal(signal);
    assert.equal(await running.hale.exitCode(), 0);
    assert.equal(await refusesConnections(port), true);
  });
}

Deno.test("a live session may end by itself during the drain: new ones are refused, exit 0", async () => {
  await using endpoint = NamedEndpoint.tcp("one");
  const port = freePort();
  await using running = await startLines(port, endpoint, 60_000);
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  assert.equal(await say(conn, "before"), "one: before");
  running.hale.signal("SIGTERM");
  await until("new connections to be refused", () => refusesConnections(port));
  assert.equal(await say(conn, "during"), "one: during");
  conn.close();
  assert.equal(await running.hale.exitCode(), 0);
});

Deno.test("a session that outlives the drain is cut and hale exits with 3", async () => {
  await using endpoint = NamedEndpoint.tcp("one");
  const port = freePort();
  await using running = await startLines(port, endpoint, 300);
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  assert.equal(await say(conn, "before"), "one: before");
  assert.equal(await running.hale.stop(), 3);
  assert.equal(await conn.read(new Uint8Array(1)).catch(() => null), null);
});

Deno.test("a second signal cuts at once, one that comes right after the first does not", async () => {
  await using endpoint = NamedEndpoint.tcp("one");
  const port = freePort();
  await using running = await startLines(port, endpoint, 600_000);
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  assert.equal(await say(conn, "before"), "one: before");
  running.hale.signal("SIGINT");
  running.hale.signal("SIGTERM");
  await until("new connections to be refused", () => refusesConnections(port));
  assert.equal(await say(conn, "during"), "one: during");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  running.hale.signal("SIGTERM");
  assert.equal(await running.hale.exitCode(), 3);
});
