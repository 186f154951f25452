// The connection pool: what is kept, for how long, and what is never used again.

import assert from "node:assert/strict";
import { TimerWheel } from "../../../src/core/wheel.ts";
import { Pool, REST_MS } from "../../../src/http/pool.ts";
import { createHttpTools } from "../../../src/http/tools.ts";
import { Wire } from "../../../src/http/wire.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";
import { bytesOf } from "../../support/http_heads.ts";
import { type MemoryDuplex, memoryPair } from "../../support/memory_duplex.ts";

const LIMITS = { maxIdle: 2, idleMs: 1000, lifeMs: 5000 };

function setUp() {
  const clock = new FakeClock();
  const tools = createHttpTools({ wheel: new TimerWheel(0), clock, random: () => 0 });
  const pool = new Pool(tools, LIMITS);
  const open = (): { peer: MemoryDuplex; connection: ReturnType<Pool["adopt"]> } => {
    const [near, peer] = memoryPair();
    return { peer, connection: pool.adopt(new Wire(near, tools.pages)) };
  };
  return { clock, pool, open };
}

Deno.test("the connection used last is used first, and counts its uses", () => {
  const { clock, pool, open } = setUp();
  const [one, two] = [open(), open()];
  pool.give(one.connection, clock.now());
  pool.give(two.connection, clock.now());
  const taken = pool.take();
  assert.equal(taken, two.connection);
  assert.equal(taken?.uses, 2);
  taken?.wire.release();
  pool.close();
});

Deno.test("a connection that the endpoint ends or resets while idle is not used again", async () => {
  const { clock, pool, open } = setUp();
  const [ended, reset] = [open(), open()];
  pool.give(ended.connection, clock.now());
  pool.give(reset.connection, clock.now());
  ended.peer.close();
  reset.peer.reset();
  await settled();
  assert.deepEqual([pool.size, pool.take()], [0, undefined]);
  assert.equal(ended.connection.wire.isClosed, true);
});

Deno.test("a connection on which something unasked comes is not used again", async () => {
  const { clock, pool, open } = setUp();
  const { peer, connection } = open();
  pool.give(connection, clock.now());
  await peer.write(bytesOf("HTTP/1.1 408 Request Timeout\r\n\r\n"));
  await settled();
  assert.equal(pool.take(), undefined);
  assert.equal(connection.wire.isClosed, true);
});

Deno.test("after an answer without a body by rule a connection rests, and others are used meanwhile", async () => {
  const { clock, pool, open } = setUp();
  const [older, newer] = [open(), open()];
  pool.give(older.connection, clock.now());
  pool.give(newer.connection, clock.now(), true);
  assert.equal(pool.take(), older.connection);
  assert.equal(pool.take(), undefined);
  assert.equal(pool.size, 1);
  await clock.advance(REST_MS - 1);
  assert.equal(pool.take(), undefined);
  await clock.advance(1);
  assert.equal(pool.take(), newer.connection);
  // It rests for that one answer only.
  pool.give(newer.connection, clock.now());
  assert.equal(pool.take(), newer.connection);
  older.connection.wire.release();
  newer.connection.wire.release();
});

Deno.test("what comes while a connection rests takes it out", async () => {
  const { clock, pool, open } = setUp();
  const { peer, connection } = open();
  pool.give(connection, clock.now(), true);
  await peer.write(bytesOf("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"));
  await clock.advance(REST_MS);
  assert.deepEqual([pool.size, pool.take(), connection.wire.isClosed], [0, undefined, true]);
});

Deno.test("an end in the middle of an exchange is the exchange's business", async () => {
  const { clock, pool, open } = setUp();
  const { peer, connection } = open();
  pool.give(connection, clock.now());
  const taken = pool.take();
  assert.equal(taken, connection);
  peer.close();
  await settled();
  assert.equal(await connection.wire.read(), 0);
  assert.equal(connection.wire.isClosed, false);
  connection.wire.release();
});

Deno.test("idle time, life and number are limited", async () => {
  const { clock, pool, open } = setUp();
  const connections = [open(), open(), open()];
  for (const { connection } of connections) pool.give(connection, clock.now());
  assert.equal(pool.size, 2);
  assert.equal(connections[2]!.connection.wire.isClosed, true);
  await clock.advance(999);
  pool.sweep(clock.now());
  assert.equal(pool.size, 2);
  await clock.advance(1);
  pool.sweep(clock.now());
  assert.equal(pool.size, 0);
  const { connection } = open();
  await clock.advance(5000);
  pool.give(connection, clock.now());
  assert.equal(pool.size, 0);
  assert.equal(connection.wire.isClosed, true);
});

Deno.test("a closed pool closes what is idle now and what comes back later", () => {
  const { clock, pool, open } = setUp();
  const [idle, busy] = [open(), open()];
  pool.give(idle.connection, clock.now());
  pool.close();
  pool.give(busy.connection, clock.now());
  assert.deepEqual([idle.connection.wire.isClosed, busy.connection.wire.isClosed, pool.size], [
    true,
    true,
    0,
  ]);
});
