// A worker's data plane without sockets: what it tells main, whom it charges, and what becomes of sessions when plans
// change and workers stop.

import assert from "node:assert/strict";
import { Board, Tally } from "../../../src/core/board.ts";
import type { FromWorker } from "../../../src/core/message.ts";
import type { Outcome } from "../../../src/core/outcome.ts";
import { Permits } from "../../../src/core/permits.ts";
import type { Plan, Upstream } from "../../../src/core/plan.ts";
import { Plane, TICK_MS } from "../../../src/data/plane.ts";
import type { ClientConn } from "../../../src/data/service.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";
import { coded, type MemoryDuplex, memoryPair } from "../../support/memory_duplex.ts";
import { endpoint, healthParams, listener, planOf, upstream } from "../../support/plans.ts";
import { ScriptedDial } from "../../support/scripted_dial.ts";

const [A, B] = [listener("a", 1), listener("b", 2)];

function discovered(...keys: string[]): Upstream {
  return upstream("up", keys.map((key, slot) => endpoint(key, slot, { source: "discovered" })), {
    protocol: "tcp",
    health: healthParams(),
    discovery: {
      hostname: "up.test",
      port: 80,
      recordType: "A",
      refreshIntervalMs: 30_000,
      failOpen: true,
      minEndpoints: 1,
      nameservers: [],
      drainRemovedMs: 500,
    },
  });
}

const UP = discovered("10.0.0.1:80", "10.0.0.2:80");

class World {
  readonly clock = new FakeClock();
  readonly board = new Board();
  readonly tally = new Tally();
  readonly permits = new Permits(Permits.allocate(), 0);
  readonly handshakePermits = new Permits(Permits.allocate(), 0);
  readonly sent: FromWorker[] = [];
  readonly dialing = new ScriptedDial(() => {});
  /** While it is set dials wait for it. */
  hold: Promise<void> | undefined;
  readonly plane: Plane;
  readonly #accepts = new Map<number, (conn: ClientConn) => void>();

  constructor() {
    this.board.grow(4);
    this.tally.grow(4);
    const { clock, board, tally, permits, handshakePermits } = this;
    this.plane = new Plane({
      clock,
      random: () => 0,
      board,
      tally,
      permits,
      handshakePermits,
      dial: async (target, { connectMs, happyEyeballsMs }) => {
        await this.hold;
        const { signal } = new AbortController();
        return await this.dialing.dial(target, { connectMs, happyEyeballsMs, signal });
      },
      resolveHost: () => Promise.resolve({ failure: "nxdomain", detail: "" }),
      listen: ({ address }) => this.#source(address.port),
      send: (message) => this.sent.push(message),
    });
  }

  #source(port: number) {
    const closed = coded("EBADF", "closed");
    let pending = Promise.withResolvers<ClientConn>();
    let isClosed = false;
    return {
      accept: () => {
        if (isClosed) return Promise.reject(closed);
        pending = Promise.withResolvers();
        this.#accepts.set(port, (conn) => {
          this.#accepts.delete(port);
          pending.resolve(conn);
        });
        return pending.promise;
      },
      close: () => {
        isClosed = true;
        pending.reject(closed);
      },
    };
  }

  /** Whether the next client at a port is taken out of the kernel's queue. */
  isAccepting(port: number): boolean {
    return this.#accepts.has(port);
  }

  take(changes: Partial<Plan> = {}, retireMs?: number): void {
    const plan = planOf([UP], { listeners: [A], ...changes });
    this.plane.take(plan, retireMs);
  }

  /** A client connects, with a TLS handshake that ends as `ready` does; gives its end. */
  async connect(port: number, ready?: Promise<boolean>): Promise<MemoryDuplex> {
    const [near, far] = memoryPair();
    const remoteAddr = { transport: "tcp", hostname: "10.9.9.9", port: 9 } as const;
    let isShaken = false;
    const shaken = ready?.then(() => void (isShaken = true));
    const tls = { ready: () => ready, shaking: () => isShaken ? undefined : shaken };
    this.#accepts.get(port)!(Object.assign(near, { remoteAddr, ...(ready && tls) }));
    await settled();
    return far;
  }

  async ticks(count: number): Promise<void> {
    for (let tick = 0; tick < count; tick++) {
      await this.clock.advance(TICK_MS);
      this.plane.tick();
      await settled();
    }
  }

  told<Type extends FromWorker["type"]>(type: Type): Extract<FromWorker, { type: Type }>[] {
    return this.sent.filter((message): message is Extract<FromWorker, { type: Type }> =>
      message.type === type
    );
  }

  outcomes(name: string): Record<string, number> {
    return this.plane.stats().listeners[name]!.outcomes;
  }

  async end(): Promise<void> {
    const closing = this.plane.close();
    await this.clock.advance(100);
    await closing;
    this.plane.tick();
    assert.deepEqual([this.permits.taken, this.handshakePermits.taken], [0, 0]);
    assert.deepEqual([0, 1].map((slot) => this.board.cells(slot).inFlight), [0, 0]);
    assert.equal(this.dialing.open, 0);
  }
}

