// What the admin room shows, gathered from all who know a part of it: the plan, the keeper, the board, the workers'
// counts, discovery, reloads, the process. It also keeps what only time can tell: rates, latencies, lag.

import { Recent, SAMPLE_MS } from "../admin/recent.ts";
import type { ConfigState, EndpointState, RunningState, UpstreamState } from "../admin/running_state.ts";
import type { Phase } from "../admin/view.ts";
import { TALLY } from "../core/board.ts";
import type { Clock } from "../core/clock.ts";
import type { Emit, EndpointName } from "../core/event.ts";
import type { Endpoint, Upstream } from "../core/plan.ts";
import type { Run } from "../core/report.ts";
import { TOLD_STALL_MS } from "../core/stalls.ts";
import { messageOf } from "../net/socket_errors.ts";
import { processState } from "./process_state.ts";
import type { ReloadState } from "./reloader.ts";
import type { Supervisor } from "./supervisor.ts";

/** What is gathered beside the supervisor's part. */
export interface GathererPorts {
  readonly clock: Clock;
  readonly emit: Emit;
  readonly version: string;
  readonly reloads: () => ReloadState;
  readonly phase: () => Phase;
}

/** What one slot has counted, so that an upstream's sum outlives its endpoints. */
interface Seen {
  readonly upstream: string;
  failOpenPicks: number;
}

/** Gathers the running state. */
export class StateGatherer {
  readonly #supervisor: Supervisor;
  readonly #ports: GathererPorts;
  readonly #startedAt: number;
  readonly #startedAtWall: number;
  readonly #recent = new Map<number, Recent>();
  readonly #seen = new Map<number, Seen>();
  /** Fail-open picks on endpoints that have left, by upstream. */
  readonly #failOpenPast = new Map<string, number>();
  #lagMs = 0;

  constructor(supervisor: Supervisor, ports: GathererPorts) {
    this.#supervisor = supervisor;
    this.#ports = ports;
    this.#startedAt = ports.clock.now();
    this.#startedAtWall = ports.clock.wallMs();
  }

  /** Notes the latencies in evidence of traffic. */
  note(runs: readonly Run[]): void {
    const now = this.#ports.clock.now();
    for (const run of runs) this.#recentOf(run.slot).note(run.durationMs, run.count, now);
  }

