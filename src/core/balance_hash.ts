// ip_hash: a client keeps its endpoint. Rendezvous hashing: client and endpoint together give a score, the highest
// usable one wins. When an owner is out only its own clients move, each to its second best, and they return with it; an
// added endpoint takes its share from all and moves nobody else. No state, so all workers and restarts agree.

import { type Balancer, hashText, type Member, mixed, type PickContext } from "./balance_policy.ts";

/** Rendezvous hashing with weights. */
export class IpHash implements Balancer {
  readonly #members: readonly Member[];
  readonly #hashes: Uint32Array;
  readonly #isEqual: boolean;

  constructor(members: readonly Member[]) {
    this.#members = members;
    this.#hashes = Uint32Array.from(members, (member) => hashText(member.key));
    this.#isEqual = members.every((member) => member.share === 1);
  }

  pick(context: PickContext): number {
    const owner = this.#owner(context.clientHash);
    if (owner < 0) return -1;
    const { index } = this.#members[owner]!;
    return context.isUsable(index) ? index : this.#nextBest(context, owner);
  }

  #owner(clientHash: number): number {
    let owner = -1;
    let highest = -Infinity;
    for (let at = 0; at < this.#members.length; at++) {
      const score = this.#score(clientHash, at);
      if (score <= highest) continue;
      highest = score;
      owner = at;
    }
    return owner;
  }

  #nextBest(context: PickContext, owner: number): number {
    let best = -1;
    let highest = -Infinity;
    for (let at = 0; at < this.#members.length; at++) {
      const { index } = this.#members[at]!;
      if (at === owner || !context.isUsable(index)) continue;
      const score = this.#score(context.clientHash, at);
      if (score <= highest) continue;
      highest = score;
      best = index;
    }
    return best;
  }

  /** With equal weights the bare hash orders just as the formula does, at a fraction of the time. */
  #score(clientHash: number, at: number): number {
    const own = this.#hashes[at]!;
    const hash = mixed(mixed(clientHash ^ own) + own);
    return this.#isEqual ? hash : -this.#members[at]!.share / Math.log((hash + 0.5) / 2 ** 32);
  }
}
