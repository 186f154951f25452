// The sockets of one worker over plans, with sockets played by the test.

import assert from "node:assert/strict";
import { formatAddress } from "../../../src/core/address.ts";
import { Listeners } from "../../../src/data/listeners.ts";
import type { ClientConn } from "../../../src/data/service.ts";
import type { ConnSource } from "../../../src/net/accept_loop.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";
import { coded } from "../../support/memory_duplex.ts";
import { listener } from "../../support/plans.ts";

class World {
  readonly clock = new FakeClock();
  /** Ports that are bound, as often as they are. */
  readonly bound: number[] = [];
  /** Ports that can not be had. */
  readonly taken = new Set<number>();
  readonly told: string[] = [];
  tries = 0;
  readonly listeners = new Listeners({
    clock: this.clock,
    listen: ({ address }) => this.#bind(address.port),
    places: { isFull: () => false, take: () => true },
    admit: () => {},
    trouble: (name, code, over) => this.told.push(`${name} ${over ? "over" : code}`),
  });

  #bind(port: number): ConnSource<ClientConn> {
    this.tries++;
    if (this.taken.has(port)) throw coded("EADDRINUSE", formatAddress({ host: "127.0.0.1", port }));
    this.bound.push(port);
    const closed = Promise.withResolvers<ClientConn>();
    closed.promise.catch(() => {}); // One that never began to accept is waited for by nobody.
    return {
      accept: () => closed.promise,
      close: () => {
        this.bound.splice(this.bound.indexOf(port), 1);
        closed.reject(coded("EBADF", "closed"));
      },
    };
  }
}

const [A, B] = [listener("a", 1), listener("b", 2)];

Deno.test("listeners are prepared all or none", async () => {
  const { listeners, taken, bound, told } = new World();
  taken.add(2);
  assert.deepEqual(await listeners.prepare([A, B]), {
    listener: "b",
    address: "127.0.0.1:2",
    code: "EADDRINUSE",
    message: "address in use",
  });
  assert.deepEqual([bound, told], [[], []]);
});

Deno.test("a socket stays as long as its address, and one that was prepared takes over", async () => {
  const { listeners, bound, clock } = new World();
  await listeners.prepare([A]);
  listeners.take([A]);
  listeners.take([{ ...A, name: "renamed", protocol: "http" }]);
  assert.deepEqual(bound, [1]);
  await listeners.prepare([A, B]);
  assert.deepEqual(bound, [1, 1, 2]);
  listeners.take([A, B]);
  await clock.advance(1000);
  assert.deepEqual(bound, [1, 2]);
  await listeners.close();
});

Deno.test("what a worker can not bind when it starts it tries again, and says so once", async () => {
  const { listeners, bound, told, taken, clock } = new World();
  taken.add(2);
  listeners.take([A, B]);
  assert.deepEqual([bound, told], [[1], ["b EADDRINUSE"]]);
  await clock.advance(5000);
  listeners.take([A, B]);
  assert.deepEqual(told, ["b EADDRINUSE"]);
  taken.clear();
  await clock.advance(2000);
  assert.deepEqual([bound, told], [[1, 2], ["b EADDRINUSE", "b over"]]);
  assert.equal(clock.sleeping, 0);
  await listeners.close();
  assert.deepEqual(bound, []);
});

Deno.test("what has left the plan is not tried any more", async () => {
  const world = new World();
  const { listeners, taken, clock } = world;
  taken.add(2);
  listeners.take([A, B]);
  listeners.take([A]);
  const { tries } = world;
  await clock.advance(5000);
  assert.deepEqual([world.tries, clock.sleeping], [tries, 0]);
  await listeners.close();
});

Deno.test("once all are closed for good nothing is bound again", async () => {
  const { listeners, bound, taken, clock } = new World();
  taken.add(2);
  listeners.take([A, B]);
  const retiring = listeners.retireAll();
  await clock.advance(1000);
  await retiring;
  taken.clear();
  listeners.take([A, B]);
  await clock.advance(5000);
  await settled();
  assert.deepEqual([bound, clock.sleeping], [[], 0]);
});
