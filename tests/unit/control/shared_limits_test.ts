import assert from "node:assert/strict";
import { fullEvent, SharedLimits } from "../../../src/control/shared_limits.ts";

Deno.test("a limit that several workers reach is news once, and anew when none of them stands at it", () => {
  const limits = new SharedLimits();
  const hear = (worker: number, of: "connections" | "handshakes", over = false) =>
    limits.isNews(worker, { type: "full", of, over }, [0, 1]);
  assert.deepEqual([hear(0, "handshakes"), hear(1, "handshakes")], [true, false]);
  assert.ok(hear(1, "connections"), "each limit for itself");
  assert.deepEqual([hear(0, "handshakes", true), hear(0, "handshakes")], [false, false]);
  hear(0, "handshakes", true);
  limits.forget(1);
  assert.deepEqual([hear(0, "handshakes"), hear(0, "connections")], [true, true]);
});

Deno.test("a worker that runs no more makes no limit old", () => {
  const limits = new SharedLimits();
  const full = { type: "full", of: "connections", over: false } as const;
  assert.ok(limits.isNews(3, full, [0, 3]));
  assert.ok(limits.isNews(0, full, [0]));
});

Deno.test("the limit of handshakes is told with its number", () => {
  assert.deepEqual(fullEvent({ type: "full", of: "handshakes", over: false }, 50), {
    kind: "handshakes_full",
    maxHandshakes: 25,
    maxConnections: 50,
  });
});
