// Dialing over real sockets (D9): silent addresses are listeners with a full queue, see full_backlog.ts.

import assert from "node:assert/strict";
import { dial, type Dialed, type DialFailure, type DialOptions } from "../../src/net/dial.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { until } from "../support/until.ts";
import { DeafListener } from "../support/full_backlog.ts";

const HOST = "app.example.test";

function options(changes: Partial<DialOptions> & { addresses?: string[] } = {}): DialOptions {
  const { addresses, ...rest } = changes;
  return {
    connectMs: 20_000,
    happyEyeballsMs: 250,
    clock: new SystemClock(),
    resolveHost: () => {
      if (addresses === undefined) throw new Error("DNS was asked about a literal");
      return Promise.resolve({ addresses });
    },
    ...rest,
  };
}

function opened(result: Dialed | DialFailure): Dialed {
  if ("outcome" in result) throw new Error(`${result.outcome}: ${result.detail}`);
  return result;
}

function failed(result: Dialed | DialFailure): DialFailure {
  if ("outcome" in result) return result;
  result.conn.close();
  throw new Error(`Connected to ${result.remote.host}`);
}

/** A port that is free on both addresses, with a listener on the second. */
function listenV4(port = 0): { listener: Deno.TcpListener; port: number } {
  const listener = Deno.listen({ hostname: "127.0.0.11", port });
  return { listener, port: listener.addr.port };
}

Deno.test("a literal is dialled without DNS and the connection carries bytes", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const dialed = opened(await dial({ host: "127.0.0.1", port }, options()));
  using peer = await listener.accept();
  await dialed.conn.write(new Uint8Array([7]));
  const bytes = new Uint8Array(8);
  assert.equal(await peer.read(bytes), 1);
  assert.deepEqual(dialed.remote, { host: "127.0.0.1", port });
  assert.equal(dialed.resolveMs, 0);
  dialed.conn.close();
});

Deno.test("an IPv6 literal is dialled without DNS", async () => {
  using listener = Deno.listen({ hostname: "::1", port: 0 });
  const dialed = opened(await dial({ host: "::1", port: listener.addr.port }, options()));
  (await listener.accept()).close();
  dialed.conn.close();
});

Deno.test("a refused literal is one outcome that names the address", async () => {
  const { listener, port } = listenV4();
  listener.close();
  assert.deepEqual(failed(await dial({ host: "127.0.0.11", port }, options())), {
    outcome: "refused",
    detail: "refused (ECONNREFUSED)",
  });
});

Deno.test("a literal that does not answer times out", async () => {
  const deaf = await DeafListener.open("127.0.0.11", 0);
  const result = failed(await dial({ host: "127.0.0.11", port: deaf.port }, options({ connectMs: 200 })));
  assert.deepEqual(result, {
    outcome: "connect_timeout",
    detail: "no answer within 200 ms",
  });
  await deaf.close();
});

Deno.test("an aborted dial is cancelled, never charged", async () => {
  const deaf = await DeafListener.open("127.0.0.11", 0);
  const stop = new AbortController();
  for (const host of ["127.0.0.11", HOST]) {
    const pending = dial(
      { host, port: deaf.port },
      options({ signal: stop.signal, addresses: ["127.0.0.11"] }),
    );
    if (host === HOST) stop.abort();
    else setTimeout(() => stop.abort(), 50);
    assert.equal(failed(await pending).outcome, "cancelled");
  }
  await deaf.close();
});

Deno.test("case 28a: the first address never answers, the second is connected after the delay", async () => {
  const deaf = await DeafListener.open("::1", 0);
  const { listener } = listenV4(deaf.port);
  const startedAt = performance.now();
  const dialed = opened(
    await dial({ host: HOST, port: deaf.port }, options({ addresses: ["::1", "127.0.0.11"] })),
  );
  assert.equal(dialed.remote.host, "127.0.0.11");
  assert.ok(performance.now() - startedAt >= 240);
  (await listener.accept()).close();
  dialed.conn.close();
  listener.close();
  await deaf.close();
});

Deno.test("case 28b: the first address refuses, the second is connected without waiting for the delay", async () => {
  const { listener, port } = listenV4();
  const dialed = opened(
    await dial(
      { host: HOST, port },
      // A delay beyond the deadline: only the refusal can have started the second attempt.
      options({ addresses: ["::1", "127.0.0.11"], happyEyeballsMs: 60_000 }),
    ),
  );
  assert.equal(dialed.remote.host, "127.0.0.11");
  (await listener.accept()).close();
  dialed.conn.close();
  listener.close();
});

Deno.test("case 28c: no attempt is cut short by the delay", async () => {
  const first = await DeafListener.open("::1", 0);
  const second = await DeafListener.open("127.0.0.11", first.port);
  setTimeout(() => second.free(), 600);
  const dialed = opened(
    await dial({ host: HOST, port: first.port }, options({ addresses: ["::1", "127.0.0.11"] })),
  );
  assert.equal(dialed.remote.host, "127.0.0.11");
  dialed.conn.close();
  await first.close();
  await second.close();
});

