// TLS clients that never shake hands, or not well: the runtime keeps the sockets of silent ones after `close`, so they
// keep their permits; none of them goes unnoticed.

import assert from "node:assert/strict";
import { HttpEndpoint } from "../support/http_endpoint.ts";
import { HttpStage, type StageOptions } from "../support/http_stage.ts";
import { pem } from "../support/tls_endpoint.ts";
import { until } from "../support/until.ts";

const SHORT: StageOptions = {
  listener: { tls: { certFile: "", keyFile: "", cert: pem("local.pem"), key: pem("local.key") } },
  limits: { headMs: 200, keepMs: 200 },
};

Deno.test("a TLS client that says nothing costs a permit as long as it costs a descriptor", async () => {
  await using endpoint = new HttpEndpoint();
  await using stage = await HttpStage.start([endpoint.address], SHORT);
  const { permits } = stage;
  const silent = await Promise.all([stage.connect(), stage.connect(), stage.connect()]);
  await until(() => permits.taken === 3);
  await until(() => stage.plane.sessionCount === 0);
  assert.equal(permits.taken, 3, "their sessions have timed out, their sockets are still there");
  const client = Deno.createHttpClient({ caCerts: [pem("ca.pem")] });
  const answer = await fetch(`https://localhost:${stage.port}/`, { client });
  assert.equal(answer.status, 200);
  await answer.body?.cancel();
  client.close();
  await until(() => permits.taken === 3);
  for (const conn of silent) conn.close();
  await until(() => permits.taken === 0);
});

Deno.test("TLS clients that say nothing do not hold a drain up", async () => {
  await using endpoint = new HttpEndpoint();
  await using stage = await HttpStage.start([endpoint.address], SHORT);
  const { permits } = stage;
  const silent = [await stage.connect(), await stage.connect()];
  await until(() => permits.taken === 2 && stage.plane.sessionCount === 0);
  silent.push(await stage.connect());
  await until(() => permits.taken === 3);
  await stage.plane.drain();
  await until(() => permits.taken === 0);
  for (const conn of silent) conn.close();
});

Deno.test("http clients whose TLS handshake comes to nothing are counted and logged, and charge nobody", async () => {
  await using endpoint = new HttpEndpoint();
  await using stage = await HttpStage.start([endpoint.address], SHORT);
  assert.doesNotMatch(await stage.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), /HTTP/);
  (await stage.connect()).close();
  const h2 = { caCerts: [pem("ca.pem")], hostname: "localhost", alpnProtocols: ["h2"] };
  using other = await Deno.startTls(await stage.connect(), h2);
  await assert.rejects(other.handshake());
  using _silent = await stage.connect();
  const outcomes = () => stage.plane.stats().listeners["web"]!.outcomes;
  await until(() => outcomes()["client_slow"] === 1 && outcomes()["client_aborted"] === 3);
  await until(() => stage.records.length === 4);
  const lines = stage.records.map(({ outcome, http, endpoint }) => `${outcome} ${http?.status} ${endpoint}`);
  assert.deepEqual(lines.sort(), [...Array(3).fill("client_aborted undefined "), "client_slow undefined "]);
  assert.deepEqual(outcomes(), { client_aborted: 3, client_slow: 1 });
  assert.deepEqual([stage.evidence, stage.inFlight, endpoint.seen.length], [[], 0, 0]);
});
