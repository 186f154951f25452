// One run of the chaos test: a data plane in memory, some clients and endpoints, and all that may go wrong, by chance. It
// ends when the last session has, and gives what happened that must not.

import { setImmediate } from "node:timers/promises";
import type { Upstream } from "../../src/core/plan.ts";
import { BlameBook } from "./blame_book.ts";
import { Chance } from "./chance.ts";
import { ChaosClient, type ClientGround } from "./chaos_client.ts";
import { ChaosConns } from "./chaos_dial.ts";
import { ChaosEndpoint, READ_MS } from "./chaos_endpoint.ts";
import { ChaosKeeper } from "./chaos_keeper.ts";
import { discoveryParams } from "./discovery_desk.ts";
import { HeldWatch } from "./held_watch.ts";
import type { Llhttp } from "./llhttp.ts";
import { MemoryStage } from "./memory_stage.ts";
import { Turns } from "./turns.ts";

const KEYS = ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"];
const POLICIES = ["round_robin", "least_requests", "random", "ip_hash", "peak_ewma"] as const;
/** Of clients that say no more: long enough for those that go on. */
const LIMITS = { headMs: 2000, bodyMs: 2000 };
/** How long a turn may take, milliseconds; in nine of them `READ_MS` does not pass. */
const STEPS_MS = [5, 50, 100, 100, 300];
/** Most turns of a run. */
const MAX_TURNS = 20_000;
const DRAIN_REMOVED_MS = 200;

/** What happened in a run. */
export interface ChaosReport {
  /** What must not happen. */
  readonly faults: readonly string[];
  /** How often what came to pass, by name. */
  readonly seen: ReadonlyMap<string, number>;
}

/** Runs it; equal chances give equal runs. */
export async function chaosRun(random: () => number, llhttp: Llhttp): Promise<ChaosReport> {
  using watch = new HeldWatch();
  return await new ChaosRun(random, { llhttp, watch }).run();
}

class ChaosRun implements ClientGround {
  readonly chance: Chance;
  readonly turns = new Turns();
  readonly book = new BlameBook();
  readonly llhttp: Llhttp;
  readonly asked: string[] = [];
  cutOffs = 0;
  readonly #watch: HeldWatch;
  readonly #faults: string[] = [];
  readonly #seen = new Map<string, number>();
  readonly #conns: ChaosConns;
  readonly #stage: MemoryStage;
  readonly #keeper: ChaosKeeper;
  readonly #maxInFlight: number;
  /** No other plans, drains or cuts. */
  readonly #isSteady: boolean;
  #lastId = 0;
  #clients = 0;

