// The data plane of one worker: the listeners, pickers and sessions of the plan in force, and what happens to them when
// the plan changes, drains or is cut. It runs equally in a worker thread and, in tests, in the main thread.

import type { Board, Tally } from "../core/board.ts";
import type { Clock, Random } from "../core/clock.ts";
import type { BindFailure } from "../core/message.ts";
import type { Listener, Plan } from "../core/plan.ts";
import type { ListenerStats, PlaneStats } from "../core/stats.ts";
import { Stalls, TOLD_STALL_MS } from "../core/stalls.ts";
import { TimerWheel } from "../core/wheel.ts";
import type { HttpLimits } from "../http/tools.ts";
import type { ConnSource } from "../net/accept_loop.ts";
import { BufferPool } from "../net/buffers.ts";
import { Deadlines } from "../net/deadline.ts";
import type { DialOptions } from "../net/dial.ts";
import { Handshakes } from "../net/handshakes.ts";
import { messageOf } from "../net/socket_errors.ts";
import { Counts } from "./counts.ts";
import { Listeners, type ListenersHost } from "./listeners.ts";
import { HttpOffice } from "./http_office.ts";
import { HttpSession } from "./http_session.ts";
import { type LeaseOffice, Picker } from "./pick.ts";
import { ClientPlaces, type ClientPlacesPorts } from "./client_places.ts";
import { Reporter } from "./reporter.ts";
import { Retiring } from "./retiring.ts";
import type { ClientConn, Dial, Service, Session } from "./service.ts";
import { SessionLog } from "./session_log.ts";
import { TcpSession } from "./tcp_session.ts";

/** How often `tick` is to be called, milliseconds. */
export const TICK_MS = 100;

/** What a plane is given. */
export interface PlanePorts extends ClientPlacesPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly board: Board;
  readonly tally: Tally;
  readonly dial: Dial;
  readonly resolveHost: DialOptions["resolveHost"];
  /** Binds a listener's address; throws with `code` when that fails. */
  readonly listen: (listener: Listener) => ConnSource<ClientConn>;
  /** Time limits of HTTP; absent: those of W7. */
  readonly httpLimits?: HttpLimits;
}

const EMPTY_PLAN: Plan = {
  generation: 0,
  revision: 0,
  limits: { maxConnections: 0 },
  access: "off",
  resolver: "stub",
  listeners: [],
  upstreams: [],
};

/** One worker's data plane. */
export class Plane implements Service, ListenersHost {
  readonly clock: Clock;
  readonly wheel: TimerWheel;
  readonly buffers = new BufferPool();
  readonly counts = new Counts();
  readonly reporter: Reporter;
  readonly dial: Dial;
  readonly resolveHost: DialOptions["resolveHost"];
  readonly deadlines = new Deadlines();
  readonly handshakes: Handshakes;
  readonly places: ClientPlaces;
  plan: Plan = EMPTY_PLAN;
  draining = false;
  readonly #ports: PlanePorts;
  readonly #office: LeaseOffice;
  readonly #http: HttpOffice;
  readonly #log: SessionLog;
  readonly #sessions = new Set<Session>();
  readonly listen: PlanePorts["listen"];
  readonly #listeners: Listeners;
  readonly #stalls: Stalls;
  readonly #retiring: Retiring;
  #pickers = new Map<string, Picker>();
  /** Slots of which main has been told in this tick that they could not be reached. */
  readonly #unreached = new Set<number>();
  #lastTick: number;
  #lagMs = 0;

  constructor(ports: PlanePorts) {
    this.#ports = ports;
    this.clock = ports.clock;
    this.handshakes = new Handshakes(ports.clock);
    this.places = new ClientPlaces(ports);
    this.dial = ports.dial;
    this.listen = ports.listen;
    this.#listeners = new Listeners(this);
    this.resolveHost = ports.resolveHost;
    this.wheel = new TimerWheel(ports.clock.now(), { tickMs: TICK_MS });
    this.#retiring = new Retiring(this.wheel, this.#sessions);
    this.#http = new HttpOffice(this, ports.random, ports.httpLimits);
    this.reporter = new Reporter((runs) => ports.send({ type: "evidence", runs }));
    this.#log = new SessionLog((records, dropped) => ports.send({ type: "sessions", records, dropped }));
    this.#lastTick = ports.clock.now();
    this.#stalls = new Stalls(this.#lastTick, TICK_MS);
    const { board, tally, random } = ports;
    this.#office = { board, tally, random, reporter: this.reporter, counts: this.counts };
  }

  /** Client connections that are open. */
  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Binds listeners of a plan to come; see `Listeners.prepare`. */
  prepare(listeners: readonly Listener[]): Promise<BindFailure | undefined> {
    return this.#listeners.prepare(listeners);
  }

