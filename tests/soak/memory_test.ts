// What must not grow with what hale has lived through: memory and descriptors after thousands of reloads, sessions and
// discovered sets, and while clients and endpoints do not read. HALE_BIN names a binary. Takes some minutes.

import assert from "node:assert/strict";
import { type Running, startHale } from "../support/hale_process.ts";
import { FastClock } from "../support/fast_clock.ts";
import { InlineHale } from "../support/inline_hale.ts";
import { NameServer } from "../support/name_server.ts";
import { askHttp, askTcp, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";

const LINUX = Deno.build.os === "linux";
const MIB = 1 << 20;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Usage {
  readonly mebibytes: number;
  readonly descriptors: number;
}

function usageOf(pid: number): Usage {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return {
    mebibytes: Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024,
    descriptors: [...Deno.readDirSync(`/proc/${pid}/fd`)].length,
  };
}

/** The least usage within some seconds: the collector comes when it comes. */
async function settled(pid: number): Promise<Usage> {
  let least = usageOf(pid);
  for (let look = 0; look < 30; look++) {
    await pause(500);
    least = lesser(least, usageOf(pid));
  }
  return least;
}

function lesser(one: Usage, other: Usage): Usage {
  return {
    mebibytes: Math.min(one.mebibytes, other.mebibytes),
    descriptors: Math.min(one.descriptors, other.descriptors),
  };
}

/** Waits until no more than `allowed` is added to the usage before, and prints both. Fails when that does not happen. */
async function expectFlat(what: string, pid: number, before: Usage, allowed: Usage): Promise<void> {
  const isFlat = ({ mebibytes, descriptors }: Usage) =>
    mebibytes < before.mebibytes + allowed.mebibytes &&
    descriptors <= before.descriptors + allowed.descriptors;
  let after = usageOf(pid);
  for (let look = 0; look < 120 && !isFlat(after); look++) {
    await pause(500);
    after = lesser(after, usageOf(pid));
  }
  console.log(
    `${what}: ${before.mebibytes.toFixed(0)} -> ${after.mebibytes.toFixed(0)} MiB, ` +
      `${before.descriptors} -> ${after.descriptors} descriptors`,
  );
  assert.ok(isFlat(after), what);
}

/** Clients that connect and say nothing, at a time: each costs this process two descriptors. */
const SILENT = 3000;

interface Shape {
  readonly port: number;
  readonly admin: number;
  readonly endpoints: readonly string[];
  readonly weight?: number;
  readonly health?: boolean;
}

function configOf({ port, admin, endpoints, weight = 1, health = true }: Shape): string {
  const list = endpoints.map((each) => `{ address: "${each}", weight: ${weight} }`);
  return `
admin: { address: "127.0.0.1:${admin}" }
log: { access: off }
listeners: [{ name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]
upstreams:
  - name: up
    protocol: tcp
    endpoints: [${list}]
    ${
    health
      ? "health: {}\n    active_health: { kind: tcp, interval_ms: 200, timeout_ms: 200, jitter_ms: 0 }"
      : ""
  }
`;
}

async function generationOf(admin: number): Promise<number> {
  return JSON.parse((await askHttp(admin, "/status")).body).generation;
}

async function reload(running: Running, text: string): Promise<void> {
  const { hale } = running;
  const mark = hale.lineCount;
  running.folder.write("hale.yaml", text);
  hale.signal("SIGHUP");
  await hale.waitForLog(/Took config/, { after: mark });
}

Deno.test({
  name: "2,000 reloads add nothing",
  ignore: !LINUX,
  fn: async () => {
    await using one = new TcpEndpoint(echo);
    await using two = new TcpEndpoint(echo);
    const [port, admin, other] = [freePort(), freePort(), freePort()];
    const endpoints = [one.address, two.address];
    await using running = await startHale(configOf({ port, admin, endpoints }));
    // Weights change, an endpoint and a health block come and go, and now and then a listener moves.
    const edit = (number: number) =>
      reload(
        running,
        configOf({
          port: number % 50 === 0 ? other : port,
          admin,
          endpoints: number % 3 === 0 ? [one.address] : endpoints,
          weight: 1 + number % 7,
          health: number % 5 !== 0,
        }),
      );
    for (let number = 1; number <= 200; number++) await edit(number);
    const before = await settled(running.hale.pid);
    for (let number = 201; number <= 2200; number++) await edit(number);
    await edit(1);
    assert.ok(await generationOf(admin) >= 2200);
    await expectFlat("2,000 reloads", running.hale.pid, before, { mebibytes: 80, descriptors: 3 });
    assert.equal(await askTcp(port, "x"), "x");
    assert.equal(await running.hale.stop(), 0);
  },
});

Deno.test({
  name: "100,000 short sessions add nothing",
  ignore: !LINUX,
  fn: async () => {
    await using endpoint = new TcpEndpoint(echo);
    const [port, admin] = [freePort(), freePort()];
    await using running = await startHale(configOf({ port, admin, endpoints: [endpoint.address] }));
    const ask = async (count: number) => {
      let left = count;
      const client = async () => {
        while (left-- > 0) assert.equal(await askTcp(port, "x"), "x");
      };
      await Promise.all(Array.from({ length: 16 }, client));
    };
    await ask(10_000);
    const before = await settled(running.hale.pid);
    await ask(100_000);
    await expectFlat("100,000 sessions", running.hale.pid, before, { mebibytes: 80, descriptors: 3 });
    assert.equal(await running.hale.stop(), 0);
  },
});

Deno.test({
  name: "12,000 clients that connect and say nothing, 3,000 at a time, cost little and leave nothing",
  ignore: !LINUX,
  fn: async () => {
    await using endpoint = new TcpEndpoint(echo);
    const [port, admin] = [freePort(), freePort()];
    await using running = await startHale(configOf({ port, admin, endpoints: [endpoint.address] }));
    assert.equal(await askTcp(port, "x"), "x");
    const before = await settled(running.hale.pid);
    const conns: Deno.Conn[] = [];
    for (let round = 0; round < 4; round++) {
      while (conns.length < SILENT) conns.push(await Deno.connect({ hostname: "127.0.0.1", port }));
      await until("them to be relayed", () => endpoint.open >= SILENT);
      const each = (usageOf(running.hale.pid).mebibytes - before.mebibytes) * 1024 / SILENT;
      console.log(`${SILENT} idle sessions: ${each.toFixed(1)} KiB each, the rounds before included`);
      if (round === 0) assert.ok(each < 50, `${each} KiB for each idle session`);
      for (const conn of conns.splice(0)) conn.close();
      await until("them to be gone", () => endpoint.open < 10, 60_000);
    }
    await expectFlat("idle sessions", running.hale.pid, before, { mebibytes: 120, descriptors: 3 });
    assert.equal(await running.hale.stop(), 0);
  },
});

/** Sends without end as fast as it is let. */
async function flood(conn: Deno.TcpConn): Promise<void> {
  const block = new Uint8Array(MIB);
  for (;;) await writeBytes(conn, block);
}

/** Takes the connection and reads nothing until it is told to. */
class DeafEndpoint extends TcpEndpoint {
  constructor() {
    const never = Promise.withResolvers<void>();
    super(() => never.promise);
    this.end = never.resolve;
  }

  readonly end: () => void;
}

Deno.test({
  name: "ten stalled transfers in either direction add less than 64 MiB, and block the fast side (case 4)",
  ignore: !LINUX,
  fn: async () => {
    await using fast = new TcpEndpoint(flood);
    await using deaf = new DeafEndpoint();
    const [down, up, admin] = [freePort(), freePort(), freePort()];
    await using running = await startHale(`
admin: { address: "127.0.0.1:${admin}" }
listeners:
  - { name: down, address: "127.0.0.1:${down}", protocol: tcp, upstream: fast }
  - { name: up, address: "127.0.0.1:${up}", protocol: tcp, upstream: deaf }
upstreams:
  - { name: fast, protocol: tcp, endpoints: ["${fast.address}"] }
  - { name: deaf, protocol: tcp, endpoints: ["${deaf.address}"] }
`);
    const before = await settled(running.hale.pid);
    const readers = await Promise.all(
      Array.from({ length: 10 }, () => Deno.connect({ hostname: "127.0.0.1", port: down })),
    );
    const writers = await Promise.all(
      Array.from({ length: 10 }, () => Deno.connect({ hostname: "127.0.0.1", port: up })),
    );
    let sent = 0;
    const writing = writers.map(async (conn) => {
      const block = new Uint8Array(MIB);
      try {
        for (; sent < 10 * 300 * MIB;) sent += await conn.write(block);
      } catch {
        // Closed at the end of the test.
      }
    });
    await pause(5000);
    await expectFlat("20 stalled transfers", running.hale.pid, before, { mebibytes: 64, descriptors: 45 });
    assert.ok(sent < 10 * 64 * MIB, `the fast side is blocked, not buffered: ${sent / MIB} MiB went out`);
    // Whoever reads on gets on.
    for (const conn of readers) assert.equal((await readExactly(conn, 64 * MIB)).length, 64 * MIB);
    for (const conn of [...readers, ...writers]) conn.close();
    deaf.end();
    await Promise.all(writing);
    assert.equal(await running.hale.stop(), 0);
  },
});

/** Answers any request with a body of almost no end, by length or in chunks. */
function floodHttp(isChunked: boolean): (conn: Deno.TcpConn) => Promise<void> {
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${300 * 1024 * MIB}`;
  const chunk = new Uint8Array([...new TextEncoder().encode("10000\r\n"), ...new Uint8Array(65_536), 13, 10]);
  const block = isChunked ? chunk : new Uint8Array(MIB);
  return async (conn) => {
    await conn.read(new Uint8Array(4096));
    await writeBytes(conn, new TextEncoder().encode(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`));
    for (;;) await writeBytes(conn, block);
  };
}

