// Every way in which people and programs save a config, on the real file of a running hale (cases 29 and 30): each save
// is taken once, soon, and the moments without a file or with half of one change nothing.

import assert from "node:assert/strict";
import { ConfigFolder, HaleProcess } from "../support/hale_process.ts";
import { askHttp, askTcp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { MoodyEndpoint } from "../support/moody_endpoint.ts";
import { echo, TcpEndpoint } from "../support/tcp_endpoint.ts";
import { TcpLoad } from "../support/tcp_load.ts";

const IGNORE = Deno.build.os === "windows";

/** A hale on `$C`, with two endpoints of which the config names one. */
class Setup implements AsyncDisposable {
  readonly one = NamedEndpoint.tcp("one");
  readonly two = NamedEndpoint.tcp("two");
  readonly port: number = freePort();
  readonly folder = new ConfigFolder();
  #hale: HaleProcess | undefined;
  /** Which endpoint the last save named. */
  #now: "one" | "two" = "one";
  #saves = 0;

  get hale(): HaleProcess {
    return this.#hale!;
  }

  text(name: "one" | "two"): string {
    return `
listeners: [{ name: in, address: "127.0.0.1:${this.port}", protocol: tcp, upstream: up }]
upstreams: [{ name: up, protocol: tcp, endpoints: ["${this[name].address}"] }]
`;
  }

  async start(path: string): Promise<void> {
    this.#hale = await HaleProcess.start(["run", "-c", path]).ready();
  }

  get taken(): number {
    return this.hale.log.match(/Took config generation/g)?.length ?? 0;
  }

  /** Runs a script that saves the other config (its text is in `$N`) as `$C`, and waits until it is taken. */
  async save(script: string): Promise<void> {
    const before = this.taken;
    assert.equal(before, 1 + this.#saves++, "one reload for each save before");
    const [from, to] = this.#now === "one" ? ["one", "two"] as const : ["two", "one"] as const;
    const env = {
      C: `${this.folder.path}/hale.yaml`,
      D: this.folder.path,
      N: this.folder.write("next.txt", this.text(to)),
      FROM: this[from].address,
      TO: this[to].address,
    };
    await sh(script, env);
    const savedAt = performance.now();
    await until(`the save by: ${script}`, async () => await this.#answers(to));
    assert.ok(performance.now() - savedAt < 10_000, "two seconds are not ten");
    await until("the reload to be told", () => this.taken > before);
    assert.equal(this.taken, before + 1, `one reload for: ${script}`);
    this.#now = to;
  }

  async #answers(name: string): Promise<boolean> {
    return await askTcp(this.port, "x") === `${name}: x`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hale?.[Symbol.asyncDispose]();
    await this.one[Symbol.asyncDispose]();
    await this.two[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

async function sh(script: string, env: Record<string, string>): Promise<void> {
  const { success, stderr } = await new Deno.Command("sh", { args: ["-euc", script], env }).output();
  assert.ok(success, `${script}: ${new TextDecoder().decode(stderr)}`);
}

const WAYS: readonly string[] = [
  'cp "$N" "$C"', // truncate and write
  'cat "$N" > "$C"',
  'cp "$N" "$C.tmp"; mv "$C.tmp" "$C"', // write aside, rename over
  'cp "$N" "$C.tmp"; mv "$C.tmp" "$C"', // and again: a watched file would be deaf by now
  'sed -i "s/$FROM/$TO/" "$C"',
  'mv "$C" "$C~"; sleep 0.2; cp "$N" "$C"; rm -f "$C~"', // move away, write new
  'rm "$C"; sleep 0.5; cp "$N" "$C"', // delete, recreate
  'head -c 60 "$N" > "$C"; sleep 0.3; cp "$N" "$C"', // half a file for a while
  ': > "$C"; sleep 0.3; cat "$N" >> "$C"', // an empty one
  'for i in 1 2 3 4 5 6 7 8 9 10; do echo "# $i" >> "$C"; done; cp "$N" "$C"', // in a burst
];

Deno.test({
  name: "saves in place, by rename, by deletion, in halves: each is taken once, and nothing is refused",
  ignore: IGNORE,
  async fn() {
    await using setup = new Setup();
    await setup.start(setup.folder.write("hale.yaml", setup.text("one")));
    for (const way of WAYS) await setup.save(way);
    assert.doesNotMatch(setup.hale.log, /refused|can not/i);
    assert.equal(await setup.hale.stop(), 0);
  },
});

async function has(program: string): Promise<boolean> {
  const { success } = await new Deno.Command("sh", { args: ["-c", `command -v ${program}`], stdout: "null" })
    .output();
  return success;
}

const VIM = await has("vim.tiny") ? "vim.tiny" : await has("vim") ? "vim" : undefined;
if (VIM === undefined) console.warn("Skipped: saves by vim, which is not installed");

Deno.test({
  name: "saves by vim, with and without a backup copy, are taken",
  ignore: IGNORE || VIM === undefined,
  async fn() {
    await using setup = new Setup();
    await setup.start(setup.folder.write("hale.yaml", setup.text("one")));
    for (const copy of ["no", "yes", "auto", "no"]) {
      await setup.save(
        `${VIM} -u NONE -n -es -c "set writebackup backupcopy=${copy}" -c "%s/$FROM/$TO/" -c wq "$C"`,
      );
    }
    assert.equal(await setup.hale.stop(), 0);
  },
});

Deno.test({
  name: "a config behind links: the link is swapped, its target is edited, a mounted ConfigMap is renamed",
  ignore: IGNORE,
  async fn() {
    await using setup = new Setup();
    const { path } = setup.folder;
    Deno.mkdirSync(`${path}/..v1`);
    Deno.writeTextFileSync(`${path}/..v1/hale.yaml`, setup.text("one"));
    Deno.symlinkSync("..v1", `${path}/..data`);
    Deno.symlinkSync("..data/hale.yaml", `${path}/hale.yaml`);
    await setup.start(`${path}/hale.yaml`);
    const swap = (from: number) =>
      `mkdir "$D/..v${from + 1}"; cp "$N" "$D/..v${from + 1}/hale.yaml"; ln -s "..v${
        from + 1
      }" "$D/..data_tmp"
       mv -T "$D/..data_tmp" "$D/..data"; rm -rf "$D/..v${from}"`;
    for (let version = 1; version <= 3; version++) await setup.save(swap(version));
    for (const name of ["a", "b", "a"]) {
      await setup.save(
        `mkdir -p "$D/${name}.d"; cp "$N" "$D/${name}.d/x.yaml"; ln -sfn "${name}.d/x.yaml" "$C"`,
      );
    }
    assert.doesNotMatch(setup.hale.log, /refused|can not/i);
    assert.equal(await setup.hale.stop(), 0);
  },
});

Deno.test("a config that does not exist at the start, or is deleted while hale runs", async () => {
  await using setup = new Setup();
  const path = `${setup.folder.path}/hale.yaml`;
  await using absent = HaleProcess.start(["run", "-c", path]);
  assert.equal(await absent.exitCode(), 1);
  assert.match(absent.log, /hale\.yaml:1:1.*no such file/);
  await setup.start(setup.folder.write("hale.yaml", setup.text("one")));
  Deno.removeSync(path);
  await setup.hale.waitForLog(/hale\.yaml.*no such file/);
  assert.equal(await askTcp(setup.port, "x"), "one: x", "what ran goes on");
  await setup.save('cp "$N" "$C"');
  assert.equal(await setup.hale.stop(), 0);
});

Deno.test("200 edits in a row under load: no client fails, and probes go on at their pace", async () => {
  await using endpoint = new TcpEndpoint(echo);
  await using probed = await MoodyEndpoint.start();
  const [port, admin] = [freePort(), freePort()];
  const text = (edit: number) => `
# edit ${edit}
admin: { address: "127.0.0.1:${admin}" }
listeners: [{ name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]
upstreams:
  - { name: up, protocol: tcp, endpoints: [{ address: "${endpoint.address}", weight: ${1 + edit % 9} }] }
  - name: probed
    protocol: http1
    endpoints: ["${probed.address}"]
    health: {}
    active_health: { kind: http, interval_ms: 400, timeout_ms: 300, jitter_ms: 0 }
`;
  using folder = new ConfigFolder();
  await using hale = HaleProcess.start(["run", "-c", folder.write("hale.yaml", text(0))]);
  await hale.ready();
  const load = new TcpLoad(port, { clients: 3, pauseMs: 1 });
  await until("the first probe", () => probed.accepted > 0);
  const [probes, from] = [probed.accepted, performance.now()];
  for (let edit = 1; edit <= 200; edit++) {
    if (edit % 2 === 0) folder.write("hale.yaml", text(edit));
    else Deno.renameSync(folder.write("next", text(edit)), `${folder.path}/hale.yaml`);
    if (edit % 3 === 0) hale.signal("SIGHUP"); // Takes it at once.
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  const rate = (probed.accepted - probes) / ((performance.now() - from) / 400);
  assert.ok(rate > 0.4 && rate < 1.5, `${rate} of the wanted rate`);
  await load.stop();
  assert.deepEqual(load.failures, []);
  assert.ok(load.asked > 200);
  await until("the last edit to be taken", async () => {
    const { upstreams } = JSON.parse((await askHttp(admin, "/status")).body);
    return upstreams[0].endpoints[0].weight === 1 + 200 % 9;
  });
  assert.ok((hale.log.match(/Took config generation/g)?.length ?? 0) > 50);
  assert.equal(await hale.stop(), 0);
});
