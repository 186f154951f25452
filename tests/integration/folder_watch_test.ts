// Every way in which files are saved, as the watch and the reloader see it: real folders, real saves.

import assert from "node:assert/strict";
import { FolderWatch } from "../../src/control/folder_watch.ts";
import { ConfigReader, readConfig } from "../../src/control/config_source.ts";
import { Reloader } from "../../src/control/reloader.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { until } from "../support/named_endpoint.ts";

const config = (port: number): string => `
listeners: [{ name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]
upstreams: [{ name: up, protocol: tcp, endpoints: ["127.0.0.1:9"] }]
`;

/** A reloader over a real folder, with what it applied. */
class Setup implements AsyncDisposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "hale-watch-" });
  readonly applied: number[] = [];
  refusals = 0;
  readonly #stop = new AbortController();
  readonly #watch = new FolderWatch({
    onEvent: () => this.#reloader.notice(),
    onFailure: (path, message) => assert.fail(`${path}: ${message}`),
  });
  readonly #reloader: Reloader;
  readonly #reader: ConfigReader;
  #running: Promise<void> | undefined;

  constructor(paths: (folder: string) => readonly string[]) {
    const clock = new SystemClock();
    this.#reader = new ConfigReader(paths(this.folder));
    this.#reloader = new Reloader({
      clock,
      emit: (event) => void (event.kind === "plan_refused" && this.refusals++),
      read: () => this.#reader.read(),
      apply: (next) => {
        this.applied.push(next.listeners.at(-1)!.address.port);
        return Promise.resolve([]);
      },
      watch: (folders) => this.#watch.set(folders),
    });
  }

  async start(paths: readonly string[]): Promise<void> {
    assert.deepEqual(await this.#reloader.take(await readConfig(paths), "start"), []);
    this.#running = this.#reloader.run(this.#stop.signal);
  }

  async expect(port: number): Promise<void> {
    await until(`the config with port ${port}`, () => this.applied.at(-1) === port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#watch.close();
    await this.#running;
    await Deno.remove(this.folder, { recursive: true });
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("each editor's way of saving is noticed, twice in a row, one reload each", async () => {
  await using setup = new Setup((folder) => [`${folder}/hale.yaml`]);
  const path = `${setup.folder}/hale.yaml`;
  Deno.writeTextFileSync(path, config(1000));
  await setup.start([path]);
  const renamed = (text: string) => {
    Deno.writeTextFileSync(`${path}.tmp`, text);
    Deno.renameSync(`${path}.tmp`, path);
  };
  const movedAway = async (text: string) => {
    Deno.renameSync(path, `${path}~`);
    await pause(200);
    Deno.writeTextFileSync(path, text);
    Deno.removeSync(`${path}~`);
  };
  const deleted = async (text: string) => {
    Deno.removeSync(path);
    await pause(500);
    Deno.writeTextFileSync(path, text);
  };
  const inPlace = (text: string) => Deno.writeTextFileSync(path, text);
  let port = 1000;
  for (const save of [renamed, renamed, movedAway, deleted, inPlace, renamed, inPlace, deleted]) {
    port++;
    await save(config(port));
    await setup.expect(port);
  }
  assert.deepEqual(setup.applied, [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008]);
  assert.equal(setup.refusals, 0, "a moment without a file is no refusal");
});

Deno.test("a mounted ConfigMap is followed through its links, swap after swap", async () => {
  await using setup = new Setup((folder) => [`${folder}/hale.yaml`]);
  const { folder } = setup;
  const layOut = (version: number, port: number) => {
    Deno.mkdirSync(`${folder}/..v${version}`);
    Deno.writeTextFileSync(`${folder}/..v${version}/hale.yaml`, config(port));
  };
  layOut(1, 2001);
  Deno.symlinkSync("..v1", `${folder}/..data`);
  Deno.symlinkSync("..data/hale.yaml", `${folder}/hale.yaml`);
  await setup.start([`${folder}/hale.yaml`]);
  for (let version = 2; version <= 4; version++) {
    layOut(version, 2000 + version);
    Deno.symlinkSync(`..v${version}`, `${folder}/..data_tmp`);
    Deno.renameSync(`${folder}/..data_tmp`, `${folder}/..data`);
    Deno.removeSync(`${folder}/..v${version - 1}`, { recursive: true });
    await setup.expect(2000 + version);
  }
  assert.deepEqual(setup.applied, [2001, 2002, 2003, 2004]);
  assert.equal(setup.refusals, 0);
});

Deno.test("drop-in files come and go, and a folder that is replaced is watched anew", async () => {
  await using setup = new Setup((folder) => [`${folder}/conf`]);
  const folder = `${setup.folder}/conf`;
  Deno.mkdirSync(folder);
  Deno.writeTextFileSync(`${folder}/10-base.yaml`, config(3000));
  await setup.start([folder]);
  const dropIn = (port: number) =>
    `listeners: [{ name: in-${port}, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]\n`;
  Deno.writeTextFileSync(`${folder}/20-more.yaml`, dropIn(3001));
  await setup.expect(3001);
  Deno.writeTextFileSync(`${folder}/.30-hidden.yaml`, dropIn(3999));
  Deno.removeSync(`${folder}/20-more.yaml`);
  await setup.expect(3000);
  Deno.renameSync(folder, `${folder}-old`);
  Deno.mkdirSync(folder);
  Deno.writeTextFileSync(`${folder}/10-base.yaml`, config(3002));
  await setup.expect(3002);
  await pause(100);
  Deno.writeTextFileSync(`${folder}/10-base.yaml`, config(3003));
  await setup.expect(3003);
});

Deno.test("a replaced CA file is an edit, and one that is no certificate any more is refused", async () => {
  await using setup = new Setup((folder) => [`${folder}/hale.yaml`]);
  const path = `${setup.folder}/hale.yaml`;
  const certs = new URL("../cases/certs/", import.meta.url);
  Deno.copyFileSync(new URL("ca.pem", certs), `${setup.folder}/ca.pem`);
  Deno.writeTextFileSync(
    path,
    `
listeners: [{ name: in, address: "127.0.0.1:4000", protocol: http, upstream: up }]
upstreams: [{ name: up, protocol: https, endpoints: ["127.0.0.1:9"], trusted_ca_file: ca.pem }]
`,
  );
  await setup.start([path]);
  Deno.copyFileSync(new URL("both.pem", certs), `${setup.folder}/ca.pem`);
  await until("the new bundle", () => setup.applied.length === 2);
  Deno.copyFileSync(new URL("garbage.pem", certs), `${setup.folder}/ca.pem`);
  await until("the refusal", () => setup.refusals === 1);
  Deno.copyFileSync(new URL("ca2.pem", certs), `${setup.folder}/ca.pem`);
  await until("the mended bundle", () => setup.applied.length === 3);
});
