// A connection around an old runtime's: `close()` gives up a write that waits, everything else passes through.

import assert from "node:assert/strict";
import { type AcceptedConn, FirmConn, isFirm } from "../../../src/net/firm_close.ts";
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
  for (const version of ["2.9.0", "2.9.6", "2.10.1", "3.0.0"]) assert.equal(isFirm(version), true, version);
});
