// Closing a connection whose write waits, on whatever runtime the tests run: the write is given up at once.

import assert from "node:assert/strict";
import { firmlyClosing } from "../../src/net/firm_close.ts";
import { until } from "../support/named_endpoint.ts";
import { readAll } from "../support/tcp_endpoint.ts";

Deno.test("closing gives up a write that the peer does not take", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const [peer, accepted] = await Promise.all([
    Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port }),
    listener.accept(),
  ]);
  const conn = firmlyClosing(accepted);
  const block = new Uint8Array(1_000_000);
  let taken = 0;
  const writing = (async () => {
    for (;;) taken += await conn.write(block);
  })();
  let before = -1;
  while (taken !== before) {
    before = taken;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  conn.close();
  await assert.rejects(writing, { code: "EINTR" });
  // Only now may the old runtimes let go of the socket.
  peer.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
});

Deno.test("what was given up is never sent with what its memory holds by then", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const [peer, accepted] = await Promise.all([
    Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port }),
    listener.accept(),
  ]);
  const conn = firmlyClosing(accepted);
  const block = new Uint8Array(65_536).fill(1);
  let taken = 0;
  const writing = (async () => {
    for (;;) taken += await conn.write(block);
  })();
  await until("a write that waits", async () => {
    const before = taken;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return taken === before;
  });
  conn.close();
  await assert.rejects(writing, { code: "EINTR" });
  block.fill(2); // The pool has given it to somebody else.
  const got = await readAll(peer);
  assert.ok(got.length >= taken);
  assert.equal(got.indexOf(2), -1);
  peer.close();
});
