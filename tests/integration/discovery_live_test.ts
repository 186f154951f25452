// Discovery as it is lived with: a name server that changes its mind, goes silent and returns, real endpoints on many
// loopback addresses, and clients all the while. Where it would take minutes, the control plane's clock runs faster.

import assert from "node:assert/strict";
import type { Clock } from "../../src/core/clock.ts";
import { FastClock } from "../support/fast_clock.ts";
import { InlineHale } from "../support/inline_hale.ts";
import { NameServer } from "../support/name_server.ts";
import { askTcp, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";
import { TcpLoad } from "../support/tcp_load.ts";

const NAME = "app.example.test";
/** How much faster the control plane's clock runs where a test says so: a second of DNS is 50 ms. */
const FAST = 20;

/** 127.0.SUBNET.FIRST and those after it. */
function addresses(subnet: number, first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `127.0.${subnet}.${first + index}`);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Echoing endpoints on one port of many addresses, and a name server that knows some of them. */
class World implements AsyncDisposable {
  readonly port: number = freePort();
  readonly listen: number = freePort();
  readonly endpoints: ReadonlyMap<string, TcpEndpoint>;
  server: NameServer = NameServer.start([], "127.0.0.1", freePort()); // Below the ports that outgoing connections take: it is bound again later.
  readonly #dnsPort = this.server.address.port;

  constructor(hosts: readonly string[]) {
    this.endpoints = new Map(
      hosts.map((hostname) => [hostname, new TcpEndpoint(echo, { hostname, port: this.port })]),
    );
  }

  config(options: { discovery?: string; upstream?: string; more?: string } = {}): string {
    const { discovery = "", upstream = "", more = "" } = options;
    return `
listeners: [{ name: in, address: "127.0.0.1:${this.listen}", protocol: tcp, upstream: up }]
upstreams:
  - name: up
    protocol: tcp
    dns_discovery: { hostname: ${NAME}, port: ${this.port}, nameservers: ["127.0.0.1:${this.#dnsPort}"]${
      discovery && `, ${discovery}`
    } }
    ${upstream}
${more}
`;
  }

  /** What the name server says from now on. */
  says(hosts: readonly string[], ttl = 1): void {
    this.server.setA(NAME, hosts, ttl);
  }

  async killDns(): Promise<void> {
    await this.server.close();
  }

  reviveDns(): void {
    this.server = NameServer.start([], "127.0.0.1", this.#dnsPort);
  }

  key(host: string): string {
    return `${host}:${this.port}`;
  }

  accepted(hosts: readonly string[]): number {
    return hosts.reduce((sum, host) => sum + this.endpoints.get(host)!.accepted, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close().catch(() => {});
    await Promise.all([...this.endpoints.values()].map((endpoint) => endpoint[Symbol.asyncDispose]()));
  }
}

const start = (config: string, clock?: Clock): Promise<InlineHale> =>
  InlineHale.start(config, undefined, clock);

function hostsOf(hale: InlineHale): string[] {
  return hale.supervisor.plan!.upstreams[0]!.endpoints.map(({ host }) => host).sort();
}

function untilSet(hale: InlineHale, hosts: readonly string[]): Promise<void> {
  const wanted = [...hosts].sort().join();
  return until(`the set ${wanted}`, () => hostsOf(hale).join() === wanted);
}

/** A session through hale that can be asked whether it still lives. */
class LongSession implements Disposable {
  readonly #conn: Deno.TcpConn;

  private constructor(conn: Deno.TcpConn) {
    this.#conn = conn;
  }

  static async open(port: number): Promise<LongSession> {
    const session = new LongSession(await Deno.connect({ hostname: "127.0.0.1", port }));
    assert.ok(await session.isAlive());
    return session;
  }

  async isAlive(): Promise<boolean> {
    await writeBytes(this.#conn, new Uint8Array([7])).catch(() => {});
    return (await readExactly(this.#conn, 1).catch(() => new Uint8Array())).length === 1;
  }

  /** Resolves when hale ends the session. */
  async end(): Promise<void> {
    await readExactly(this.#conn, 1).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#conn.close();
  }
}

Deno.test("scaling from 1 to 50 to 3 is followed within the TTL, and nobody fails", async () => {
  const all = addresses(1, 1, 50);
  await using world = new World(all);
  world.says(all.slice(0, 1));
  await using hale = await start(world.config());
  await untilSet(hale, all.slice(0, 1));
  const load = new TcpLoad(world.listen, { clients: 2, pauseMs: 1 });
  for (const count of [50, 3]) {
    world.says(all.slice(0, count));
    const saidAt = performance.now();
    await untilSet(hale, all.slice(0, count));
    assert.ok(performance.now() - saidAt < 6000, "a TTL of one second is not six");
    const before = world.accepted(all.slice(0, count));
    await until("everybody to get a client", () => world.accepted(all.slice(0, count)) > before + 2 * count);
  }
  const gone = world.accepted(all.slice(3));
  await pause(200);
  assert.equal(world.accepted(all.slice(3)), gone, "no new client for those that left");
  await load.stop();
  assert.deepEqual(load.failures, []);
});

Deno.test("50 replacements of the whole set fail no client and cut no session", async () => {
  const [old, next] = [addresses(2, 11, 10), addresses(2, 31, 15)];
  await using world = new World([...old, ...next]);
  world.says(old);
  await using hale = await start(world.config(), new FastClock(FAST));
  await untilSet(hale, old);
  const sessions = await Promise.all(Array.from({ length: 5 }, () => LongSession.open(world.listen)));
  const load = new TcpLoad(world.listen, { clients: 3, pauseMs: 1 });
  for (let round = 1; round <= 50; round++) {
    const set = round % 2 === 1 ? next : old;
    world.says(set);
    await untilSet(hale, set);
  }
  assert.ok(load.asked > 100, `${load.asked} questions`);
  for (const session of sessions) assert.ok(await session.isAlive());
  await load.stop();
  assert.deepEqual(load.failures, []);
  // The last set is the old one, on which the sessions are; now it leaves for good.
  world.says(next);
  await untilSet(hale, next);
  assert.equal(hale.allInFlight, 5);
  for (const session of sessions) session[Symbol.dispose]();
  await until("the old endpoints to be quiet", () => hale.allInFlight === 0);
  assert.equal(hale.supervisor.slots.count, 25, "each address has its own slot, and one only");
});

Deno.test("drain_removed_ms ends the sessions of an endpoint that left, unless it returned", async () => {
  const [leaves, stays] = addresses(3, 1, 2) as [string, string];
  await using world = new World([leaves, stays]);
  world.says([leaves]);
  const config = world.config({ discovery: "drain_removed_ms: 1500" });
  await using hale = await start(config, new FastClock(FAST));
  await untilSet(hale, [leaves]);
  using session = await LongSession.open(world.listen);
  world.says([stays]);
  await untilSet(hale, [stays]);
  world.says([leaves, stays]);
  await untilSet(hale, [leaves, stays]);
  await pause(2500);
  assert.ok(await session.isAlive(), "its endpoint is back");
  world.says([stays]);
  await untilSet(hale, [stays]);
  const leftAt = performance.now();
  assert.ok(await session.isAlive(), "it has some time left");
  await session.end();
  assert.ok(performance.now() - leftAt > 1000, "and that time is given");
  assert.equal(await askTcp(world.listen, "x"), "x");
});

Deno.test("a name server that dies leaves traffic alone, is shown as failing, and is followed when it returns", async () => {
  const [one, two] = addresses(4, 1, 2) as [string, string];
  await using world = new World([one, two]);
  world.says([one]);
  await using hale = await start(world.config(), new FastClock(FAST));
  await untilSet(hale, [one]);
  const load = new TcpLoad(world.listen, { clients: 2, pauseMs: 1 });
  await world.killDns();
  await until("the failure to be seen", () => hale.sentences("discovery_failed").length > 0);
  assert.ok(hale.supervisor.discovery.stateOf("up")!.failure !== undefined);
  await pause(500);
  assert.deepEqual(hostsOf(hale), [one]);
  world.reviveDns();
  world.says([two]);
  await untilSet(hale, [two]);
  assert.equal(hale.sentences("discovery_recovered").length, 1);
  assert.equal(hale.supervisor.discovery.stateOf("up")!.failure, undefined);
  await load.stop();
  assert.deepEqual(load.failures, []);
});

Deno.test("with fail_open: false a failure clears the set until DNS is back", async () => {
  const [one] = addresses(5, 1, 1) as [string];
  await using world = new World([one]);
  world.says([one]);
  const config = world.config({ discovery: "fail_open: false" });
  await using hale = await start(config, new FastClock(FAST));
  await untilSet(hale, [one]);
  for (const reply of [{ rcode: "NXDOMAIN" }, { rcode: "SERVFAIL" }, { drop: true }, { answer: [] }]) {
    world.server.set(NAME, "A", reply);
    await untilSet(hale, []);
    assert.equal(await askTcp(world.listen, "x").catch(() => ""), "", "clients are closed at once");
    world.says([one]);
    await untilSet(hale, [one]);
    assert.equal(await askTcp(world.listen, "x"), "x");
  }
  const kinds = Object.keys(hale.supervisor.discovery.stateOf("up")!.failures).sort();
  assert.deepEqual(kinds, ["nodata", "nxdomain", "servfail", "timeout"]);
});

Deno.test("a name server that is dead at the start: the seed serves, and the first answer takes over", async () => {
  const [seed, found] = addresses(6, 1, 2) as [string, string];
  await using world = new World([seed, found]);
  await world.killDns();
  const config = world.config({ upstream: `endpoints: ["${world.key(seed)}"]` });
  await using hale = await start(config, new FastClock(FAST));
  for (let turn = 0; turn < 5; turn++) assert.equal(await askTcp(world.listen, "x"), "x");
  await until("the failure to be seen", () => hale.sentences("discovery_failed").length > 0);
  assert.deepEqual(hostsOf(hale), [seed]);
  world.reviveDns();
  world.says([found]);
  await untilSet(hale, [found]);
  assert.equal(await askTcp(world.listen, "x"), "x");
});

Deno.test("reloads while DNS fails never leave the set empty, whether or not the block changed", async () => {
  const hosts = addresses(7, 1, 3);
  await using world = new World(hosts);
  world.says(hosts);
  const clock = new FastClock(FAST);
  await using hale = await start(world.config(), clock);
  await untilSet(hale, hosts);
  world.server.set(NAME, "A", { rcode: "SERVFAIL" });
  await until("the failure to be seen", () => hale.sentences("discovery_failed").length > 0);
  const load = new TcpLoad(world.listen, { clients: 2, pauseMs: 1 });
  for (let edit = 0; edit < 20; edit++) {
    const discovery = `refresh_interval_s: ${10 + (edit >> 2)}`; // Changes with every fourth edit.
    assert.deepEqual(await hale.apply(world.config({ discovery, more: `# edit ${edit}` })), []);
    assert.deepEqual(hostsOf(hale), hosts);
    await pause(20);
  }
  await load.stop();
  assert.deepEqual(load.failures, []);
  world.says(hosts.slice(0, 1));
  await untilSet(hale, hosts.slice(0, 1));
});

Deno.test("discovered endpoints are probed, and those that left are not", async () => {
  const [stays, leaves] = addresses(8, 1, 2) as [string, string];
  await using world = new World([stays, leaves]);
  world.says([stays, leaves]);
  const config = world.config({
    upstream:
      "health: { consecutive_failures: 3 }\n    active_health: { kind: tcp, interval_ms: 1000, timeout_ms: 500, jitter_ms: 0 }",
  });
  await using hale = await start(config, new FastClock(FAST));
  await until("probes on both", () => world.accepted([stays]) > 3 && world.accepted([leaves]) > 3);
  world.says([stays]);
  await untilSet(hale, [stays]);
  await until("what was under way to end", () => hale.supervisor.probes.size === 1);
  const [kept, gone] = [world.accepted([stays]), world.accepted([leaves])];
  await until("more probes", () => world.accepted([stays]) > kept + 5);
  assert.ok(world.accepted([leaves]) <= gone + 1);
});

Deno.test("an ejected endpoint that leaves and returns is still ejected; after a minute it begins anew", async () => {
  const [live, dead] = addresses(9, 1, 2) as [string, string];
  await using world = new World([live]); // Nobody listens on the other.
  world.says([live, dead]);
  const config = world.config({ upstream: "health: { consecutive_failures: 1, eject_ms: 86400000 }" });
  await using hale = await start(config, new FastClock(FAST));
  await untilSet(hale, [live, dead]);
  await until("the ejection", async () => {
    assert.equal(await askTcp(world.listen, "x"), "x");
    return hale.health("up", world.key(dead)).health === "ejected";
  });
  const { epoch, until: end } = hale.health("up", world.key(dead));
  world.says([live]);
  await untilSet(hale, [live]);
  world.says([live, dead]);
  await untilSet(hale, [live, dead]);
  const back = hale.health("up", world.key(dead));
  assert.deepEqual([back.health, back.epoch, back.until, back.ejections], ["ejected", epoch, end, 1]);
  for (let turn = 0; turn < 20; turn++) assert.equal(await askTcp(world.listen, "x"), "x");
  world.says([live]);
  await untilSet(hale, [live]);
  await pause(61_000 / FAST);
  world.says([live, dead]);
  await untilSet(hale, [live, dead]);
  assert.deepEqual(
    [hale.health("up", world.key(dead)).health, hale.health("up", world.key(dead)).ejections],
    [
      "healthy",
      0,
    ],
  );
});

Deno.test("an endpoint that refuses connections makes hale ask early", async () => {
  const [old, fresh] = addresses(10, 1, 2) as [string, string];
  await using world = new World([old, fresh]);
  world.says([old], 300);
  await using hale = await start(world.config({ discovery: "refresh_interval_s: 300" }));
  await untilSet(hale, [old]);
  assert.equal(await askTcp(world.listen, "x"), "x");
  const asked = world.server.script.count(NAME, "A");
  await world.endpoints.get(old)![Symbol.asyncDispose]();
  world.says([fresh], 300);
  const diedAt = performance.now();
  await until(
    "the fresh endpoint to serve",
    () => askTcp(world.listen, "x").then((a) => a === "x", () => false),
  );
  assert.ok(performance.now() - diedAt < 10_000);
  const questions = world.server.script.asked.slice(asked);
  assert.ok(questions.length >= 1);
  for (let index = 1; index < questions.length; index++) {
    assert.ok(questions[index]!.at - questions[index - 1]!.at > 900, "at most once per second");
  }
});

Deno.test("a silent name server that is asked for 200 names takes few descriptors", async () => {
  const server = NameServer.start();
  const { host, port } = server.address;
  const upstreams = Array.from({ length: 200 }, (_, number) => {
    server.set(`u${number}.example.test`, "A", { drop: true });
    return `  - { name: u${number}, protocol: tcp, dns_discovery: { hostname: u${number}.example.test, port: 9, nameservers: ["${host}:${port}"] } }`;
  });
  {
    await using hale = await start(`
listeners: [{ name: in, address: "127.0.0.1:0", protocol: tcp, upstream: u0 }]
upstreams:
${upstreams.join("\n")}
`);
    await until("the first questions", () => server.script.asked.length >= 32);
    await pause(300);
    assert.equal(server.script.asked.length, 32);
    assert.equal(hale.supervisor.discovery.size, 200);
  }
  await server.close();
});
