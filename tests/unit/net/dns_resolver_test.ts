// The stub resolver's decisions, against scripted servers without sockets.

import assert from "node:assert/strict";
import type { Address } from "../../../src/core/address.ts";
import type { Ask, AskFailure } from "../../../src/net/dns_query.ts";
import { DnsResolver } from "../../../src/net/dns_resolver.ts";
import type { Question, Resolved, Unresolved } from "../../../src/net/dns_types.ts";
import { parseHosts } from "../../../src/net/hosts_file.ts";
import { parseResolvConf } from "../../../src/net/resolv_conf.ts";
import { WatchedFile } from "../../../src/net/watched_file.ts";
import { DnsScript, readScript } from "../../support/dns_script.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { NO_FILES, scriptedAsk, scriptedResolver } from "../../support/scripted_dns.ts";

const APP: Question = { name: "app.example.test", type: "A" };
const fixture = (name: string) => new URL(`../../cases/dns/${name}`, import.meta.url).pathname;

const confFile = (name: string) => new WatchedFile(fixture(name), parseResolvConf);

function found(end: Resolved | Unresolved): Resolved {
  if ("failure" in end) throw new Error(`${end.failure}: ${end.detail}`);
  return end;
}

function failed(end: Resolved | Unresolved): Unresolved {
  if ("failure" in end) return end;
  throw new Error(`Found ${JSON.stringify(end)}`);
}

const addressesOf = (end: Resolved | Unresolved) => found(end).addresses.map((record) => record.address);

function ofCase(name: string) {
  return scriptedResolver(readScript(name), { clock: new FakeClock() });
}

Deno.test("case 17: no such name and no such records are two things", async () => {
  const { resolver } = ofCase("17-nodata-vs-nxdomain");
  const kinds: string[] = [];
  for (let i = 0; i < 11; i++) {
    const end = await resolver.resolve(APP);
    kinds.push("failure" in end ? end.failure : "ok");
    if ("failure" in end && end.failure === "nodata") assert.equal(end.negativeTtlMs, 5000);
  }
  assert.deepEqual(kinds, [
    ...["ok", "ok", "nodata", "nodata", "nodata"],
    ...["ok", "ok", "nxdomain", "nxdomain", "nxdomain", "ok"],
  ]);
});

Deno.test("case 19: a truncated answer is fetched over TCP, all of it", async () => {
  const { resolver, script } = ofCase("19-tc-then-tcp");
  const end = found(await resolver.resolve(APP));
  assert.equal(end.addresses.length, 120);
  assert.match(end.source, /tcp/);
  assert.deepEqual(script.asked.map((one) => one.transport), ["udp", "tcp"]);
});

Deno.test("case 19: when TCP fails a truncated answer is no answer", async () => {
  const { resolver } = ofCase("19-tc-no-tcp");
  assert.equal(addressesOf(await resolver.resolve(APP)).length, 2);
  await resolver.resolve(APP);
  assert.equal(failed(await resolver.resolve(APP)).failure, "unreachable");
});

Deno.test("case 20: the least lifetime of the chain rules", async () => {
  const end = found(await ofCase("20-cname-ttl").resolver.resolve(APP));
  assert.equal(end.ttlMs, 2000);
  assert.deepEqual(end.chain, ["app.example.test", "blue.example.test"]);
});

Deno.test("case 20: only addresses on the chain count", async () => {
  assert.deepEqual(addressesOf(await ofCase("20-cname-unrelated-a").resolver.resolve(APP)), ["127.0.0.11"]);
});

Deno.test("case 20: a chain that the server cut short is followed", async () => {
  const { resolver, script } = ofCase("20-cname-without-a");
  assert.deepEqual(addressesOf(await resolver.resolve(APP)), ["127.0.0.11"]);
  assert.deepEqual(script.asked.map((one) => one.name), ["app.example.test", "b.example.test"]);
});

Deno.test("case 20: a circle of CNAMEs fails clearly, with one query", async () => {
  const { resolver, script } = ofCase("20-cname-chain-loop");
  const end = failed(await resolver.resolve(APP));
  assert.equal(end.failure, "malformed");
  assert.match(
    end.detail,
    /circle: app.example.test -> b.example.test -> c.example.test -> app.example.test/,
  );
  assert.equal(script.asked.length, 1);
});

