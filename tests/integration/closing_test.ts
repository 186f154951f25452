// The way out, and what must not happen on it: nothing that comes late opens again what has been closed, and nobody
// who waits holds the end up.

import assert from "node:assert/strict";
import { MIN_REFRESH_MS } from "../../src/control/discovery_record.ts";
import { drain } from "../../src/control/drain.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { InlineHale } from "../support/inline_hale.ts";
import { NameServer } from "../support/name_server.ts";
import { askTcp, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, TcpEndpoint } from "../support/tcp_endpoint.ts";

const NAME = "app.example.test";

interface Shape {
  readonly port: number;
  readonly upstream: string;
  readonly more?: string;
}

function config({ port, upstream, more = "" }: Shape): string {
  return `
listeners: [{ name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]
upstreams: [{ name: up, protocol: tcp, ${upstream} }]
${more}
`;
}

function isOpen(port: number): Promise<boolean> {
  return Deno.connect({ hostname: "127.0.0.1", port }).then((conn) => (conn.close(), true), () => false);
}

Deno.test("once the listeners are closed no edit and no worker opens them again", async () => {
  await using endpoint = new TcpEndpoint(echo);
  const port = freePort();
  const upstream = `endpoints: ["${endpoint.address}"]`;
  await using hale = await InlineHale.start(config({ port, upstream }));
  const before = hale.supervisor.plan!.generation;
  const closing = hale.supervisor.closeListeners();
  assert.deepEqual(await hale.apply(config({ port, upstream, more: "workers: 1" })), ["hale is stopping"]);
  await closing;
  assert.equal(hale.supervisor.plan!.generation, before);
  hale.supervisor.workers.kill(0);
  await until("the death to be told", () => hale.sentences("worker_died").length === 1);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(await isOpen(port), false);
});

Deno.test("what DNS says while the listeners close opens nothing again", async () => {
  await using endpoint = new TcpEndpoint(echo);
  const server = NameServer.start();
  const port = freePort();
  server.setA(NAME, ["127.0.0.1"], 60);
  const { host, port: dnsPort } = server.address;
  const upstream =
    `dns_discovery: { hostname: ${NAME}, port: ${endpoint.port}, nameservers: ["${host}:${dnsPort}"] }`;
  try {
    await using hale = await InlineHale.start(config({ port, upstream }));
    await until("an answer", () => askTcp(port, "x").then((answer) => answer === "x", () => false));
    await new Promise((resolve) => setTimeout(resolve, MIN_REFRESH_MS)); // Then it may ask at once.
    server.setA(NAME, ["127.0.0.1", "127.0.0.2"]);
    const { revision } = hale.supervisor.plan!;
    const asked = server.script.asked.length;
    const closing = hale.supervisor.closeListeners();
    hale.supervisor.discovery.hurry("up");
    await closing;
    assert.ok(server.script.asked.length > asked, "DNS was asked while the listeners closed");
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(hale.supervisor.plan!.revision, revision);
    assert.equal(await isOpen(port), false);
  } finally {
    await server.close();
  }
});

Deno.test("a client that waits for a place does not hold the drain up", async () => {
  await using endpoint = new TcpEndpoint(echo);
  const port = freePort();
  // Of two workers, the one that did not get the last place has accepted a client by then, and holds it.
  const more = "workers: 2\nlimits: { max_connections: 2 }";
  const shape = { port, upstream: `endpoints: ["${endpoint.address}"]`, more };
  await using hale = await InlineHale.start(config(shape));
  const conns: Deno.Conn[] = [];
  for (let count = 0; count < 20; count++) conns.push(await Deno.connect({ hostname: "127.0.0.1", port }));
  const { workers } = hale.supervisor;
  await until("the places to be taken", () => workers.sessions === 2);
  const hurry = AbortSignal.timeout(15_000);
  const cut = await drain({
    get sessions() {
      return workers.sessions;
    },
    closeListeners: () => hale.supervisor.closeListeners(),
    cut: () => workers.cut(),
  }, {
    config: { acceptMs: 0, timeoutMs: 200 },
    clock: new SystemClock(),
    hurry,
  });
  assert.deepEqual([cut, hurry.aborted], [2, false]);
  assert.deepEqual(hale.sentences("connections_full"), [
    "Reached limits.max_connections 2: new connections wait",
  ]);
  assert.deepEqual(hale.sentences("worker_started"), ["Started worker 0", "Started worker 1"]);
  for (const conn of conns) conn.close();
});

Deno.test("an end in the middle of an edit leaves no loop and no worker behind", async () => {
  await using endpoint = new TcpEndpoint(echo);
  const port = freePort();
  const upstream = (intervalMs: number) =>
    `endpoints: ["${endpoint.address}"], health: {}, active_health: { kind: tcp, interval_ms: ${intervalMs} }`;
  for (let turns = 0; turns < 40; turns++) {
    await using hale = await InlineHale.start(config({ port, upstream: upstream(5000) }));
    const applying = hale.apply(config({ port, upstream: upstream(6000), more: "workers: 3" }));
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await hale.supervisor.terminate();
    await applying;
    assert.deepEqual([hale.supervisor.probes.size, hale.supervisor.discovery.size], [0, 0], `${turns}`);
  }
});

Deno.test({
  name: "an edit that is refused while it is being bound leaves the number of workers as it was",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using endpoint = new TcpEndpoint(echo);
    const port = freePort();
    using _stranger = Deno.listen({ hostname: "127.0.0.2", port });
    const upstream = `endpoints: ["${endpoint.address}"]`;
    await using hale = await InlineHale.start(config({ port, upstream, more: "workers: 2" }));
    // All addresses at once overlap ours, which may be, and the stranger's, which may not.
    const edit = config({ port, upstream, more: "workers: 3" }).replace("127.0.0.1", "0.0.0.0");
    assert.deepEqual(await hale.apply(edit), [
      `Listener "in" can not listen on 0.0.0.0:${port}: address in use`,
    ]);
    assert.equal(hale.supervisor.workers.count, 2);
    assert.deepEqual(await hale.apply(config({ port, upstream, more: "workers: 1" })), []);
    assert.equal(hale.supervisor.workers.count, 1);
    for (let turn = 0; turn < 10; turn++) assert.equal(await askTcp(port, "x"), "x");
  },
});

Deno.test("the first answers for 200 upstreams arrive in few plans", async () => {
  const server = NameServer.start();
  const { host, port: dnsPort } = server.address;
  const names = Array.from({ length: 200 }, (_, number) => `u${number}`);
  for (const name of names) server.setA(`${name}.example.test`, ["127.0.0.1", "127.0.0.2"], 60);
  const upstreams = names.map((name) =>
    `  - { name: ${name}, protocol: tcp, dns_discovery: { hostname: ${name}.example.test, port: 9, nameservers: ["${host}:${dnsPort}"] } }`
  );
  try {
    await using hale = await InlineHale.start(`
listeners: [{ name: in, address: "127.0.0.1:0", protocol: tcp, upstream: u0 }]
upstreams:
${upstreams.join("\n")}
`);
    await until(
      "all of them to have endpoints",
      () => hale.supervisor.plan!.upstreams.every(({ endpoints }) => endpoints.length === 2),
    );
    assert.ok(hale.supervisor.plan!.revision < 100, `${hale.supervisor.plan!.revision} plans`);
  } finally {
    await server.close();
  }
});