Deno.test({
  name: "HTTP: thirty stalled downloads and uploads add less than 64 MiB (case 4)",
  ignore: !LINUX,
  fn: async () => {
    await using byLength = new TcpEndpoint(floodHttp(false));
    await using inChunks = new TcpEndpoint(floodHttp(true));
    await using deaf = new DeafEndpoint();
    const admin = freePort();
    const kinds = [["length", byLength], ["chunks", inChunks], ["upload", deaf]] as const;
    const ports = kinds.map(() => freePort());
    const listeners = kinds.map(([name], at) =>
      `  - { name: ${name}, address: "127.0.0.1:${ports[at]}", protocol: http, upstream: ${name} }`
    );
    const upstreams = kinds.map(([name, { address }]) =>
      `  - { name: ${name}, protocol: http1, endpoints: ["${address}"], timeouts: { read_ms: 600000 } }`
    );
    await using running = await startHale(`
admin: { address: "127.0.0.1:${admin}" }
listeners:
${listeners.join("\n")}
upstreams:
${upstreams.join("\n")}
`);
    const before = await settled(running.hale.pid);
    const conns: Deno.TcpConn[] = [];
    let sent = 0;
    const writing: Promise<void>[] = [];
    for (const [at, port] of ports.entries()) {
      for (let count = 0; count < 10; count++) {
        const conn = await Deno.connect({ hostname: "127.0.0.1", port });
        conns.push(conn);
        const isUpload = at === 2;
        const head = isUpload ? `POST / HTTP/1.1\r\nContent-Length: ${300 * MIB}` : "GET / HTTP/1.1";
        await writeBytes(conn, new TextEncoder().encode(`${head}\r\nHost: x\r\n\r\n`));
        if (isUpload) writing.push(upload(conn, (bytes) => sent += bytes));
      }
    }
    await pause(5000);
    await expectFlat("30 stalled HTTP transfers", running.hale.pid, before, {
      mebibytes: 64,
      descriptors: 65,
    });
    assert.ok(sent < 10 * 64 * MIB, `the fast side is blocked, not buffered: ${sent / MIB} MiB went out`);
    for (const conn of conns) conn.close();
    deaf.end();
    await Promise.all(writing);
    assert.equal(await running.hale.stop(), 0);
  },
});

