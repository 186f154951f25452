// Addresses of endpoints that are given as host names, on the dial path (D8). One query per name at a time; an answer
// lives as long as its TTL within limits; while a refresh fails the last good answer goes on. Never asked for literals.

import type { Clock } from "../core/clock.ts";
import { lookUpAddresses } from "./address_lookup.ts";
import type { HostAddresses, HostFailure, Resolver } from "./dns_types.ts";
import { messageOf } from "./socket_errors.ts";

/** Limits of D8. */
const MIN_POSITIVE_MS = 1000;
const MAX_POSITIVE_MS = 300_000;
const NEGATIVE_MS = 5000;
/** For a failure that was ours: it says nothing about the name. */
const OWN_LIMIT_MS = 1000;
const MAX_NAMES = 4096;

/** Without a known TTL (system resolver). */
const UNKNOWN_TTL_MS = 30_000;

/** An answer that ran out this recently is still given at once, while the next one is fetched beside. */
const GRACE_MS = 60_000;

interface Entry {
  /** The last good answer. */
  good: HostAddresses | undefined;
  /** The last failure, when nothing good came since. */
  failure: HostFailure | undefined;
  /** Until when the last end, good or bad, holds. */
  until: number;
  pending: Promise<HostAddresses | HostFailure> | undefined;
}

/** A cache of host names in front of a resolver. */
export class DnsCache {
  readonly #clock: Clock;
  readonly #resolver: Resolver;
  /** In the order of their last use, so that the first is the one to drop. */
  readonly #entries = new Map<string, Entry>();

  constructor(resolver: Resolver, clock: Clock) {
    this.#resolver = resolver;
    this.#clock = clock;
  }

  /** How many names are kept, 0..4096. */
  get size(): number {
    return this.#entries.size;
  }

  /** The addresses of a host name, IPv6 first. Does not reject. */
  resolve(host: string): Promise<HostAddresses | HostFailure> {
    const entry = this.#use(host);
    const now = this.#clock.now();
    if (now < entry.until) return Promise.resolve(entry.good ?? entry.failure!);
    const refreshed = entry.pending ??= this.#refresh(host, entry);
    const isFresh = entry.good !== undefined && now < entry.until + GRACE_MS;
    return isFresh ? Promise.resolve(entry.good!) : refreshed;
  }

  #use(host: string): Entry {
    const entry = this.#entries.get(host) ??
      { good: undefined, failure: undefined, until: -Infinity, pending: undefined };
    this.#entries.delete(host);
    this.#entries.set(host, entry);
    if (this.#entries.size > MAX_NAMES) this.#entries.delete(this.#entries.keys().next().value!);
    return entry;
  }

  async #refresh(host: string, entry: Entry): Promise<HostAddresses | HostFailure> {
    const found = await this.#lookUp(host);
    entry.pending = undefined;
    if ("failure" in found) {
      entry.failure = found;
      entry.until = this.#clock.now() + (found.failure === "own_limit" ? OWN_LIMIT_MS : NEGATIVE_MS);
      return entry.good ?? found;
    }
    const ttlMs = found.ttlMs === Infinity ? UNKNOWN_TTL_MS : found.ttlMs;
    entry.good = { addresses: found.records.map((record) => record.address) };
    entry.failure = undefined;
    entry.until = this.#clock.now() + Math.min(Math.max(ttlMs, MIN_POSITIVE_MS), MAX_POSITIVE_MS);
    return entry.good;
  }

  async #lookUp(host: string) {
    try {
      return await lookUpAddresses(this.#resolver, { name: host, types: ["AAAA", "A"] });
    } catch (error) {
      // A fault of ours must not leave the name stuck on a rejected promise.
      return { failure: "unreachable", detail: `hale failed: ${messageOf(error)}` } as const;
    }
  }
}
