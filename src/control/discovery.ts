// Discovery by DNS: one loop per upstream with `dns_discovery`, kept on the config by `respawn`. A loop asks, takes what
// it hears, sleeps until the next question is due. A loop that nothing changed for goes on untouched, so its set and
// its due time survive every reload (D7). What an answer leads to is decided in discovery_record.ts.

import type { DiscoveryState } from "../admin/running_state.ts";
import type { Clock, Random } from "../core/clock.ts";
import type { Emit } from "../core/event.ts";
import type { Config, DiscoveryParams, UpstreamConfig } from "../core/plan.ts";
import type { Ask } from "../net/dns_query.ts";
import { DnsResolver } from "../net/dns_resolver.ts";
import type { Resolver } from "../net/dns_types.ts";
import { newResolver, type ResolverKind, resolverKindOf } from "../net/host_resolver.ts";
import { limitedAsk } from "../net/limited_ask.ts";
import { messageOf } from "../net/socket_errors.ts";
import { discover } from "./discovery_query.ts";
import { DiscoveryRecord, type DiscoverySubject } from "./discovery_record.ts";
import type { EndpointSet } from "./discovery_set.ts";
import { TaskGroup } from "./task_group.ts";

/** What discovery stands on. */
export interface DiscoveryOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  /** The set of an upstream is another one now; `[]` when it was cleared (D4). Must not throw. */
  readonly onUpdate: (upstream: string, endpoints: EndpointSet) => void;
  /** Stands in for the real resolvers in tests. */
  readonly resolverFor?: (params: DiscoveryParams, kind: ResolverKind) => Resolver;
}

interface Loop {
  readonly record: DiscoveryRecord;
  readonly resolver: Resolver;
  readonly kind: ResolverKind;
  readonly tasks: TaskGroup;
  /** Ends the present sleep early. */
  wake: () => void;
}

/** Whom discovery asks. Named servers are asked directly whatever the kind: the system's resolver has its own. */
export function discoveryResolver(
  params: DiscoveryParams,
  kind: ResolverKind,
  { clock, random, ask = limitedAsk() }: {
    readonly clock: Clock;
    readonly random: Random;
    readonly ask?: Ask;
  },
): Resolver {
  if (params.nameservers.length === 0) return newResolver(kind, clock, ask);
  return new DnsResolver({ clock, random, ask, nameservers: params.nameservers });
}

/** All discovery loops. */
export class DiscoveryTasks {
  readonly #options: DiscoveryOptions;
  /** All loops together keep to its limits. */
  readonly #ask = limitedAsk();
  #loops = new Map<string, Loop>();
  #kind: ResolverKind = "stub";

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** How many upstreams are discovered. */
  get size(): number {
    return this.#loops.size;
  }

  /** What is known about an upstream's discovery; undefined when it has none. */
  stateOf(upstream: string): DiscoveryState | undefined {
    return this.#loops.get(upstream)?.record.state;
  }

  /**
   * Brings the loops to a config: loops with the same block go on, changed ones begin anew with the set they had,
   * those of what is gone end. Resolves when the ended ones have; from the call on they report nothing.
   */
  async respawn(config: Pick<Config, "resolver" | "upstreams">): Promise<void> {
    this.#kind = resolverKindOf(config.resolver);
    const before = this.#loops;
    this.#loops = new Map();
    for (const upstream of config.upstreams) {
      const subject = subjectOf(upstream);
      if (subject === undefined) continue;
      const old = before.get(upstream.name);
      const goesOn = old !== undefined && this.#isSame(old, subject);
      if (goesOn) before.delete(upstream.name);
      const loop = goesOn ? old : this.#start(subject, old?.record);
      loop.record.seed = upstream.endpoints;
      this.#loops.set(upstream.name, loop);
    }
    await endAll(before.values());
  }

  /** Ends all loops. Resolves when none is left. */
  async abortAll(): Promise<void> {
    const loops = this.#loops;
    this.#loops = new Map();
    await endAll(loops.values());
  }

  /** A discovered endpoint could not be reached: ask early, at most once per second (D10). */
  hurry(upstream: string): void {
    const loop = this.#loops.get(upstream);
    if (loop === undefined) return;
    loop.record.hurry();
    loop.wake();
  }

  #isSame(loop: Loop, subject: DiscoverySubject): boolean {
    // Decoded configs have their fields in one order, so equal blocks have equal texts.
    return loop.kind === this.#kind && JSON.stringify(loop.record.subject) === JSON.stringify(subject);
  }

  #start(subject: DiscoverySubject, before: DiscoveryRecord | undefined): Loop {
    const { emit } = this.#options;
    const tell = (error: unknown) =>
      emit({ kind: "loop_error", thread: `discovery of ${subject.upstream}`, message: messageOf(error) });
    const loop: Loop = {
      record: new DiscoveryRecord(subject, this.#options, before),
      resolver: this.#resolverFor(subject.params),
      kind: this.#kind,
      tasks: new TaskGroup(tell),
      wake: () => {},
    };
    loop.tasks.spawn((signal) => this.#run(loop, signal, tell));
    return loop;
  }

  #resolverFor(params: DiscoveryParams): Resolver {
    const { resolverFor } = this.#options;
    if (resolverFor !== undefined) return resolverFor(params, this.#kind);
    const { clock, random } = this.#options;
    return discoveryResolver(params, this.#kind, { clock, random, ask: this.#ask });
  }

  async #run(loop: Loop, signal: AbortSignal, tell: (error: unknown) => void): Promise<void> {
    while (true) {
      try {
        loop.record.asked();
        const end = await discover(loop.record.subject.params, loop.resolver, signal);
        signal.throwIfAborted();
        loop.record.heard(end);
      } catch (error) {
        signal.throwIfAborted();
        tell(error);
        loop.record.faulted();
      }
      await this.#sleep(loop, signal);
    }
  }

  /** Until the next question is due, which `hurry` may move forward meanwhile. */
  async #sleep(loop: Loop, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let ms = loop.record.dueAt - clock.now(); ms > 0; ms = loop.record.dueAt - clock.now()) {
      const nap = new AbortController();
      const wake = () => nap.abort();
      loop.wake = wake;
      signal.addEventListener("abort", wake, { once: true });
      try {
        await clock.sleep(ms, nap.signal);
      } catch (error) {
        if (!nap.signal.aborted) throw error;
      } finally {
        signal.removeEventListener("abort", wake);
      }
      signal.throwIfAborted();
    }
  }
}

async function endAll(loops: Iterable<Loop>): Promise<void> {
  const ending = [...loops];
  for (const loop of ending) loop.tasks.abort();
  await Promise.all(ending.map((loop) => loop.tasks.join()));
}

function subjectOf(upstream: UpstreamConfig): DiscoverySubject | undefined {
  if (upstream.discovery === undefined) return undefined;
  return { upstream: upstream.name, params: upstream.discovery };
}
