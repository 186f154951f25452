// Asking name servers over real sockets: scripted ones on loopback. Real ones are asked in real_dns_test.ts.

import assert from "node:assert/strict";
import { type Address, formatAddress } from "../../src/core/address.ts";
import { lookUpAddresses } from "../../src/net/address_lookup.ts";
import { askServer } from "../../src/net/dns_query.ts";
import { DnsResolver } from "../../src/net/dns_resolver.ts";
import type { Resolved, Unresolved } from "../../src/net/dns_types.ts";
import { parseResolvConf } from "../../src/net/resolv_conf.ts";
import { WatchedFile } from "../../src/net/watched_file.ts";
import { HostResolver, resolverKindOf } from "../../src/net/host_resolver.ts";
import { SystemResolver } from "../../src/net/system_resolver.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { readScript, type ScriptRule } from "../support/dns_script.ts";
import { NO_FILES } from "../support/scripted_dns.ts";
import { NameServer } from "../support/name_server.ts";

const SERVICE = "_http._tcp.app.example.test";
const SERVICE_RECORD = {
  name: SERVICE,
  type: "SRV",
  ttl: 1,
  data: { priority: 1, weight: 1, port: 80, target: "N1.example.test." },
};
const APP = { name: "app.example.test", type: "A" } as const;

function resolverAt(address: Address, deadlineMs = 10_000): DnsResolver {
  return new DnsResolver({
    clock: new SystemClock(),
    nameservers: [address],
    ...NO_FILES,
    deadlineMs,
  });
}

async function withServer(
  rules: readonly ScriptRule[],
  run: (server: NameServer, resolver: DnsResolver) => Promise<void>,
): Promise<void> {
  const server = NameServer.start(rules);
  await run(server, resolverAt(server.address));
  await server.close();
}

const addressesOf = (end: Resolved | Unresolved) =>
  "failure" in end ? `${end.failure}: ${end.detail}` : end.addresses.map((record) => record.address);

Deno.test("an answer comes over UDP, with its lifetime and its server", async () => {
  await withServer([], async (server, resolver) => {
    server.setA(APP.name, ["127.0.0.11", "127.0.0.12"], 7);
    const end = await resolver.resolve(APP);
    assert.deepEqual(addressesOf(end), ["127.0.0.11", "127.0.0.12"]);
    assert.ok("ttlMs" in end);
    assert.equal(end.ttlMs, 7000);
    assert.equal(end.source, `${formatAddress(server.address)} (udp)`);
  });
});

Deno.test("a name server at an IPv6 address is asked too", async () => {
  const server = NameServer.start([], "::1");
  server.setAAAA(APP.name, ["2001:db8::11"]);
  assert.deepEqual(addressesOf(await resolverAt(server.address).resolve({ ...APP, type: "AAAA" })), [
    "2001:db8::11",
  ]);
  await server.close();
});

Deno.test("case 19: 120 addresses come over TCP after a truncated answer", async () => {
  await withServer(readScript("19-tc-then-tcp"), async (_server, resolver) => {
    assert.equal(addressesOf(await resolver.resolve(APP)).length, 120);
  });
});

Deno.test("case 19: without TCP the lookup has failed, at once", async () => {
  await withServer(readScript("19-tc-no-tcp"), async (_server, resolver) => {
    await resolver.resolve(APP);
    await resolver.resolve(APP);
    assert.match(
      String(addressesOf(await resolver.resolve(APP))),
      /^unreachable: .*the answer was truncated, and over TCP ECONNREFUSED$/,
    );
  });
});

Deno.test("case 24: a dropped AAAA answer costs the time of its query, not the A answer", async () => {
  const dropped = [{ match: { name: APP.name, type: "AAAA" }, reply: { drop: true } }];
  const server = NameServer.start(dropped);
  server.setA(APP.name, ["127.0.0.11"]);
  const found = await lookUpAddresses(resolverAt(server.address, 300), {
    name: APP.name,
    types: ["AAAA", "A"],
  });
  assert.ok("records" in found);
  assert.deepEqual(found.records.map((record) => record.address), ["127.0.0.11"]);
  assert.deepEqual(found.halves.map((half) => half.failure), ["timeout"]);
  await server.close();
});

Deno.test("case 25: hostile packets are refused over the wire, the legal one is read", async () => {
  for (const name of ["25-pointer-self", "25-pointer-two-cycle", "25-rdlength-wrong"]) {
    await withServer(readScript(name), async (_server, resolver) => {
      assert.match(String(addressesOf(await resolver.resolve(APP))), /^malformed: /, name);
    });
  }
  await withServer(readScript("25-pointer-to-pointer-ok"), async (_server, resolver) => {
    assert.deepEqual(addressesOf(await resolver.resolve(APP)), ["127.0.0.11", "127.0.0.12"]);
  });
});

Deno.test("a server that knows no EDNS is asked again without it", async () => {
  const reply = { answer: [{ name: APP.name, type: "A", ttl: 1, data: "127.0.0.11" }] };
  await withServer([
    { match: { name: APP.name, type: "A" }, times: 1, reply: { rcode: "FORMERR" } },
    { match: { name: APP.name, type: "A" }, reply },
  ], async (server, resolver) => {
    assert.deepEqual(addressesOf(await resolver.resolve(APP)), ["127.0.0.11"]);
    assert.equal(server.script.count(APP.name, "A"), 2);
  });
});