  #recentOf(slot: number): Recent {
    let recent = this.#recent.get(slot);
    if (recent === undefined) this.#recent.set(slot, recent = new Recent());
    return recent;
  }

  /** Takes a sample every `SAMPLE_MS` until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    while (!signal.aborted) {
      const due = clock.now() + SAMPLE_MS;
      await clock.sleep(SAMPLE_MS, signal);
      this.#noteLag(clock.now() - due);
      await this.#guardedSample();
    }
  }

  /** A fault of ours costs one sample, not all that follow. */
  async #guardedSample(): Promise<void> {
    try {
      // Asked regularly, so that little is lost when a worker dies.
      await this.#supervisor.workers.stats();
      this.#sample();
    } catch (error) {
      this.#ports.emit({ kind: "loop_error", thread: "main", message: messageOf(error) });
    }
  }

  #noteLag(lagMs: number): void {
    this.#lagMs = Math.max(lagMs, this.#lagMs * 0.7);
    if (lagMs >= TOLD_STALL_MS) this.#ports.emit({ kind: "stalled", thread: "main", lagMs });
  }

  #sample(): void {
    const { clock } = this.#ports;
    const present = new Set<number>();
    for (const { slot, upstream } of this.#endpoints()) {
      present.add(slot);
      this.#recentOf(slot).sample(this.#count(slot, "picks"), clock.now());
      this.#see(slot, upstream.name);
    }
    for (const slot of this.#recent.keys()) if (!present.has(slot)) this.#recent.delete(slot);
    for (const slot of this.#seen.keys()) if (!present.has(slot)) this.#forget(slot);
  }

  #see(slot: number, upstream: string): void {
    const seen = this.#seen.get(slot);
    if (seen !== undefined && seen.upstream !== upstream) this.#forget(slot);
    const now = this.#count(slot, "failOpenPicks");
    this.#seen.set(slot, { upstream, failOpenPicks: now });
  }

  #forget(slot: number): void {
    const { upstream, failOpenPicks } = this.#seen.get(slot)!;
    this.#seen.delete(slot);
    this.#failOpenPast.set(upstream, (this.#failOpenPast.get(upstream) ?? 0) + failOpenPicks);
  }

  *#endpoints(): Iterable<{ slot: number; endpoint: Endpoint; upstream: Upstream }> {
    for (const upstream of this.#supervisor.plan?.upstreams ?? []) {
      for (const endpoint of upstream.endpoints) yield { slot: endpoint.slot, endpoint, upstream };
    }
  }

  #count(slot: number, cell: "picks" | "failOpenPicks"): number {
    return this.#supervisor.workers.rows(slot).reduce((sum, row) => sum + row[TALLY[cell]]!, 0);
  }

  /** The state with fresh counts of the workers. */
  async fresh(): Promise<RunningState> {
    await this.#supervisor.workers.stats();
    return this.state();
  }

  /** The state with the counts as of the last time that somebody asked the workers. */
  state(): RunningState {
    const { clock, version, phase } = this.#ports;
    const { workers, plan, config } = this.#supervisor;
    return {
      version,
      now: clock.now(),
      wallMs: clock.wallMs(),
      startedAt: this.#startedAt,
      phase: phase(),
      ...(plan === undefined ? {} : { plan }),
      limits: config?.limits ?? { maxConnections: 0 },
      config: this.#configState(),
      workers: workers.states(),
      workerRestarts: workers.restarts,
      stats: workers.statsSoFar(),
      upstreams: this.#upstreamStates(),
      endpoints: this.#endpointStates(),
      mainLoopLagMs: this.#lagMs,
      process: { startedAtWall: this.#startedAtWall, ...processState() },
    };
  }

  /** The part that readiness is judged by: asked often, and not worth the rest. */
  forReadiness(): Pick<RunningState, "phase" | "plan" | "endpoints"> {
    const { plan } = this.#supervisor;
    return {
      phase: this.#ports.phase(),
      ...(plan === undefined ? {} : { plan }),
      endpoints: this.#endpointStates(),
    };
  }

  #configState(): ConfigState {
    const { hash, loadedAt, lastAttempt, accepted, refused, unchanged } = this.#ports.reloads();
    return {
      hash,
      ...(loadedAt === undefined ? {} : { loadedAt }),
      ...(lastAttempt === undefined ? {} : {
        lastAttempt: {
          ...lastAttempt,
          problems: lastAttempt.problems.map((problem) => ({ ...NO_PLACE, ...problem })),
        },
      }),
      reloads: { accepted, refused, unchanged },
    };
  }

  #upstreamStates(): ReadonlyMap<string, UpstreamState> {
    const { keeper, discovery, plan } = this.#supervisor;
    return new Map((plan?.upstreams ?? []).map((upstream) => {
      const { name } = upstream;
      const now = upstream.endpoints.reduce((sum, { slot }) => sum + this.#count(slot, "failOpenPicks"), 0);
      const state = discovery.stateOf(name);
      return [name, {
        failOpenPicks: now + (this.#failOpenPast.get(name) ?? 0),
        probes: keeper.probesOf(name),
        ...(state === undefined ? {} : { discovery: state }),
      }];
    }));
  }

  #endpointStates(): ReadonlyMap<number, EndpointState> {
    const states = new Map<number, EndpointState>();
    const stopped = new Set(this.#supervisor.probes.stopped.map(idOf));
    for (const { slot } of this.#endpoints()) {
      const health = this.#supervisor.keeper.view(slot);
      if (health === undefined) continue;
      const cells = this.#supervisor.board.cells(slot);
      const recent = this.#recent.get(slot);
      states.set(slot, {
        ...health,
        trials: cells.trials,
        inFlight: Math.max(0, cells.inFlight),
        picks: this.#count(slot, "picks"),
        isProbeStopped: stopped.has(idOf({ upstream: health.upstream, endpoint: health.key })),
        ...(recent === undefined ? {} : { recent }),
      });
    }
    return states;
  }
}

function idOf({ upstream, endpoint }: EndpointName): string {
  return `${upstream}\n${endpoint}`;
}

const NO_PLACE = { file: "", line: 0, column: 0, path: "" };
