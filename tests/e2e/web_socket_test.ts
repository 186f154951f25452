// WebSockets from the outside: they live through config edits, and a stop signal lets them end by themselves.

import assert from "node:assert/strict";
import { type Running, startHale } from "../support/hale_process.ts";
import { freePort } from "../support/ports.ts";
import { denoServer, SocketClient } from "../support/web_socket.ts";

const configOf = (port: number, endpoint: number, weight: number, drainMs: number) => `
drain: { timeout_ms: ${drainMs} }
listeners: [{ name: web, address: "127.0.0.1:${port}", protocol: http, upstream: app }]
upstreams:
  - { name: app, protocol: http1, endpoints: [{ address: "127.0.0.1:${endpoint}", weight: ${weight} }], health: {} }
`;

/** Some sockets through a hale. */
async function withSockets(
  drainMs: number,
  run: (running: Running, sockets: readonly SocketClient[], edit: (weight: number) => void) => Promise<void>,
): Promise<void> {
  await using server = await denoServer();
  const port = freePort();
  await using running = await startHale(configOf(port, server.port, 1, drainMs));
  const opening = Array.from({ length: 4 }, () => SocketClient.open(`ws://127.0.0.1:${port}/`));
  const sockets = await Promise.all(opening);
  const edit = (weight: number) =>
    void running.folder.write("hale.yaml", configOf(port, server.port, weight, drainMs));
  await run(running, sockets, edit);
}

async function askAll(sockets: readonly SocketClient[], text: string): Promise<void> {
  for (const socket of sockets) assert.equal(await socket.ask(text), text);
}

Deno.test("WebSockets go on through edits and a drain, and hale ends with the last of them", async () => {
  await withSockets(60_000, async ({ hale }, sockets, edit) => {
    for (let weight = 2; weight < 5; weight++) {
      const mark = hale.lineCount;
      edit(weight);
      await hale.waitForLog(/Took config/, { after: mark });
      await askAll(sockets, `weight ${weight}`);
    }
    hale.signal("SIGTERM");
    await hale.waitForLog(/[Dd]rain/);
    await askAll(sockets, "while draining");
    for (const socket of sockets) {
      assert.deepEqual(await socket.close(4000, "done"), { code: 4000, reason: "done" });
    }
    assert.equal(await hale.exitCode(), 0);
  });
});

Deno.test("WebSockets that are left when the drain time is over are cut, and the exit code says so", async () => {
  await withSockets(1000, async ({ hale }, sockets) => {
    hale.signal("SIGTERM");
    await hale.waitForLog(/[Dd]rain/);
    await askAll(sockets, "while draining");
    for (const socket of sockets) assert.equal((await socket.closed).code, 1006);
    assert.equal(await hale.exitCode(), 3);
  });
});
