// The centre of main: it holds the config in force, turns it into plans, and keeps workers, health, probes and discovery
// on the same plan. A start is an edit of an empty plan; a discovery update is a plan of the same generation. Changes
// are made one at a time.

import { Board } from "../core/board.ts";
import type { Clock, Random } from "../core/clock.ts";
import type { Emit, ReloadTrigger } from "../core/event.ts";
import type { FromWorker } from "../core/message.ts";
import type { Config, EndpointConfig, Listener, Plan } from "../core/plan.ts";
import type { Run } from "../core/report.ts";
import { dial, type DialOptions } from "../net/dial.ts";
import { Handshakes } from "../net/handshakes.ts";
import { HostResolver, resolverKindOf } from "../net/host_resolver.ts";
import { messageOf } from "../net/socket_errors.ts";
import { describeConfigDiff } from "../config/describe_diff.ts";
import { ActiveProbes } from "./active_probes.ts";
import { assemble, endpointsOf } from "./assemble.ts";
import { DiscoveryTasks } from "./discovery.ts";
import { HealthKeeper } from "./health_keeper.ts";
import { ListenerPorts, type ProbeBind } from "./listener_ports.ts";
import { Serial } from "./serial.ts";
import { fullEvent, SharedLimits } from "./shared_limits.ts";
import { Slots } from "./slots.ts";
import type { SpawnWorker } from "./worker_link.ts";
import { Workers } from "./workers.ts";

/** What the supervisor stands on. */
export interface SupervisorPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  readonly spawn: SpawnWorker;
  readonly probeBind: ProbeBind;
  readonly cores: number;
  /** Whether workers can share an address: else there is one worker. */
  readonly reusePort: boolean;
  /** Hears of all evidence of traffic, beside the keeper. */
  readonly onRuns?: (runs: readonly Run[]) => void;
  /** Ends the process: it can not go on. */
  readonly fatal: (message: string) => void;
}

/** Where a config comes from, for the log and status. */
export interface ConfigOrigin {
  readonly hash: string;
  readonly trigger: ReloadTrigger;
}

/** Everything that runs, kept on one plan. */
export class Supervisor {
  readonly board = new Board();
  readonly slots: Slots;
  readonly workers: Workers;
  readonly keeper: HealthKeeper;
  readonly probes: ActiveProbes;
  readonly discovery: DiscoveryTasks;
  readonly #ports: SupervisorPorts;
  readonly #listenerPorts: ListenerPorts;
  readonly #serial = new Serial();
  readonly #discovered = new Map<string, readonly EndpointConfig[]>();
  /** For probes of endpoints given by name; workers have their own. */
  readonly #hosts: HostResolver;
  readonly #dialing: Pick<DialOptions, "clock" | "resolveHost" | "handshakes">;
  readonly #limits = new SharedLimits();
  #config: Config | undefined;
  #plan: Plan | undefined;
  #generation = 0;
  #revision = 0;
  /** Discovery has said something that the plan does not have yet. */
  #isStale = false;
  /** The listeners close for good: no plan may open them again. */
  #isClosing = false;

  constructor(ports: SupervisorPorts) {
    this.#ports = ports;
    const { clock, random, emit } = ports;
    this.#listenerPorts = new ListenerPorts(ports);
    this.#hosts = new HostResolver(clock);
    this.#dialing = {
      clock,
      resolveHost: (host) => this.#hosts.resolve(host),
      handshakes: new Handshakes(clock),
    };
    this.keeper = new HealthKeeper(this.board, { clock, emit });
    this.workers = new Workers(this.board, {
      spawn: ports.spawn,
      clock,
      reusePort: ports.reusePort,
      notices: {
        message: (message, worker) => this.#hear(message, worker),
        lost: () => this.keeper.renewTrials(),
        died: (worker, message, deathsInMinute) => {
          this.#limits.forget(worker);
          emit({ kind: "worker_died", worker, message, deathsInMinute });
        },
        hopeless: (message) => ports.fatal(`Workers keep dying: ${message}`),
      },
    });
    this.slots = new Slots(this.board, { clock, onReuse: (slot) => this.workers.clearSlot(slot) });
    this.probes = new ActiveProbes({
      clock,
      random,
      emit,
      keeper: this.keeper,
      dial: (target, options) => dial(target, { ...options, ...this.#dialing }),
    });
    this.discovery = new DiscoveryTasks({
      clock,
      random,
      emit,
      onUpdate: (upstream, endpoints) => this.#discoveryUpdate(upstream, endpoints),
    });
  }

  /** The config in force. */
  get config(): Config | undefined {
    return this.#config;
  }

  /** The plan in force. */
  get plan(): Plan | undefined {
    return this.#plan;
  }

  /** The slot of an endpoint of the plan in force. */
  slotOf(upstream: string, key: string): number | undefined {
    const endpoints = this.#plan?.upstreams.find(({ name }) => name === upstream)?.endpoints;
    return endpoints?.find((endpoint) => endpoint.key === key)?.slot;
  }

  /** Brings everything to the config, or changes nothing and gives the problems. */
  apply(config: Config, origin: ConfigOrigin): Promise<readonly string[]> {
    return this.#serial.run(() => this.#apply(config, origin));
  }

  async #apply(config: Config, origin: ConfigOrigin): Promise<readonly string[]> {
    if (this.#isClosing) return ["hale is stopping"];
    const running = this.#plan?.listeners ?? [];
    const change = this.#listenerPorts.change(config.listeners, running);
    if (change.problems.length > 0) return change.problems;
    const workers = this.workers.count;
    const wanted = this.#workerCount(config);
    await this.workers.resize(Math.max(workers, wanted));
    const failure = await this.workers.prepare(change.added);
    if (failure !== undefined) {
      await this.workers.resize(workers);
      return [`Listener "${failure.listener}" can not listen on ${failure.address}: ${failure.message}`];
    }
    this.#listenerPorts.tell(running, change.listeners);
    this.#generation++;
    const changes = this.#config && describeConfigDiff(this.#config, config);
    this.#config = config;
    await this.discovery.respawn(config);
    this.#forgetSets(config);
    await this.#publish(change.listeners);
    await this.workers.resize(wanted);
    this.#tellTaken(origin, changes);
    return [];
  }

  #workerCount(config: Config): number {
    if (!this.#ports.reusePort) return 1;
    return config.workers === "auto" ? this.#ports.cores : config.workers;
  }

  /** The swap: new slots first, then the workers, then what was left behind, so that no pick falls between two plans. */
  async #publish(listeners: readonly Listener[]): Promise<void> {
    this.#isStale = false;
    const config = this.#config!;
    const sets = config.upstreams.map((upstream) => ({
      name: upstream.name,
      endpoints: endpointsOf(upstream, this.#discovered),
    }));
    const slotOf = this.slots.assign(sets);
    const plan = assemble(config, this.#discovered, {
      generation: this.#generation,
      revision: ++this.#revision,
      slotOf,
      resolver: resolverKindOf(config.resolver),
      listeners,
    });
    this.#hosts.use(plan.resolver);
    this.keeper.adopt(plan);
    this.#plan = plan;
    await this.workers.take(plan, { slots: this.slots.count, retireMs: config.drain.timeoutMs });
    this.keeper.release();
    await this.probes.respawn(plan);
  }

