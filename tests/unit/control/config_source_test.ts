// Reading a config again and again: what has not changed is not decoded anew, and every change is seen.

import assert from "node:assert/strict";
import type { ConfigFiles, FileFailure } from "../../../src/config/files.ts";
import { ConfigReader, type ConfigReading } from "../../../src/control/config_source.ts";
import { memoryFiles } from "../../support/memory_config_files.ts";

const text = (port: number): string => `
listeners: [{ name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]
upstreams: [{ name: up, protocol: tcp, endpoints: ["127.0.0.1:9"] }]
`;

/** Files that a test changes between readings. */
class ChangingFiles implements ConfigFiles {
  contents: Record<string, string | Uint8Array | FileFailure>;

  constructor(contents: Record<string, string | Uint8Array | FileFailure>) {
    this.contents = contents;
  }

  read(path: string): ReturnType<ConfigFiles["read"]> {
    return memoryFiles(this.contents).read(path);
  }

  list(folder: string): ReturnType<ConfigFiles["list"]> {
    return memoryFiles(this.contents).list(folder);
  }

  isFolder(path: string): boolean {
    return memoryFiles(this.contents).isFolder(path);
  }

  resolve(base: string, relative: string): string {
    return memoryFiles(this.contents).resolve(base, relative);
  }
}

function portOf({ decoded }: ConfigReading): number | string {
  return "config" in decoded
    ? decoded.config.listeners.at(-1)!.address.port
    : decoded.problems.map(({ message }) => message).join();
}

Deno.test("an unchanged config is not decoded again", async () => {
  const files = new ChangingFiles({ "hale.yaml": new TextEncoder().encode(text(1000)) });
  const reader = new ConfigReader(["hale.yaml"], files);
  const first = await reader.read();
  files.contents = { "hale.yaml": new TextEncoder().encode(text(1000)) };
  assert.equal(await reader.read(), first, "the very same reading");
});

Deno.test("every change of a file or folder gives a new reading with another hash", async () => {
  const files = new ChangingFiles({ "conf/a.yaml": text(1000) });
  const reader = new ConfigReader(["conf"], files);
  const hashes = new Set([(await reader.read()).hash]);
  const expect = async (contents: ChangingFiles["contents"], want: number | RegExp) => {
    files.contents = contents;
    const reading = await reader.read();
    if (typeof want === "number") assert.equal(portOf(reading), want);
    else assert.match(String(portOf(reading)), want);
    assert.ok(!hashes.has(reading.hash), "a hash of its own");
    hashes.add(reading.hash);
  };
  await expect({ "conf/a.yaml": text(1001) }, 1001);
  const more = 'listeners: [{ name: b, address: "127.0.0.1:2000", protocol: tcp, upstream: up }]';
  await expect({ "conf/a.yaml": text(1001), "conf/b.yaml": more }, 2000);
  await expect(
    { "conf/a.yaml": text(1001), "conf/b.yaml": { error: "permission denied" } },
    /permission denied/,
  );
  await expect({ "conf/a.yaml": new Uint8Array([0xff]), "conf/b.yaml": more }, /not UTF-8/);
  await expect({}, /no such folder|no such file|can not read/i);
});

Deno.test("a path that turns from a file into a folder is seen", async () => {
  const files = new ChangingFiles({ conf: text(1000) });
  const reader = new ConfigReader(["conf"], files);
  assert.equal(portOf(await reader.read()), 1000);
  files.contents = { "conf/a.yaml": text(1001) };
  assert.equal(portOf(await reader.read()), 1001);
});
