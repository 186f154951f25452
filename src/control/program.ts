// A running hale, from its first config to its exit code: supervisor, reloads, admin endpoint and signals put together.
// `run` is the whole life; everything it opened is closed when it resolves.

import type { Clock, Random } from "../core/clock.ts";
import type { HaleEvent, TimedEvent } from "../core/event.ts";
import { EXIT } from "../core/exit_code.ts";
import type { Config } from "../core/plan.ts";
import { probeBind } from "../net/listen.ts";
import { messageOf } from "../net/socket_errors.ts";
import { emptyRuntimeTrust, trustProblem } from "../net/trust.ts";
import type { ConfigReading } from "./config_source.ts";
import { EventRing } from "../admin/event_ring.ts";
import type { Phase, WhyView } from "../admin/view.ts";
import { readinessOf, viewOf, whyOf } from "../admin/view_of.ts";
import { AdminServer } from "./admin_server.ts";
import { drain } from "./drain.ts";
import { FolderWatch } from "./folder_watch.ts";
import { lastResort } from "./last_resort.ts";
import { Log, type WriteLine } from "./log.ts";
import { problemLine, Reloader } from "./reloader.ts";
import { StateGatherer } from "./state_gatherer.ts";
import { StopSignals } from "./stop_signals.ts";
import { type ConfigOrigin, Supervisor } from "./supervisor.ts";
import { TaskGroup } from "./task_group.ts";
import { spawnThread } from "./worker_link.ts";

/** How to run. */
export interface ProgramOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  /** Takes the log. */
  readonly log: WriteLine;
  /** Takes what keeps hale from starting. */
  readonly complain: WriteLine;
  /** Reads the config, at the start and whenever it may have changed. */
  readonly read: () => Promise<ConfigReading>;
  /** Bind beside another hale on the same ports (S2). */
  readonly takeover: boolean;
}

/** One hale process. */
export class Program {
  readonly #options: ProgramOptions;
  readonly #log: Log;
  readonly #supervisor: Supervisor;
  readonly #reloader: Reloader;
  readonly #watch: FolderWatch;
  readonly #state: StateGatherer;
  readonly #events: EventRing;
  readonly #admin: AdminServer;
  readonly #tasks: TaskGroup;
  /** Ends with the wish to stop: what drains takes no edits. */
  readonly #reloading: TaskGroup;
  readonly #trust = emptyRuntimeTrust();
  #phase: Phase = "starting";
  readonly #hurry = new AbortController();
  /** Resolves with the reason once somebody wants hale to stop. */
  readonly #stopping = Promise.withResolvers<string>();
  #fatal: string | undefined;

