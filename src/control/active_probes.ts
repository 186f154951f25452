// Active probing: one loop per endpoint of every upstream with `active_health`, kept on the plan by `respawn` (P1, P6 to
// P8). A loop sleeps, probes, reports, and counts successes in a row; what a report leads to is the health keeper's
// business. A loop that nothing changed for goes on untouched, so frequent plans can not starve probing.

import { nextBelow } from "../core/backoff.ts";
import type { Clock, Random } from "../core/clock.ts";
import type { Emit, EndpointName } from "../core/event.ts";
import { verdictOf } from "../core/outcome.ts";
import type { ActiveParams, Endpoint, Plan, Upstream } from "../core/plan.ts";
import { excusesTimeout } from "../core/stalls.ts";
import type { HealthKeeper } from "./health_keeper.ts";
import { Places } from "../net/places.ts";
import { type ProbeDial, probeOnce, type ProbeResult, type ProbeTarget, probeTargetOf } from "./probe.ts";
import { StallWatch } from "./stall_watch.ts";
import { TaskGroup } from "./task_group.ts";

/** Most probes at a time (P8). */
export const MAX_IN_FLIGHT = 64;

/** Faults of ours in a row after which a loop stops (P6). */
const MAX_FAULTS = 3;

/** What probing stands on. */
export interface ProbePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  readonly keeper: Pick<HealthKeeper, "healthOf" | "reportProbe">;
  readonly dial: ProbeDial;
}

/** The part of an upstream that its probes depend on. */
type ProbedUpstream = Upstream & { readonly activeHealth: ActiveParams };

interface Loop {
  readonly upstream: ProbedUpstream;
  readonly endpoint: Endpoint;
  readonly target: ProbeTarget;
  readonly tasks: TaskGroup;
  /** Successes in a row since the last failure or ejection. */
  successes: number;
  /** How often the endpoint had been ejected when they were counted. */
  ejections: number;
  isStopped: boolean;
}

/** All probe loops. */
export class ActiveProbes {
  readonly #ports: ProbePorts;
  readonly #places = new Places(MAX_IN_FLIGHT);
  readonly #stalls: StallWatch;
  #loops = new Map<string, Loop>();
  #watching: TaskGroup | undefined;

  constructor(ports: ProbePorts) {
    this.#ports = ports;
    this.#stalls = new StallWatch(ports.clock);
  }

  /** How many endpoints are probed; loops that stopped by themselves are not counted. */
  get size(): number {
    return [...this.#loops.values()].filter((loop) => !loop.isStopped).length;
  }

  /** Endpoints whose loop stopped after faults of hale itself, until the next `respawn`. */
  get stopped(): readonly EndpointName[] {
    return [...this.#loops.values()].filter((loop) => loop.isStopped).map(nameOf);
  }

  /**
   * Brings the loops to a plan, which the keeper must have adopted: those of what is gone or changed are aborted, what
   * is new or changed gets new ones. Resolves when the aborted ones have ended; from the call on they report nothing.
   */
  async respawn(plan: Plan): Promise<void> {
    const before = this.#loops;
    this.#loops = new Map();
    for (const upstream of plan.upstreams) {
      if (!isProbed(upstream)) continue;
      const isSame = memoized((old: ProbedUpstream) => probesAlike(old, upstream));
      for (const endpoint of upstream.endpoints) {
        const id = `${upstream.name}\n${endpoint.key}`;
        const old = before.get(id);
        const goesOn = old !== undefined && !old.isStopped && isSame(old.upstream) &&
          isSamePlace(old.endpoint, endpoint);
        if (goesOn) before.delete(id);
        this.#loops.set(id, goesOn ? old : this.#start(upstream, endpoint));
      }
    }
    this.#watch(this.#loops.size > 0);
    await endAll(before.values());
  }

  /** Ends all loops. Resolves when none is left. */
  async abortAll(): Promise<void> {
    const loops = this.#loops;
    this.#loops = new Map();
    this.#watch(false);
    await endAll(loops.values());
  }

  /** Stalls are watched for while there is a loop. */
  #watch(isWanted: boolean): void {
    if (isWanted === (this.#watching !== undefined)) return;
    this.#watching?.abort();
    this.#watching = isWanted ? this.#newGroup("stall watch") : undefined;
    this.#watching?.spawn((signal) => this.#stalls.run(signal));
  }

  #newGroup(thread: string): TaskGroup {
    return new TaskGroup((error) => this.#ports.emit({ kind: "loop_error", thread, message: String(error) }));
  }

  #start(upstream: ProbedUpstream, endpoint: Endpoint): Loop {
    const tasks = this.#newGroup("probes");
    const target = probeTargetOf(upstream, endpoint);
    const loop = { upstream, endpoint, target, tasks, successes: 0, ejections: 0, isStopped: false };
    tasks.spawn((signal) => this.#run(loop, signal));
    return loop;
  }

  async #run(loop: Loop, signal: AbortSignal): Promise<void> {
    const { intervalMs, jitterMs } = loop.upstream.activeHealth;
    const { clock, random } = this.#ports;
    let faults = 0;
    while (faults < MAX_FAULTS) {
      const extraMs = faults > 0 ? intervalMs : 0;
      await clock.sleep(intervalMs + nextBelow(jitterMs, random) + extraMs, signal);
      const fault = await this.#guardedProbe(loop, signal);
      if (signal.aborted) return;
      faults = fault === undefined ? 0 : faults + 1;
      if (fault !== undefined) this.#tellFault(loop, fault, faults);
    }
  }

  /** Probes when a place is free; gives the fault when hale itself failed. */
  async #guardedProbe(loop: Loop, signal: AbortSignal): Promise<string | undefined> {
    await this.#places.take(signal);
    try {
      await this.#probe(loop, signal);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#places.give();
    }
  }

  #tellFault(loop: Loop, message: string, inRow: number): void {
    loop.successes = 0;
    this.#ports.emit({ kind: "probe_threw", ...nameOf(loop), message, inRow });
    if (inRow < MAX_FAULTS) return;
    loop.isStopped = true;
    this.#ports.emit({ kind: "probe_loop_stopped", ...nameOf(loop), message });
  }

