// From what the files say and what DNS says to the plan in force.

import type { Config, EndpointConfig, Listener, Plan, UpstreamConfig } from "../core/plan.ts";
import type { SlotOf } from "./slots.ts";

/** What DNS says: the endpoints of each upstream with discovery that has had an answer (or was cleared). */
export type DiscoveredSets = ReadonlyMap<string, readonly EndpointConfig[]>;

/** The endpoints of an upstream now: discovered ones once there has been an answer, until then the static seed (C6). */
export function endpointsOf(upstream: UpstreamConfig, discovered: DiscoveredSets): readonly EndpointConfig[] {
  if (upstream.discovery === undefined) return upstream.endpoints;
  return discovered.get(upstream.name) ?? upstream.endpoints;
}

/** What a plan needs beside config and discovered sets. */
export interface PlanNumbers {
  readonly generation: number;
  readonly revision: number;
  readonly slotOf: SlotOf;
  readonly resolver: Plan["resolver"];
  /** The listeners with their real ports. */
  readonly listeners: readonly Listener[];
}

/** The plan for the workers. */
export function assemble(config: Config, discovered: DiscoveredSets, numbers: PlanNumbers): Plan {
  return {
    generation: numbers.generation,
    revision: numbers.revision,
    limits: config.limits,
    access: config.log.access,
    resolver: numbers.resolver,
    listeners: numbers.listeners,
    upstreams: config.upstreams.map((upstream) => ({
      ...upstream,
      endpoints: endpointsOf(upstream, discovered).map((endpoint) => ({
        ...endpoint,
        slot: numbers.slotOf(upstream.name, endpoint.key),
      })),
    })),
  };
}
