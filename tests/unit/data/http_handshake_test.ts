// TLS clients of http listeners around the handshake: one that comes to nothing has its outcome and its line in the log,
// costs no endpoint anything, and the time for a request's head begins after it.

import assert from "node:assert/strict";
import type { Plan } from "../../../src/core/plan.ts";
import { settled } from "../../support/fake_clock.ts";
import { hear, MemoryStage, tell } from "../../support/memory_stage.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const GET = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

class Scene {
  dials = 0;
  readonly stage = new MemoryStage((conn) => {
    this.dials++;
    void hear(conn, () => void tell(conn, OK));
  });

  access(access: Plan["access"]): void {
    this.stage.plane.take({ ...this.stage.plane.plan, access });
  }

  /** A client that says nothing: its handshake ends only with its connection. */
  silent(): void {
    const ready = Promise.withResolvers<boolean>();
    const client = this.stage.connect(ready.promise);
    void client.read(new Uint8Array(1)).then(() => ready.resolve(false));
  }

  get outcomes(): Record<string, number> {
    return this.stage.plane.stats().listeners["web"]!.outcomes;
  }

  get records() {
    this.stage.plane.tick();
    return this.stage.records.map(({ protocol, upstream, endpoint, client, outcome, http }) => ({
      of: [protocol, upstream, endpoint, client].join(" "),
      outcome,
      status: http?.status,
    }));
  }
}

const OF = "http   192.0.2.7:9";

Deno.test("an http client whose TLS handshake fails is one that went away, with one line in the log", async () => {
  for (const access of ["all", "errors", "off"] as const) {
    const scene = new Scene();
    scene.access(access);
    scene.stage.connect(Promise.resolve(false));
    await settled();
    assert.deepEqual([scene.outcomes, scene.stage.plane.sessionCount], [{ client_aborted: 1 }, 0]);
    const line = { of: OF, outcome: "client_aborted", status: undefined };
    assert.deepEqual(scene.records, access === "off" ? [] : [line]);
    assert.deepEqual(scene.stage.plane.stats().notCharged, { client_aborted: 1 });
    assert.deepEqual([scene.dials, scene.stage.evidence], [0, []]);
  }
});

Deno.test("an http client that does not shake hands in ten seconds is too slow", async () => {
  const scene = new Scene();
  scene.silent();
  await scene.stage.pass(9500);
  assert.equal(scene.stage.plane.sessionCount, 1);
  await scene.stage.pass(1000);
  assert.equal(scene.stage.plane.sessionCount, 0);
  assert.deepEqual(scene.outcomes, { client_slow: 1 });
  assert.deepEqual(scene.records, [{ of: OF, outcome: "client_slow", status: undefined }]);
  const { durationMs } = scene.stage.records[0]!;
  assert.ok(durationMs >= 9900 && durationMs <= 10_300, `${durationMs}`);
  assert.deepEqual([scene.dials, scene.stage.evidence], [0, []]);
});

Deno.test("the time for the head of a request begins once the TLS handshake has ended", async () => {
  const scene = new Scene();
  const ready = Promise.withResolvers<boolean>();
  const client = scene.stage.connect(ready.promise);
  let answer = "";
  void hear(client, (text) => answer += text);
  await scene.stage.pass(9500);
  ready.resolve(true);
  await scene.stage.pass(9500);
  await tell(client, GET);
  await scene.stage.pass(200);
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*ok$/);
  assert.deepEqual([scene.outcomes, scene.dials], [{ finished: 1 }, 1]);
  assert.deepEqual(scene.records.map(({ outcome, status }) => [outcome, status]), [["answered", 200]]);
});

Deno.test("a TLS handshake that is cut by the end of hale is told so, and one that a drain closes was idle", async () => {
  const cut = new Scene();
  cut.silent();
  assert.equal(cut.stage.plane.cut(), 1);
  await settled();
  assert.deepEqual(cut.outcomes, { drained: 1 });
  assert.deepEqual(cut.records, [{ of: OF, outcome: "drained", status: undefined }]);

  const drained = new Scene();
  drained.silent();
  const draining = drained.stage.plane.drain();
  await drained.stage.pass(1500);
  await draining;
  await settled();
  assert.deepEqual([drained.outcomes, drained.stage.plane.sessionCount], [{ finished: 1 }, 0]);
  assert.deepEqual(drained.records, []);
});
