// Whoever reads the log may stop or go away: hale serves on, keeps its memory, and ends as ever.

import assert from "node:assert/strict";
import { ConfigFolder, HaleProcess } from "../support/hale_process.ts";
import { askHttp, askTcp, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, TcpEndpoint } from "../support/tcp_endpoint.ts";
import { TcpLoad } from "../support/tcp_load.ts";

for (const log of ["unread", "closed"] as const) {
  Deno.test(`a log that is ${log} stops neither traffic nor probes nor the end`, async () => {
    await using endpoint = new TcpEndpoint(echo);
    const [port, admin] = [freePort(), freePort()];
    using folder = new ConfigFolder();
    const path = folder.write(
      "hale.yaml",
      `
admin: { address: "127.0.0.1:${admin}" }
log: { access: all }
listeners: [{ name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]
upstreams:
  - name: up
    protocol: tcp
    endpoints: ["${endpoint.address}"]
    health: {}
    active_health: { kind: tcp, interval_ms: 200, timeout_ms: 200, jitter_ms: 0 }
`,
    );
    await using hale = HaleProcess.start(["run", "-c", path], { log });
    await until("hale to serve", () => askTcp(port, "x").then((answer) => answer === "x", () => false));
    const load = new TcpLoad(port, { clients: 4 });
    await until("2,000 lines of log, far more than a pipe holds", () => load.asked > 2000);
    const probes = async () =>
      Number(/^hale_probes_total\{.*\} (\d+)$/m.exec((await askHttp(admin, "/metrics")).body)?.[1]);
    const before = await probes();
    await until("more probes", async () => await probes() > before + 2);
    await load.stop();
    assert.deepEqual(load.failures, []);
    assert.equal(await hale.stop(), 0);
  });
}

Deno.test("the first line already has the format and the level of the config", async () => {
  const settings = { json: "{ format: json }", warning: "{ level: warning }" };
  for (const [name, log] of Object.entries(settings)) {
    const [port, admin] = [freePort(), freePort()];
    using folder = new ConfigFolder();
    const path = folder.write(
      "hale.yaml",
      `
admin: { address: "127.0.0.1:${admin}" }
log: ${log}
listeners: [{ name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }]
upstreams: [{ name: up, protocol: tcp, endpoints: ["127.0.0.1:9"] }]
`,
    );
    await using hale = HaleProcess.start(["run", "-c", path]);
    await until(
      "hale to be ready",
      () => askHttp(admin, "/readyz").then(({ status }) => status === 200, () => false),
    );
    assert.equal(await hale.stop(), 0);
    const lines = hale.log.split("\n").filter((line) => line !== "");
    if (name === "warning") assert.deepEqual(lines, []);
    else {
      assert.match(lines[0]!, /"kind":"listener_added"/);
      for (const line of lines) JSON.parse(line);
    }
  }
});
