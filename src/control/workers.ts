// The workers of this process: started, kept on one plan, asked for counts, replaced when they die. A dead worker takes
// its own connections with it and nothing else: what it held on the board is given back here.

import type { WorkerState } from "../admin/running_state.ts";
import { type Board, type BoardMemory, TALLY, Tally } from "../core/board.ts";
import type { Clock } from "../core/clock.ts";
import type { BindFailure, FromWorker, ToWorker } from "../core/message.ts";
import { Permits } from "../core/permits.ts";
import type { Listener, Plan } from "../core/plan.ts";
import type { PlaneStats } from "../core/stats.ts";
import { mergeStats } from "./merge_stats.ts";
import { PastCounts } from "./past_counts.ts";
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
  /** A worker has died, and with it the evidence it had not sent yet. */
  lost(): void;
  died(worker: number, reason: string, deathsInMinute: number): void;
  /** Too many deaths: there is no point in going on. */
  hopeless(reason: string): void;
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
  readonly #handshakePermits: Permits;
  readonly #spawn: SpawnWorker;
  readonly #notices: WorkerNotices;
  readonly #clock: Clock;
  readonly #reusePort: boolean;
  #members: Member[] = [];
  /** Superfluous ones that still have sessions. */
  readonly #leaving = new Set<Member>();
  /** Aborted when all workers are ended. */
  readonly #end = new AbortController();
  /** Of workers that are no more. */
  readonly #past = new PastCounts();
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
    this.#handshakePermits = new Permits(Permits.allocate(), 0);
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

  /**
   * Brings the number of workers to `count`. Added ones take the plan in force; superfluous ones drain and end. Once all
   * have been ended it does nothing.
   */
  async resize(count: number): Promise<void> {
    if (this.#end.signal.aborted) return;
    while (this.#members.length < count) this.#members.push(this.#newMember(this.#freeNumber()));
    const leaving = this.#members.splice(count);
    await Promise.all(leaving.map((member) => this.#retire(member)));
  }

  /** A number that no worker has, leaving ones included: each has cells of its own. */
  #freeNumber(): number {
    const used = new Set(this.#running.map(({ link }) => link.number));
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
      handshakePermits: this.#handshakePermits.memory,
      reusePort: this.#reusePort,
    });
    if (this.#plan !== undefined) void link.ask(this.#planMessage(member, this.#plan));
    return link;
  }

  /** All that run, superfluous ones included. */
  get #running(): readonly Member[] {
    return [...this.#members, ...this.#leaving];
  }

  #replace(member: Member, reason: string): void {
    const { number } = member.link;
    this.#settleEstate(member);
    this.#notices.lost();
    if (this.#leaving.has(member)) return this.#bury(member);
    member.restarts++;
    this.#restarts++;
    const now = this.#clock.now();
    this.#deaths = [...this.#deaths.filter((at) => now - at < DEATH_WINDOW_MS), now];
    this.#notices.died(number, reason, this.#deaths.length);
    if (this.#isDraining) return;
    if (this.#deaths.length > MOST_DEATHS) return this.#notices.hopeless(reason);
    member.link = this.#start(number, member);
  }

  /** Gives back the places and connections that a dead worker held, and keeps what it counted. */
  #settleEstate(member: Member): void {
    for (const permits of [this.#permits, this.#handshakePermits]) permits.reclaim(member.link.number);
    for (let slot = 0; slot < this.#slots; slot++) {
      const row = member.tally.row(slot);
      if (row[TALLY.held]! > 0) this.#board.cells(slot).leave(row[TALLY.held]!);
      row[TALLY.held] = 0;
    }
    if (member.stats !== undefined) this.#past.addStats(member.stats);
    member.stats = undefined;
  }

  /** A superfluous worker has ended. */
  #bury(member: Member): void {
    this.#leaving.delete(member);
    this.#past.addTally(member.tally, this.#slots);
  }

  /** A worker too many: it finishes what it has, then ends. Its sessions are cut by its end if they outlast the drain. */
  async #retire(member: Member): Promise<void> {
    this.#leaving.add(member);
    await member.link.ask({ type: "drain" });
    void this.#endWhenIdle(member);
  }

  async #endWhenIdle(member: Member): Promise<void> {
    const { signal } = this.#end;
    const isWaitedFor = () => this.#leaving.has(member) && !signal.aborted;
    while (isWaitedFor() && this.#permits.held(member.link.number) > 0) {
      await this.#clock.sleep(200, signal).catch(() => undefined);
    }
    if (isWaitedFor()) await this.#refresh(member);
    if (!isWaitedFor()) return; // It has died meanwhile, or everything ends.
    member.link.terminate();
    this.#settleEstate(member);
    this.#bury(member);
  }

  /** Has every worker bind the listeners. On a failure everything is undone in all of them. */
  async prepare(listeners: readonly Listener[]): Promise<BindFailure | undefined> {
    if (listeners.length === 0) return undefined;
    const answers = await Promise.all(
      this.#members.map(({ link }) => link.ask({ type: "prepare", listeners })),
    );
    const failure = answers.find((answer) => answer?.type === "bound" && answer.failure !== undefined);
    if (failure?.type !== "bound") return undefined;
    for (const { link } of this.#members) link.post({ type: "abandon" });
    return failure.failure;
  }

  /**
   * Puts all workers on the plan; resolves when each has taken it. `slots`: how many the board has to hold. Superfluous
   * workers open no listeners by it, but their sessions follow it.
   */
  async take(plan: Plan, options: { slots: number; retireMs?: number }): Promise<void> {
    this.#plan = plan;
    this.#slots = options.slots;
    for (const member of this.#running) member.tally.grow(this.#slots);
    this.#past.grow(this.#slots);
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
    return Promise.all(this.#running.map((member) => member.link.ask(request(member))));
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
    await Promise.all(this.#running.map((member) => this.#refresh(member)));
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
    return mergeStats([this.#past.stats, ...this.#running.flatMap((member) => member.stats ?? [])]);
  }

  /** Restarts since the start, also of workers that are no more. */
  get restarts(): number {
    return this.#restarts;
  }

  /** How each worker fares, superfluous ones that still have sessions included. The lag is as of the last `stats`. */
  states(): readonly WorkerState[] {
    return this.#running.map(({ link, restarts, stats }) => ({
      id: link.number,
      sessions: this.#permits.held(link.number),
      restarts,
      loopLagMs: stats?.loopLagMs ?? 0,
    }));
  }

  /** The tallies of a slot, those of workers that are no more in one. */
  rows(slot: number): readonly Float64Array[] {
    return [...this.#running.map((member) => member.tally), this.#past].map((counts) => counts.row(slot));
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
    for (const { link } of this.#running) link.terminate();
  }
}