Deno.test("a chain handed out one link at a time ends too", async () => {
  const rules = Array.from({ length: 100 }, (_, i) => ({
    match: { name: i === 0 ? APP.name : `n${i}.example.test`, type: "A" },
    reply: {
      answer: [{
        name: i === 0 ? APP.name : `n${i}.example.test`,
        type: "CNAME",
        ttl: 1,
        data: `n${i + 1}.example.test`,
      }],
    },
  }));
  const { resolver, script } = scriptedResolver(rules, { clock: new FakeClock() });
  assert.equal(failed(await resolver.resolve(APP)).failure, "malformed");
  assert.ok(script.asked.length <= 10, `${script.asked.length} queries`);
});

Deno.test("an alias without records of that type, said with an SOA, is no data and asks no more", async () => {
  const { resolver, script } = scriptedResolver([{
    match: { name: APP.name, type: "AAAA" },
    reply: {
      answer: [{ name: APP.name, type: "CNAME", ttl: 3, data: "b.example.test" }],
      authority: [{ name: "example.test", type: "SOA", ttl: 60, data: "ns.test me.test 1 1 1 1 60" }],
    },
  }], { clock: new FakeClock() });
  const end = failed(await resolver.resolve({ ...APP, type: "AAAA" }));
  assert.deepEqual([end.failure, end.negativeTtlMs], ["nodata", 3000]);
  assert.equal(script.asked.length, 1);
});

Deno.test("case 25: hostile answers are refused, the legal one is read", async () => {
  for (
    const name of [
      "25-pointer-self",
      "25-pointer-two-cycle",
      "25-pointer-label-cycle",
      "25-pointer-past-end",
      "25-rdlength-wrong",
    ]
  ) {
    assert.equal(failed(await ofCase(name).resolver.resolve(APP)).failure, "malformed", name);
  }
  const legal = await ofCase("25-pointer-to-pointer-ok").resolver.resolve(APP);
  assert.deepEqual(addressesOf(legal), ["127.0.0.11", "127.0.0.12"]);
});

Deno.test("SRV records come with the addresses of their targets, and no others", async () => {
  const { resolver } = scriptedResolver([{
    match: { name: "_http._tcp.app.example.test", type: "SRV" },
    reply: {
      answer: [{
        name: "_http._tcp.app.example.test",
        type: "SRV",
        ttl: 9,
        data: { priority: 1, weight: 2, port: 8080, target: "N1.example.test." },
      }],
      additional: [
        { name: "n1.example.test", type: "A", ttl: 33, data: "127.0.0.11" },
        { name: "stranger.example.test", type: "A", ttl: 33, data: "127.0.0.66" },
      ],
    },
  }], { clock: new FakeClock() });
  const end = found(await resolver.resolve({ name: "_http._tcp.app.example.test", type: "SRV" }));
  assert.deepEqual(end.services, [{
    priority: 1,
    weight: 2,
    port: 8080,
    target: "n1.example.test",
    ttlS: 9,
  }]);
  assert.deepEqual(end.additional, [{ name: "n1.example.test", address: "127.0.0.11", ttlS: 33 }]);
  assert.equal(end.ttlMs, 9000);
});

// Several servers.

type Behaviour = "good" | "silent" | "own_limit" | "SERVFAIL" | "REFUSED" | "malformed" | "unreachable";

/** Servers 10.0.0.1, .2 and so on, each behaving as told. `asked` collects their last numbers. */
class Servers {
  readonly clock = new FakeClock();
  readonly asked: number[] = [];
  readonly behaviours: Behaviour[];

  constructor(...behaviours: Behaviour[]) {
    this.behaviours = behaviours;
  }

  resolver(options: { deadlineMs?: number; conf?: string; random?: () => number } = {}): DnsResolver {
    const { conf, ...rest } = options;
    return new DnsResolver({
      clock: this.clock,
      nameservers: this.behaviours.map((_, i) => ({ host: `10.0.0.${i + 1}`, port: 53 })),
      ...NO_FILES,
      ...(conf !== undefined && { resolvConf: confFile(conf) }),
      ask: (...args: Parameters<Ask>) => this.#ask(...args),
      ...rest,
    });
  }

