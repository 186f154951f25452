// The workers of this process: started, kept on one plan, asked for counts, replaced when they die. A dead worker takes
// its own connections with it and nothing else: what it held on the board is given back here.

import { type Board, type BoardMemory, TALLY, Tally } from "../core/board.ts";
import type { Clock } from "../core/clock.ts";
import type { BindFailure, FromWorker, ToWorker } from "../core/message.ts";
import { Permits } from "../core/permits.ts";
import type { Listener, Plan } from "../core/plan.ts";
import type { PlaneStats } from "../core/stats.ts";
import { mergeStats } from "./merge_stats.ts";
import { type SpawnWorker, WorkerLink } from "./worker_link.ts";

/** More deaths than this within `DEATH_WINDOW_MS` stop the process (DESIGN 2). */
const MOST_DEATHS = 5;
const DEATH_WINDOW_MS = 60_000;
/** How long a worker may take to answer a request for counts before its last ones are used, milliseconds. */
const STATS_MS = 500;

/** What the workers tell about themselves. */
export interface WorkerNotices {
  /** Something a worker says of its own accord. */
  message(message: FromWorker, worker: number): void;
  died(worker: number, reason: string, deathsInMinute: number): void;
  /** Too many deaths: there is no point in going on. */
  hopeless(reason: string): void;
}

/** How one worker fares, for status. */
export interface WorkerState {
  readonly id: number;
  readonly sessions: number;
  readonly restarts: number;
}

interface Member {
  link: WorkerLink;
  readonly tally: Tally;
  stats: PlaneStats | undefined;
  restarts: number;
}

/** All workers. Calls that change plans must not overlap; whoever owns it sees to that. */
export class Workers {
  readonly #board: Board;
  readonly #permits: Permits;
  readonly #spawn: SpawnWorker;
  readonly #notices: WorkerNotices;
  readonly #clock: Clock;
  readonly #reusePort: boolean;
  #members: Member[] = [];
  /** Superfluous ones that still have sessions. */
  readonly #leaving = new Set<Member>();
  /** Aborted when all workers are ended. */
  readonly #end = new AbortController();
  /** Tallies and counts of workers that are no more. */
  #past: PlaneStats[] = [];
  readonly #pastTallies: Tally[] = [];
  #deaths: number[] = [];
  #plan: Plan | undefined;
  #slots = 0;
  #restarts = 0;
  /** Listeners are closed for good: a worker that dies gets no successor that would open them again. */
  #isDraining = false;

  constructor(board: Board, options: {
    spawn: SpawnWorker;
    notices: WorkerNotices;
    clock: Clock;
    reusePort: boolean;
  }) {
    this.#board = board;
    this.#permits = new Permits(Permits.allocate(), 0);
    this.#spawn = options.spawn;
    this.#notices = options.notices;
    this.#clock = options.clock;
    this.#reusePort = options.reusePort;
  }

  /** How many there are. */
  get count(): number {
    return this.#members.length;
  }

  /** Client connections over all workers. */
  get sessions(): number {
    return this.#permits.taken;
  }

