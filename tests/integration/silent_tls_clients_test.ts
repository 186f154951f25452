// TLS clients that never shake hands: the runtime keeps their sockets after `close`, so they keep their permits.

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
  const { permits } = stage.plane;
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
  const { permits } = stage.plane;
  const silent = [await stage.connect(), await stage.connect()];
  await until(() => permits.taken === 2 && stage.plane.sessionCount === 0);
  silent.push(await stage.connect());
  await until(() => permits.taken === 3);
  await stage.plane.drain();
  await until(() => permits.taken === 0);
  for (const conn of silent) conn.close();
});
