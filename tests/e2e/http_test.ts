// HTTP from the outside: one command, a routed config, a dead endpoint, and hale's own answers.

import assert from "node:assert/strict";
import { HaleProcess, startHale } from "../support/hale_process.ts";
import { askHttp, NamedEndpoint } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

Deno.test("http: one command balances over two endpoints", async () => {
  await using one = NamedEndpoint.http("one");
  await using two = NamedEndpoint.http("two");
  const port = freePort();
  await using hale = HaleProcess.start(["http", `127.0.0.1:${port}`, one.address, two.address]);
  await hale.ready();
  const names = new Set<string>();
  for (let i = 0; i < 20; i++) {
    const answer = await askHttp(port, `/${i}`);
    assert.equal(answer.status, 200);
    names.add(answer.body);
  }
  assert.deepEqual([...names].sort(), ["one", "two"]);
  assert.equal(await hale.stop(), 0);
});

Deno.test("http: routes choose the upstream, a dead endpoint costs no request", async () => {
  await using app = NamedEndpoint.http("app");
  const dead = NamedEndpoint.http("dead");
  await using api = NamedEndpoint.http("api");
  const port = freePort();
  await using running = await startHale(`
listeners:
  - name: web
    address: 127.0.0.1:${port}
    protocol: http
    upstream: app
    routes: [{ path_prefix: /api, upstream: api }]
upstreams:
  - { name: app, protocol: http1, endpoints: [{ address: "${app.address}" }, { address: "${dead.address}" }], health: {} }
  - { name: api, protocol: http1, endpoints: [{ address: "${api.address}" }] }
`);
  assert.equal((await askHttp(port, "/api/users")).body, "api");
  await dead[Symbol.asyncDispose]();
  for (let i = 0; i < 30; i++) assert.equal((await askHttp(port, "/")).body, "app", `request ${i}`);
  await running.hale.waitForLog(new RegExp(`${dead.address}.*eject|eject.*${dead.address}`, "i"));
  assert.equal(await running.hale.stop(), 0);
});

Deno.test("http: hale's own answers: no endpoint 502 or 503, a bad request 400, no route 404", async () => {
  const port = freePort();
  await using running = await startHale(`
listeners:
  - name: web
    address: 127.0.0.1:${port}
    protocol: http
    routes: [{ path_prefix: /app, upstream: app }]
upstreams:
  - { name: app, protocol: http1, endpoints: [{ address: "127.0.0.1:${freePort()}" }] }
`);
  const answer = await askHttp(port, "/app");
  assert.ok(answer.status === 502 || answer.status === 503, String(answer.status));
  assert.match(answer.head, /^x-request-id: \S+/im);
  assert.equal(typeof JSON.parse(answer.body).error.message, "string");
  assert.equal((await askHttp(port, "/other")).status, 404);
  assert.equal(
    (await askHttp(port, "/app", { headers: "Content-Length: 1\r\nContent-Length: 2\r\n" })).status,
    400,
  );
  assert.equal(await running.hale.stop(), 0);
});
