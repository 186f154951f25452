import assert from "node:assert/strict";
import type { Config } from "../../../src/core/plan.ts";
import type { HaleEvent } from "../../../src/core/event.ts";
import type { Problem } from "../../../src/config/problem.ts";
import type { ConfigReading } from "../../../src/control/config_source.ts";
import { CONFIRM_MS, POLL_MS, Reloader, SETTLE_MS } from "../../../src/control/reloader.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const PROBLEM: Problem = { file: "hale.yaml", line: 3, column: 7, path: "listeners[0]", message: "Wrong" };

/** Files as a test has them: a text that is good unless it begins with "bad". */
class Setup {
  readonly clock = new FakeClock();
  readonly events: HaleEvent[] = [];
  readonly applied: string[] = [];
  text = "good 1";
  reads = 0;
  /** Reasons of the supervisor against applying. */
  objections: readonly string[] = [];
  /** What goes wrong in hale itself when it reads or applies. */
  fault: { readonly in: "read" | "apply"; readonly message: string } | undefined;
  readonly stop = new AbortController();
  readonly reloader = new Reloader({
    clock: this.clock,
    emit: (event) => this.events.push(event),
    read: () => Promise.resolve(this.#read()),
    apply: (_config, { hash }) => {
      if (this.fault?.in === "apply") throw new Error(this.fault.message);
      if (this.objections.length === 0) this.applied.push(hash);
      return Promise.resolve(this.objections);
    },
    watch: () => {},
  });
  #running: Promise<void> | undefined;

  #read(): ConfigReading {
    this.reads++;
    if (this.fault?.in === "read") throw new Error(this.fault.message);
    const inputs = { files: [], folders: ["."], digestInput: this.text };
    const good = { config: {} as Config, ...inputs };
    return {
      hash: this.text,
      isOwnLimit: this.text.startsWith("bad unreadable"),
      decoded: this.text.startsWith("bad") ? { problems: [PROBLEM], ...inputs } : good,
    };
  }

