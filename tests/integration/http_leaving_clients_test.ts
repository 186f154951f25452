// Clients that leave while hale dials an endpoint that does not answer: over real sockets.

import assert from "node:assert/strict";
import { DeafListener } from "../support/full_backlog.ts";
import { say } from "../support/http_endpoint.ts";
import { HttpStage } from "../support/http_stage.ts";
import { until } from "../support/until.ts";

const CONNECT_MS = 60_000;

for (const connection of ["keep-alive", "close"]) {
  Deno.test(`the dial ends long before its time when the client is gone (${connection})`, async () => {
    const deaf = await DeafListener.open("127.0.0.1", 0);
    await using stage = await HttpStage.start([`127.0.0.1:${deaf.port}`], {
      upstream: { timeouts: { connectMs: CONNECT_MS, readMs: 1000, happyEyeballsMs: 250 } },
    });
    const began = performance.now();
    const client = await stage.connect();
    await say(client, `GET / HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`);
    await until(() => stage.inFlight === 1);
    client.close();
    await until(() => stage.inFlight === 0 && stage.plane.sessionCount === 0);
    assert.ok(performance.now() - began < CONNECT_MS / 5);
    assert.equal(stage.permits.taken, 0);
    assert.deepEqual(stage.evidence, []);
    assert.equal(stage.notCharged("client_aborted"), 1);
    await until(() => stage.records.length === 1);
    assert.deepEqual(stage.records.map(({ outcome, http }) => [outcome, http!.status]), [[
      "client_aborted",
      0,
    ]]);
    await deaf.close();
  });
}
