// Discovery from the outside: what the admin endpoint tells of endpoints that DNS brings and takes away.

import assert from "node:assert/strict";
import { startHale } from "../support/hale_process.ts";
import { NameServer } from "../support/name_server.ts";
import { askHttp, askTcp, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";

const NAME = "app.example.test";

Deno.test({
  name: "endpoints come to status and metrics with DNS and leave them with it, while their sessions live on",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const port = freePort();
    const [old, next] = ["127.0.20.1", "127.0.20.2"];
    await using one = new TcpEndpoint(echo, { hostname: old, port });
    await using two = new TcpEndpoint(echo, { hostname: next, port });
    const server = NameServer.start();
    server.setA(NAME, [old]);
    const [listen, admin] = [freePort(), freePort()];
    {
      await using running = await startHale(`
admin: { address: "127.0.0.1:${admin}" }
listeners: [{ name: in, address: "127.0.0.1:${listen}", protocol: tcp, upstream: up }]
upstreams:
  - name: up
    protocol: tcp
    health: {}
    active_health: { kind: tcp, interval_ms: 200, timeout_ms: 200, jitter_ms: 0 }
    dns_discovery: { hostname: ${NAME}, port: ${port}, nameservers: ["127.0.0.1:${server.address.port}"] }
`);
      const upstream = async () => JSON.parse((await askHttp(admin, "/status")).body).upstreams[0];
      const listed = async () =>
        (await upstream()).endpoints.map((each: { address: string }) => each.address);
      const series = async (host: string) =>
        (await askHttp(admin, "/metrics")).body.includes(`${host}:${port}`);
      await until("the first set", async () => (await listed()).join() === `${old}:${port}`);
      assert.equal((await upstream()).discovery.state, "ok");
      const session = await Deno.connect({ hostname: "127.0.0.1", port: listen });
      await writeBytes(session, new Uint8Array([1]));
      assert.equal((await readExactly(session, 1)).length, 1);
      await until("its probes", () => one.accepted > 2);
      assert.ok(await series(old));

      server.setA(NAME, [next]);
      await until("the second set", async () => (await listed()).join() === `${next}:${port}`);
      assert.equal(await askTcp(listen, "x"), "x");
      await writeBytes(session, new Uint8Array([2]));
      assert.equal((await readExactly(session, 1)).length, 1, "the old session lives on");
      session.close();
      await until("the old series to be gone", async () => !(await series(old)));
      assert.ok(await series(next));
      const probes = one.accepted;
      await until("probes on the new one", () => two.accepted > 5);
      assert.ok(one.accepted <= probes + 1, "no probe on the old one");

      server.set(NAME, "A", { rcode: "SERVFAIL" });
      await until("the failure to be shown", async () => (await upstream()).discovery.state === "failing");
      assert.equal((await upstream()).discovery.failure, "servfail");
      assert.match(
        (await askHttp(admin, "/metrics")).body,
        /hale_discovery_failures_total\{.*kind="servfail"\} [1-9]/,
      );
      assert.deepEqual(await listed(), [`${next}:${port}`]);
      assert.equal(await askTcp(listen, "x"), "x");
      assert.equal(await running.hale.stop(), 0);
    }
    await server.close();
  },
});
