// What one upstream's discovery knows and decides: the set in force, when to ask next, what a good or a bad answer does
// to both (D1 to D5, D10). It has no timer and asks nobody: discovery.ts does that.

import type { DiscoveryState } from "../admin/running_state.ts";
import { backoffMs, spreadMs } from "../core/backoff.ts";
import type { Clock, Random } from "../core/clock.ts";
import type { DiscoveryEvent, Emit } from "../core/event.ts";
import { isIpv6 } from "../core/address.ts";
import type { DiscoveryParams, EndpointConfig } from "../core/plan.ts";
import type { DnsFailureKind, HostFailure } from "../net/dns_types.ts";
import type { Discovered, LeftOut } from "./discovery_query.ts";
import { type EndpointSet, isSameSet, setOf } from "./discovery_set.ts";

/** The shortest time between two questions, milliseconds: bounds a TTL of 0, retries and early refreshes alike. */
export const MIN_REFRESH_MS = 1000;

/** What a record of discovery stands on. */
export interface DiscoveryPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  /** Takes the set from now on; called only when it differs from the one before. */
  readonly onUpdate: (upstream: string, endpoints: EndpointSet) => void;
}

/** The upstream and what it discovers. */
export interface DiscoverySubject {
  readonly upstream: string;
  readonly params: DiscoveryParams;
}

/** Everything known about one upstream's discovery. */
export class DiscoveryRecord {
  readonly subject: DiscoverySubject;
  /** Static endpoints of the upstream: in force until the first answer (C6). */
  seed: readonly EndpointConfig[] = [];
  readonly #ports: DiscoveryPorts;
  /** The set given out last; undefined before the first. */
  #set: EndpointSet | undefined;
  #dueAt: number;
  #askedAt = -Infinity;
  #failure: DnsFailureKind | undefined;
  #failuresInRow = 0;
  /** Wall clock, for people; and monotonic, for durations. */
  #sinceAt: number | undefined;
  #since = 0;
  #ttlMs: number | undefined;
  #notes: readonly string[] = [];
  #leftOut: readonly string[] = [];
  #tooFew: number | undefined;
  #refreshes = 0;
  readonly #failures: Record<string, number> = {};

  /** Due at once. `before`: the record of the same upstream under other parameters, whose set goes on (D7). */
  constructor(subject: DiscoverySubject, ports: DiscoveryPorts, before?: DiscoveryRecord) {
    this.subject = subject;
    this.#ports = ports;
    this.#set = before === undefined ? undefined : before.#set;
    this.#dueAt = ports.clock.now();
  }