  #tellTaken(origin: ConfigOrigin, changes: readonly string[] | undefined): void {
    const plan = this.#plan!;
    this.#ports.emit({
      kind: "plan_taken",
      generation: plan.generation,
      ...origin,
      listeners: plan.listeners.length,
      upstreams: plan.upstreams.length,
      endpoints: plan.upstreams.reduce((sum, upstream) => sum + upstream.endpoints.length, 0),
      ...(changes === undefined ? {} : { changes }),
    });
  }

  /** Sets of upstreams that discover no more, or something else now, are not those of the new config. */
  #forgetSets(config: Config): void {
    const discovering = new Set(config.upstreams.filter((each) => each.discovery).map((each) => each.name));
    for (const name of this.#discovered.keys()) if (!discovering.has(name)) this.#discovered.delete(name);
  }

  /**
   * DNS has another set for an upstream: the same generation with other endpoints. What many upstreams hear while a plan
   * is on its way goes into one further plan.
   */
  #discoveryUpdate(upstream: string, endpoints: readonly EndpointConfig[]): void {
    this.#discovered.set(upstream, endpoints);
    if (this.#isStale) return;
    this.#isStale = true;
    const update = async () => {
      if (this.#isStale && this.#plan !== undefined && !this.#isClosing) {
        await this.#publish(this.#plan.listeners);
      }
    };
    this.#serial.run(update).catch((error) => {
      this.#ports.emit({ kind: "loop_error", thread: "main", message: messageOf(error) });
    });
  }

  #hear(message: FromWorker, worker: number): void {
    const { emit } = this.#ports;
    switch (message.type) {
      case "evidence":
        this.#ports.onRuns?.(message.runs);
        return this.keeper.reportRuns(message.runs);
      case "sessions":
        return this.#hearSessions(message);
      case "unreached":
        return this.#hurry(message.slot);
      case "accept_trouble":
        return message.over
          ? emit({ kind: "accept_recovered", listener: message.listener, worker })
          : emit({ kind: "accept_failed", listener: message.listener, worker, code: message.code });
      case "ready":
        return emit({ kind: "worker_started", worker });
      case "full":
        return this.#hearFull(worker, message);
      case "stalled":
        return emit({ kind: "stalled", thread: `worker ${worker}`, lagMs: message.lagMs });
      case "loop_error":
        return emit({ kind: "loop_error", thread: `worker ${worker}`, message: message.message });
    }
  }

  #hearFull(worker: number, message: Extract<FromWorker, { type: "full" }>): void {
    const running = this.workers.states().map(({ id }) => id);
    if (!this.#limits.isNews(worker, message, running)) return;
    this.#ports.emit(fullEvent(message, this.#config!.limits.maxConnections));
  }

  #hearSessions(message: Extract<FromWorker, { type: "sessions" }>): void {
    for (const session of message.records) this.#ports.emit({ kind: "session_ended", session });
    if (message.dropped > 0) this.#ports.emit({ kind: "records_dropped", count: message.dropped });
  }

  /** A discovered endpoint does not take connections: perhaps DNS knows better by now (D10). */
  #hurry(slot: number): void {
    const upstream = this.#plan?.upstreams.find(({ discovery, endpoints }) =>
      discovery !== undefined && endpoints.some((endpoint) => endpoint.slot === slot)
    );
    if (upstream !== undefined) this.discovery.hurry(upstream.name);
  }

  /** Closes the listeners for good, then ends probes and discovery (S1). */
  async closeListeners(): Promise<void> {
    this.#isClosing = true;
    await this.#serial.idle();
    await this.workers.drain();
    await this.#abortLoops();
  }

  /** Ends everything at once. */
  async terminate(): Promise<void> {
    this.#isClosing = true;
    this.workers.terminate(); // Nobody waits for an answer any more.
    await this.#abortLoops();
    // An edit that was under way may have begun new ones.
    await this.#serial.idle();
    await this.#abortLoops();
    this.keeper.stop();
  }

  async #abortLoops(): Promise<void> {
    await Promise.all([this.probes.abortAll(), this.discovery.abortAll()]);
  }
}