  constructor(options: ProgramOptions) {
    const { clock, random } = options;
    const emit = (event: HaleEvent) => this.#emit(event);
    this.#options = options;
    this.#log = new Log(options.log, { level: "info", format: "text" });
    this.#events = new EventRing(clock.wallMs());
    this.#supervisor = new Supervisor({
      clock,
      random,
      emit,
      spawn: spawnThread,
      probeBind: options.takeover ? (address) => ({ port: address.port }) : probeBind,
      cores: navigator.hardwareConcurrency,
      reusePort: Deno.build.os === "linux",
      onRuns: (runs) => this.#state.note(runs),
      fatal: (message) => this.#die(message),
    });
    this.#watch = new FolderWatch({
      onEvent: () => this.#reloader.notice(),
      onFailure: (path, message) => emit({ kind: "watch_failed", path, message }),
    });
    this.#reloader = new Reloader({
      clock,
      emit,
      read: options.read,
      apply: (config, origin) => this.#apply(config, origin),
      watch: (folders) => this.#watch.set(folders),
    });
    this.#state = new StateGatherer(this.#supervisor, {
      clock,
      emit,
      version: options.version,
      reloads: () => this.#reloader.state,
      phase: () => this.#phase,
    });
    this.#admin = this.#createAdmin();
    const tell = (fault: unknown) => this.#tellFault(fault);
    this.#tasks = new TaskGroup(tell);
    this.#reloading = new TaskGroup(tell);
  }

  #createAdmin(): AdminServer {
    const { clock, random, takeover } = this.#options;
    const emit = (event: HaleEvent) => this.#emit(event);
    return new AdminServer({
      clock,
      random,
      emit,
      takeover,
      app: {
        view: async () => viewOf(await this.#state.fresh()),
        readiness: () => readinessOf(this.#state.forReadiness()),
        why: (upstream, key) => this.#why(upstream, key),
        setOperator: (upstream, key, state) => {
          const slot = this.#supervisor.slotOf(upstream, key);
          return slot !== undefined && this.#supervisor.keeper.setOperator(slot, state);
        },
        events: this.#events,
        clock,
        fault: (error) => emit({ kind: "loop_error", thread: "admin", message: messageOf(error) }),
      },
    });
  }

  #why(upstream: string, key: string): WhyView | undefined {
    const slot = this.#supervisor.slotOf(upstream, key);
    const health = slot === undefined ? undefined : this.#supervisor.keeper.view(slot);
    return health && whyOf(this.#state.state(), { upstream, key }, health.evidence);
  }

  #emit(event: HaleEvent): void {
    const timed: TimedEvent = { ...event, at: this.#options.clock.wallMs() };
    this.#log.event(timed);
    this.#events.publish(timed);
  }

  /** A fault of ours that ends nothing else. */
  #tellFault(fault: unknown): void {
    this.#emit({ kind: "loop_error", thread: "main", message: messageOf(fault) });
  }

  /** All or nothing: the admin address is bound before anything is swapped. */
  async #apply(config: Config, origin: ConfigOrigin): Promise<readonly string[]> {
    if (origin.trigger === "start") this.#log.settings = config.log;
    const problem = trustProblem(this.#trust, config.upstreams) ?? this.#admin.prepare(config.admin);
    let isApplied = false;
    try {
      const problems = problem === undefined ? await this.#supervisor.apply(config, origin) : [problem];
      isApplied = problems.length === 0;
      if (!isApplied) return problems;
    } finally {
      if (!isApplied) await this.#admin.abandon();
    }
    await this.#admin.take(config.admin);
    this.#log.settings = config.log;
    return [];
  }

  #die(message: string): void {
    this.#fatal = message;
    this.#hurry.abort();
    this.#stopping.resolve(message);
  }

  /** Runs from the first config to the end. Gives the exit code (S1, X). */
  async run(): Promise<number> {
    using _resort = lastResort((fault) => this.#tellFault(fault));
    const signals = new StopSignals(this.#options.clock, {
      stop: (reason) => this.#stopping.resolve(reason),
      hurry: () => this.#hurry.abort(),
      reload: () => this.#reloader.ask(),
    });
    try {
      return await this.#live();
    } finally {
      signals.close();
    }
  }

  async #live(): Promise<number> {
    const problems = await this.#reloader.take(await this.#options.read(), "start");
    if (problems.length > 0) return await this.#refuseToStart();
    this.#phase = "running";
    this.#tellStarted();
    this.#reloading.spawn((signal) => this.#reloader.run(signal));
    this.#tasks.spawn((signal) => this.#state.run(signal));
    const reason = await this.#stopping.promise;
    const code = await this.#drain(reason);
    await this.#close();
    return code;
  }

  async #refuseToStart(): Promise<number> {
    for (const problem of this.#reloader.state.lastAttempt!.problems) {
      this.#options.complain(`${problemLine(problem)}\n`);
    }
    await this.#close();
    return EXIT.problems;
  }

  #tellStarted(): void {
    const { version } = this.#options;
    this.#emit({ kind: "started", version, workers: this.#supervisor.workers.count, pid: Deno.pid });
  }

  async #drain(reason: string): Promise<number> {
    this.#phase = "draining";
    this.#reloading.abort();
    const { clock } = this.#options;
    const config = this.#supervisor.config!.drain;
    const began = clock.now();
    const { workers } = this.#supervisor;
    this.#emit({ kind: "drain_begun", reason, sessions: workers.sessions, ...config });
    const cut = await drain({
      get sessions() {
        return workers.sessions;
      },
      closeListeners: () => this.#supervisor.closeListeners(),
      cut: () => workers.cut(),
    }, { config, clock, hurry: this.#hurry.signal });
    this.#emit({ kind: "drain_ended", cut, tookMs: clock.now() - began });
    const exitCode = this.#fatal !== undefined ? EXIT.problems : cut > 0 ? EXIT.forced : EXIT.ok;
    this.#emit({ kind: "stopped", exitCode, message: this.#fatal ?? "" });
    return exitCode;
  }

  async #close(): Promise<void> {
    this.#tasks.abort();
    this.#watch.close();
    await this.#admin.close();
    await this.#supervisor.terminate();
    await Promise.all([this.#tasks.join(), this.#reloading.join()]);
  }
}