  /** Brings the number of workers to `count`. Added ones take the plan in force; superfluous ones drain and end. */
  async resize(count: number): Promise<void> {
    while (this.#members.length < count) this.#members.push(this.#newMember(this.#freeNumber()));
    const leaving = this.#members.splice(count);
    await Promise.all(leaving.map((member) => this.#retire(member)));
  }

  /** A number that no worker has, leaving ones included: each has cells of its own. */
  #freeNumber(): number {
    const used = new Set([...this.#members, ...this.#leaving].map(({ link }) => link.number));
    let number = 0;
    while (used.has(number)) number++;
    return number;
  }

  #newMember(number: number): Member {
    const tally = new Tally();
    tally.grow(this.#slots);
    const member: Member = { link: undefined!, tally, stats: undefined, restarts: 0 };
    member.link = this.#start(number, member);
    return member;
  }

  #start(number: number, member: Member): WorkerLink {
    const link = new WorkerLink(number, {
      spawn: this.#spawn,
      onMessage: (message) => this.#notices.message(message, number),
      onDeath: (reason) => this.#replace(member, reason),
    });
    link.post({
      type: "start",
      worker: number,
      board: this.#board.memory,
      tally: member.tally.memory,
      permits: this.#permits.memory,
      reusePort: this.#reusePort,
    });
    if (this.#plan !== undefined) void link.ask(this.#planMessage(member, this.#plan));
    return link;
  }

  #replace(member: Member, reason: string): void {
    const { number } = member.link;
    this.#settleEstate(member);
    if (this.#leaving.delete(member)) return;
    member.restarts++;
    this.#restarts++;
    const now = this.#clock.now();
    this.#deaths = [...this.#deaths.filter((at) => now - at < DEATH_WINDOW_MS), now];
    this.#notices.died(number, reason, this.#deaths.length);
    if (this.#isDraining) return;
    if (this.#deaths.length > MOST_DEATHS) return this.#notices.hopeless(reason);
    member.link = this.#start(number, member);
  }

  /** Gives back the places, trial permits and connections that a dead worker held. */
  #settleEstate(member: Member): void {
    this.#permits.reclaim(member.link.number);
    for (let slot = 0; slot < this.#slots; slot++) {
      const row = member.tally.row(slot);
      const cells = this.#board.cells(slot);
      if (row[TALLY.held]! > 0) cells.leave(row[TALLY.held]!);
      for (let trial = 0; trial < row[TALLY.heldTrials]!; trial++) cells.giveTrialBack(cells.epoch);
      row[TALLY.held] = 0;
      row[TALLY.heldTrials] = 0;
    }
    if (member.stats !== undefined) this.#past.push(withoutActive(member.stats));
    this.#past = this.#past.length > 8 ? [mergeStats(this.#past)] : this.#past;
    member.stats = undefined;
  }

  /** A worker too many: it finishes what it has, then ends. Its sessions are cut by its end if they outlast the drain. */
  async #retire(member: Member): Promise<void> {
    this.#leaving.add(member);
    await member.link.ask({ type: "drain" });
    void this.#endWhenIdle(member);
  }

  async #endWhenIdle(member: Member): Promise<void> {
    const { signal } = this.#end;
    while (this.#permits.held(member.link.number) > 0 && !signal.aborted) {
      await this.#clock.sleep(200, signal).catch(() => undefined);
    }
    if (signal.aborted) return;
    const answer = await member.link.ask({ type: "stats" });
    if (answer?.type === "stats") member.stats = answer.stats;
    member.link.terminate();
    this.#settleEstate(member);
    this.#leaving.delete(member);
    this.#pastTallies.push(member.tally);
  }

  /** Has every worker bind the listeners. On a failure everything is undone in all of them. */
  async prepare(listeners: readonly Listener[]): Promise<BindFailure | undefined> {
    if (listeners.length === 0) return undefined;
    const answers = await this.#askAll(() => ({ type: "prepare", listeners }));
    const failure = answers.find((answer) => answer?.type === "bound" && answer.failure !== undefined);
    if (failure?.type !== "bound") return undefined;
    for (const { link } of this.#members) link.post({ type: "abandon" });
    return failure.failure;
  }

  /** Puts all workers on the plan; resolves when each has taken it. `slots`: how many the board has to hold. */
  async take(plan: Plan, options: { slots: number; retireMs?: number }): Promise<void> {
    this.#plan = plan;
    this.#slots = options.slots;
    for (const member of [...this.#members, ...this.#leaving]) member.tally.grow(this.#slots);
    for (const tally of this.#pastTallies) tally.grow(this.#slots);
    await this.#askAll((member) => this.#planMessage(member, plan, options.retireMs));
  }

  #planMessage(
    member: Member,
    plan: Plan,
    retireMs?: number,
  ): Omit<Extract<ToWorker, { type: "plan" }>, "id"> {
    const memory: { board: BoardMemory; tally: BoardMemory } = {
      board: this.#board.memory,
      tally: member.tally.memory,
    };
    return { type: "plan", plan, ...memory, ...(retireMs === undefined ? {} : { retireMs }) };
  }

  #askAll(request: (member: Member) => Parameters<WorkerLink["ask"]>[0]) {
    return Promise.all(this.#members.map((member) => member.link.ask(request(member))));
  }

  /** All workers stop accepting; resolves when their listeners are closed. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#askAll(() => ({ type: "drain" }));
  }

  /** Cuts all sessions that are left and gives their number. */
  async cut(): Promise<number> {
    const answers = await this.#askAll(() => ({ type: "cut" }));
    return answers.reduce((sum, answer) => sum + (answer?.type === "cut" ? answer.sessions : 0), 0);
  }

  /** Counts over all workers, past ones included; one that does not answer in time counts with its last answer. */
  async stats(): Promise<PlaneStats> {
    await Promise.all(this.#members.map((member) => this.#refresh(member)));
    return this.statsSoFar();
  }

  async #refresh(member: Member): Promise<void> {
    const late = new AbortController();
    const answer = await Promise.race([
      member.link.ask({ type: "stats" }),
      this.#clock.sleep(STATS_MS, late.signal).catch(() => undefined),
    ]);
    late.abort();
    if (answer?.type === "stats") member.stats = answer.stats;
  }

  /** The counts as of the last `stats`. */
  statsSoFar(): PlaneStats {
    return mergeStats([...this.#past, ...this.#members.flatMap((member) => member.stats ?? [])]);
  }

  /** The loop lag of each worker as of the last `stats`, milliseconds. */
  lags(): readonly number[] {
    return this.#members.map((member) => member.stats?.loopLagMs ?? 0);
  }

  /** Restarts since the start, also of workers that are no more. */
  get restarts(): number {
    return this.#restarts;
  }

  /** How each worker fares. */
  states(): readonly WorkerState[] {
    return this.#members.map(({ link, restarts }) => ({
      id: link.number,
      sessions: this.#permits.held(link.number),
      restarts,
    }));
  }

  /** The tallies of a slot, one per worker that ever counted there. */
  rows(slot: number): readonly Float64Array[] {
    const counting = [...this.#members, ...this.#leaving].map((member) => member.tally);
    return [...counting, ...this.#pastTallies].map((tally) => tally.row(slot));
  }

  /** Forgets what was counted for a slot, for its next owner. */
  clearSlot(slot: number): void {
    for (const row of this.rows(slot)) row.fill(0);
  }

  /** Ends one worker as if it had failed; for tests of exactly that. */
  kill(number: number): void {
    this.#members[number]?.link.kill("Killed on purpose");
  }

  /** Ends all workers. */
  terminate(): void {
    this.#end.abort();
    for (const { link } of [...this.#members, ...this.#leaving]) link.terminate();
  }
}

/** What goes on for ever after a worker's death: everything but what was open. */
function withoutActive(stats: PlaneStats): PlaneStats {
  const listeners = Object.entries(stats.listeners).map(([name, each]) => [name, { ...each, active: 0 }]);
  return { ...stats, listeners: Object.fromEntries(listeners), loopLagMs: 0 };
}
