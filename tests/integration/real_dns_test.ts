// Our resolver against dnsmasq and unbound, where they are installed; else these tests are skipped, and say so.

import assert from "node:assert/strict";
import { DnsResolver } from "../../src/net/dns_resolver.ts";
import type { Question, Resolved, Unresolved } from "../../src/net/dns_types.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { NO_FILES } from "../support/scripted_dns.ts";

const SRV_NAME = "_http._tcp.app.example.test";
const MANY = Array.from({ length: 120 }, (_, i) => `127.0.1.${i + 1}`);

interface Kind {
  readonly name: string;
  readonly config: (port: number) => string;
  readonly args: (config: string) => string[];
  /** Whether the addresses of SRV targets come along. */
  readonly sendsAdditional: boolean;
}

const KINDS: readonly Kind[] = [
  {
    name: "dnsmasq",
    config: (port) =>
      [
        `port=${port}`,
        "listen-address=127.0.0.1",
        "bind-interfaces",
        "no-resolv",
        "no-hosts",
        "local=/example.test/",
        "local-ttl=9",
        "host-record=app.example.test,127.0.0.11",
        "host-record=n1.example.test,127.0.0.21",
        "cname=alias.example.test,app.example.test",
        `srv-host=${SRV_NAME},n1.example.test,8080,1,5`,
        ...MANY.map((address) => `host-record=many.example.test,${address}`),
      ].join("\n"),
    args: (config) => ["--no-daemon", `--conf-file=${config}`, "--pid-file="],
    sendsAdditional: true,
  },
  {
    name: "unbound",
    config: (port) =>
      [
        "server:",
        ` port: ${port}`,
        " interface: 127.0.0.1",
        ...[' username: ""', ' chroot: ""', ' pidfile: ""', " use-syslog: no"],
        ' local-zone: "example.test." static',
        ' local-data: "example.test. 9 SOA ns.example.test. me.example.test. 1 60 60 60 5"',
        ' local-data: "app.example.test. 9 A 127.0.0.11"',
        ' local-data: "n1.example.test. 9 A 127.0.0.21"',
        ' local-data: "alias.example.test. 9 CNAME app.example.test."',
        ` local-data: "${SRV_NAME}. 9 SRV 1 5 8080 n1.example.test."`,
        ...MANY.map((address) => ` local-data: "many.example.test. 9 A ${address}"`),
        "remote-control:",
        " control-enable: no",
      ].join("\n"),
    args: (config) => ["-d", "-c", config],
    sendsAdditional: false,
  },
];

async function pathOf(program: string): Promise<string | undefined> {
  for (const folder of ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/sbin"]) {
    const info = await Deno.stat(`${folder}/${program}`).catch(() => undefined);
    if (info?.isFile) return `${folder}/${program}`;
  }
  return undefined;
}

function freePort(): number {
  const socket = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  const { port } = socket.addr as Deno.NetAddr;
  socket.close();
  return port;
}

for (const kind of KINDS) {
  const path = await pathOf(kind.name);
  if (path === undefined) console.warn(`Skipped: ${kind.name} is not installed`);
  Deno.test({
    name: `what ${kind.name} says is understood`,
    ignore: path === undefined,
    fn: async () => {
      const { port, stop } = await start(kind, path!);
      try {
        await tryAll(new Asker(port), kind.sendsAdditional);
      } finally {
        await stop();
      }
    },
  });
}

/** Runs the server on a free port; on another one when somebody was faster there. */
async function start(kind: Kind, path: string): Promise<{ port: number; stop: () => Promise<void> }> {
  const config = await Deno.makeTempFile();
  for (let attempt = 0; attempt < 5; attempt++) {
    const port = freePort();
    await Deno.writeTextFile(config, kind.config(port));
    const server = new Deno.Command(path, { args: kind.args(config), stdout: "null", stderr: "null" })
      .spawn();
    let hasEnded = false;
    void server.status.then(() => hasEnded = true);
    if (!await new Asker(port).isUp(() => hasEnded)) continue;
    const stop = async () => {
      server.kill("SIGTERM");
      await server.status;
      await Deno.remove(config);
    };
    return { port, stop };
  }
  throw new Error(`${kind.name} does not start`);
}

class Asker {
  readonly #resolver: DnsResolver;

  constructor(port: number) {
    this.#resolver = new DnsResolver({
      clock: new SystemClock(),
      nameservers: [{ host: "127.0.0.1", port }],
      ...NO_FILES,
      deadlineMs: 1000,
    });
  }

  ask(name: string, type: Question["type"] = "A"): Promise<Resolved | Unresolved> {
    return this.#resolver.resolve({ name, type });
  }

  async found(name: string, type: Question["type"] = "A"): Promise<Resolved> {
    const end = await this.ask(name, type);
    if ("failure" in end) throw new Error(`${name}: ${end.failure}: ${end.detail}`);
    return end;
  }

  async failure(name: string, type: Question["type"] = "A"): Promise<string> {
    const end = await this.ask(name, type);
    return "failure" in end ? end.failure : "ok";
  }

  /** The server may still be starting. */
  async isUp(hasEnded: () => boolean): Promise<boolean> {
    for (let attempt = 0; attempt < 50 && !hasEnded(); attempt++) {
      if (await this.failure("app.example.test") === "ok") return true;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return false;
  }
}

async function tryAll(server: Asker, sendsAdditional: boolean): Promise<void> {
  const app = await server.found("app.example.test");
  assert.deepEqual(app.addresses.map((record) => record.address), ["127.0.0.11"]);
  assert.equal(app.ttlMs, 9000);
  const alias = await server.found("alias.example.test");
  assert.deepEqual(alias.chain, ["alias.example.test", "app.example.test"]);
  assert.equal(await server.failure("app.example.test", "AAAA"), "nodata");
  assert.equal(await server.failure("nobody.example.test"), "nxdomain");
  const many = await server.found("many.example.test");
  assert.deepEqual(many.addresses.map((record) => record.address).sort(), [...MANY].sort());
  assert.match(many.source, /tcp/);
  const service = await server.found(SRV_NAME, "SRV");
  assert.deepEqual(
    service.services.map(({ priority, weight, port, target }) => [priority, weight, port, target]),
    [[1, 5, 8080, "n1.example.test"]],
  );
  const additional = service.additional.map((record) => record.address);
  assert.deepEqual(additional, sendsAdditional ? ["127.0.0.21"] : []);
}
