// Probes and verdicts as they are lived with: endpoints that fall ill in every way and recover, while the config is
// edited and DNS refreshes (cases 9, 10, 13, 15).

import assert from "node:assert/strict";
import { InlineHale } from "../support/inline_hale.ts";
import { type Mood, MoodyEndpoint } from "../support/moody_endpoint.ts";
import { NameServer } from "../support/name_server.ts";
import { askHttp, askTcp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { TcpLoad } from "../support/tcp_load.ts";
import { echo, TcpEndpoint } from "../support/tcp_endpoint.ts";
import { pem } from "../support/tls_endpoint.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const FILES = { "ca.pem": pem("ca.pem") };

interface Probing {
  readonly name?: string;
  readonly protocol?: "http1" | "https" | "tcp";
  readonly endpoints: readonly string[];
  readonly health?: string;
  readonly active?: string;
  readonly more?: string;
}

/** An upstream with quick probes that alone readmit within a day. */
function upstream(options: Probing): string {
  const { name = "up", protocol = "http1", endpoints, health = "", active = "", more = "" } = options;
  const quick =
    "interval_ms: 150, timeout_ms: 100, jitter_ms: 20, failure_threshold: 2, success_threshold: 2";
  return `
  - name: ${name}
    protocol: ${protocol}
    ${endpoints.length > 0 ? `endpoints: [${endpoints.map((each) => `"${each}"`)}]` : ""}
    health: { consecutive_failures: 3, eject_ms: 86400000${health && `, ${health}`} }
    active_health: { ${active || `kind: http, ${quick}`} }
    ${protocol === "https" ? "trusted_ca_file: ca.pem" : ""}
    ${more}`;
}

const QUICK_TCP = "kind: tcp, interval_ms: 150, timeout_ms: 100, jitter_ms: 20, failure_threshold: 2";

function config(protocol: "http" | "tcp", upstreams: readonly string[], note = ""): string {
  const first = /name: (\S+)/.exec(upstreams[0]!)![1];
  return `# ${note}
listeners: [{ name: in, address: "127.0.0.1:0", protocol: ${protocol}, upstream: ${first} }]
upstreams: ${upstreams.join("")}
`;
}

function isOut(hale: InlineHale, name: string, key: string): boolean {
  return hale.health(name, key).reasons.includes("ejected");
}

Deno.test("an endpoint that takes connections and does nothing else: tcp probes pass, http probes fail", async () => {
  using deaf = Deno.listen({ hostname: "127.0.0.1", port: 0 }); // Nobody ever calls accept.
  const address = `127.0.0.1:${deaf.addr.port}`;
  await using hale = await InlineHale.start(config("http", [
    upstream({ name: "by_http", endpoints: [address] }),
    upstream({ name: "by_tcp", endpoints: [address], active: QUICK_TCP }),
  ]));
  await until("the http probes to eject it", () => isOut(hale, "by_http", address));
  const { failures } = hale.health("by_http", address);
  assert.deepEqual(failures.map(({ source, outcome }) => [source, outcome]), [["probe", "answer_timeout"]]);
  assert.ok(failures[0]!.count >= 2);
  const tcp = hale.health("by_tcp", address);
  assert.deepEqual([tcp.health, tcp.last?.outcome, tcp.failures.length], ["healthy", "probe_ok", 0]);
});

const CAUSES: readonly { readonly name: string; readonly mood: Mood; readonly outcome: string }[] = [
  { name: "s503", mood: 503, outcome: "unexpected_status" },
  { name: "s418", mood: 418, outcome: "unexpected_status" },
  { name: "s301", mood: 301, outcome: "unexpected_status" },
  { name: "refused", mood: "gone", outcome: "refused" },
  { name: "tls", mood: "stranger", outcome: "tls_failed" },
  { name: "timeout", mood: "silent", outcome: "answer_timeout" },
];

/** One endpoint for each cause. */
async function patients(): Promise<ReadonlyMap<string, MoodyEndpoint>> {
  const all = await Promise.all(
    CAUSES.map(async ({ name }) => [name, await MoodyEndpoint.start(200, { tls: name === "tls" })] as const),
  );
  return new Map(all);
}

async function dispose(endpoints: ReadonlyMap<string, MoodyEndpoint>): Promise<void> {
  await Promise.all([...endpoints.values()].map((endpoint) => endpoint[Symbol.asyncDispose]()));
}

/** All fall ill at once, each in its way; then `between` happens; then all are well again. */
async function fallIllAndRecover(
  hale: InlineHale,
  endpoints: ReadonlyMap<string, MoodyEndpoint>,
  between: () => Promise<void>,
): Promise<void> {
  for (const { name, mood } of CAUSES) await endpoints.get(name)!.become(mood);
  for (const { name, outcome } of CAUSES) {
    const key = endpoints.get(name)!.address;
    await until(`${name} to be ejected`, () => isOut(hale, name, key));
    const seen = hale.health(name, key).failures.map((failure) => failure.outcome);
    assert.ok((seen as string[]).includes(outcome), `${name}: ${seen}`);
  }
  await between();
  const before = new Map(CAUSES.map(({ name }) => [name, endpoints.get(name)!.wellAnswers]));
  for (const { name } of CAUSES) {
    assert.ok(isOut(hale, name, endpoints.get(name)!.address), `${name} is still out`);
    await endpoints.get(name)!.become(200);
  }
  for (const { name } of CAUSES) {
    const endpoint = endpoints.get(name)!;
    await until(`${name} to return`, () => hale.health(name, endpoint.address).health === "healthy");
  }
  assert.equal(hale.sentences("endpoint_restored").length, CAUSES.length);
  // What was answered by then, for the one that returned last, may be a few more than its own two.
  const needed = Math.min(...CAUSES.map(({ name }) => endpoints.get(name)!.wellAnswers - before.get(name)!));
  assert.ok(needed <= 4, `back within success_threshold probes, not ${needed}`);
}

const upstreamsOf = (endpoints: ReadonlyMap<string, MoodyEndpoint>): string[] =>
  CAUSES.map(({ name }) =>
    upstream({
      name,
      protocol: name === "tls" ? "https" : "http1",
      endpoints: [endpoints.get(name)!.address],
    })
  );

Deno.test("whatever took an endpoint out, its probes bring it back, with a reload in between", async () => {
  const endpoints = await patients();
  {
    await using hale = await InlineHale.start(config("http", upstreamsOf(endpoints)), FILES);
    await until(
      "all to have been probed",
      () => [...endpoints.values()].every(({ wellAnswers }) => wellAnswers > 0),
    );
    await fallIllAndRecover(hale, endpoints, async () => {
      for (let edit = 0; edit < 5; edit++) {
        assert.deepEqual(await hale.apply(config("http", upstreamsOf(endpoints), `edit ${edit}`), FILES), []);
      }
    });
  }
  await dispose(endpoints);
});

Deno.test("whatever took an endpoint out, its probes bring it back, with a DNS refresh in between", async () => {
  const endpoints = await patients();
  const server = NameServer.start();
  server.setA("app.example.test", ["127.0.0.1"], 3600);
  const { host, port: dnsPort } = server.address;
  const upstreams = CAUSES.map(({ name }) =>
    upstream({
      name,
      protocol: name === "tls" ? "https" : "http1",
      endpoints: [],
      // The certificate is for the address, which is what is dialed here.
      active: "kind: http, interval_ms: 150, timeout_ms: 100, jitter_ms: 20, failure_threshold: 2" +
        (name === "tls" ? ", server_name: 127.0.0.1" : ""),
      more: `dns_discovery: { hostname: app.example.test, port: ${
        endpoints.get(name)!.port
      }, nameservers: ["${host}:${dnsPort}"] }`,
    })
  );
  {
    await using hale = await InlineHale.start(config("http", upstreams), FILES);
    await until(
      "all to have been probed",
      () => [...endpoints.values()].every(({ wellAnswers }) => wellAnswers > 0),
    );
    await fallIllAndRecover(hale, endpoints, async () => {
      const asked = server.script.asked.length;
      for (const { name } of CAUSES) hale.supervisor.discovery.hurry(name);
      await until("all to be asked again", () => server.script.asked.length >= asked + CAUSES.length);
    });
  }
  await server.close();
  await dispose(endpoints);
});

Deno.test("after 20 reloads the rate of probes is that of one loop, and a removed endpoint gets none", async () => {
  await using stays = await MoodyEndpoint.start();
  await using leaves = await MoodyEndpoint.start();
  const active = (path: string) =>
    `kind: http, path: ${path}, interval_ms: 200, timeout_ms: 150, jitter_ms: 0`;
  const both = [stays.address, leaves.address];
  const at = (path: string, endpoints = both) =>
    config("http", [upstream({ endpoints, active: active(path) })], path);
  await using hale = await InlineHale.start(at("/0"));
  for (let edit = 1; edit <= 20; edit++) {
    // Every other one changes what the loops do; the others only a comment.
    assert.deepEqual(await hale.apply(at(`/${edit >> 1}`)), []);
    await pause(20);
  }
  assert.equal(hale.supervisor.probes.size, 2);
  const before = stays.accepted;
  const from = performance.now();
  await pause(2000);
  const loops = (stays.accepted - before) / ((performance.now() - from) / 200);
  assert.ok(loops < 1.5, `${loops} loops`);
  assert.ok(stays.accepted > before, "it is probed");
  assert.deepEqual(await hale.apply(at("/10", [stays.address])), []);
  const [kept, gone] = [stays.accepted, leaves.accepted];
  await until("more probes", () => stays.accepted > kept + 5);
  assert.ok(leaves.accepted <= gone + 1, "one may have been under way");
});

Deno.test("frequent edits do not starve probes", async () => {
  await using endpoint = await MoodyEndpoint.start();
  const active = "kind: http, interval_ms: 300, timeout_ms: 200, jitter_ms: 0";
  const at = (edit: number) =>
    config("http", [upstream({ endpoints: [endpoint.address], active })], `${edit}`);
  await using hale = await InlineHale.start(at(0));
  for (let edit = 1; endpoint.wellAnswers < 5; edit++) {
    assert.ok(edit < 2000, "probes are starved");
    assert.deepEqual(await hale.apply(at(edit)), []);
    await pause(10);
  }
});

Deno.test("a reload sends nothing to an endpoint that is out, and a changed path is probed within its interval", async () => {
  await using live = await MoodyEndpoint.start();
  await using down = await MoodyEndpoint.start(503);
  await using added = await MoodyEndpoint.start();
  const at = (endpoints: readonly string[], path: string, note = "") => {
    const active =
      `kind: http, path: ${path}, interval_ms: 200, timeout_ms: 150, jitter_ms: 50, failure_threshold: 2`;
    return config("http", [upstream({ endpoints, active })], note);
  };
  const pair = [live.address, down.address];
  await using hale = await InlineHale.start(at(pair, "/health"));
  await until("the ejection", () => isOut(hale, "up", down.address));
  const traffic = () => down.asked.filter(({ path }) => path === "/traffic").length;
  const port = hale.port("in");
  const ask = async (times: number) => {
    for (let turn = 0; turn < times; turn++) assert.equal((await askHttp(port, "/traffic")).status, 200);
  };
  await ask(20);
  assert.deepEqual(await hale.apply(at(pair, "/health", "another comment")), []);
  await ask(20);
  const editedAt = performance.now();
  assert.deepEqual(await hale.apply(at([...pair, added.address], "/ready")), []);
  await ask(20);
  assert.equal(traffic(), 0);
  const probed = () => live.asked.find(({ path }) => path === "/ready");
  await until("the new path to be probed", () => probed() !== undefined);
  assert.ok(probed()!.at - editedAt < 5 * 250, "within interval and jitter");
  assert.ok(added.asked.some(({ path }) => path === "/traffic"), "a new endpoint is healthy at first");
});

Deno.test("with recovery: probes traffic drops fast and only probes bring back, however long it takes", async () => {
  await using live = NamedEndpoint.tcp("live");
  const port = freePort();
  const key = `127.0.0.1:${port}`;
  const health = "recovery: probes";
  const shape = upstream({ protocol: "tcp", endpoints: [live.address, key], health, active: QUICK_TCP })
    .replace("eject_ms: 86400000", "eject_ms: 100");
  await using hale = await InlineHale.start(config("tcp", [shape]));
  await until("traffic or probes to eject it", async () => {
    assert.equal(await askTcp(hale.port("in"), "x"), "live: x");
    return isOut(hale, "up", key);
  });
  await pause(500); // Five times its ejection: the timer is not to readmit it.
  for (let turn = 0; turn < 10; turn++) assert.equal(await askTcp(hale.port("in"), "x"), "live: x");
  assert.ok(isOut(hale, "up", key));
  assert.equal(hale.sentences("endpoint_half_open").length, 0);
  await using back = NamedEndpoint.tcp("back", port);
  await until("its probes to bring it back", () => hale.health("up", key).health === "healthy");
  await until("it to serve", async () => await askTcp(hale.port("in"), "x") === "back: x");
  assert.ok(back.accepted > 0);
});

/** A tcp upstream whose endpoint takes every connection and fails every http probe, with busy clients. */
async function withBusyTraffic(streak: string, check: (hale: InlineHale, key: string) => Promise<void>) {
  await using endpoint = new TcpEndpoint(echo); // Echoes the request of a probe: a malformed answer.
  const active = "kind: http, interval_ms: 300, timeout_ms: 200, jitter_ms: 0, failure_threshold: 3";
  const shape = upstream({ protocol: "tcp", endpoints: [endpoint.address], health: streak, active });
  await using hale = await InlineHale.start(config("tcp", [shape]));
  const load = new TcpLoad(hale.port("in"), { clients: 2 });
  await check(hale, endpoint.address);
  await load.stop();
  assert.deepEqual(load.failures, []);
}

Deno.test("separate streaks: busy good traffic does not mask failing probes; it is the default on tcp", () =>
  withBusyTraffic("", async (hale, key) => {
    await until("the ejection", () => isOut(hale, "up", key));
    assert.match(hale.sentences("endpoint_ejected")[0]!, /3 bad answers in a row/);
  }));

Deno.test("one shared streak: traffic that succeeds resets what probes count", () =>
  withBusyTraffic("streak: shared", async (hale, key) => {
    const failed = () => hale.health("up", key).failures.find(({ source }) => source === "probe")?.count ?? 0;
    await until("eight failing probes", () => failed() >= 8);
    assert.equal(hale.health("up", key).health, "healthy");
  }));

Deno.test("observe mode tells of ejections and sends traffic all the same", async () => {
  await using endpoint = await MoodyEndpoint.start(503);
  const shape = upstream({ endpoints: [endpoint.address], health: "mode: observe" });
  await using hale = await InlineHale.start(config("http", [shape]));
  await until("the rule to be fulfilled", () => hale.sentences("would_eject").length > 0);
  assert.equal(hale.health("up", endpoint.address).gate, 0);
  assert.equal((await askHttp(hale.port("in"), "/traffic")).status, 503, "the endpoint's own answer");
  assert.equal(hale.sentences("endpoint_ejected").length, 0);
  await endpoint.become(200);
  await until("the return to be told", () => hale.sentences("endpoint_restored").length > 0);
});
