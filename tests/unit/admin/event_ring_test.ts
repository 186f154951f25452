// The ring of events: ids, replay, followers, bounds.

import assert from "node:assert/strict";
import { EventRing, type KeptEvent, REPLAY_BYTES, RING_SIZE } from "../../../src/admin/event_ring.ts";
import type { TimedEvent } from "../../../src/core/event.ts";

const restored = (endpoint: string): TimedEvent => ({
  kind: "endpoint_restored",
  at: 1000,
  upstream: "app",
  endpoint,
  by: "probe",
  mode: "enforce",
  outMs: 10,
});

function replayed(ring: EventRing, from: { afterId?: string; last?: number }): string[] {
  const got: string[] = [];
  ring.follow(from, (event) => got.push(JSON.parse(event.json).endpoint))();
  return got;
}

function ringWith(count: number, startedAt = 5): EventRing {
  const ring = new EventRing(startedAt);
  for (let number = 1; number <= count; number++) ring.publish(restored(`e${number}`));
  return ring;
}

Deno.test("an event is one JSON object with time, severity, kind, sentence and its data", () => {
  const ring = ringWith(1);
  let got: KeptEvent | undefined;
  ring.follow({ last: 1 }, (event) => got = event)();
  assert.equal(got!.id, "5-1");
  const event = JSON.parse(got!.json);
  assert.equal(event.at, "1970-01-01T00:00:01.000Z");
  assert.deepEqual([event.kind, event.severity, event.out_ms], ["endpoint_restored", "info", 10]);
  assert.match(event.text, /^Restored app\/e1/);
});

Deno.test("a follower gets what is new, and after leaving nothing more", () => {
  const ring = ringWith(3);
  const got: string[] = [];
  const leave = ring.follow({}, (event) => got.push(event.id));
  ring.publish(restored("x"));
  leave();
  ring.publish(restored("y"));
  assert.deepEqual(got, ["5-4"]);
});

Deno.test("a client that comes back gets exactly what it missed", () => {
  assert.deepEqual(replayed(ringWith(5), { afterId: "5-3" }), ["e4", "e5"]);
  assert.deepEqual(replayed(ringWith(5), { afterId: "5-5" }), []);
});

Deno.test("an id from before a restart, or too old, replays all that is kept", () => {
  assert.equal(replayed(ringWith(3), { afterId: "4-2" }).length, 3);
  const ring = ringWith(RING_SIZE + 10);
  const got = replayed(ring, { afterId: "5-2" });
  assert.equal(got.length, RING_SIZE);
  assert.equal(got[0], "e11");
});

Deno.test("the last so many are replayed when asked for", () => {
  assert.deepEqual(replayed(ringWith(5), { last: 2 }), ["e4", "e5"]);
  assert.deepEqual(replayed(ringWith(5), { last: 0 }), []);
  assert.deepEqual(replayed(ringWith(5), { last: -3 }), []);
});

Deno.test("ended sessions do not push events out", () => {
  const ring = ringWith(1);
  const session = {
    listener: "l",
    protocol: "tcp",
    upstream: "u",
    endpoint: "e",
    client: "c",
    outcome: "finished",
    bytesUp: 0,
    bytesDown: 0,
    durationMs: 0,
    attempts: 1,
    at: 0,
  } as const;
  for (let count = 0; count < RING_SIZE; count++) ring.publish({ kind: "session_ended", at: 0, session });
  assert.deepEqual(replayed(ring, { last: 10 }), ["e1"]);
});

Deno.test("a huge event is told by its sentence alone, cut short", () => {
  const ring = new EventRing(5);
  const problems = Array.from({ length: 5000 }, (_, line) => `hale.yaml:${line}:1  Unknown key`);
  ring.publish({ kind: "plan_refused", at: 0, trigger: "watch", problems });
  ring.follow({ last: 1 }, ({ json }) => {
    assert.ok(json.length < 3000, String(json.length));
    assert.match(JSON.parse(json).text, /^Refused the config \(watch\).*…$/);
    assert.equal(JSON.parse(json).kind, "plan_refused");
  })();
});

Deno.test("a replay stays within its bytes, newest first", () => {
  const ring = new EventRing(5);
  for (let count = 0; count < RING_SIZE; count++) {
    ring.publish({ kind: "loop_error", at: 0, thread: String(count), message: "é".repeat(3000) });
  }
  const got: KeptEvent[] = [];
  ring.follow({ last: RING_SIZE }, (event) => got.push(event))();
  const bytes = got.reduce((sum, event) => sum + new TextEncoder().encode(event.json).length, 0);
  assert.ok(got.length > 10 && bytes <= REPLAY_BYTES, `${got.length} events, ${bytes} bytes`);
  assert.equal(JSON.parse(got.at(-1)!.json).thread, String(RING_SIZE - 1));
});

Deno.test("a follower that leaves while it is told does not disturb the others", () => {
  const ring = ringWith(0);
  const got: string[] = [];
  const leave = ring.follow({}, () => leave());
  ring.follow({}, (event) => got.push(event.id));
  ring.publish(restored("x"));
  ring.publish(restored("y"));
  assert.deepEqual(got, ["5-1", "5-2"]);
});