Deno.test("that the limit is reached is told once, until there is good room again", async () => {
  const world = new World();
  world.take({ limits: { maxConnections: 2 } });
  const clients = [await world.connect(1), await world.connect(1)];
  await world.ticks(10);
  assert.deepEqual(world.told("full"), [{ type: "full", of: "connections", over: false }]);
  clients[0]!.reset();
  await world.ticks(2);
  assert.deepEqual(world.told("full").map(({ over }) => over), [false, true]);
  await world.connect(1);
  await world.ticks(2);
  assert.deepEqual(world.told("full").map(({ over }) => over), [false, true, false]);
  await world.end();
});

Deno.test("TLS listeners do not accept while half of the places are with unfinished handshakes, others do", async () => {
  const world = new World();
  const tls = { certFile: "", keyFile: "", cert: "", key: "" };
  const secure = [{ ...listener("c", 3), tls }, { ...listener("d", 4), tls }];
  world.take({ listeners: [A, ...secure], limits: { maxConnections: 6 } });
  const hands = [0, 1, 2].map(() => Promise.withResolvers<boolean>());
  await world.connect(3, hands[0]!.promise);
  await world.connect(4, hands[1]!.promise);
  await world.connect(3, hands[2]!.promise);
  await world.ticks(5);
  assert.deepEqual([world.isAccepting(3), world.permits.taken], [false, 3]);
  assert.deepEqual(world.told("full"), [{ type: "full", of: "handshakes", over: false }]);
  await world.connect(1);
  await world.connect(1);
  assert.deepEqual([world.plane.sessionCount, world.dialing.targets.length], [5, 2]);
  hands[0]!.resolve(true);
  hands[1]!.resolve(false);
  await world.ticks(2);
  assert.deepEqual([world.isAccepting(3), world.handshakePermits.taken, world.permits.taken], [true, 1, 4]);
  assert.deepEqual(world.told("full").map(({ over }) => over), [false, true]);
  await world.connect(3, Promise.resolve(true));
  assert.equal(world.dialing.targets.length, 4);
  hands[2]!.resolve(false);
  await settled();
  await world.end();
});

Deno.test("nothing is dialed for a client before its TLS handshake has ended well", async () => {
  const world = new World();
  world.take();
  const [good, bad] = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()];
  await world.connect(1, good.promise);
  await world.connect(1, bad.promise);
  await world.ticks(20);
  assert.equal(world.dialing.targets.length, 0);
  assert.deepEqual([0, 1].map((slot) => world.board.cells(slot).inFlight), [0, 0]);
  bad.resolve(false);
  await settled();
  assert.equal(world.dialing.targets.length, 0);
  assert.deepEqual(world.outcomes("a"), { client_aborted: 1 });
  good.resolve(true);
  await settled();
  assert.equal(world.dialing.targets.length, 1);
  await world.end();
});

Deno.test("a TLS client that does not shake hands in ten seconds is too slow, and one that is cut does not wait", async () => {
  const world = new World();
  world.take();
  const slow = Promise.withResolvers<boolean>();
  const client = await world.connect(1, slow.promise);
  const ended = client.read(new Uint8Array(1));
  void ended.then((count) => slow.resolve(count !== null));
  await world.ticks(95);
  assert.equal(world.plane.sessionCount, 1);
  await world.ticks(10);
  assert.equal(await ended, null);
  assert.deepEqual(world.outcomes("a"), { client_slow: 1 });

  const waiting = Promise.withResolvers<boolean>();
  const other = await world.connect(1, waiting.promise);
  void other.read(new Uint8Array(1)).then((count) => waiting.resolve(count !== null));
  world.plane.cut();
  await settled();
  assert.deepEqual(world.outcomes("a"), { client_slow: 1, drained: 1 });
  assert.equal(world.dialing.targets.length, 0);
  await world.end();
});

Deno.test("a stall of a second or more is told with its length", async () => {
  const world = new World();
  world.take();
  await world.ticks(5);
  await world.clock.advance(900);
  world.plane.tick();
  assert.deepEqual(world.told("stalled"), []);
  await world.clock.advance(2500);
  world.plane.tick();
  assert.deepEqual(world.told("stalled"), [{ type: "stalled", lagMs: 2400 }]);
  await world.end();
});

Deno.test("main is asked for a fresh look at DNS once per tick and endpoint, however many dials fail", async () => {
  const world = new World();
  world.take();
  world.dialing.script = "refused";
  for (let client = 0; client < 20; client++) await world.connect(1);
  assert.deepEqual(world.told("unreached").map(({ slot }) => slot), [0, 1]);
  await world.ticks(1);
  await world.connect(1);
  assert.equal(world.told("unreached").length, 4);
  await world.end();
});