  async #ask(server: Address, question: Question, { timeoutMs, useTcp }: Parameters<Ask>[2]) {
    const number = Number(server.host.split(".")[3]);
    this.asked.push(number);
    const behaviour = this.behaviours[number - 1]!;
    if (behaviour === "silent") await this.clock.sleep(timeoutMs);
    const failures: Partial<Record<Behaviour, AskFailure>> = {
      silent: { failure: "timeout", detail: `no answer within ${timeoutMs} ms` },
      malformed: { failure: "malformed", detail: "junk" },
      unreachable: { failure: "unreachable", detail: "ENETUNREACH" },
      own_limit: { failure: "own_limit", detail: "too many open files in this process" },
    };
    const failure = failures[behaviour];
    if (failure !== undefined) return failure;
    const script = new DnsScript([{
      match: { name: question.name, type: question.type },
      reply: behaviour === "good"
        ? { answer: [{ name: question.name, type: "A", ttl: 1, data: `127.0.0.${number}` }] }
        : { rcode: behaviour },
    }]);
    return await scriptedAsk(script)(server, question, { timeoutMs, useTcp });
  }

  /** Resolves while time goes on. */
  async run(resolver: DnsResolver): Promise<Resolved | Unresolved> {
    const pending = resolver.resolve(APP);
    let isDone = false;
    void pending.then(() => isDone = true, () => isDone = true);
    for (let i = 0; i < 200 && !isDone; i++) {
      await new Promise((resolve) => setTimeout(resolve, 0)); // lets file reads finish
      await this.clock.advance(500);
    }
    return await pending;
  }
}

Deno.test("a server that fails is passed over for the next", async () => {
  for (const bad of ["silent", "SERVFAIL", "REFUSED", "malformed", "unreachable"] as const) {
    const servers = new Servers(bad, "good");
    assert.deepEqual(addressesOf(await servers.run(servers.resolver())), ["127.0.0.2"], bad);
    assert.deepEqual(servers.asked, [1, 2], bad);
  }
});

Deno.test("a silent server is asked last for a while, so that it costs its time once", async () => {
  const servers = new Servers("silent", "good");
  const resolver = servers.resolver();
  await servers.run(resolver);
  await servers.run(resolver);
  assert.deepEqual(servers.asked, [1, 2, 2]);
  await servers.clock.advance(60_000);
  servers.behaviours[0] = "good";
  assert.deepEqual(addressesOf(await servers.run(resolver)), ["127.0.0.1"]);
});

Deno.test("silence is tried again, a clear no is not", async () => {
  const silent = new Servers("silent", "silent");
  const end = failed(await silent.run(silent.resolver({ deadlineMs: 60_000 })));
  assert.equal(end.failure, "timeout");
  assert.match(end.detail, /^app.example.test A: 10.0.0.1: no answer within 5000 ms; 10.0.0.2: no answer/);
  assert.deepEqual(silent.asked, [1, 2, 1, 2]);
  const refusing = new Servers("REFUSED", "SERVFAIL");
  assert.equal(failed(await refusing.run(refusing.resolver())).failure, "servfail");
  assert.deepEqual(refusing.asked, [1, 2]);
});

Deno.test("each failure keeps its own name", async () => {
  const kinds: Record<string, string> = {};
  for (const bad of ["silent", "SERVFAIL", "REFUSED", "malformed", "unreachable"] as const) {
    const servers = new Servers(bad);
    kinds[bad] = failed(await servers.run(servers.resolver())).failure;
  }
  assert.deepEqual(kinds, {
    silent: "timeout",
    SERVFAIL: "servfail",
    REFUSED: "refused",
    malformed: "malformed",
    unreachable: "unreachable",
  });
});

Deno.test("one deadline holds for all tries", async () => {
  const servers = new Servers("silent", "silent", "silent");
  const resolver = servers.resolver({ deadlineMs: 7000 });
  assert.equal(failed(await servers.run(resolver)).failure, "timeout");
  // 5 s for the first, 2 s for the second, nothing left for the third.
  assert.deepEqual(servers.asked, [1, 2]);
});

Deno.test("rotate begins anywhere, but goes through all", async () => {
  const servers = new Servers("SERVFAIL", "SERVFAIL", "SERVFAIL");
  await servers.run(servers.resolver({ conf: "rotate.conf", random: () => 0.7 }));
  assert.deepEqual(servers.asked, [3, 1, 2]);
});

Deno.test("an abort ends the question with its reason", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const resolver = new DnsResolver({
    clock,
    nameservers: [{ host: "10.0.0.1", port: 53 }],
    ...NO_FILES,
    ask: () => {
      stop.abort("enough");
      return Promise.resolve({ failure: "timeout", detail: "cancelled" });
    },
  });
  await assert.rejects(resolver.resolve(APP, stop.signal), (reason) => reason === "enough");
});

// Search list and files.

