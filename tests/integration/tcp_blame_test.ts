// Who is charged for what in TCP sessions, and that everything that was taken is given back.

import assert from "node:assert/strict";
import { InlineHale } from "../support/inline_hale.ts";
import { askTcp, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, readAll, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";

interface Shape {
  readonly endpoints: readonly string[];
  readonly upstream?: string;
  readonly top?: string;
}

function config({ endpoints, upstream = "health: {}", top = "" }: Shape): string {
  return `
${top}
listeners: [{ name: in, address: "127.0.0.1:0", protocol: tcp, upstream: up }]
upstreams: [{ name: up, protocol: tcp, endpoints: [${
    endpoints.map((each) => `"${each}"`).join(", ")
  }], ${upstream} }]
`;
}

const deadAddress = (): string => `127.0.0.1:${freePort()}`;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function connect(hale: InlineHale): Promise<Deno.TcpConn> {
  return Deno.connect({ hostname: "127.0.0.1", port: hale.port("in") });
}

/** Connects, and gives what one round trip brings: "" when the session was closed instead. */
async function ask(hale: InlineHale): Promise<string> {
  return await askTcp(hale.port("in"), "hello").catch(() => "");
}

function quiet(hale: InlineHale, keys: readonly string[]): Promise<void> {
  return until(
    "all is quiet",
    () => hale.supervisor.workers.sessions === 0 && keys.every((key) => hale.inFlight("up", key) === 0),
  );
}

Deno.test("no client fails while another endpoint works, each failure is reported, and the dead one leaves", async () => {
  await using live = new TcpEndpoint(echo);
  const dead = deadAddress();
  await using hale = await InlineHale.start(
    config({ endpoints: [live.address, dead], upstream: "health: { consecutive_failures: 3 }" }),
  );
  for (let turn = 0; turn < 20; turn++) assert.equal(await ask(hale), "hello");
  await until("the dead endpoint to leave", () => hale.health("up", dead).health === "ejected");
  assert.deepEqual(hale.health("up", dead).failures, [{ source: "traffic", outcome: "refused", count: 3 }]);
  assert.match(
    hale.sentences("endpoint_ejected")[0]!,
    /^Ejected up\/.* for 30 s: 3 connect failures in a row, last: refused/,
  );
  assert.equal(hale.health("up", live.address).health, "healthy");
});

Deno.test("a connection that starts 20 ms after the deciding failure does not go to the ejected endpoint", async () => {
  await using live = new TcpEndpoint(echo);
  const dead = deadAddress();
  await using hale = await InlineHale.start(
    config({ endpoints: [dead, live.address], upstream: "health: { consecutive_failures: 1 }" }),
  );
  while (hale.health("up", dead).failures.length === 0) {
    assert.equal(await ask(hale), "hello");
    await pause(20);
  }
  for (let turn = 0; turn < 30; turn++) assert.equal(await ask(hale), "hello");
  assert.equal(hale.health("up", dead).failures[0]!.count, 1);
});

Deno.test("aborts at three stages charge nobody", async () => {
  const held = Promise.withResolvers<void>();
  await using endpoint = new TcpEndpoint(async (conn) => {
    const kind = (await readExactly(conn, 1))[0];
    if (kind === 1) await held.promise;
    if (kind === 2) await writeBytes(conn, new Uint8Array(8 << 20));
    if (kind === 3) await readAll(conn);
    if (kind === 4) await writeBytes(conn, new Uint8Array([42]));
  });
  await using hale = await InlineHale.start(
    config({ endpoints: [endpoint.address], upstream: "health: { consecutive_failures: 3 }" }),
  );
  const beforeTheAnswer = async () => {
    const conn = await connect(hale);
    await writeBytes(conn, new Uint8Array([1]));
    conn.close();
  };
  const inTheDownload = async () => {
    const conn = await connect(hale);
    await writeBytes(conn, new Uint8Array([2]));
    await readExactly(conn, 1000);
    conn.close(); // With unread bytes: the kernel resets the connection.
  };
  const inTheUpload = async () => {
    const conn = await connect(hale);
    await writeBytes(conn, new Uint8Array(100_000).fill(3));
    conn.close();
  };
  for (const abort of [beforeTheAnswer, inTheDownload, inTheUpload]) {
    await Promise.all(Array.from({ length: 20 }, abort));
  }
  held.resolve();
  await quiet(hale, [endpoint.address]);
  const health = hale.health("up", endpoint.address);
  assert.deepEqual([health.health, health.streak, health.failures.length], ["healthy", 0, 0]);
  using conn = await connect(hale);
  await writeBytes(conn, new Uint8Array([4]));
  assert.deepEqual([...await readExactly(conn, 1)], [42]);
  const { outcomes } = (await hale.supervisor.workers.stats()).listeners["in"]!;
  assert.ok(
    (outcomes["client_reset"] ?? 0) >= 20,
    `aborts are counted on the client's side: ${JSON.stringify(outcomes)}`,
  );
});

Deno.test("after 200 refused, aborted and normal sessions nothing is held any more", async () => {
  await using one = new TcpEndpoint(echo);
  await using two = new TcpEndpoint(echo);
  const dead = deadAddress();
  const keys = [one.address, two.address, dead];
  await using hale = await InlineHale.start(
    config({
      endpoints: keys,
      upstream: "load_balancer: least_requests, health: { consecutive_failures: 1000 }",
    }),
  );
  await ask(hale);
  await quiet(hale, keys);
  const descriptors = () => [...Deno.readDirSync("/proc/self/fd")].length;
  const canCount = Deno.build.os === "linux";
  const before = canCount ? descriptors() : 0;
  let least = 0;
  const watching = setInterval(() => {
    for (const key of keys) least = Math.min(least, hale.inFlight("up", key));
  }, 5);
  const session = async (number: number) => {
    const conn = await connect(hale);
    if (number % 4 === 1) return conn.close();
    await writeBytes(conn, new Uint8Array(5000));
    if (number % 4 === 2) return conn.close();
    if (number % 4 === 3) await readExactly(conn, 5000);
    await conn.closeWrite();
    await readAll(conn);
    conn.close();
  };
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(Array.from({ length: 20 }, (_, number) => session(number).catch(() => {})));
  }
  await quiet(hale, keys);
  clearInterval(watching);
  assert.equal(least, 0, "no count was ever negative");
  if (canCount) await until("descriptors to be back", () => descriptors() <= before + 2);
  const accepted = [one.accepted, two.accepted];
  for (let turn = 0; turn < 100; turn++) assert.equal(await ask(hale), "hello");
  const share = one.accepted - accepted[0]!;
  assert.ok(share >= 40 && share <= 60, `the next 100 picks are even, one had ${share}`);
});

