// Makes the balancer of an upstream: one policy object per priority group, lower numbers first (D2). The policies are in
// balance_*.ts beside this file; leases, gates and permits are the data plane's business.

import {
  type BalanceEndpoint,
  type Balancer,
  type Member,
  type PickContext,
  sharesOf,
} from "./balance_policy.ts";
import { IpHash } from "./balance_hash.ts";
import { Least, leastRequestsCost, peakEwmaCost } from "./balance_least.ts";
import { TwoRandom } from "./balance_random.ts";
import { roundRobin } from "./balance_round_robin.ts";
import type { Random } from "./clock.ts";
import type { LoadBalancer } from "./plan.ts";

/** What `createBalancer` needs besides policy and endpoints. */
export interface BalancerOptions {
  /** For random draws and random starts. */
  readonly random: Random;
  /** The balancer that served the upstream until now, of any policy: its cursors are carried over by key. */
  readonly previous?: Balancer | undefined;
}

/** The balancer for these endpoints, of which there may be none. Indices of `pick` are places in `endpoints`. */
export function createBalancer(
  policy: LoadBalancer,
  endpoints: readonly BalanceEndpoint[],
  options: BalancerOptions,
): Balancer {
  const previous = groupsOf(options.previous);
  const groups = prioritiesOf(endpoints).map((priority) => {
    const members = membersOf(endpoints, priority);
    return { priority, balancer: createPolicy(policy, members, options.random, previous.get(priority)) };
  });
  return new Groups(groups);
}

interface Group {
  readonly priority: number;
  readonly balancer: Balancer;
}

/** Priority groups in ascending order. */
class Groups implements Balancer {
  readonly groups: readonly Group[];

  constructor(groups: readonly Group[]) {
    this.groups = groups;
  }

  pick(context: PickContext): number {
    for (let at = 0; at < this.groups.length; at++) {
      const index = this.groups[at]!.balancer.pick(context);
      if (index >= 0) return index;
    }
    return -1;
  }
}

function groupsOf(previous: Balancer | undefined): Map<number, Balancer> {
  if (!(previous instanceof Groups)) return new Map();
  return new Map(previous.groups.map((group) => [group.priority, group.balancer]));
}

function prioritiesOf(endpoints: readonly BalanceEndpoint[]): number[] {
  return [...new Set(endpoints.map((endpoint) => endpoint.priority))].sort((a, b) => a - b);
}

function membersOf(endpoints: readonly BalanceEndpoint[], priority: number): Member[] {
  const inGroup = endpoints.map((endpoint, index) => ({ endpoint, index }))
    .filter(({ endpoint }) => endpoint.priority === priority);
  const shares = sharesOf(inGroup.map(({ endpoint }) => endpoint.weight));
  return inGroup.map(({ endpoint: { key, weight, load }, index }, at) => ({
    key,
    weight,
    priority,
    load,
    index,
    share: shares[at]!,
  }));
}

function createPolicy(
  policy: LoadBalancer,
  members: readonly Member[],
  random: Random,
  previous: Balancer | undefined,
): Balancer {
  switch (policy) {
    case "round_robin":
      return roundRobin(members, random, previous);
    case "least_requests":
      return new Least(members, leastRequestsCost, { random, previous });
    case "peak_ewma":
      return new Least(members, peakEwmaCost, { random, previous });
    case "random":
      return new TwoRandom(members, random);
    case "ip_hash":
      return new IpHash(members);
  }
}
