// A client's TLS connection around the handshake: nothing moves before it has ended, closing ends the waiting at once,
// and the socket itself is closed when the runtime can let go of it.

import assert from "node:assert/strict";
import { type Shaking, TlsClientConn } from "../../../src/net/tls_client_conn.ts";
import { settled } from "../../support/fake_clock.ts";
import { memoryPair } from "../../support/memory_duplex.ts";

function shaking() {
  const [near, far] = memoryPair();
  const hand = Promise.withResolvers<void>();
  const counts = { reads: 0, closes: 0 };
  const conn: Shaking = {
    remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 9 },
    handshake: () => hand.promise,
    read: (p) => (counts.reads++, near.read(p)),
    write: (p) => near.write(p),
    closeWrite: () => near.closeWrite(),
    close: () => (counts.closes++, near.close()),
  };
  return { conn: new TlsClientConn(conn), far, hand, counts };
}

Deno.test("bytes move once the handshake has ended, and not before", async () => {
  const { conn, far, hand, counts } = shaking();
  await far.write(new Uint8Array([7]));
  const buffer = new Uint8Array(4);
  const reading = conn.read(buffer);
  const writing = conn.write(new Uint8Array([1, 2]));
  await settled();
  assert.equal(counts.reads, 0, "no read may be left behind with a buffer that goes back to its pool");
  hand.resolve();
  assert.deepEqual([await reading, buffer[0], await writing], [1, 7, 2]);
  await conn.closeWrite();
  assert.equal(await far.read(buffer), 2);
  assert.equal(await far.read(buffer), null);
  conn.close();
  assert.deepEqual([conn.shaking(), counts.closes], [undefined, 1]);
});

Deno.test("it is ready once the handshake has ended well, and not when it fails or was closed before", async () => {
  const good = shaking();
  const ready = good.conn.ready();
  good.hand.resolve();
  assert.equal(await ready, true);
  assert.equal(good.conn.ready(), undefined);
  good.conn.close();

  const bad = shaking();
  const failing = bad.conn.ready();
  bad.hand.reject(new Error("no certificate that it likes"));
  assert.deepEqual([await failing, await bad.conn.ready()], [false, false]);
  bad.conn.close();

  const closed = shaking();
  const closing = closed.conn.ready();
  closed.conn.close();
  assert.equal(await closing, false);
  closed.hand.resolve();
  await settled();
  assert.equal(await closed.conn.ready(), false);
});

Deno.test("closing before the end of the handshake ends all waiting, and closes the socket when it can", async () => {
  const { conn, hand, counts } = shaking();
  const reading = conn.read(new Uint8Array(4));
  const writing = conn.write(new Uint8Array(4));
  conn.close();
  await assert.rejects(reading, { name: "Interrupted", code: "EINTR" });
  await assert.rejects(writing, { name: "Interrupted", code: "EINTR" });
  assert.throws(() => conn.close(), { name: "BadResource" });
  assert.deepEqual([counts.reads, counts.closes], [0, 0]);
  const left = conn.shaking();
  hand.reject(new Error("unexpected end of file"));
  await left;
  assert.deepEqual([conn.shaking(), counts.closes], [undefined, 1]);
});

Deno.test("a failed handshake shows in the first read", async () => {
  const { conn, far, hand } = shaking();
  const reading = conn.read(new Uint8Array(4));
  far.reset();
  hand.reject(new Error("received corrupt message"));
  await assert.rejects(reading, { code: "ECONNRESET" });
  conn.close();
});
