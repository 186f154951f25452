// What hale tells about itself: the admin endpoint, and the commands that ask it.

import assert from "node:assert/strict";
import { runHale, type Running, startHale } from "../support/hale_process.ts";
import { askHttp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

interface Setup extends AsyncDisposable {
  readonly running: Running;
  readonly admin: number;
  readonly port: number;
  readonly live: NamedEndpoint;
  readonly dead: string;
}

/** hale over one live and one dead endpoint, with the admin endpoint on. */
async function setUp(): Promise<Setup> {
  const live = NamedEndpoint.http("live");
  const [admin, port, dead] = [freePort(), freePort(), `127.0.0.1:${freePort()}`];
  const running = await startHale(`
admin: { address: "127.0.0.1:${admin}" }
listeners: [{ name: web, address: "127.0.0.1:${port}", protocol: http, upstream: app }]
upstreams:
  - name: app
    protocol: http1
    endpoints: [{ address: "${live.address}" }, { address: "${dead}" }]
    health: { consecutive_failures: 2, eject_ms: 600000 }
`);
  const dispose = async () => {
    await running[Symbol.asyncDispose]();
    await live[Symbol.asyncDispose]();
  };
  return { running, admin, port, live, dead, [Symbol.asyncDispose]: dispose };
}

async function untilEjected({ admin, port }: Setup): Promise<void> {
  await until("the dead endpoint to be ejected", async () => {
    assert.equal((await askHttp(port, "/")).status, 200);
    return (await askHttp(admin, "/status")).body.includes('"ejected"');
  });
}

Deno.test("status, metrics and why tell which endpoint is out and why", async () => {
  await using setup = await setUp();
  await untilEjected(setup);
  const status = await askHttp(setup.admin, "/status");
  assert.equal(status.status, 200);
  const upstream = JSON.parse(status.body).upstreams[0];
  assert.deepEqual([upstream.name, upstream.usable, upstream.total], ["app", 1, 2]);
  const metrics = await askHttp(setup.admin, "/metrics");
  assert.match(metrics.body, new RegExp(`hale_endpoint_usable\\{[^}]*endpoint="${setup.dead}"[^}]*\\} 0`));
  const why = await askHttp(setup.admin, `/upstreams/app/endpoints/${setup.dead}/why`);
  assert.equal(why.status, 200);
  assert.match(why.body, /refused/);
  assert.equal((await askHttp(setup.admin, "/livez")).status, 200);
  assert.equal((await askHttp(setup.admin, "/readyz")).status, 200);
  assert.match((await askHttp(setup.admin, "/")).body, /<html/i);
});

Deno.test("the commands status, why and endpoint ask the running hale", async () => {
  await using setup = await setUp();
  await untilEjected(setup);
  const config = `${setup.running.folder.path}/hale.yaml`;
  const status = await runHale(["status", "-c", config]);
  assert.equal(status.code, 0, status.stderr);
  assert.match(status.stdout, new RegExp(setup.live.address));
  const why = await runHale(["why", `app/${setup.dead}`, "-c", config]);
  assert.equal(why.code, 0, why.stderr);
  assert.match(why.stdout, /ejected/);
  assert.match(why.stdout, /refused/);
  assert.equal((await runHale(["endpoint", "drain", `app/${setup.live.address}`, "-c", config])).code, 0);
  // With the live one drained, fail_open may only try the dead one.
  await until("no request to be answered", async () => (await askHttp(setup.port, "/")).status !== 200);
  assert.equal((await runHale(["endpoint", "ready", `app/${setup.live.address}`, "-c", config])).code, 0);
  await until("the endpoint to serve again", async () => (await askHttp(setup.port, "/")).status === 200);
});

Deno.test("readiness turns to 503 while hale drains", async () => {
  await using setup = await setUp();
  using idle = await Deno.connect({ hostname: "127.0.0.1", port: setup.port });
  await idle.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: x\r\n"));
  await until(
    "the session to be seen",
    async () => /hale_sessions\{[^}]*\} 1/.test((await askHttp(setup.admin, "/metrics")).body),
  );
  setup.running.hale.signal("SIGTERM");
  await until("readiness 503", async () => (await askHttp(setup.admin, "/readyz")).status === 503);
});

Deno.test("clients that stay connected, with a stream of events or idle, keep nobody out", async () => {
  await using setup = await setUp();
  const conns: Deno.Conn[] = [];
  for (let count = 0; count < 200; count++) {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: setup.admin });
    conns.push(conn);
    const path = count % 2 === 0 ? "/events" : "/livez";
    await conn.write(
      new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${setup.admin}\r\n\r\n`),
    );
    const impatient = setTimeout(() => conn.close(), 20_000);
    assert.ok((await conn.read(new Uint8Array(15))) !== null, `client ${count} is answered`);
    clearTimeout(impatient);
  }
  assert.equal((await askHttp(setup.admin, "/readyz")).status, 200);
  for (const conn of conns) conn.close();
});
