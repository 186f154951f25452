import assert from "node:assert/strict";
import { type Duplex, writeAll } from "../../../src/core/duplex.ts";
import { BufferPool, LARGE_BYTES, SMALL_BYTES } from "../../../src/net/buffers.ts";
import { Relay, type RelayOwner } from "../../../src/net/relay.ts";
import { settled } from "../../support/fake_clock.ts";
import { type MemoryDuplex, memoryPair } from "../../support/memory_duplex.ts";

class Owner implements RelayOwner {
  touches = 0;
  halfCloses = 0;
  lingers = 0;
  touch(): void {
    this.touches++;
  }
  halfClosed(): void {
    this.halfCloses++;
  }
  lingering(): void {
    this.lingers++;
  }
}

interface Setup {
  readonly client: MemoryDuplex;
  readonly endpoint: MemoryDuplex;
  readonly relay: Relay;
  readonly owner: Owner;
  readonly outcome: Promise<string>;
}

function setup(options: { capacity?: number; chunk?: number } = {}): Setup {
  const [client, accepted] = memoryPair(options);
  const [dialed, endpoint] = memoryPair(options);
  const owner = new Owner();
  const relay = new Relay(accepted, dialed, { buffers: new BufferPool(), owner });
  return { client, endpoint, relay, owner, outcome: relay.run() };
}

async function readToEnd(from: Duplex): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const buffer = new Uint8Array(10_000);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    parts.push(buffer.slice(0, count));
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) & 255);
}

Deno.test("a reply after half-close arrives whole, and both directions count their bytes", async () => {
  const { client, endpoint, relay, outcome } = setup();
  await writeAll(client, new TextEncoder().encode("ping\n"));
  await client.closeWrite();
  assert.equal(new TextDecoder().decode(await readToEnd(endpoint)), "ping\n");
  const answer = pattern(1 << 20);
  const got = readToEnd(client);
  await writeAll(endpoint, answer);
  endpoint.close();
  assert.deepEqual(await got, answer);
  assert.equal(await outcome, "finished");
  assert.equal(relay.bytesUp, 5);
  assert.equal(relay.bytesDown, 1 << 20);
});

Deno.test("the mirror: the endpoint ends first, what the client sends afterwards arrives whole", async () => {
  const { client, endpoint, owner, outcome } = setup();
  await endpoint.closeWrite();
  assert.equal((await readToEnd(client)).length, 0);
  const upload = pattern(1 << 20);
  const got = readToEnd(endpoint);
  await writeAll(client, upload);
  await client.closeWrite();
  assert.deepEqual(await got, upload);
  assert.equal(await outcome, "finished");
  assert.equal(owner.halfCloses, 1);
});

Deno.test("bytes arrive in order however reads and writes are split", async () => {
  const { client, endpoint, outcome } = setup({ capacity: 37, chunk: 11 });
  const sent = pattern(5000);
  const got = readToEnd(endpoint);
  await writeAll(client, sent);
  await client.closeWrite();
  assert.deepEqual(await got, sent);
  await endpoint.closeWrite();
  assert.equal(await outcome, "finished");
});

Deno.test("a client that does not read stops the endpoint: at most the pipes and one buffer are held", async () => {
  const { client, endpoint, outcome } = setup({ capacity: 65536 });
  let sent = 0;
  const flood = (async () => {
    for (;;) sent += await endpoint.write(new Uint8Array(8192));
  })().catch(() => {});
  for (let turn = 0; turn < 20; turn++) await settled();
  const held = sent;
  assert.ok(held <= 2 * 65536 + LARGE_BYTES, `held ${held}`);
  for (let turn = 0; turn < 20; turn++) await settled();
  assert.equal(sent, held);
  client.reset();
  assert.equal(await outcome, "client_reset");
  await flood;
});

Deno.test("a client that resets ends the session at once, and it was the client", async () => {
  const { client, endpoint, outcome } = setup();
  client.reset();
  assert.equal(await outcome, "client_reset");
  assert.equal((await readToEnd(endpoint)).length, 0);
});

Deno.test("an endpoint that resets leaves the client what it had sent, then an end", async () => {
  const { client, endpoint, owner, outcome, relay } = setup();
  await writeAll(endpoint, pattern(1000));
  for (let turn = 0; turn < 5; turn++) await settled();
  endpoint.reset();
  assert.equal((await readToEnd(client)).length, 1000);
  assert.equal(owner.lingers, 1);
  client.close();
  assert.equal(await outcome, "endpoint_reset");
  assert.equal(relay.bytesDown, 1000);
});

Deno.test("after the endpoint failed, a client that keeps sending is cut by its owner, not waited for", async () => {
  const { client, endpoint, relay, outcome } = setup();
  endpoint.reset();
  await settled();
  await writeAll(client, pattern(100));
  relay.cut("endpoint_reset");
  assert.equal(await outcome, "endpoint_reset");
});

Deno.test("an endpoint that answers early and takes no more: its answer still arrives", async () => {
  const { client, endpoint, outcome } = setup({ capacity: 4096 });
  const upload = writeAll(client, pattern(200_000)).catch(() => {});
  await writeAll(endpoint, new TextEncoder().encode("413"));
  endpoint.incoming.end(); // From now on what is written to it fails, as after a full close.
  await endpoint.closeWrite();
  assert.equal(new TextDecoder().decode(await readToEnd(client)), "413");
  client.close();
  await upload;
  assert.equal(await outcome, "endpoint_reset");
});

Deno.test("a cut names its reason, even when it comes twice", async () => {
  const { client, endpoint, relay, outcome } = setup();
  relay.cut("idle");
  relay.cut("drained");
  assert.equal(await outcome, "idle");
  assert.equal((await readToEnd(client)).length, 0);
  assert.equal((await readToEnd(endpoint)).length, 0);
});

Deno.test("buffers grow for a stream that fills them and shrink for one that does not", () => {
  const pool = new BufferPool();
  const small = pool.small();
  assert.equal(pool.adapt(small, 10), small);
  const large = pool.adapt(small, SMALL_BYTES);
  assert.equal(large.length, LARGE_BYTES);
  assert.equal(pool.adapt(large, LARGE_BYTES), large);
  assert.equal(pool.adapt(large, 100).length, SMALL_BYTES);
});

Deno.test("given buffers are used again", () => {
  const pool = new BufferPool();
  const small = pool.small();
  pool.give(small);
  assert.equal(pool.small(), small);
});
