// A connection around an old runtime's: `close()` gives up a write that waits, everything else passes through.

import assert from "node:assert/strict";
import { type AcceptedConn, endsReads, FirmConn, isFirm } from "../../../src/net/firm_close.ts";
import { settled } from "../../support/fake_clock.ts";
import { memoryPair } from "../../support/memory_duplex.ts";

/** A connection as the old runtime has it: a write that waits outlives `close()`. */
class OldConn implements AcceptedConn {
  readonly remoteAddr: Deno.Addr = { transport: "tcp", hostname: "127.0.0.1", port: 9 };
  delays: boolean[] = [];
  closed = 0;
  given: Uint8Array[] = [];
  #take: ((count: number) => void) | undefined;

  read(): Promise<number | null> {
    return Promise.resolve(3);
  }
  write(p: Uint8Array): Promise<number> {
    this.given.push(p);
    return new Promise((resolve) => this.#take = resolve);
  }
  closeWrite(): Promise<void> {
    return Promise.resolve();
  }
  close(): void {
    if (this.closed++ > 0) throw new Error("Bad resource ID");
  }
  setNoDelay(noDelay?: boolean): void {
    this.delays.push(noDelay ?? true);
  }
  /** The peer reads on. */
  take(count: number): void {
    this.#take?.(count);
  }
}

Deno.test("a write that waits is given up at close, with the code of newer runtimes", async () => {
  const old = new OldConn();
  const conn = new FirmConn(old);
  const writing = conn.write(new Uint8Array(10));
  conn.close();
  await assert.rejects(writing, { name: "Interrupted", code: "EINTR" });
  assert.equal(old.closed, 1);
  old.take(10);
});

/** A connection as Deno 2.8 has it: a read that waits outlives `close()`, and keeps the peer from hearing of it. */
function deafConn() {
  const [near, far] = memoryPair();
  let closed = 0;
  const remoteAddr: Deno.Addr = { transport: "tcp", hostname: "127.0.0.1", port: 9 };
  const old: AcceptedConn = {
    remoteAddr,
    read: (p) => near.read(p),
    write: (p) => near.write(p),
    closeWrite: () => near.closeWrite(),
    close: () => void closed++,
  };
  return { conn: new FirmConn(old, false), far, closings: () => closed };
}

Deno.test("where close ends no read, a read that waits is given up, the peer hears of it, and its bytes go nowhere", async () => {
  const { conn, far, closings } = deafConn();
  const page = new Uint8Array(8);
  const reading = conn.read(page);
  conn.close();
  await assert.rejects(reading, { name: "Interrupted", code: "EINTR" });
  assert.equal(closings(), 1);
  assert.equal(await far.read(new Uint8Array(1)), null);
  page.fill(7);
  await far.write(new Uint8Array([1, 2, 3]));
  await settled();
  assert.deepEqual([...new Set(page)], [7], "the page has served others since");
});

Deno.test("where close ends no read, bytes and ends arrive as ever", async () => {
  const { conn, far } = deafConn();
  const page = new Uint8Array(100_000);
  for (const size of [1, 20_000, 3]) {
    const writing = far.write(new Uint8Array(size).fill(size));
    let got = 0;
    while (got < size) {
      const count = await conn.read(page.subarray(0, size === 3 ? 3 : undefined));
      assert.ok(page.subarray(0, count!).every((byte) => byte === (size & 255)));
      got += count!;
    }
    assert.deepEqual([got, await writing], [size, size]);
  }
  const reading = conn.read(page);
  far.reset();
  await assert.rejects(reading, { code: "ECONNRESET" });
  conn.close();
});

Deno.test("a write that was taken gives its count, and a later close gives nothing up", async () => {
  const old = new OldConn();
  const conn = new FirmConn(old);
  const writing = conn.write(new Uint8Array(10));
  old.take(7);
  assert.equal(await writing, 7);
  conn.close();
  assert.throws(() => conn.close(), /Bad resource/);
});

Deno.test("what is written lies in memory of the connection's own, which fits and is used again", async () => {
  const old = new OldConn();
  const conn = new FirmConn(old);
  const pooled = new Uint8Array(65_536);
  const sizes = [100, 50, 65_536, 60_000, 10];
  for (const size of sizes) {
    const writing = conn.write(pooled.subarray(0, size).fill(size & 255));
    old.take(size);
    assert.equal(await writing, size);
  }
  assert.deepEqual(old.given.map(({ length }) => length), sizes);
  assert.ok(old.given.every(({ buffer }) => buffer !== pooled.buffer));
  const memory = new Set(old.given.map(({ buffer }) => buffer));
  assert.deepEqual([...memory].map(({ byteLength }) => byteLength), [100, 65_536, 10]);
});

Deno.test("bytes, ends, errors and options pass through", async () => {
  const [near, far] = memoryPair();
  const old = new OldConn();
  const conn = new FirmConn(Object.assign(near, { remoteAddr: old.remoteAddr }));
  assert.equal(conn.remoteAddr, old.remoteAddr);
  assert.equal(await conn.write(new Uint8Array([1, 2])), 2);
  await conn.closeWrite();
  const buffer = new Uint8Array(8);
  assert.equal(await far.read(buffer), 2);
  assert.equal(await far.read(buffer), null);
  await far.write(new Uint8Array([3]));
  assert.equal(await conn.read(buffer), 1);
  far.reset();
  await assert.rejects(conn.write(new Uint8Array(1)), { code: "ECONNRESET" });
  const other = new FirmConn(old);
  other.setNoDelay(true);
  assert.deepEqual(old.delays, [true]);
  conn.setNoDelay(true);
});

Deno.test("from 2.9 on the runtime itself gives up writes", () => {
  for (const version of ["2.6.8", "2.6.10", "2.8.3"]) assert.equal(isFirm(version), false, version);
  for (const version of ["2.6.8", "2.7.14", "2.9.6"]) assert.equal(endsReads(version), true, version);
  assert.equal(endsReads("2.8.3"), false);
  for (const version of ["2.9.0", "2.9.6", "2.10.1", "3.0.0"]) assert.equal(isFirm(version), true, version);
});