  /** Lets go of what was prepared. */
  abandon(): Promise<void> {
    return this.#listeners.abandon();
  }

  /** Swaps to a plan whose new listeners have been prepared. What is kept is not touched. */
  take(plan: Plan, retireMs?: number): void {
    const before = this.plan;
    this.plan = plan;
    this.places.limit(plan.limits.maxConnections);
    this.#takeUpstreams(plan);
    this.#http.take(plan);
    this.#listeners.take(plan.listeners);
    if (retireMs !== undefined) this.#retiring.listeners(before, plan, retireMs);
    this.#retiring.endpoints(before, plan);
    this.counts.keepOnly(namesOf(plan.listeners), namesOf(plan.upstreams));
  }

  #takeUpstreams(plan: Plan): void {
    const pickers = new Map<string, Picker>();
    for (const upstream of plan.upstreams) {
      const picker = this.#pickers.get(upstream.name) ?? new Picker(upstream, this.#office);
      picker.update(upstream);
      pickers.set(upstream.name, picker);
    }
    for (const [name, picker] of this.#pickers) if (!pickers.has(name)) picker.close();
    this.#pickers = pickers;
  }

  /** Takes no new work: listeners close once the kernel's queue is empty, idle kept connections close. */
  async drain(): Promise<void> {
    await this.#listeners.retireAll();
    this.draining = true;
    for (const session of this.#sessions) session.drain();
    this.places.drain();
  }

  /** Cuts every session that is left and gives their number. */
  cut(): number {
    const sessions = [...this.#sessions];
    for (const session of sessions) session.cut("drained");
    return sessions.length;
  }

  /** Closes everything at once: listeners, prepared or not, and sessions. Resolves when all of it has ended. */
  async close(): Promise<void> {
    await this.#listeners.close();
    this.cut();
    while (this.#sessions.size > 0) await this.clock.sleep(1);
    this.deadlines.close();
    this.#http.close();
  }

  /** To be called every `TICK_MS`: deadlines, gathered reports, the measure of our own lateness. */
  tick(): void {
    const now = this.clock.now();
    const lagMs = now - this.#lastTick - TICK_MS;
    this.#lagMs = Math.max(lagMs, this.#lagMs * 0.98, 0);
    this.#lastTick = now;
    if (lagMs >= TOLD_STALL_MS) this.#ports.send({ type: "stalled", lagMs });
    this.places.tick();
    this.#unreached.clear();
    this.#stalls.beat(now);
    this.wheel.advance(now);
    this.#http.tick(now);
    this.reporter.flush();
    this.#log.flush();
  }

  /** The counts so far. What has gathered is sent before: whoever asks may be about to end this worker. */
  stats(): PlaneStats {
    this.reporter.flush();
    this.#log.flush();
    return this.counts.snapshot(this.#lagMs);
  }

  // What sessions use (Service).

  picker(upstream: string): Picker | undefined {
    return this.#pickers.get(upstream);
  }

  unreached(slot: number): void {
    if (this.#unreached.has(slot)) return;
    this.#unreached.add(slot);
    this.#ports.send({ type: "unreached", slot });
  }

  longestStallSince(from: number): number {
    return this.#stalls.longest(from, this.clock.now());
  }

  record(record: Parameters<SessionLog["add"]>[0]): void {
    this.#log.add(record);
  }

  // What listeners use (ListenersHost).

  trouble(listener: string, code: string, over: boolean): void {
    this.#ports.send({ type: "accept_trouble", listener, code, over });
  }

  /** Serves a client connection to its end, and gives its place back then. */
  admit(conn: ClientConn, listener: Listener): void {
    this.places.enter(conn, listener);
    const session = this.#sessionFor(conn, listener);
    const stats = this.counts.listener(listener.name);
    this.#sessions.add(session);
    stats.accepted++;
    stats.active++;
    void this.#serve(session, conn, stats);
  }

  async #serve(session: Session, conn: ClientConn, stats: ListenerStats): Promise<void> {
    try {
      await session.serve();
    } catch (error) {
      this.#ports.send({ type: "loop_error", message: `Session failed: ${messageOf(error)}` });
    }
    this.#sessions.delete(session);
    stats.active--;
    this.places.leave(conn);
  }

  #sessionFor(conn: ClientConn, listener: Listener): Session {
    setNoDelay(conn);
    if (listener.protocol === "http") return new HttpSession(this, this.#http, { conn, listener });
    return new TcpSession(this, listener, conn);
  }
}

function setNoDelay(conn: ClientConn): void {
  try {
    conn.setNoDelay?.(true);
  } catch {
    // Some systems refuse it when the client is gone already: the first read tells.
  }
}

function namesOf(items: readonly { readonly name: string }[]): ReadonlySet<string> {
  return new Set(items.map((item) => item.name));
}
