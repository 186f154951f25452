// What passes through a TCP session: every byte, in order, and the ends of both sides.

import assert from "node:assert/strict";
import { InlineHale } from "../support/inline_hale.ts";
import { until } from "../support/named_endpoint.ts";
import { echo, readAll, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";

const MIB = 1 << 20;

function config(endpoints: readonly TcpEndpoint[], listener = "", upstream = ""): string {
  const list = endpoints.map(({ address }) => `{ address: "${address}" }`).join(", ");
  return `
listeners: [{ name: in, address: "127.0.0.1:0", protocol: tcp, upstream: up${listener} }]
upstreams: [{ name: up, protocol: tcp, endpoints: [${list}], health: {}${upstream} }]
`;
}

function connect(hale: InlineHale): Promise<Deno.TcpConn> {
  return Deno.connect({ hostname: "127.0.0.1", port: hale.port("in") });
}

async function quiet(hale: InlineHale, ...endpoints: TcpEndpoint[]): Promise<void> {
  await until("all is quiet", () =>
    hale.supervisor.workers.sessions === 0 &&
    endpoints.every(({ address, open }) => hale.inFlight("up", address) === 0 && open === 0));
}

Deno.test("a client that ends its side first gets 1 MiB afterwards", async () => {
  const seen: number[] = [];
  await using endpoint = new TcpEndpoint(async (conn) => {
    seen.push((await readAll(conn)).length);
    await writeBytes(conn, new Uint8Array(MIB).fill(65));
  });
  await using hale = await InlineHale.start(config([endpoint]));
  using conn = await connect(hale);
  await writeBytes(conn, new TextEncoder().encode("ping\n"));
  await conn.closeWrite();
  const answer = await readAll(conn);
  assert.equal(answer.length, MIB);
  assert.ok(answer.every((byte) => byte === 65));
  assert.deepEqual(seen, [5]);
  conn.close();
  await quiet(hale, endpoint);
});

Deno.test("an endpoint that ends its side first gets 1 MiB afterwards", async () => {
  const got = Promise.withResolvers<number>();
  await using endpoint = new TcpEndpoint(async (conn) => {
    await conn.closeWrite();
    got.resolve((await readAll(conn)).length);
  });
  await using hale = await InlineHale.start(config([endpoint]));
  using conn = await connect(hale);
  assert.equal((await readAll(conn)).length, 0);
  await writeBytes(conn, new Uint8Array(MIB));
  await conn.closeWrite();
  assert.equal(await got.promise, MIB);
  await quiet(hale, endpoint);
});

Deno.test("numbered messages stay whole and in order while endpoints die and return", async () => {
  await using steady = new TcpEndpoint(echo);
  let shaky = new TcpEndpoint(echo);
  await using hale = await InlineHale.start(config([steady, shaky]));
  let stop = false;
  let finished = 0;
  const client = async () => {
    while (!stop) {
      using conn = await connect(hale);
      for (let number = 0; number < 20; number++) {
        const message = new TextEncoder().encode(`message ${number} `.padEnd(3000 + number * 7, "x"));
        try {
          await writeBytes(conn, message);
          const answer = await readExactly(conn, message.length);
          if (answer.length < message.length) break; // Cut with its endpoint, but never garbled.
          assert.deepEqual(answer, message);
          finished++;
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          break;
        }
      }
    }
  };
  const clients = [client(), client(), client(), client()];
  for (let round = 0; round < 5; round++) {
    await until("traffic", () => shaky.accepted > 0);
    await shaky[Symbol.asyncDispose]();
    const before = finished;
    await until("traffic without the dead endpoint", () => finished > before + 100);
    shaky = new TcpEndpoint(echo, { port: shaky.port });
    hale.supervisor.keeper.setOperator(hale.slot("up", shaky.address), "ready");
    await hale.apply(config([steady]));
    await hale.apply(config([steady, shaky]));
  }
  stop = true;
  await Promise.all(clients);
  await shaky[Symbol.asyncDispose]();
  assert.ok(finished > 500);
});

Deno.test("what an endpoint had sent before it reset reaches a slow client", async () => {
  const size = 262_144;
  await using endpoint = new TcpEndpoint(async (conn) => {
    await writeBytes(conn, new Uint8Array(size).fill(7));
    await new Promise((resolve) => setTimeout(resolve, 200));
    // Closing with unread bytes makes the kernel send a reset.
  });
  await using hale = await InlineHale.start(config([endpoint]));
  for (let run = 0; run < 5; run++) {
    using conn = await connect(hale);
    await writeBytes(conn, new Uint8Array(1000));
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.equal((await readAll(conn)).length, size);
  }
  assert.equal(hale.health("up", endpoint.address).streak, 0);
});

Deno.test("a client that does not read stops its endpoint, and gets every byte once it reads on", async () => {
  const total = 64 * MIB;
  let sent = 0;
  await using endpoint = new TcpEndpoint(async (conn) => {
    const chunk = new Uint8Array(65536);
    while (sent < total) {
      for (let at = 0; at < chunk.length; at++) chunk[at] = (sent / 65536 + at) & 255;
      await writeBytes(conn, chunk);
      sent += chunk.length;
    }
  });
  await using hale = await InlineHale.start(config([endpoint]));
  using conn = await connect(hale);
  let held = -1;
  await until("the endpoint to be stopped", async () => {
    const before = sent;
    await new Promise((resolve) => setTimeout(resolve, 150));
    held = sent;
    return sent > 0 && sent === before;
  });
  assert.ok(held < 32 * MIB, `${held} bytes were taken from the endpoint`);
  let got = 0;
  const buffer = new Uint8Array(65536);
  for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
    for (let at = 0; at < count; at += 997) {
      const place = got + at;
      assert.equal(buffer[at], (Math.floor(place / 65536) + place % 65536) & 255);
    }
    got += count;
  }
  assert.equal(got, total);
});

Deno.test("a silent session ends by the idle limit, one with traffic in one direction lives", async () => {
  await using talker = new TcpEndpoint(async (conn) => {
    for (;;) {
      await writeBytes(conn, new Uint8Array(1));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
  await using hale = await InlineHale.start(config([talker], ", idle_timeout_ms: 1500"));
  using conn = await connect(hale);
  for (let second = 0; second < 20; second++) assert.equal((await readExactly(conn, 1)).length, 1);
  conn.close();
  await quiet(hale, talker);
  await using mute = new TcpEndpoint(async (conn) => void await conn.read(new Uint8Array(1)));
  assert.deepEqual(await hale.apply(config([mute], ", idle_timeout_ms: 1500")), []);
  using silent = await connect(hale);
  assert.equal(await silent.read(new Uint8Array(1)), null);
  await quiet(hale, mute);
});

Deno.test("a half-closed session that stays silent ends by its own limit", async () => {
  const release = Promise.withResolvers<void>();
  await using endpoint = new TcpEndpoint(async (conn) => {
    await readAll(conn);
    await release.promise;
  });
  await using hale = await InlineHale.start(config([endpoint], ", half_close_timeout_ms: 1000"));
  using conn = await connect(hale);
  await conn.closeWrite();
  assert.equal(await conn.read(new Uint8Array(1)), null);
  await until("the session to end", () => hale.supervisor.workers.sessions === 0);
  assert.equal(hale.inFlight("up", endpoint.address), 0);
  release.resolve();
});