/** Sends until the connection is closed. */
async function upload(conn: Deno.Conn, note: (bytes: number) => void): Promise<void> {
  const block = new Uint8Array(MIB);
  try {
    for (;;) note(await conn.write(block));
  } catch {
    // Closed at the end of the test.
  }
}

Deno.test({
  name: "2,000 replacements of a discovered set leave slots, records and memory where they were",
  ignore: !LINUX,
  fn: async () => {
    const server = NameServer.start();
    const name = "app.example.test";
    const { host, port } = server.address;
    const set = (round: number) =>
      Array.from({ length: 10 }, (_, index) => `127.${1 + round % 200}.${round % 250}.${1 + index}`);
    server.setA(name, set(0));
    {
      // One second of DNS is 20 ms, and a minute in which endpoints may return is 1.2 s.
      await using hale = await InlineHale.start(
        `
listeners: [{ name: in, address: "127.0.0.1:0", protocol: tcp, upstream: up }]
upstreams:
  - name: up
    protocol: tcp
    health: {}
    active_health: { kind: tcp, interval_ms: 5000, timeout_ms: 1000 }
    dns_discovery: { hostname: ${name}, port: 9, nameservers: ["${host}:${port}"] }
`,
        undefined,
        new FastClock(50),
      );
      const { supervisor } = hale;
      const follow = async (from: number, to: number) => {
        for (let round = from; round < to; round++) {
          const [first] = set(round);
          server.setA(name, set(round));
          await until(
            "the set",
            () => supervisor.plan!.upstreams[0]!.endpoints.some(({ host }) => host === first),
          );
          hale.events.length = 0;
          server.script.asked.length = 0;
        }
      };
      await follow(1, 200);
      const before = await settled(Deno.pid);
      const slots = supervisor.slots.count;
      await follow(200, 2200);
      console.log(`slots: ${slots} -> ${supervisor.slots.count}`);
      assert.ok(supervisor.slots.count <= slots * 2 + 100, "slots are used again");
      assert.equal(supervisor.probes.size, 10);
      await expectFlat("2,000 replacements", Deno.pid, before, { mebibytes: 120, descriptors: 12 });
    }
    await server.close();
  },
});
