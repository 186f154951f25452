// The workers as main sees them, with the threads played by the test: what a dead or superfluous one held and counted.

import assert from "node:assert/strict";
import { Board, TALLY } from "../../../src/core/board.ts";
import type { ListenerStats } from "../../../src/core/stats.ts";
import { Workers } from "../../../src/control/workers.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";
import { listener, planOf, upstream } from "../../support/plans.ts";
import { planeStats, type ScriptedWorker, ScriptedWorkers } from "../../support/scripted_workers.ts";

const PLAN = planOf([upstream("up", ["10.0.0.1:80"])]);

async function world(count: number) {
  const clock = new FakeClock();
  const board = new Board();
  board.grow(1);
  const scripted = new ScriptedWorkers();
  const deaths: string[] = [];
  const workers = new Workers(board, {
    spawn: scripted.spawn,
    clock,
    reusePort: true,
    notices: {
      message: () => {},
      lost: () => deaths.push("lost"),
      died: (_, reason) => deaths.push(reason),
      hopeless: assert.fail,
    },
  });
  await workers.resize(count);
  await workers.take(PLAN, { slots: 1 });
  return { clock, board, workers, threads: scripted.all, deaths, cells: board.cells(0) };
}

/** A worker takes a lease on slot 0, as a pick does. */
function hold(thread: ScriptedWorker): void {
  thread.board.cells(0).enter(Infinity);
  thread.tally.row(0)[TALLY.held]!++;
  thread.tally.row(0)[TALLY.picks]!++;
}

function counted(active: number, accepted: number): { in: ListenerStats } {
  return { in: { active, accepted, outcomes: {}, bytesIn: 0, bytesOut: 0 } };
}

Deno.test("what a dead worker held comes back, what the others hold stays", async () => {
  const { workers, threads, cells, deaths } = await world(2);
  hold(threads[0]!);
  hold(threads[0]!);
  hold(threads[1]!);
  threads[0]!.permits.take(10);
  threads[1]!.permits.take(10);
  threads[0]!.handshakePermits.take(10);
  threads[0]!.handshakePermits.take(10);
  threads[1]!.handshakePermits.take(10);
  threads[0]!.events.died("out of memory");
  assert.equal(threads[1]!.handshakePermits.taken, 1);
  assert.deepEqual([cells.inFlight, workers.sessions, deaths], [1, 1, ["lost", "out of memory"]]);
  assert.deepEqual(threads[2]!.told, ["start", "plan"], "another took its place");
  assert.equal(workers.rows(0).reduce((sum, row) => sum + row[TALLY.picks]!, 0), 3);
});

Deno.test("a cut reaches superfluous workers that still have sessions, and counts them", async () => {
  const { workers, threads } = await world(2);
  threads[1]!.permits.take(10);
  await workers.resize(1);
  [threads[0]!.sessions, threads[1]!.sessions] = [2, 1];
  assert.equal(await workers.cut(), 3);
  workers.terminate();
});

Deno.test("counts never fall while a superfluous worker finishes, nor when it ends", async () => {
  const { workers, threads, clock } = await world(2);
  threads[0]!.stats = planeStats({ listeners: counted(1, 10) });
  threads[1]!.stats = planeStats({ listeners: counted(2, 20) });
  threads[1]!.permits.take(10);
  const numbers = async () => {
    const { active, accepted } = (await workers.stats()).listeners["in"]!;
    return [active, accepted];
  };
  assert.deepEqual(await numbers(), [3, 30]);
  await workers.resize(1);
  threads[1]!.stats = planeStats({ listeners: counted(1, 20) });
  assert.deepEqual(await numbers(), [2, 30]);
  threads[1]!.stats = planeStats({ listeners: counted(0, 20) });
  threads[1]!.permits.give();
  threads[1]!.handshakePermits.take(10);
  await clock.advance(1000);
  assert.ok(threads[1]!.isTerminated, "a client that it left behind in its handshake does not keep it");
  assert.equal(threads[0]!.handshakePermits.taken, 0);
  assert.deepEqual(await numbers(), [1, 30]);
});

Deno.test("a superfluous worker leaves its counts of endpoints behind, however often that happens", async () => {
  const { workers, threads, clock } = await world(1);
  for (let round = 1; round <= 50; round++) {
    await workers.resize(2);
    hold(threads.at(-1)!);
    threads.at(-1)!.tally.row(0)[TALLY.held]!--;
    threads.at(-1)!.tally.row(0)[TALLY.latencyMs] = 5;
    await workers.resize(1);
    await clock.advance(1000);
  }
  const rows = workers.rows(0);
  assert.equal(rows.reduce((sum, row) => sum + row[TALLY.picks]!, 0), 50);
  assert.ok(rows.length <= 2, `${rows.length} tallies are kept`);
  workers.clearSlot(0);
  assert.equal(workers.rows(0).reduce((sum, row) => sum + row[TALLY.picks]!, 0), 0);
});

Deno.test("a superfluous worker that dies is settled once, even when another has its number by then", async () => {
  const { workers, threads, clock, cells, deaths } = await world(2);
  hold(threads[1]!);
  threads[1]!.permits.take(10);
  await workers.resize(1);
  threads[1]!.events.died("fault");
  assert.deepEqual([cells.inFlight, workers.sessions, deaths], [0, 0, ["lost"]]);
  await workers.resize(2);
  threads[2]!.permits.take(10);
  await clock.advance(1000);
  threads[2]!.permits.take(10);
  assert.deepEqual(workers.states().map(({ id, sessions }) => [id, sessions]), [[0, 0], [1, 2]]);
  assert.equal(workers.rows(0).reduce((sum, row) => sum + row[TALLY.picks]!, 0), 1);
});

Deno.test("a plan reaches superfluous workers too, listeners to bind do not", async () => {
  const { workers, threads } = await world(2);
  threads[1]!.permits.take(10);
  await workers.resize(1);
  assert.deepEqual(await workers.prepare([listener("in", 80)]), undefined);
  await workers.take({ ...PLAN, revision: 2 }, { slots: 300 });
  assert.deepEqual(threads.map(({ told }) => told.join(" ")), [
    "start plan prepare plan",
    "start plan drain plan",
  ]);
  assert.equal(workers.rows(299).length, 3);
  workers.terminate();
  await settled();
});
