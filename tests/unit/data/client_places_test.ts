// The places for clients over two workers: what TLS clients take, when each place comes back, and what is told of it.

import assert from "node:assert/strict";
import type { FromWorker } from "../../../src/core/message.ts";
import { Permits } from "../../../src/core/permits.ts";
import type { Listener } from "../../../src/core/plan.ts";
import { ClientPlaces } from "../../../src/data/client_places.ts";
import type { ClientConn } from "../../../src/data/service.ts";
import { settled } from "../../support/fake_clock.ts";
import { memoryPair } from "../../support/memory_duplex.ts";
import { listener } from "../../support/plans.ts";

const PLAIN = listener("plain", 1);
const tls = { certFile: "", keyFile: "", cert: "", key: "" };
const [TLS, OTHER_TLS]: [Listener, Listener] = [{ ...listener("tls", 2), tls }, {
  ...listener("other", 3),
  tls,
}];

class World {
  readonly #memory = [Permits.allocate(), Permits.allocate()] as const;
  readonly sent: FromWorker[] = [];
  readonly one: ClientPlaces;
  readonly two: ClientPlaces;

  constructor(maxConnections: number) {
    [this.one, this.two] = [this.#places(0), this.#places(1)];
    this.one.limit(maxConnections);
    this.two.limit(maxConnections);
  }

  #places(worker: number): ClientPlaces {
    const [permits, handshakePermits] = this.#permits(worker);
    return new ClientPlaces({ permits, handshakePermits, send: (message) => this.sent.push(message) });
  }

  #permits(worker: number): [Permits, Permits] {
    return [new Permits(this.#memory[0], worker), new Permits(this.#memory[1], worker)];
  }

  /** Connections and handshakes that hold places. */
  get taken(): [number, number] {
    const [permits, handshakePermits] = this.#permits(0);
    return [permits.taken, handshakePermits.taken];
  }

  get told(): string[] {
    return this.sent.map((message) =>
      message.type === "full" ? `${message.of} ${!message.over}` : message.type
    );
  }
}

/** A client in the middle of its handshake. */
function shaking() {
  const hand = Promise.withResolvers<void>();
  let isShaken = false;
  const shaken = hand.promise.then(() => void (isShaken = true));
  const remoteAddr = { transport: "tcp", hostname: "192.0.2.7", port: 9 } as const;
  const conn: ClientConn = Object.assign(memoryPair()[0], {
    remoteAddr,
    shaking: () => isShaken ? undefined : shaken,
  });
  return { conn, end: hand.resolve };
}

Deno.test("unfinished handshakes take half of the places, over all workers and TLS listeners", () => {
  const world = new World(11);
  const { one, two } = world;
  const takes = [one.take(TLS), two.take(TLS), one.take(OTHER_TLS), two.take(OTHER_TLS), one.take(TLS)];
  assert.deepEqual(takes, [true, true, true, true, true]);
  for (const places of [one, two]) {
    for (const each of [TLS, OTHER_TLS]) {
      assert.deepEqual([places.isFull(each), places.take(each)], [true, false]);
    }
    assert.equal(places.isFull(PLAIN), false);
  }
  for (let count = 0; count < 6; count++) assert.ok([one, two][count % 2]!.take(PLAIN));
  assert.deepEqual([one.take(PLAIN), two.isFull(PLAIN), world.taken], [false, true, [11, 5]]);
});

Deno.test("where all connections are taken a handshake takes nothing", () => {
  const world = new World(4);
  for (let count = 0; count < 4; count++) world.one.take(PLAIN);
  assert.deepEqual([world.two.take(TLS), world.taken], [false, [4, 0]]);
});

Deno.test("a handshake gives its place back once when it ends, and the connection its own with the session", async () => {
  const world = new World(4);
  const { conn, end } = shaking();
  world.one.take(TLS);
  world.one.enter(conn, TLS);
  await settled();
  assert.deepEqual(world.taken, [1, 1]);
  end();
  await settled();
  assert.deepEqual([world.taken, world.one.isFull(TLS)], [[1, 0], false]);
  world.one.leave(conn);
  await settled();
  assert.deepEqual(world.taken, [0, 0]);
});

Deno.test("what is left behind in its handshake holds both places until the socket is free", async () => {
  const world = new World(2);
  const { conn, end } = shaking();
  world.one.take(TLS);
  world.one.enter(conn, TLS);
  world.one.leave(conn);
  await settled();
  assert.deepEqual([world.taken, world.two.isFull(TLS), world.two.isFull(PLAIN)], [[1, 1], true, false]);
  end();
  await settled();
  assert.deepEqual([world.taken, world.two.isFull(TLS)], [[0, 0], false]);
});

Deno.test("a drain gives back the connections that are left behind, once", async () => {
  const world = new World(10);
  const [early, late] = [shaking(), shaking()];
  for (const { conn } of [early, late]) {
    world.one.take(TLS);
    world.one.enter(conn, TLS);
  }
  world.one.leave(early.conn);
  assert.deepEqual(world.taken, [2, 2]);
  world.one.drain();
  assert.deepEqual(world.taken, [1, 2]);
  world.one.leave(late.conn);
  assert.deepEqual(world.taken, [0, 2]);
  early.end();
  late.end();
  await settled();
  assert.deepEqual(world.taken, [0, 0]);
});

Deno.test("a handshake that has ended before it comes in, and a plain client, leave no place taken", () => {
  const world = new World(2);
  const { conn } = shaking();
  const ready: ClientConn = Object.assign(conn, { shaking: () => undefined });
  for (const each of [TLS, PLAIN]) {
    world.one.take(each);
    world.one.enter(ready, each);
    assert.deepEqual(world.taken, [1, 0], each.name);
    world.one.leave(ready);
    assert.deepEqual(world.taken, [0, 0], each.name);
  }
});

Deno.test("each limit is told for itself, once until there is good room; handshakes when they last for a tick", async () => {
  const world = new World(8);
  const { one } = world;
  one.tick();
  const clients = [shaking(), shaking(), shaking(), shaking()];
  for (const { conn } of clients) {
    one.take(TLS);
    one.enter(conn, TLS);
  }
  assert.deepEqual([one.isFull(TLS), world.told], [true, []]);
  for (let tick = 0; tick < 3; tick++) one.tick();
  assert.deepEqual(world.told, ["handshakes true"]);
  for (let count = 0; count < 4; count++) one.take(PLAIN);
  for (let look = 0; look < 3; look++) assert.ok(one.isFull(PLAIN));
  one.tick();
  assert.deepEqual(world.told, ["handshakes true", "connections true"]);
  for (const { conn, end } of clients) {
    end();
    one.leave(conn);
  }
  await settled();
  for (let tick = 0; tick < 3; tick++) one.tick();
  assert.deepEqual(world.told.slice(2), ["connections false", "handshakes false"]);
});

Deno.test("a worker that has no plan yet tells nothing of what others hold", () => {
  const sent: FromWorker[] = [];
  const [permits, handshakePermits] = [
    new Permits(Permits.allocate(), 0),
    new Permits(Permits.allocate(), 0),
  ];
  for (let count = 0; count < 9; count++) handshakePermits.take(9);
  new ClientPlaces({ permits, handshakePermits, send: (message) => sent.push(message) }).tick();
  assert.deepEqual(sent, []);
});