  /** When to ask next, in the clock's milliseconds. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** For the view. */
  get state(): DiscoveryState {
    return {
      ...(this.#failure !== undefined && { failure: this.#failure }),
      ...(this.#sinceAt !== undefined && { sinceAt: this.#sinceAt }),
      ...(this.#ttlMs !== undefined && this.#ttlMs !== Infinity && { ttlMs: this.#ttlMs }),
      nextRefresh: this.#dueAt,
      note: this.#notes.join("; "),
      refreshes: this.#refreshes,
      failures: { ...this.#failures },
    };
  }

  /** A question goes out now. */
  asked(): void {
    this.#askedAt = this.#ports.clock.now();
  }

  /** Makes the next question due early: at once, or a second after the last one (D10). */
  hurry(): void {
    const soonest = Math.max(this.#ports.clock.now(), this.#askedAt + MIN_REFRESH_MS);
    this.#dueAt = Math.min(this.#dueAt, soonest);
  }

  /** Takes a fault of ours as if the server had been silent, so that the loop goes on calmly. */
  faulted(): void {
    this.#failuresInRow++;
    this.#dueAt = this.#ports.clock.now() + this.#retryMs();
  }

  /** Takes the end of a question. */
  heard(end: Discovered | HostFailure): void {
    this.#refreshes++;
    if ("failure" in end) this.#heardFailure(end);
    else this.#heardAnswer(end);
  }

  #heardAnswer(answer: Discovered): void {
    this.#recover();
    this.#ttlMs = answer.ttlMs;
    this.#dueAt = this.#ports.clock.now() + this.#refreshMs(answer.ttlMs);
    this.#notes = answer.leftOut.map(({ target, failure }) => `left out ${target} (${failure})`);
    this.#tellLeftOut(answer.leftOut);
    const endpoints = this.#withFailedHalves(answer);
    if (this.#keepsFormer(endpoints.length)) return;
    this.#take(endpoints, answer.ttlMs);
  }

  /** The time to the next question after a good answer (D1). */
  #refreshMs(ttlMs: number): number {
    const fullMs = Math.min(this.subject.params.refreshIntervalMs, Math.max(ttlMs, MIN_REFRESH_MS));
    return Math.max(MIN_REFRESH_MS, fullMs - this.#ports.random() * fullMs / 10);
  }

  /** The time to the next question after a bad one (D4). */
  #retryMs(): number {
    const maxMs = Math.max(MIN_REFRESH_MS, this.subject.params.refreshIntervalMs);
    return spreadMs(backoffMs(this.#failuresInRow, { firstMs: MIN_REFRESH_MS, maxMs }), this.#ports.random);
  }

  #recover(): void {
    const { upstream, params: { hostname } } = this.subject;
    this.#failuresInRow = 0;
    if (this.#failure !== undefined) {
      const failedMs = this.#ports.clock.now() - this.#since;
      this.#ports.emit({ kind: "discovery_recovered", upstream, hostname, failedMs });
    }
    if (this.#failure !== undefined || this.#sinceAt === undefined) this.#enter(undefined);
  }

  #enter(failure: DnsFailureKind | undefined): void {
    const { clock } = this.#ports;
    // A failure of another kind is the same stretch of failing.
    if (failure === undefined || this.#failure === undefined) {
      this.#since = clock.now();
      this.#sinceAt = clock.wallMs();
    }
    this.#failure = failure;
  }

  /** With fail_open a family that failed, unlike one without records, keeps the endpoints it had. */
  #withFailedHalves(answer: Discovered): EndpointSet {
    const failOpen = this.subject.params.failOpen;
    const kept = failOpen ? answer.halves.flatMap(({ type }) => this.#ofFamily(type === "AAAA")) : [];
    const what = kept.length === 0 ? "" : `, its ${kept.length} endpoints stay`;
    const notes = answer.halves.map(({ type, failure }) => `${type} failed (${failure})${what}`);
    this.#notes = [...this.#notes, ...notes];
    return setOf([...answer.endpoints, ...kept]);
  }

  #ofFamily(v6: boolean): EndpointSet {
    return (this.#set ?? []).filter((endpoint) => isIpv6(endpoint.host) === v6);
  }

  /** Whether the answer is too small to replace what serves now (D5). Says so once. */
  #keepsFormer(got: number): boolean {
    const { upstream, params: { hostname, minEndpoints } } = this.subject;
    const kept = (this.#set ?? this.seed).length;
    if (got >= minEndpoints) {
      this.#tooFew = undefined;
      return false;
    }
    const wanted = `the answer had ${got} of at least ${minEndpoints}`;
    this.#notes = [...this.#notes, kept > 0 ? `kept ${kept} endpoints, ${wanted}` : wanted];
    if (kept > 0 && this.#tooFew !== got) {
      this.#ports.emit({ kind: "discovery_too_few", upstream, hostname, got, minEndpoints, kept });
    }
    this.#tooFew = got;
    return kept > 0;
  }

  #tellLeftOut(leftOut: readonly LeftOut[]): void {
    const { upstream, params: { hostname } } = this.subject;
    const known = this.#leftOut;
    this.#leftOut = leftOut.map(({ target, failure }) => `${target} ${failure}`);
    for (const { target, failure } of leftOut) {
      if (known.includes(`${target} ${failure}`)) continue;
      this.#ports.emit({ kind: "discovery_target_left_out", upstream, hostname, target, failure });
    }
  }

  #heardFailure({ failure, detail }: HostFailure): void {
    const { upstream, params: { hostname, failOpen } } = this.subject;
    const isNews = failure !== this.#failure;
    this.#failures[failure] = (this.#failures[failure] ?? 0) + 1;
    this.#failuresInRow++;
    this.#enter(failure);
    const retryMs = this.#retryMs();
    this.#dueAt = this.#ports.clock.now() + retryMs;
    this.#notes = [detail];
    // What we lacked says nothing about the name, so it can not mean that the endpoints are gone.
    const keeps = failOpen || failure === "own_limit" || this.#set === undefined;
    const kept = keeps ? (this.#set ?? this.seed).length : 0;
    if (isNews) {
      this.#ports.emit({ kind: "discovery_failed", upstream, hostname, failure, detail, kept, retryMs });
    }
    if (!keeps) this.#take([], 0);
  }

  #take(endpoints: EndpointSet, ttlMs: number): void {
    const before = this.#set;
    if (before !== undefined && isSameSet(before, endpoints)) return;
    this.#set = endpoints;
    this.#ports.emit(changeOf(this.subject, { before: before ?? [], after: endpoints, ttlMs }));
    this.#ports.onUpdate(this.subject.upstream, endpoints);
  }
}

function changeOf(
  { upstream, params: { hostname } }: DiscoverySubject,
  { before, after, ttlMs }: { before: EndpointSet; after: EndpointSet; ttlMs: number },
): DiscoveryEvent {
  const keysOf = (set: EndpointSet) => set.map((endpoint) => endpoint.key);
  const [old, next] = [keysOf(before), keysOf(after)];
  return {
    kind: "discovery_updated",
    upstream,
    hostname,
    added: next.filter((key) => !old.includes(key)),
    removed: old.filter((key) => !next.includes(key)),
    total: after.length,
    ttlMs,
  };
}
