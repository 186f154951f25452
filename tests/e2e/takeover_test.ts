// The upgrade without a gap: a new hale beside the old one on the same ports, then the old one drains.

import assert from "node:assert/strict";
import { ConfigFolder, HaleProcess } from "../support/hale_process.ts";
import { askHttp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";
import { TcpLoad } from "../support/tcp_load.ts";

function configFor(port: number, endpoint: string, admin?: number): string {
  return `
${admin === undefined ? "" : `admin: { address: "127.0.0.1:${admin}" }`}
listeners: [{ name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]
upstreams: [{ name: up, protocol: tcp, endpoints: ["${endpoint}"] }]
`;
}

/** The status of readiness; undefined when nobody answers. */
async function readiness(admin: number): Promise<number | undefined> {
  return (await askHttp(admin, "/readyz").catch(() => undefined))?.status;
}

Deno.test({
  name:
    "--takeover: sessions of the old hale live on, new clients meet the new one, and the admin address follows",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using endpoint = new TcpEndpoint(echo);
    const [port, admin] = [freePort(), freePort()];
    using folder = new ConfigFolder();
    const path = folder.write("hale.yaml", configFor(port, endpoint.address, admin));
    await using old = HaleProcess.start(["run", "-c", path]);
    await old.ready();
    const session = await Deno.connect({ hostname: "127.0.0.1", port });
    await writeBytes(session, new Uint8Array([1]));
    assert.equal((await readExactly(session, 1)).length, 1);
    const load = new TcpLoad(port, { clients: 2, pauseMs: 5 });
    await using next = HaleProcess.start(["run", "-c", path, "--takeover"]);
    await next.ready();
    await next.waitForLog(/Admin will listen on .* once the hale before has let go/);
    assert.equal(await readiness(admin), 200, "the old one still answers");
    old.signal("SIGTERM");
    await until("the old one to say that it drains", async () => await readiness(admin) === 503);
    const asked = load.asked;
    await until("clients of the new one", () => load.asked > asked + 100);
    await writeBytes(session, new Uint8Array([2]));
    assert.equal((await readExactly(session, 1)).length, 1, "the old session lives on");
    session.close();
    assert.equal(await old.exitCode(), 0);
    await next.waitForLog(/Admin listens/);
    assert.equal(await readiness(admin), 200);
    await load.stop();
    // Whom the kernel had queued for the old socket in the microseconds around its close is reset (see the README).
    assert.ok(load.failures.length <= 2, `${load.failures.length} of ${load.asked}: ${load.failures}`);
    assert.equal(await next.stop(), 0);
  },
});

Deno.test({
  name: "without --takeover a port that another hale serves is in use; so is its admin address",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using endpoint = NamedEndpoint.tcp("one");
    const [port, admin] = [freePort(), freePort()];
    using folder = new ConfigFolder();
    await using first = HaleProcess.start([
      "run",
      "-c",
      folder.write("a.yaml", configFor(port, endpoint.address, admin)),
    ]);
    await first.ready();
    for (
      const [config, wanted] of [[configFor(port, endpoint.address), port], [
        configFor(freePort(), endpoint.address, admin),
        admin,
      ]] as const
    ) {
      await using second = HaleProcess.start(["run", "-c", folder.write("b.yaml", config)]);
      assert.equal(await second.exitCode(), 1);
      assert.match(second.log, new RegExp(`127\\.0\\.0\\.1:${wanted}: address in use`));
    }
    assert.equal(await first.stop(), 0);
  },
});

Deno.test({
  name:
    "--takeover does not wait for an admin address once it has had one: an edit to an occupied one is refused",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using endpoint = NamedEndpoint.tcp("one");
    const [port, admin] = [freePort(), freePort()];
    using folder = new ConfigFolder();
    const path = folder.write("hale.yaml", configFor(port, endpoint.address, admin));
    await using hale = HaleProcess.start(["run", "-c", path, "--takeover"]);
    await hale.ready();
    folder.write("hale.yaml", configFor(port, endpoint.address, endpoint.port));
    hale.signal("SIGHUP");
    await hale.waitForLog(
      new RegExp(`Admin can not listen on 127\\.0\\.0\\.1:${endpoint.port}: address in use`),
    );
    assert.equal(await readiness(admin), 200);
    assert.equal(await hale.stop(), 0);
  },
});