Deno.test("case 28d: the deadline holds for all addresses and the detail names each with its reason", async () => {
  const deaf = await DeafListener.open("127.0.0.11", 0);
  const result = failed(
    await dial(
      { host: HOST, port: deaf.port },
      options({ addresses: ["::1", "127.0.0.11"], connectMs: 700 }),
    ),
  );
  assert.equal(result.outcome, "connect_timeout");
  assert.equal(result.detail, "::1: refused (ECONNREFUSED); 127.0.0.11: no answer within 700 ms");
  await deaf.close();
});

Deno.test("case 28e: of two that complete one carries data, the other is closed without any", async () => {
  const first = await DeafListener.open("::1", 0);
  const second = await DeafListener.open("127.0.0.11", first.port);
  setTimeout(() => first.free(), 200);
  setTimeout(() => second.free(), 200);
  const dialed = opened(
    await dial({ host: HOST, port: first.port }, options({ addresses: ["::1", "127.0.0.11"] })),
  );
  await dialed.conn.write(new Uint8Array([42]));
  const winner = dialed.remote.host === "::1" ? first : second;
  await until(() => winner.accepted.length === winner.fillers + 1);
  assert.deepEqual(await readOf(winner.accepted.at(-1)!), [42]);
  // The loser may or may not have got through before it was dropped; if it did, nothing was sent on it.
  const loser = winner === first ? second : first;
  for (const conn of loser.accepted.slice(loser.fillers)) assert.deepEqual(await readOf(conn), []);
  dialed.conn.close();
  await first.close();
  await second.close();
});

Deno.test("without a delay a silent first address leaves time for the second", async () => {
  const deaf = await DeafListener.open("::1", 0);
  const { listener } = listenV4(deaf.port);
  const dialed = opened(
    await dial(
      { host: HOST, port: deaf.port },
      options({ addresses: ["::1", "127.0.0.11"], happyEyeballsMs: 0, connectMs: 2000 }),
    ),
  );
  assert.equal(dialed.remote.host, "127.0.0.11");
  (await listener.accept()).close();
  dialed.conn.close();
  listener.close();
  await deaf.close();
});

Deno.test("when all addresses fail the most telling reason is the outcome", async () => {
  const { listener, port } = listenV4();
  listener.close();
  const result = failed(
    await dial({ host: HOST, port }, options({ addresses: ["::1", "127.0.0.11"] })),
  );
  assert.deepEqual(result, {
    outcome: "refused",
    detail: "::1: refused (ECONNREFUSED); 127.0.0.11: refused (ECONNREFUSED)",
  });
});

Deno.test("a name that can not be resolved says why and charges nobody", async () => {
  const unknown = options({
    resolveHost: () => Promise.resolve({ failure: "nxdomain", detail: "no such name" }),
  });
  assert.deepEqual(failed(await dial({ host: HOST, port: 80 }, unknown)), {
    outcome: "name_unresolved",
    detail: "app.example.test: no such name",
  });
  const silent = options({ resolveHost: () => new Promise(() => {}), connectMs: 50 });
  assert.deepEqual(failed(await dial({ host: HOST, port: 80 }, silent)), {
    outcome: "name_unresolved",
    detail: "app.example.test: no answer from DNS within 50 ms",
  });
});

Deno.test({
  name: "without a file descriptor left the endpoint is not charged",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const child = new URL("../support/dial_without_descriptors.ts", import.meta.url).pathname;
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", 'ulimit -n 64 && exec "$0" run --quiet -A "$1"', Deno.execPath(), child],
      stderr: "inherit",
    }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    assert.deepEqual(lines, ["out_of_descriptors", "out_of_descriptors", "connected"]);
  },
});

async function readOf(conn: Deno.Conn): Promise<number[]> {
  const bytes = new Uint8Array(16);
  try {
    const count = await conn.read(bytes);
    return [...bytes.subarray(0, count ?? 0)];
  } catch (error) {
    if ((error as { code?: string }).code === "ECONNRESET") return [];
    throw error;
  }
}

Deno.test("a connection that comes to stand just when its deadline strikes is closed, not forgotten", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1024 });
  const target = { host: "127.0.0.1", port: listener.addr.port };
  for (let round = 0; round < 150; round++) {
    const dialing = dial(target, options({ connectMs: 5 }));
    // The thread is busy until both the connection and the deadline are there.
    for (const until = performance.now() + 8; performance.now() < until;);
    const end = await dialing;
    if ("conn" in end) end.conn.close();
    else assert.equal(end.outcome, "connect_timeout");
  }
  // The leak checks of the runner see that nothing is left open.
});
