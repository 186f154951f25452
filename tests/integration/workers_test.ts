// Worker threads as they really are: spread connections, die, are replaced.

import assert from "node:assert/strict";
import type { HaleEvent } from "../../src/core/event.ts";
import { Supervisor } from "../../src/control/supervisor.ts";
import { spawnThread } from "../../src/control/worker_link.ts";
import { probeBind } from "../../src/net/listen.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { configOf } from "../support/inline_hale.ts";
import { askTcp, until } from "../support/named_endpoint.ts";
import { echo, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";

function supervisor(events: HaleEvent[], fatal: (message: string) => void = assert.fail): Supervisor {
  return new Supervisor({
    clock: new SystemClock(),
    random: Math.random,
    emit: (event) => events.push(event),
    spawn: spawnThread,
    probeBind,
    cores: 2,
    reusePort: Deno.build.os === "linux",
    fatal,
  });
}

function config(workers: number, endpoints: readonly string[]): string {
  return `
workers: ${workers}
listeners: [{ name: in, address: "127.0.0.1:0", protocol: tcp, upstream: up }]
upstreams: [{ name: up, protocol: tcp, load_balancer: least_requests, endpoints: [${
    endpoints.map((each) => `"${each}"`)
  }], health: {} }]
`;
}

const ORIGIN = { hash: "test", trigger: "start" } as const;

Deno.test({
  name: "a killed worker takes its own connections with it, gives back what it held, and is replaced",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using endpoint = new TcpEndpoint(echo);
    const events: HaleEvent[] = [];
    const hale = supervisor(events);
    try {
      assert.deepEqual(await hale.apply(configOf(config(2, [endpoint.address])), ORIGIN), []);
      const { port } = hale.plan!.listeners[0]!.address;
      const conns = await Promise.all(
        Array.from({ length: 40 }, () => Deno.connect({ hostname: "127.0.0.1", port })),
      );
      await until("40 sessions", () => hale.workers.sessions === 40);
      const held = hale.workers.states().map(({ sessions }) => sessions);
      assert.ok(held.every((count) => count > 0), `both workers have some: ${held}`);
      hale.workers.kill(0);
      await until("the dead worker's sessions to be given back", () => hale.workers.sessions === held[1]);
      const cells = hale.board.cells(hale.plan!.upstreams[0]!.endpoints[0]!.slot);
      assert.equal(cells.inFlight, held[1]);
      let alive = 0;
      for (const conn of conns) {
        await writeBytes(conn, new Uint8Array(1)).catch(() => {});
        if ((await readExactly(conn, 1).catch(() => new Uint8Array())).length === 1) alive++;
        conn.close();
      }
      assert.equal(alive, held[1]);
      await until("the new worker to serve", async () => {
        for (let turn = 0; turn < 20; turn++) assert.equal(await askTcp(port, "x"), "x");
        return hale.workers.states()[0]!.restarts === 1;
      });
      await until("all to be quiet", () => hale.workers.sessions === 0 && cells.inFlight === 0);
      assert.equal(events.filter(({ kind }) => kind === "worker_died").length, 1);
    } finally {
      await hale.terminate();
    }
  },
});

Deno.test("workers that keep dying stop the process with a reason", async () => {
  await using endpoint = new TcpEndpoint(echo);
  const fatal: string[] = [];
  const hale = supervisor([], (message) => fatal.push(message));
  try {
    assert.deepEqual(await hale.apply(configOf(config(1, [endpoint.address])), ORIGIN), []);
    for (let death = 0; death < 6; death++) hale.workers.kill(0);
    assert.equal(fatal.length, 1);
    assert.match(fatal[0]!, /Workers keep dying/);
  } finally {
    await hale.terminate();
  }
});

Deno.test({
  name: "the number of workers follows the config, and sessions of a superfluous one may end by themselves",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using endpoint = new TcpEndpoint(echo);
    const hale = supervisor([]);
    try {
      assert.deepEqual(await hale.apply(configOf(config(3, [endpoint.address])), ORIGIN), []);
      const { port } = hale.plan!.listeners[0]!.address;
      const conns = await Promise.all(
        Array.from({ length: 30 }, () => Deno.connect({ hostname: "127.0.0.1", port })),
      );
      await until("30 sessions", () => hale.workers.sessions === 30);
      assert.deepEqual(await hale.apply(configOf(config(1, [endpoint.address])), ORIGIN), []);
      assert.equal(hale.workers.count, 1);
      for (const conn of conns) {
        await writeBytes(conn, new Uint8Array(1));
        assert.equal((await readExactly(conn, 1)).length, 1);
        conn.close();
      }
      for (let turn = 0; turn < 20; turn++) assert.equal(await askTcp(port, "x"), "x");
      await until("all to be quiet", () => hale.workers.sessions === 0);
    } finally {
      await hale.terminate();
    }
  },
});