Deno.test("all endpoints dead: fail_open tries them all the same, fail_closed does not", async () => {
  const dead = deadAddress();
  const open = config({
    endpoints: [dead],
    upstream: "health: { consecutive_failures: 2, all_down: fail_open }",
  });
  await using hale = await InlineHale.start(open);
  for (let turn = 0; turn < 6; turn++) assert.equal(await ask(hale), "");
  assert.equal(hale.sentences("all_down_entered").length, 1);
  await using back = new TcpEndpoint(echo, { port: Number(dead.split(":")[1]) });
  await until("the endpoint to be restored by its traffic", async () => (await ask(hale)) === "hello");
  await until("healthy", () => hale.health("up", back.address).health === "healthy");
  assert.equal(hale.sentences("all_down_left").length, 1);
  await back[Symbol.asyncDispose]();
  const closed = config({
    endpoints: [dead],
    upstream: "health: { consecutive_failures: 2, eject_ms: 60000, all_down: fail_closed }",
  });
  assert.deepEqual(await hale.apply(closed), []);
  await until("it to be ejected", async () => {
    assert.equal(await ask(hale), "");
    return hale.health("up", dead).health === "ejected";
  });
  const tried = hale.health("up", dead).failures[0]!.count;
  for (let turn = 0; turn < 5; turn++) assert.equal(await ask(hale), "");
  assert.equal(hale.health("up", dead).failures[0]!.count, tried, "nobody is sent there");
  const { outcomes } = (await hale.supervisor.workers.stats()).listeners["in"]!;
  assert.ok(outcomes["no_endpoint"]! >= 5);
});

Deno.test("never more endpoints out than max_ejected_percent allows, counted after the ejection", async () => {
  const endpoints = [deadAddress(), deadAddress(), deadAddress()];
  await using hale = await InlineHale.start(
    config({
      endpoints,
      upstream: "health: { consecutive_failures: 1, max_ejected_percent: 67, eject_ms: 60000 }",
    }),
  );
  for (let turn = 0; turn < 10; turn++) {
    await ask(hale);
    const out = endpoints.filter((key) => hale.health("up", key).health !== "healthy").length;
    assert.ok(out <= 2, `${out} are out`);
  }
  assert.equal(endpoints.filter((key) => hale.health("up", key).health !== "healthy").length, 2);
});