  async started(): Promise<this> {
    await this.reloader.take(this.#read(), "start");
    this.#running = this.reloader.run(this.stop.signal);
    await this.clock.advance(0);
    return this;
  }

  async save(text: string): Promise<void> {
    this.text = text;
    this.reloader.notice();
    await this.clock.advance(0);
  }

  get refusals(): number {
    return this.events.filter(({ kind }) => kind === "plan_refused").length;
  }

  async ended(): Promise<void> {
    this.stop.abort();
    await this.#running;
    assert.equal(this.clock.sleeping, 0);
  }
}

Deno.test("an edit is taken once it has been quiet for the settle time, many events are one reload", async () => {
  const setup = await new Setup().started();
  for (let event = 0; event < 5; event++) {
    await setup.save("good 2");
    await setup.clock.advance(SETTLE_MS.quiet / 2);
  }
  assert.deepEqual(setup.applied, ["good 1"]);
  await setup.clock.advance(SETTLE_MS.quiet);
  assert.deepEqual(setup.applied, ["good 1", "good 2"]);
  await setup.ended();
});

Deno.test("a fault of hale's own in a reload is told, and the next one is taken all the same", async () => {
  for (const part of ["read", "apply"] as const) {
    const setup = await new Setup().started();
    setup.fault = { in: part, message: "No such thing" };
    await setup.save("good 2");
    await setup.clock.advance(SETTLE_MS.quiet);
    assert.deepEqual(setup.events, [
      { kind: "loop_error", thread: "reload", message: "Error: No such thing" },
    ]);
    const { reads } = setup;
    await setup.clock.advance(POLL_MS - 1);
    assert.equal(setup.reads, reads, "it does not go round in circles");
    setup.fault = undefined;
    await setup.clock.advance(POLL_MS);
    assert.deepEqual(setup.applied, ["good 1", "good 2"]);
    setup.reloader.ask();
    await setup.clock.advance(0);
    assert.equal(setup.reloader.state.unchanged, 1);
    await setup.ended();
  }
});

Deno.test("events that never stop do not put the reload off for ever", async () => {
  const setup = await new Setup().started();
  setup.text = "good 2";
  for (let passed = 0; passed <= SETTLE_MS.most; passed += 100) {
    setup.reloader.notice();
    await setup.clock.advance(100);
  }
  assert.deepEqual(setup.applied, ["good 1", "good 2"]);
  await setup.ended();
});

Deno.test("the same bytes make no generation", async () => {
  const setup = await new Setup().started();
  await setup.save("good 1");
  await setup.clock.advance(POLL_MS * 3);
  assert.deepEqual(setup.applied, ["good 1"]);
  assert.equal(setup.reloader.state.accepted, 1);
  await setup.ended();
});

Deno.test("an edit that nobody announced is found by the poll", async () => {
  const setup = await new Setup().started();
  setup.text = "good 2";
  await setup.clock.advance(POLL_MS);
  assert.deepEqual(setup.applied, ["good 1", "good 2"]);
  await setup.ended();
});

Deno.test("files that hale has no descriptor to read are no edit, unless somebody asks", async () => {
  const setup = await new Setup().started();
  await setup.save("bad unreadable");
  await setup.clock.advance(POLL_MS * 3);
  assert.deepEqual([setup.events, setup.reloader.state.refused], [[], 0]);
  assert.equal(setup.reloader.state.lastAttempt?.ok, true);
  setup.reloader.ask();
  await setup.clock.advance(0);
  assert.equal(setup.refusals, 1);
  await setup.save("good 2");
  await setup.clock.advance(SETTLE_MS.quiet);
  assert.deepEqual(setup.applied, ["good 1", "good 2"]);
  await setup.ended();
});

Deno.test("files that become unreadable while an edit settles are no edit either", async () => {
  const setup = await new Setup().started();
  await setup.save("bad 2");
  await setup.clock.advance(SETTLE_MS.quiet);
  setup.text = "bad unreadable";
  await setup.clock.advance(CONFIRM_MS);
  assert.deepEqual(setup.events, []);
  await setup.ended();
});

Deno.test("whoever asks for a reload, or takes a refused edit back, hears that nothing is to be taken", async () => {
  const setup = await new Setup().started();
  setup.reloader.ask();
  await setup.clock.advance(0);
  await setup.save("bad 2");
  await setup.clock.advance(SETTLE_MS.quiet + CONFIRM_MS);
  await setup.save("good 1");
  await setup.clock.advance(SETTLE_MS.quiet + POLL_MS * 2);
  assert.deepEqual(setup.events.map((event) => [event.kind, "trigger" in event && event.trigger]), [
    ["plan_unchanged", "signal"],
    ["plan_refused", "watch"],
    ["plan_unchanged", "watch"],
  ]);
  assert.equal(setup.reloader.state.lastAttempt?.ok, true);
  await setup.ended();
});

Deno.test("a half-written file that is whole within a second is never refused", async () => {
  const setup = await new Setup().started();
  await setup.save("bad half");
  await setup.clock.advance(SETTLE_MS.quiet + 100);
  await setup.save("good 2");
  await setup.clock.advance(SETTLE_MS.quiet + CONFIRM_MS);
  assert.deepEqual(setup.applied, ["good 1", "good 2"]);
  assert.equal(setup.refusals, 0);
  await setup.ended();
});

Deno.test("a file that stays faulty is refused once, with its place, and taken once mended", async () => {
  const setup = await new Setup().started();
  await setup.save("bad 2");
  await setup.clock.advance(SETTLE_MS.quiet + CONFIRM_MS);
  assert.equal(setup.refusals, 1);
  assert.deepEqual(setup.events.at(-1), {
    kind: "plan_refused",
    trigger: "watch",
    problems: ["hale.yaml:3:7  listeners[0]  Wrong"],
  });
  assert.equal(setup.reloader.state.lastAttempt?.ok, false);
  assert.equal(setup.reloader.state.hash, "good 1");
  await setup.clock.advance(POLL_MS * 4);
  assert.equal(setup.refusals, 1, "the poll does not repeat it");
  await setup.save("good 3");
  await setup.clock.advance(SETTLE_MS.quiet);
  assert.deepEqual(setup.applied, ["good 1", "good 3"]);
  assert.equal(setup.reloader.state.lastAttempt?.ok, true);
  await setup.ended();
});

Deno.test("going back to what is in force takes the refusal off the status, without a generation", async () => {
  const setup = await new Setup().started();
  await setup.save("bad 2");
  await setup.clock.advance(SETTLE_MS.quiet + CONFIRM_MS);
  await setup.save("good 1");
  await setup.clock.advance(SETTLE_MS.quiet);
  assert.deepEqual(setup.applied, ["good 1"]);
  assert.equal(setup.reloader.state.lastAttempt?.ok, true);
  await setup.ended();
});

Deno.test("SIGHUP waits for nothing, and repeats a refusal for whoever asks", async () => {
  const setup = await new Setup().started();
  setup.text = "bad 2";
  setup.reloader.ask();
  await setup.clock.advance(0);
  assert.equal(setup.refusals, 1);
  setup.reloader.ask();
  await setup.clock.advance(0);
  assert.equal(setup.refusals, 2);
  setup.text = "good 2";
  setup.reloader.ask();
  await setup.clock.advance(0);
  assert.deepEqual(setup.applied, ["good 1", "good 2"]);
  setup.reloader.ask();
  await setup.clock.advance(0);
  assert.equal(setup.reloader.state.unchanged, 1);
  await setup.ended();
});

Deno.test("an edit refused for a taken port is tried again by itself, and told once", async () => {
  const setup = await new Setup().started();
  setup.objections = ["address in use"];
  await setup.save("good 2");
  await setup.clock.advance(SETTLE_MS.quiet + POLL_MS * 3);
  assert.equal(setup.refusals, 1);
  setup.objections = [];
  await setup.clock.advance(POLL_MS);
  assert.deepEqual(setup.applied, ["good 1", "good 2"]);
  await setup.ended();
});