Deno.test("answers from elsewhere, to another id or to another question are not taken", async () => {
  const server = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  const stranger = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  const address = { host: "127.0.0.1", port: (server.addr as Deno.NetAddr).port };
  const asking = askServer(address, APP, { timeoutMs: 10_000, useTcp: false });
  const [query, client] = await server.receive();
  const record = (last: number) => [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 127, 0, 0, last];
  const question = query.subarray(12, 12 + 18 + 4);
  const reply = (
    last: number,
  ) => [query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, ...question, ...record(last)];
  await stranger.send(Uint8Array.from(reply(66)), client);
  await server.send(Uint8Array.from([query[0]! ^ 1, ...reply(67).slice(1)]), client);
  const other = reply(68);
  other[13] = "b".charCodeAt(0);
  await server.send(Uint8Array.from(other), client);
  await server.send(Uint8Array.from(reply(11)), client);
  const end = await asking;
  assert.ok("answer" in end);
  assert.deepEqual(end.answer.answers.map((one) => one.type === "A" && one.address), ["127.0.0.11"]);
  server.close();
  stranger.close();
});

Deno.test("a silent server fails as a timeout, an aborted question ends at once, over UDP and TCP", async () => {
  const drop = [{ match: { name: APP.name, type: "A" }, reply: { drop: true } }];
  const server = NameServer.start(drop);
  for (const useTcp of [false, true]) {
    assert.deepEqual(await askServer(server.address, APP, { timeoutMs: 100, useTcp }), {
      failure: "timeout",
      detail: "no answer within 100 ms",
    });
    const stop = new AbortController();
    const asking = askServer(server.address, APP, { timeoutMs: 600_000, useTcp, signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    assert.deepEqual(await asking, { failure: "timeout", detail: "cancelled" });
  }
  await server.close();
});

Deno.test("a server that can not be reached is told as that", async () => {
  const end = await askServer({ host: "127.0.0.1", port: 1 }, APP, { timeoutMs: 5000, useTcp: true });
  assert.deepEqual(end, { failure: "unreachable", detail: "ECONNREFUSED" });
});

Deno.test("a changed resolv.conf is read again; public servers are asked only without the file", async () => {
  const path = await Deno.makeTempFile();
  const asked: string[] = [];
  const resolver = new DnsResolver({
    clock: new SystemClock(),
    ...NO_FILES,
    resolvConf: new WatchedFile(path, parseResolvConf),
    ask: (server) => {
      asked.push(server.host);
      return Promise.resolve({ failure: "unreachable", detail: "" });
    },
  });
  for (const host of ["10.0.0.1", "10.0.0.22", "10.0.0.3"]) {
    await Deno.writeTextFile(`${path}.new`, `nameserver ${host}\n`);
    await Deno.rename(`${path}.new`, path);
    await resolver.resolve(APP);
  }
  await Deno.writeTextFile(path, "");
  await resolver.resolve(APP);
  await Deno.remove(path);
  await resolver.resolve(APP);
  assert.deepEqual(asked, ["10.0.0.1", "10.0.0.22", "10.0.0.3", "127.0.0.1", "8.8.8.8", "8.8.4.4"]);
});

Deno.test("the runtime's own resolver stands behind the same type", async () => {
  const server = NameServer.start([
    { match: { name: "down.example.test", type: "A" }, reply: { rcode: "SERVFAIL" } },
    { match: { name: SERVICE, type: "SRV" }, reply: { answer: [SERVICE_RECORD] } },
  ]);
  server.setA(APP.name, ["127.0.0.11", "127.0.0.12"]);
  const { host: ipAddr, port } = server.address;
  const resolver = new SystemResolver({
    resolveDns: (name, type, { signal }) =>
      Deno.resolveDns(name, type as "A", { signal, nameServer: { ipAddr, port } }),
  });
  assert.deepEqual(addressesOf(await resolver.resolve({ ...APP, name: `${APP.name}.` })), [
    "127.0.0.11",
    "127.0.0.12",
  ]);
  const service = await resolver.resolve({ name: `${SERVICE}.`, type: "SRV" });
  assert.ok("services" in service);
  assert.deepEqual(service.services.map(({ target }) => target), ["n1.example.test"]);
  // It can not tell these apart.
  for (const name of ["down.example.test.", "nobody.example.test."]) {
    assert.match(String(addressesOf(await resolver.resolve({ name, type: "A" }))), /^nxdomain: /);
  }
  await server.close();
});

Deno.test("the resolver is the stub where the file is, unless the config says otherwise", async () => {
  const path = await Deno.makeTempFile();
  assert.equal(resolverKindOf("auto", path), "stub");
  await Deno.remove(path);
  assert.equal(resolverKindOf("auto", path), "system");
  assert.equal(resolverKindOf("stub", path), "stub");
  assert.equal(resolverKindOf("system", path), "system");
});

Deno.test("host names are dialled by the cache, whatever the kind", async () => {
  const hosts = new HostResolver(new SystemClock());
  for (const kind of ["stub", "stub"] as const) {
    hosts.use(kind);
    const found = await hosts.resolve("localhost");
    assert.ok("addresses" in found);
    assert.ok(found.addresses.includes("127.0.0.1"));
  }
});

Deno.test({
  name: "without a file descriptor left a name is not said to be in trouble",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const child = new URL("../support/resolve_without_descriptors.ts", import.meta.url).pathname;
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", 'ulimit -n 64 && exec "$0" run --quiet -A "$1"', Deno.execPath(), child],
      stderr: "inherit",
    }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    assert.deepEqual(lines, [...Array.from({ length: 5 }, () => "own_limit"), "one"]);
  },
});