function searching(conf: string, rules: ConstructorParameters<typeof DnsScript>[0]) {
  const script = new DnsScript(rules);
  const resolver = new DnsResolver({
    clock: new FakeClock(),
    nameservers: [{ host: "10.0.0.1", port: 53 }],
    resolvConf: confFile(conf),
    hosts: new WatchedFile(fixture("hosts"), parseHosts),
    ask: scriptedAsk(script),
  });
  const names = () => script.asked.map((one) => one.name);
  return { resolver, names };
}

const NXDOMAIN = { match: { name: "*.test", type: "A" }, reply: { rcode: "NXDOMAIN" } };
const answer = (name: string) => ({
  match: { name, type: "A" },
  reply: { answer: [{ name, type: "A", ttl: 1, data: "127.0.0.1" }] },
});

Deno.test("a name with enough dots is tried as it is, then with each suffix", async () => {
  const { resolver, names } = searching("search.conf", [NXDOMAIN]);
  assert.equal(failed(await resolver.resolve({ name: "a.b.test", type: "A" })).failure, "nxdomain");
  assert.deepEqual(names(), ["a.b.test", "a.b.test.one.test", "a.b.test.two.test"]);
});

Deno.test("a name with few dots is tried with the suffixes first", async () => {
  const { resolver, names } = searching("search.conf", [answer("app.two.test"), NXDOMAIN]);
  const end = found(await resolver.resolve({ name: "app", type: "A" }));
  assert.deepEqual(names(), ["app.one.test", "app.two.test"]);
  assert.deepEqual(end.chain, ["app.two.test"]);
});

Deno.test("a final dot means no search", async () => {
  const { resolver, names } = searching("search.conf", [NXDOMAIN]);
  await resolver.resolve({ name: "App.test.", type: "A" });
  assert.deepEqual(names(), ["app.test"]);
});

Deno.test("a server's failure under one suffix is not hidden by no such name under another", async () => {
  const { resolver, names } = searching("search.conf", [
    { match: { name: "app.one.test", type: "A" }, reply: { rcode: "SERVFAIL" } },
    NXDOMAIN,
    { match: { name: "app", type: "A" }, reply: { rcode: "NXDOMAIN" } },
  ]);
  assert.equal(failed(await resolver.resolve({ name: "app", type: "A" })).failure, "servfail");
  assert.deepEqual(names(), ["app.one.test", "app.two.test", "app"]);
});

Deno.test("silence ends the search: it never becomes no such name", async () => {
  const { resolver, names } = searching("search.conf", [
    { match: { name: "app.one.test", type: "A" }, reply: { drop: true } },
    NXDOMAIN,
  ]);
  assert.equal(failed(await resolver.resolve({ name: "app", type: "A" })).failure, "timeout");
  assert.deepEqual([...new Set(names())], ["app.one.test"]);
});

Deno.test("the hosts file comes first, in any case, and answers for what it names", async () => {
  const { resolver, names } = searching("search.conf", []);
  const end = found(await resolver.resolve({ name: "FILED.example.test", type: "A" }));
  assert.deepEqual([addressesOf(end), end.source, end.ttlMs], [["10.9.8.7"], fixture("hosts"), 10_000]);
  const other = await resolver.resolve({ name: "filed.example.test", type: "AAAA" });
  assert.equal(failed(other).failure, "nodata");
  assert.deepEqual(addressesOf(await resolver.resolve({ name: "localhost.", type: "AAAA" })), ["::1"]);
  assert.deepEqual(names(), []);
});

Deno.test("that we could not ask is told when no server said anything definite, and as nothing worse", async () => {
  const endOf = async (...behaviours: Behaviour[]) => {
    const servers = new Servers(...behaviours);
    const end = await servers.run(servers.resolver());
    return "failure" in end ? end.failure : "found";
  };
  assert.equal(await endOf("own_limit"), "own_limit");
  assert.equal(await endOf("unreachable", "own_limit"), "own_limit");
  assert.equal(await endOf("own_limit", "silent"), "own_limit");
  assert.equal(await endOf("own_limit", "SERVFAIL"), "servfail");
  assert.equal(await endOf("own_limit", "good"), "found");
});

Deno.test("a file of the system that can not be opened for want of descriptors is no reason to ask elsewhere", async () => {
  const shortage = Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  const noDescriptor = { path: "/etc/resolv.conf", read: () => Promise.reject(shortage) };
  const resolver = new DnsResolver({
    clock: new FakeClock(),
    ...NO_FILES,
    resolvConf: noDescriptor,
    ask: () => Promise.reject(new Error("Somebody was asked")),
  });
  assert.deepEqual(await resolver.resolve(APP), {
    failure: "own_limit",
    detail: "too many open files in this process",
  });
});
