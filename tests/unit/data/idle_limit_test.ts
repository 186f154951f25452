import assert from "node:assert/strict";
import type { Outcome } from "../../../src/core/outcome.ts";
import { TimerWheel } from "../../../src/core/wheel.ts";
import { IdleLimit } from "../../../src/data/idle_limit.ts";

/** A limit with 3 s of idleness and 1 s half-closed, on a wheel that a test turns. */
class Setup {
  now = 0;
  readonly wheel = new TimerWheel(0);
  readonly limit = new IdleLimit(this.wheel, { idleTimeoutMs: 3000, halfCloseTimeoutMs: 1000 });
  readonly cuts: [number, Outcome][] = [];

  constructor() {
    this.limit.begin({ cut: (outcome) => this.cuts.push([this.now, outcome]) });
  }

  get outcomes(): readonly Outcome[] {
    return this.cuts.map(([, outcome]) => outcome);
  }

  /** Time goes on, in steps of the wheel. */
  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end;) this.wheel.advance(this.now += 100);
  }

  /** The thread did nothing for so long. */
  stall(ms: number): void {
    this.wheel.advance(this.now += ms);
  }
}

Deno.test("without bytes the session is cut once, soon after the idle limit", () => {
  const setup = new Setup();
  setup.pass(2900);
  assert.deepEqual(setup.cuts, []);
  setup.pass(10_000);
  assert.deepEqual(setup.cuts, [[3300, "idle"]]);
});

Deno.test("bytes renew the limit", () => {
  const setup = new Setup();
  for (let round = 0; round < 10; round++) {
    setup.pass(2500);
    setup.limit.touch();
  }
  assert.deepEqual(setup.cuts, []);
  setup.pass(4000);
  assert.deepEqual(setup.cuts, [[28_300, "idle"]]);
});

Deno.test("what came while the thread was stalled is read before the limit counts as passed", () => {
  const setup = new Setup();
  for (let round = 0; round < 5; round++) {
    setup.pass(500);
    setup.stall(10_000);
    setup.limit.touch(); // The bytes were waiting in the kernel.
    setup.pass(1000);
  }
  assert.deepEqual(setup.cuts, []);
  setup.pass(500);
  setup.stall(10_000);
  setup.pass(300);
  assert.deepEqual(setup.outcomes, ["idle"], "silence is silence");
});

Deno.test("half-closed, the shorter limit holds, and bytes renew it", () => {
  const setup = new Setup();
  setup.limit.halfClosed();
  setup.pass(900);
  setup.limit.touch();
  setup.pass(900);
  assert.deepEqual(setup.cuts, []);
  setup.pass(2000);
  assert.deepEqual(setup.cuts, [[2200, "half_close_timeout"]]);
});

Deno.test("an ended limit cuts nobody", () => {
  const setup = new Setup();
  setup.limit.end();
  setup.pass(10_000);
  assert.deepEqual(setup.cuts, []);
});
