// Host names on the dial path of one thread: the cache in front of whichever resolver the plan asks for.

import type { Clock } from "../core/clock.ts";
import { DnsCache } from "./dns_cache.ts";
import type { Ask } from "./dns_query.ts";
import { DnsResolver, PUBLIC_NAMESERVERS, RESOLV_CONF } from "./dns_resolver.ts";
import type { HostAddresses, HostFailure, Resolver } from "./dns_types.ts";
import { limitedAsk } from "./limited_ask.ts";
import { SystemResolver } from "./system_resolver.ts";

/** "stub": our own resolver by /etc/resolv.conf. "system": the runtime's. */
export type ResolverKind = "stub" | "system";

/**
 * A resolver of that kind. With "system" and no name server at all, public ones are asked (D6). `ask` is shared by
 * resolvers that are to keep to one limit together.
 */
export function newResolver(kind: ResolverKind, clock: Clock, ask: Ask = limitedAsk()): Resolver {
  if (kind === "stub") return new DnsResolver({ clock, ask });
  return new SystemResolver({ lastResort: new DnsResolver({ clock, ask, nameservers: PUBLIC_NAMESERVERS }) });
}

/** Which kind to use: as asked for; "auto" is "stub" where /etc/resolv.conf exists, else "system". */
export function resolverKindOf(wanted: "auto" | ResolverKind, path: string = RESOLV_CONF): ResolverKind {
  if (wanted !== "auto") return wanted;
  try {
    return Deno.statSync(path).isFile ? "stub" : "system";
  } catch {
    return "system"; // Not there, or not for us to read: the answer itself.
  }
}

/** Resolves host names for dialing, by cache. */
export class HostResolver {
  readonly #clock: Clock;
  #kind: ResolverKind = "stub";
  #cache: DnsCache;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#cache = new DnsCache(newResolver(this.#kind, clock), clock);
  }

  /** Changes over to the other kind, with an empty cache; the same kind changes nothing. */
  use(kind: ResolverKind): void {
    if (kind === this.#kind) return;
    this.#kind = kind;
    this.#cache = new DnsCache(newResolver(kind, this.#clock), this.#clock);
  }

  /** The addresses of a host name. Does not reject. */
  resolve(host: string): Promise<HostAddresses | HostFailure> {
    return this.#cache.resolve(host);
  }
}
