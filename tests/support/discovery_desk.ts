// Discovery of one or more upstreams by a scripted name server, on a clock that stands still, with everything that is
// told written down.

import type { HaleEvent } from "../../src/core/event.ts";
import type { Config, DiscoveryParams, EndpointConfig, UpstreamConfig } from "../../src/core/plan.ts";
import { DiscoveryTasks } from "../../src/control/discovery.ts";
import type { EndpointSet } from "../../src/control/discovery_set.ts";
import type { Resolver } from "../../src/net/dns_types.ts";
import { DnsScript, readScript, type ScriptRule } from "./dns_script.ts";
import { FakeClock } from "./fake_clock.ts";
import { scriptedResolver } from "./scripted_dns.ts";

/** The name that the case files ask for. */
export const APP = "app.example.test";

/** Defaults as the config has them; port 80. */
export function discoveryParams(changes: Partial<DiscoveryParams> = {}): DiscoveryParams {
  return {
    hostname: APP,
    port: 80,
    recordType: "A",
    refreshIntervalMs: 30_000,
    failOpen: true,
    minEndpoints: 1,
    nameservers: [],
    ...changes,
  };
}

/** An upstream of which only name, endpoints and discovery matter here. */
export function discoveringUpstream(
  name: string,
  discovery: DiscoveryParams | undefined,
  endpoints: readonly EndpointConfig[] = [],
): UpstreamConfig {
  return {
    name,
    protocol: "http1",
    loadBalancer: "round_robin",
    connectAttempts: 3,
    timeouts: { connectMs: 5000, readMs: 60_000, happyEyeballsMs: 250 },
    host: "keep",
    endpoints,
    ...(discovery !== undefined && { discovery }),
  };
}

/** A static endpoint, for seeds. */
export function staticEndpoint(key: string): EndpointConfig {
  const [host, port] = key.split(":");
  return { key, host: host!, port: Number(port), weight: 1, priority: 0, source: "static" };
}

/** Discovery at work. End it with `end`, or leave a test with loops under way. */
export class DiscoveryDesk {
  readonly clock = new FakeClock();
  readonly events: HaleEvent[] = [];
  /** Sets in the order in which they were given out. */
  readonly updates: [upstream: string, set: EndpointSet][] = [];
  readonly script: DnsScript;
  readonly tasks: DiscoveryTasks;
  /** Stands before the scripted resolver when a test sets it. */
  resolver: Resolver;

  constructor(
    rules: readonly ScriptRule[] | string = [],
    options: { random?: () => number; waits?: boolean } = {},
  ) {
    this.script = new DnsScript(typeof rules === "string" ? readScript(rules) : rules);
    const { clock } = this;
    this.resolver = scriptedResolver(this.script, { clock, waits: options.waits ?? false }).resolver;
    this.tasks = new DiscoveryTasks({
      clock,
      random: options.random ?? (() => 0),
      emit: (event) => void this.events.push(event),
      onUpdate: (upstream, set) => void this.updates.push([upstream, set]),
      resolverFor: () => ({ resolve: (question, signal) => this.resolver.resolve(question, signal) }),
    });
  }

  /** Brings the loops to these upstreams and lets what is due at once happen. */
  async respawn(...upstreams: readonly UpstreamConfig[]): Promise<void> {
    const config: Pick<Config, "resolver" | "upstreams"> = { resolver: "stub", upstreams };
    await this.tasks.respawn(config);
    await this.clock.advance(0);
  }

  /** One upstream called "app" with these parameters. */
  async begin(changes: Partial<DiscoveryParams> = {}, seed: readonly EndpointConfig[] = []): Promise<void> {
    await this.respawn(discoveringUpstream("app", discoveryParams(changes), seed));
  }

  /** The keys of the set given out last; undefined before the first. */
  keys(upstream = "app"): readonly string[] | undefined {
    return this.set(upstream)?.map((endpoint) => endpoint.key);
  }

  /** The set given out last. */
  set(upstream = "app"): EndpointSet | undefined {
    return this.updates.findLast(([name]) => name === upstream)?.[1];
  }

  /** The kinds of all events so far. */
  kinds(): string[] {
    return this.events.map((event) => event.kind);
  }

  /** Failure kinds as they were told. */
  toldFailures(): string[] {
    return this.events.flatMap((event) => (event.kind === "discovery_failed" ? [event.failure] : []));
  }

  /** How often DNS was asked for `APP` and that type. */
  asked(type = "A"): number {
    return this.script.count(APP, type);
  }

  async end(): Promise<void> {
    await this.tasks.abortAll();
  }
}
