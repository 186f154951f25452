// A hale that is frozen for a while (a debugger, a hypervisor, a laptop lid) and thawed: time passed for everybody but
// for it, and nobody else may pay.

import assert from "node:assert/strict";
import { startHale } from "../support/hale_process.ts";
import { askHttp, NamedEndpoint } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";
import { TcpLoad } from "../support/tcp_load.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A session that moves a byte both ways every half second, however late; resolves with whether it was cut. */
async function talker(port: number, stop: AbortSignal): Promise<boolean> {
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  while (!stop.aborted) {
    await writeBytes(conn, new Uint8Array([1])).catch(() => {});
    if ((await readExactly(conn, 1).catch(() => new Uint8Array())).length === 0) return true;
    await pause(500);
  }
  return false;
}

Deno.test({
  name: "frozen for longer than every limit: no session is cut, no client fails, no endpoint is charged",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using one = new TcpEndpoint(echo);
    await using two = new TcpEndpoint(echo);
    await using web = NamedEndpoint.http("web");
    const [port, http, admin] = [freePort(), freePort(), freePort()];
    const probe = "interval_ms: 300, timeout_ms: 200, jitter_ms: 0, failure_threshold: 1";
    await using running = await startHale(`
admin: { address: "127.0.0.1:${admin}" }
listeners:
  - { name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: lines, idle_timeout_ms: 1500 }
  - { name: web, address: "127.0.0.1:${http}", protocol: http, upstream: web }
upstreams:
  - name: lines
    protocol: tcp
    endpoints: ["${one.address}", "${two.address}"]
    timeouts: { connect_ms: 500 }
    health: { consecutive_failures: 1 }
    active_health: { kind: tcp, ${probe} }
  - name: web
    protocol: http1
    endpoints: ["${web.address}"]
    timeouts: { connect_ms: 500, read_ms: 500 }
    health: { consecutive_failures: 1 }
    active_health: { kind: http, path: /, ${probe} }
`);
    const stop = new AbortController();
    const talkers = Array.from({ length: 50 }, () => talker(port, stop.signal));
    const load = new TcpLoad(port, { clients: 10 });
    const statuses: number[] = [];
    const asking = (async () => {
      while (!stop.signal.aborted) statuses.push((await askHttp(http, "/")).status);
    })();
    for (let round = 0; round < 2; round++) {
      await pause(700);
      running.hale.signal("SIGSTOP");
      await pause(2500);
      running.hale.signal("SIGCONT");
    }
    await pause(1000);
    stop.abort();
    await load.stop();
    await asking;
    assert.equal((await Promise.all(talkers)).filter((wasCut) => wasCut).length, 0, "sessions that were cut");
    assert.deepEqual(load.failures, []);
    assert.ok(statuses.length > 10 && statuses.every((status) => status === 200), String(statuses));
    const metrics = (await askHttp(admin, "/metrics")).body;
    const ejections = [...metrics.matchAll(/^hale_endpoint_ejections_total\{.*\} (\d+)$/gm)];
    assert.deepEqual(ejections.map((found) => found[1]), ["0", "0", "0"]);
    assert.doesNotMatch(metrics, /^hale_endpoint_failures_total\{/m);
    assert.equal(await running.hale.stop(), 0);
  },
});