Deno.test("after eject_ms one trial decides: it fails and the endpoint is out again, it works and it is back", async () => {
  await using live = new TcpEndpoint(echo);
  const dead = deadAddress();
  await using hale = await InlineHale.start(
    config({
      endpoints: [live.address, dead],
      upstream: "health: { consecutive_failures: 1, eject_ms: 300 }",
    }),
  );
  const ejections = (): number => hale.health("up", dead).ejections;
  await until("two ejections", async () => {
    assert.equal(await ask(hale), "hello");
    return ejections() >= 2;
  });
  await using back = new TcpEndpoint(echo, { port: Number(dead.split(":")[1]) });
  await until("the endpoint to be back", async () => {
    assert.equal(await ask(hale), "hello");
    return hale.health("up", back.address).health === "healthy";
  });
  assert.match(hale.sentences("endpoint_restored")[0]!, /its trial went well/);
});

Deno.test("two upstreams with one address have two verdicts", async () => {
  const address = deadAddress();
  await using hale = await InlineHale.start(`
listeners:
  - { name: in, address: "127.0.0.1:0", protocol: tcp, upstream: up }
  - { name: other, address: "127.0.0.1:0", protocol: tcp, upstream: calm }
upstreams:
  - { name: up, protocol: tcp, endpoints: ["${address}"], health: { consecutive_failures: 1, all_down: fail_closed } }
  - { name: calm, protocol: tcp, endpoints: ["${address}"], health: { consecutive_failures: 1 } }
`);
  assert.equal(await ask(hale), "");
  await until("the one to be out", () => hale.health("up", address).health === "ejected");
  assert.equal(hale.health("calm", address).health, "healthy");
  await using back = new TcpEndpoint(echo, { port: Number(address.split(":")[1]) });
  assert.equal(await askTcp(hale.port("other"), "hello"), "hello");
  assert.equal(await ask(hale), "");
  assert.equal(back.accepted, 1);
});

Deno.test("max_connections per endpoint sends sessions elsewhere, and refuses them when all are full", async () => {
  await using one = new TcpEndpoint(echo);
  await using two = new TcpEndpoint(echo);
  await using hale = await InlineHale.start(
    config({ endpoints: [one.address, two.address], upstream: "max_connections: 2, health: {}" }),
  );
  const conns: Deno.TcpConn[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const conn = await connect(hale);
    await writeBytes(conn, new Uint8Array(1));
    assert.equal((await readExactly(conn, 1)).length, 1);
    conns.push(conn);
  }
  assert.deepEqual([one.open, two.open], [2, 2]);
  assert.equal(await ask(hale), "", "a fifth one finds no place");
  assert.equal(hale.events.some(({ kind }) => kind === "all_down_entered"), false, "full is not down");
  conns.pop()!.close();
  await until("a place to be free", async () => (await ask(hale)) === "hello");
  for (const conn of conns) conn.close();
  await quiet(hale, [one.address, two.address]);
});

Deno.test("limits.max_connections makes further clients wait, not fail", async () => {
  await using endpoint = new TcpEndpoint(echo);
  await using hale = await InlineHale.start(
    config({ endpoints: [endpoint.address], top: "limits: { max_connections: 3 }" }),
  );
  const conns = await Promise.all(Array.from({ length: 3 }, () => connect(hale)));
  await until("three sessions", () => hale.supervisor.workers.sessions === 3 && endpoint.accepted === 3);
  const fourth = ask(hale);
  await pause(200);
  assert.equal(endpoint.accepted, 3);
  conns[0]!.close();
  assert.equal(await fourth, "hello");
  for (const conn of conns.slice(1)) conn.close();
  await quiet(hale, [endpoint.address]);
});

Deno.test("200 sessions that end from outside leave no descriptor behind", async () => {
  await using endpoint = new TcpEndpoint(async (conn) => void await conn.read(new Uint8Array(1)));
  await using hale = await InlineHale.start(config({ endpoints: [endpoint.address] }));
  for (let batch = 0; batch < 10; batch++) {
    const conns = await Promise.all(Array.from({ length: 20 }, () => connect(hale)));
    await until("the sessions to stand", () => hale.inFlight("up", endpoint.address) === 20);
    await hale.supervisor.workers.cut();
    for (const conn of conns) {
      assert.equal(await conn.read(new Uint8Array(1)).catch(() => null), null);
      conn.close();
    }
    await quiet(hale, [endpoint.address]);
    await until("the endpoint's side to be closed", () => endpoint.open === 0);
  }
});
