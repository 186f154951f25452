import assert from "node:assert/strict";
import { drain, type Drained } from "../../../src/control/drain.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const NEVER = new Promise<never>(() => {});

/** Drains what a test makes up; tells the times of what happened, by the fake clock. */
function draining(
  config: { acceptMs: number; timeoutMs: number },
  parts: Partial<Drained> & { sessions: number },
) {
  const clock = new FakeClock();
  const hurry = new AbortController();
  const steps: string[] = [];
  const what: Drained & { sessions: number } = {
    closeListeners: () => Promise.resolve(),
    cut: () => {
      const { sessions } = what;
      what.sessions = 0;
      return Promise.resolve(sessions);
    },
    ...parts,
  };
  const { closeListeners, cut } = what;
  what.closeListeners = () => (steps.push(`close ${clock.now()}`), closeListeners());
  what.cut = () => (steps.push(`cut ${clock.now()}`), cut());
  let result: number | undefined;
  void drain(what, { config, clock, hurry: hurry.signal }).then((count) => {
    result = count;
    steps.push(`end ${clock.now()}`);
  });
  return { clock, hurry, steps, what, result: () => result };
}

Deno.test("accepts for a while, closes, waits for the last session, cuts nobody", async () => {
  const it = draining({ acceptMs: 500, timeoutMs: 3000 }, { sessions: 2 });
  await it.clock.advance(1500);
  it.what.sessions = 0;
  await it.clock.advance(1000);
  assert.deepEqual([it.steps, it.result(), it.clock.sleeping], [["close 500", "end 1520"], 0, 0]);
});

Deno.test("cuts and counts what is left when the time is over", async () => {
  const it = draining({ acceptMs: 0, timeoutMs: 3000 }, { sessions: 2 });
  await it.clock.advance(10_000);
  assert.deepEqual([it.steps, it.result()], [["close 0", "cut 3000", "end 3000"], 2]);
});

Deno.test("the wish to hurry cuts at once, at every point", async () => {
  for (const at of [100, 1000]) {
    const it = draining({ acceptMs: 500, timeoutMs: 3000 }, { sessions: 2 });
    await it.clock.advance(at);
    it.hurry.abort();
    await it.clock.advance(0);
    assert.deepEqual([it.steps.slice(1), it.result()], [[`cut ${at}`, `end ${at}`], 2]);
  }
});

Deno.test("listeners that do not close hold nobody up for longer than sessions may", async () => {
  for (const [timeoutMs, atMs] of [[3000, 3000], [0, 1000]] as const) {
    const it = draining({ acceptMs: 0, timeoutMs }, { sessions: 0, closeListeners: () => NEVER });
    await it.clock.advance(20_000);
    assert.deepEqual([it.steps, it.result()], [["close 0", `end ${atMs}`], 0]);
  }
});

Deno.test("a worker that can not even be told to cut holds nobody up, and what it has counts as cut", async () => {
  const it = draining({ acceptMs: 0, timeoutMs: 100 }, { sessions: 3, cut: () => NEVER });
  await it.clock.advance(5000);
  assert.deepEqual([it.result(), it.clock.sleeping], [3, 0]);
});