  async #probe(loop: Loop, signal: AbortSignal): Promise<void> {
    const { keeper, dial, clock } = this.#ports;
    const { slot } = loop.endpoint;
    const begun = keeper.healthOf(slot);
    if (begun === undefined) return;
    const startedAt = clock.now();
    const result = await probeOnce(loop.target, { dial, clock, signal });
    if (signal.aborted) return;
    const outcome = this.#isOurStall(loop, result, startedAt) ? "stalled" : result.outcome;
    const successes = count(loop, verdictOf(outcome), begun.ejections);
    const { durationMs, detail } = result;
    keeper.reportProbe(slot, outcome, { epoch: begun.epoch, durationMs, detail, successes });
  }

  /** A timeout charges nobody when for a good part of that time we could not have seen an answer. */
  #isOurStall(loop: Loop, { outcome }: ProbeResult, startedAt: number): boolean {
    if (outcome !== "connect_timeout" && outcome !== "answer_timeout") return false;
    return excusesTimeout(this.#stalls.longestSince(startedAt), loop.upstream.activeHealth.timeoutMs);
  }
}

/** Successes in a row. Those from before an ejection say nothing about the return from it (H6). */
function count(loop: Loop, verdict: ReturnType<typeof verdictOf>, ejections: number): number {
  if (ejections !== loop.ejections) loop.successes = 0;
  loop.ejections = ejections;
  if (verdict === "success") loop.successes++;
  if (verdict === "failure") loop.successes = 0;
  return loop.successes;
}

async function endAll(loops: Iterable<Loop>): Promise<void> {
  const all = [...loops];
  for (const loop of all) loop.tasks.abort();
  await Promise.all(all.map((loop) => loop.tasks.join()));
}

function isProbed(upstream: Upstream): upstream is ProbedUpstream {
  return upstream.activeHealth !== undefined;
}

/** Whether what probes depend on is equal in both. */
function probesAlike(one: ProbedUpstream, other: ProbedUpstream): boolean {
  return one === other || (one.tls?.ca === other.tls?.ca && settingsOf(one) === settingsOf(other));
}

function settingsOf(upstream: ProbedUpstream): string {
  const { protocol, tls, timeouts, host, activeHealth } = upstream;
  return JSON.stringify([
    protocol,
    tls && { serverName: tls.serverName },
    timeouts.happyEyeballsMs,
    host,
    activeHealth,
  ]);
}

function isSamePlace(one: Endpoint, other: Endpoint): boolean {
  return one.slot === other.slot && one.host === other.host && one.port === other.port &&
    one.serverName === other.serverName;
}

/** The last answer is kept: the endpoints of one upstream all ask about the same object. */
function memoized<Asked>(decide: (asked: Asked) => boolean): (asked: Asked) => boolean {
  let last: { readonly asked: Asked; readonly answer: boolean } | undefined;
  return (asked) => {
    if (last?.asked !== asked) last = { asked, answer: decide(asked) };
    return last.answer;
  };
}

function nameOf(loop: Loop): EndpointName {
  return { upstream: loop.upstream.name, endpoint: loop.endpoint.key };
}
