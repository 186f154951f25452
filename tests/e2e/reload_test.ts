// A config edit while traffic flows: taken without a cut, refused with its place, taken once mended.

import assert from "node:assert/strict";
import { type Running, startHale } from "../support/hale_process.ts";
import { askTcp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

function configFor(port: number, endpoint: NamedEndpoint): string {
  return `
listeners: [{ name: lines, address: "127.0.0.1:${port}", protocol: tcp, upstream: lines }]
upstreams: [{ name: lines, protocol: tcp, endpoints: [{ address: "${endpoint.address}" }] }]
`;
}

/** Replaces the file as editors do: a new file is renamed over it. */
function replace(running: Running, text: string): void {
  const fresh = running.folder.write("hale.yaml.new", text);
  Deno.renameSync(fresh, `${running.folder.path}/hale.yaml`);
}

async function answeredBy(port: number, name: string): Promise<boolean> {
  return await askTcp(port, "x") === `${name}: x`;
}

Deno.test("an edit is taken while a session lives on, a broken one is refused with its place", async () => {
  await using one = NamedEndpoint.tcp("one");
  await using two = NamedEndpoint.tcp("two");
  const port = freePort();
  await using running = await startHale(configFor(port, one));
  using old = await Deno.connect({ hostname: "127.0.0.1", port });
  const buffer = new Uint8Array(100);
  await old.write(new TextEncoder().encode("a"));
  assert.equal(await old.read(buffer), "one: a".length);

  replace(running, configFor(port, two));
  await until("the edit to be taken", () => answeredBy(port, "two"));
  await old.write(new TextEncoder().encode("b"));
  assert.equal(await old.read(buffer), "one: b".length, "the old session still talks to the old endpoint");

  replace(running, configFor(port, one).replace("protocol: tcp", "protocol: udp"));
  const refusal = await running.hale.waitForLog(/hale\.yaml:2:\d+/);
  assert.match(refusal, /udp/);
  assert.ok(await answeredBy(port, "two"), "what ran goes on");

  replace(running, configFor(port, one));
  await until("the mended file to be taken", () => answeredBy(port, "one"));
});

Deno.test("SIGHUP takes an edit too, and listeners come and go with the file", async () => {
  await using one = NamedEndpoint.tcp("one");
  const [port, other] = [freePort(), freePort()];
  await using running = await startHale(configFor(port, one));
  running.folder.write("hale.yaml", configFor(other, one));
  running.hale.signal("SIGHUP");
  await until("the new listener", () => answeredBy(other, "one").catch(() => false));
  await until("the old listener to be gone", () => askTcp(port, "x").then(() => false, () => true));
  assert.equal(await running.hale.stop(), 0);
});

Deno.test("an edit that asks for an occupied port is refused with the address, and nothing changes", async () => {
  await using one = NamedEndpoint.tcp("one");
  await using two = NamedEndpoint.tcp("two");
  const port = freePort();
  await using running = await startHale(configFor(port, one));
  replace(running, configFor(two.port, two));
  await running.hale.waitForLog(new RegExp(`127\\.0\\.0\\.1:${two.port}`));
  assert.ok(await answeredBy(port, "one"));
});
