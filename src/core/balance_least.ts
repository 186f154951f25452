// least_requests and peak_ewma: the usable endpoint with the least cost. Among equals smooth weighted turns decide, so
// that a quiet upstream is used evenly and by weight.

import type { Balancer, Member, PickContext } from "./balance_policy.ts";
import { Turns } from "./balance_turns.ts";
import type { Random } from "./clock.ts";

/** What using the endpoint would cost; the least is picked. */
export type Cost = (member: Member) => number;

/** Fewest in flight over weight. */
export function leastRequestsCost(member: Member): number {
  return Math.max(0, member.load.inFlight) / member.share;
}

/** More than any latency: an endpoint that is busy with its first exchange gets no second one while others are known. */
const UNKNOWN_LATENCY_MS = 1e12;

/** Peak latency x (in flight + 1), over weight. An endpoint of unknown latency is tried at once, by one exchange. */
export function peakEwmaCost(member: Member): number {
  const inFlight = Math.max(0, member.load.inFlight);
  const known = member.load.latencyMs;
  const latencyMs = known > 0 ? known : inFlight > 0 ? UNKNOWN_LATENCY_MS : 0;
  return latencyMs * (inFlight + 1) / member.share;
}

/** One pass over all members for the least cost. */
export class Least implements Balancer {
  readonly #members: readonly Member[];
  readonly #cost: Cost;
  readonly #turns: Turns;
  /** Costs seen in this pass; NaN: not usable. */
  readonly #costs: Float64Array;

  /** Turns among equals go on where `previous` was, else they start at random. */
  constructor(
    members: readonly Member[],
    cost: Cost,
    options: { readonly random: Random; readonly previous?: Balancer | undefined },
  ) {
    this.#members = members;
    this.#cost = cost;
    this.#costs = new Float64Array(members.length);
    const { previous } = options;
    const goesOn = previous instanceof Least;
    this.#turns = new Turns(members, goesOn ? previous.#turns : undefined);
    if (!goesOn) this.#turns.startAnywhere(options.random());
  }

  pick(context: PickContext): number {
    let least = Infinity;
    for (let at = 0; at < this.#members.length; at++) {
      const member = this.#members[at]!;
      const cost = context.isUsable(member.index) ? this.#cost(member) : NaN;
      this.#costs[at] = cost;
      if (cost < least) least = cost;
    }
    return this.#turnAmong(least);
  }

  #turnAmong(cost: number): number {
    this.#turns.begin();
    for (let at = 0; at < this.#members.length; at++) {
      if (this.#costs[at] === cost) this.#turns.enter(at);
    }
    return this.#turns.end();
  }
}
