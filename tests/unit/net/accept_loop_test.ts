import assert from "node:assert/strict";
import { AcceptLoop, type ConnSource, type LoopOwner } from "../../../src/net/accept_loop.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { StallingClock } from "../../support/stalling_clock.ts";
import { coded } from "../../support/memory_duplex.ts";

class FakeConn {
  isClosed = false;

  constructor(readonly id: number) {}

  close(): void {
    this.isClosed = true;
  }
}

/** A socket whose accepts a test answers one by one. */
class ScriptedSource implements ConnSource<FakeConn> {
  #pending: PromiseWithResolvers<FakeConn> | undefined;
  /** Who is in the kernel's queue. */
  readonly queue: number[] = [];
  accepts = 0;
  isClosed = false;

  accept(): Promise<FakeConn> {
    this.accepts++;
    const next = this.queue.shift();
    if (next !== undefined) return Promise.resolve(new FakeConn(next));
    this.#pending = Promise.withResolvers();
    return this.#pending.promise;
  }

  give(id: number): FakeConn {
    const conn = new FakeConn(id);
    this.#pending!.resolve(conn);
    return conn;
  }

  fail(code: string): void {
    this.#pending!.reject(coded(code, "accept failed"));
  }

  close(): void {
    this.isClosed = true;
    this.#pending?.reject(coded("EBADF", "closed"));
  }
}

class Owner implements LoopOwner<FakeConn> {
  readonly admitted: number[] = [];
  readonly troubles: string[] = [];
  room = Infinity;

  constructor(readonly clock: FakeClock = new FakeClock()) {}

  isFull(): boolean {
    return this.admitted.length >= this.room;
  }
  takePermit(): boolean {
    return !this.isFull();
  }
  admit(conn: FakeConn): void {
    this.admitted.push(conn.id);
  }
  trouble(code: string, over: boolean): void {
    this.troubles.push(over ? "over" : code);
  }
}

function start(): { source: ScriptedSource; owner: Owner; loop: AcceptLoop<FakeConn> } {
  const source = new ScriptedSource();
  const owner = new Owner();
  const loop = new AcceptLoop(source, owner);
  loop.start();
  return { source, owner, loop };
}

Deno.test("a shortage of descriptors is told once, waits grow to a second, and accepting goes on", async () => {
  const { source, owner, loop } = start();
  await owner.clock.advance(0);
  const waits: number[] = [];
  for (let failure = 0; failure < 10; failure++) {
    source.fail("EMFILE");
    const before = owner.clock.now();
    const accepts = source.accepts;
    while (source.accepts === accepts) await owner.clock.advance(5);
    waits.push(owner.clock.now() - before);
  }
  assert.deepEqual(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
  assert.deepEqual(owner.troubles, ["EMFILE"]);
  source.give(1);
  await owner.clock.advance(0);
  assert.deepEqual([owner.admitted, owner.troubles], [[1], ["EMFILE", "over"]]);
  await loop.close();
});

Deno.test("a shortage that comes and goes is told once, and over once it has been away for a second", async () => {
  const { source, owner, loop } = start();
  await owner.clock.advance(0);
  for (let turn = 1; turn <= 20; turn++) {
    source.fail("EMFILE");
    await owner.clock.advance(5);
    source.give(turn);
    await owner.clock.advance(10);
  }
  assert.deepEqual(owner.troubles, ["EMFILE"]);
  await owner.clock.advance(1000);
  source.give(21);
  await owner.clock.advance(0);
  assert.deepEqual(owner.troubles, ["EMFILE", "over"]);
  assert.equal(owner.admitted.length, 21);
  await loop.close();
});

Deno.test("clients that reset while they were queued are no trouble and cost no pause", async () => {
  const { source, owner, loop } = start();
  for (let lost = 0; lost < 50; lost++) {
    await owner.clock.advance(0);
    source.fail("ENOTCONN");
  }
  await owner.clock.advance(0);
  source.give(7);
  await owner.clock.advance(0);
  assert.deepEqual([owner.admitted, owner.troubles, owner.clock.now()], [[7], [], 0]);
  await loop.close();
});

Deno.test("a failure that never stops is trouble whatever its code", async () => {
  const { source, owner, loop } = start();
  for (let failure = 0; failure < 100; failure++) {
    await owner.clock.advance(0);
    source.fail("EPROTO");
  }
  await owner.clock.advance(0);
  assert.deepEqual(owner.troubles, ["EPROTO"]);
  const closing = loop.close();
  await owner.clock.advance(5);
  await closing;
});

Deno.test("at the limit nobody is accepted; an accepted one waits for its permit", async () => {
  const { source, owner, loop } = start();
  owner.room = 1;
  await owner.clock.advance(0);
  source.give(1);
  await owner.clock.advance(100);
  assert.equal(source.accepts, 1, "full: the second client stays in the kernel's queue");
  owner.room = 2;
  await owner.clock.advance(20);
  assert.equal(source.accepts, 2);
  await loop.close();
});

Deno.test("retiring without clients closes after some quiet looks", async () => {
  const { source, owner, loop } = start();
  await owner.clock.advance(0);
  let isOver = false;
  const retired = loop.retire().then(() => isOver = true);
  await owner.clock.advance(9);
  assert.equal(isOver, false);
  await owner.clock.advance(5);
  await retired;
  assert.deepEqual([source.accepts, owner.admitted], [1, []]);
});

Deno.test("retiring under load accepts what is queued, and closes when an accept finds nobody", async () => {
  const { source, owner, loop } = start();
  await owner.clock.advance(0);
  const retired = loop.retire();
  await owner.clock.advance(3);
  source.queue.push(2, 3, 4);
  source.give(1);
  await owner.clock.advance(1);
  await retired;
  assert.deepEqual([owner.admitted, source.isClosed], [[1, 2, 3, 4], true]);
});

Deno.test("retiring at the limit does not wait for places", async () => {
  const { source, owner, loop } = start();
  await owner.clock.advance(0);
  owner.room = 0;
  const retired = loop.retire();
  const conn = source.give(1);
  await owner.clock.advance(300);
  await retired;
  assert.deepEqual([owner.admitted, conn.isClosed], [[], true]);
});

Deno.test("a look in which the thread did not run does not count as quiet", async () => {
  const clock = new StallingClock();
  const source = new ScriptedSource();
  const owner = new Owner(clock);
  const loop = new AcceptLoop(source, owner);
  loop.start();
  await clock.advance(0);
  let isOver = false;
  const retired = loop.retire().then(() => isOver = true);
  await clock.advance(8);
  clock.stall(20); // Clients came meanwhile, and the loop has not seen them yet.
  await clock.advance(1);
  assert.equal(isOver, false);
  source.give(1);
  await clock.advance(100);
  await retired;
  assert.deepEqual(owner.admitted, [1]);
});

Deno.test("a client that waits for a permit when the loop ends is closed and does not hold the end up", async () => {
  const { source, owner, loop } = start();
  await owner.clock.advance(0);
  owner.room = 0;
  const conn = source.give(1);
  await owner.clock.advance(100);
  let isOver = false;
  const closing = loop.close().then(() => isOver = true);
  for (let turn = 0; turn < 10 && !isOver; turn++) await owner.clock.advance(20);
  assert.deepEqual([isOver, conn.isClosed, owner.admitted], [true, true, []]);
  await closing;
});