Deno.test("how a session without a connection ended is what the last endpoint did, if there was one", async () => {
  const cases: [Outcome | "none", Record<string, number>, number][] = [
    ["refused", { refused: 1 }, 0],
    ["out_of_descriptors", { out_of_descriptors: 1 }, 0],
    ["none", { no_endpoint: 1 }, 1],
  ];
  for (const [script, outcomes, noEndpoint] of cases) {
    const world = new World();
    if (script === "none") world.take({ upstreams: [{ ...UP, endpoints: [] }] });
    else world.take();
    if (script !== "none") world.dialing.script = script;
    await world.connect(1);
    assert.deepEqual(world.outcomes("a"), outcomes);
    assert.equal(world.plane.stats().upstreams["up"]?.noEndpoint ?? 0, noEndpoint, script);
    await world.end();
  }
});

Deno.test("sessions of a listener that left get their time, those of one that stays are not touched", async () => {
  const world = new World();
  world.take({ listeners: [A, B] });
  await Promise.all([world.connect(1), world.connect(2)]);
  world.take({ listeners: [{ ...B, name: "renamed" }] }, 1000);
  await world.clock.advance(500);
  await world.ticks(3);
  assert.deepEqual(world.plane.sessionCount, 2);
  await world.ticks(10);
  assert.equal(world.plane.sessionCount, 1);
  await world.end();
});

Deno.test("sessions on a discovered endpoint that left get drain_removed_ms, unless it returns", async () => {
  const world = new World();
  world.take();
  await world.connect(1);
  await world.connect(1);
  assert.equal(world.board.cells(0).inFlight, 1);
  world.take({ upstreams: [{ ...UP, endpoints: UP.endpoints.slice(1) }] });
  await world.ticks(3);
  world.take();
  await world.ticks(10);
  assert.equal(world.plane.sessionCount, 2);
  world.take({ upstreams: [{ ...UP, endpoints: UP.endpoints.slice(1) }] });
  await world.ticks(10);
  assert.deepEqual([world.plane.sessionCount, world.board.cells(0).inFlight], [1, 0]);
  assert.deepEqual(world.outcomes("a"), { drained: 1 });
  await world.end();
});

Deno.test("a session that is still dialing when its endpoint leaves gets no more time than others", async () => {
  const world = new World();
  const dialed = Promise.withResolvers<void>();
  world.take();
  world.hold = dialed.promise;
  const client = await world.connect(1);
  world.take({ upstreams: [{ ...UP, endpoints: UP.endpoints.slice(1) }] });
  await world.ticks(10);
  assert.equal(await client.read(new Uint8Array(1)), null, "the client is told at once");
  dialed.resolve();
  await settled();
  assert.deepEqual([world.plane.sessionCount, world.dialing.open], [0, 0]);
  assert.deepEqual(world.outcomes("a"), { drained: 1 });
  await world.end();
});

Deno.test("a session that was cut while it dialed tries nobody else", async () => {
  const world = new World();
  const dialed = Promise.withResolvers<void>();
  world.take();
  world.hold = dialed.promise;
  world.dialing.script = "refused";
  await world.connect(1);
  world.plane.cut();
  dialed.resolve();
  await settled();
  assert.deepEqual([world.dialing.targets.length, world.outcomes("a")], [1, { drained: 1 }]);
  await world.end();
});

Deno.test("what has left the plan is picked no more, not even by a session that was on its way", async () => {
  const world = new World();
  const dialed = Promise.withResolvers<void>();
  world.take();
  world.hold = dialed.promise;
  world.dialing.script = "refused";
  await world.connect(1);
  world.take({ upstreams: [upstream("other", [endpoint("10.0.0.9:80", 3)])] });
  dialed.resolve();
  await settled();
  assert.deepEqual(world.dialing.targets.map(({ host }) => host), ["10.0.0.1"]);
  assert.deepEqual(world.outcomes("a"), { refused: 1 });
  await world.end();
});

Deno.test("a plan that comes after the drain moves sessions, and opens nothing", async () => {
  const world = new World();
  world.take();
  await world.connect(1);
  const draining = world.plane.drain();
  await world.clock.advance(1000);
  await draining;
  world.take({ listeners: [A, B] });
  await assert.rejects(world.connect(2), TypeError, "nobody accepts there");
  assert.equal(world.plane.sessionCount, 1);
  assert.equal(world.plane.cut(), 1);
  await world.end();
});

Deno.test("a client whose socket takes no option any more ends no accept loop", async () => {
  const world = new World();
  world.take();
  const [near, far] = memoryPair();
  const dead: ClientConn = Object.assign(near, {
    remoteAddr: { transport: "tcp", hostname: "10.9.9.9", port: 9 } as const,
    setNoDelay: () => {
      throw coded("EINVAL", "Invalid argument");
    },
  });
  far.reset();
  world.permits.take(10);
  world.plane.admit(dead, A);
  await settled();
  await world.connect(1);
  assert.equal(world.plane.sessionCount, 1);
  await world.end();
});

Deno.test("counts that are asked for come after everything that has gathered", async () => {
  const world = new World();
  world.take({ access: "all" });
  const client = await world.connect(1);
  client.reset();
  await settled();
  world.sent.length = 0;
  world.plane.stats();
  assert.deepEqual(world.sent.map(({ type }) => type), ["evidence", "sessions"]);
  await world.end();
});