  constructor(random: () => number, { llhttp, watch }: { llhttp: Llhttp; watch: HeldWatch }) {
    const chance = this.chance = new Chance(random);
    this.llhttp = llhttp;
    this.#watch = watch;
    this.#isSteady = chance.happens(0.5);
    this.#conns = new ChaosConns(this, watch);
    const endpoints = KEYS.map((_, slot) => new ChaosEndpoint(this, slot));
    const isBounded = chance.happens(0.5);
    this.#maxInFlight = isBounded ? 2 : Infinity;
    this.#stage = new MemoryStage({ dial: this.#conns.dialTo(endpoints) }, KEYS, {
      random,
      limits: LIMITS,
      told: (message) => this.#keeper.take(message),
      upstream: {
        loadBalancer: chance.one(POLICIES),
        timeouts: { connectMs: 5000, readMs: READ_MS, happyEyeballsMs: 0 },
        ...(isBounded && { maxConnections: 2 }),
        ...(chance.happens(0.5) && { retries: { attempts: 2, statuses: [503] } }),
      },
    });
    this.#keeper = new ChaosKeeper(this, this.#stage.board, KEYS.length);
    watch.followWheel(this.#stage.plane.wheel);
  }

  // What clients and endpoints use.

  readonly fault = (what: string): void => void this.#faults.push(what);
  readonly saw = (what: string): void => void this.#seen.set(what, (this.#seen.get(what) ?? 0) + 1);
  get isDraining(): boolean {
    return this.#stage.plane.draining;
  }

  readonly now = (): number => this.#stage.clock.now();
  readonly nextId = (): number => ++this.#lastId;

  // The run.

  async run(): Promise<ChaosReport> {
    const clients: Promise<void>[] = [];
    const wanted = 6 + this.chance.below(10);
    while (clients.length < wanted || this.#clients > 0) {
      if (clients.length < wanted && this.chance.happens(0.5)) clients.push(this.#letIn());
      await this.#turn(this.chance.one(STEPS_MS));
      if (!this.#isSteady) await this.#disturb();
    }
    await Promise.all(clients);
    while (this.#stage.plane.sessionCount > 0) await this.#turn(100);
    await this.#end();
    return { faults: [...this.#faults, ...this.#watch.faults, ...this.book.faults], seen: this.#seen };
  }

  async #letIn(): Promise<void> {
    const [near, far] = this.#conns.pair();
    this.#clients++;
    this.#stage.admit(near);
    await new ChaosClient(this, far).run();
    this.#clients--;
  }

  async #turn(ms: number): Promise<void> {
    const { clock, plane, permits } = this.#stage;
    if (this.turns.now === MAX_TURNS) throw new Error("A run does not end");
    this.turns.next();
    // Until nothing is left to be done at this moment, however many steps it takes over narrow connections.
    await setImmediate();
    await clock.advance(ms);
    plane.tick();
    await setImmediate();
    plane.reporter.flush();
    this.#keeper.turn(this.#maxInFlight);
    if (permits.taken !== plane.sessionCount) {
      this.fault(`${plane.sessionCount} sessions hold ${permits.taken} permits`);
    }
    this.#checkWheel();
  }

  /** Each session has one time limit at the most, and one more while it dials. */
  #checkWheel(): void {
    const { onWheel } = this.#watch;
    const looks = onWheel.filter((name) => name === "ClientLook").length;
    const isRight = looks <= this.#conns.dialing && onWheel.length - looks <= this.#stage.plane.sessionCount;
    if (!isRight) this.fault(`on the wheel are ${onWheel} with ${this.#conns.dialing} dials under way`);
  }

  /** Sometimes something happens to all at once. */
  async #disturb(): Promise<void> {
    const { chance } = this;
    if (chance.happens(0.03)) this.#changePlan();
    if (chance.happens(0.004)) await this.#drain();
    if (!chance.happens(0.004)) return;
    this.#cutOff("cut");
    this.#stage.plane.cut();
  }

  #cutOff(how: string): void {
    this.cutOffs++;
    this.saw(how);
  }

  #changePlan(): void {
    const { chance } = this;
    const { plane, usual } = this.#stage;
    this.#cutOff("another plan");
    const listeners = chance.happens(0.8) ? usual.listeners : [];
    const upstreams = usual.upstreams.map((upstream) => this.#changed(upstream));
    plane.take({ ...usual, listeners, upstreams }, chance.happens(0.5) ? 100 : undefined);
  }

  /** Without some of its endpoints; connections to those end after a while. */
  #changed(upstream: Upstream): Upstream {
    return {
      ...upstream,
      endpoints: upstream.endpoints.filter(() => this.chance.happens(0.7)),
      discovery: discoveryParams({ drainRemovedMs: DRAIN_REMOVED_MS }),
    };
  }

  async #drain(): Promise<void> {
    this.saw("drain");
    const draining = this.#stage.plane.drain();
    for (let step = 0; step < 30; step++) await this.#stage.clock.advance(10);
    await draining;
  }

  /** The last session has ended: nothing is left of any. */
  async #end(): Promise<void> {
    const { plane, clock } = this.#stage;
    plane.tick();
    this.#keeper.checkQuiet();
    this.#checkWheel();
    const closing = plane.close();
    await clock.advance(10);
    await closing;
    await setImmediate();
    if (this.#conns.open > 0) this.fault(`${this.#conns.open} connections are left open`);
    if (this.#watch.heldBuffers > 0) this.fault(`${this.#watch.heldBuffers} buffers were not given back`);
    this.#checkAsked();
    if (this.book.charges > 0) this.saw("charge");
  }

  /** A request with a body goes out at most once (W6). */
  #checkAsked(): void {
    const withBody = this.asked.filter((one) => /^P(?:OS|U)T /.test(one));
    const twice = withBody.filter((one, index) => withBody.indexOf(one) !== index);
    if (twice.length > 0) this.fault(`endpoints were asked again for ${twice}`);
    if (this.asked.length > new Set(this.asked).size) this.saw("sent again");
  }
}
