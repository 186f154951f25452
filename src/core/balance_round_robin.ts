// round_robin: each endpoint in turn, as often as its weight says. Equal weights are a plain ring, where a pick looks at
// one endpoint only while all is well; other weights take smooth turns (balance_turns.ts).

import type { Balancer, Member, PickContext } from "./balance_policy.ts";
import { Turns } from "./balance_turns.ts";
import type { Random } from "./clock.ts";

/** The ring or turns, whichever the weights need; goes on where `previous` was, else starts at random. */
export function roundRobin(members: readonly Member[], random: Random, previous?: Balancer): Balancer {
  return members.every((member) => member.share === 1)
    ? new Ring(members, random, previous)
    : new Weighted(members, random, previous);
}

/** Equal weights: the next usable one after the last. */
class Ring implements Balancer {
  readonly #members: readonly Member[];
  #next: number;

  constructor(members: readonly Member[], random: Random, previous: Balancer | undefined) {
    this.#members = members;
    const next = previous instanceof Ring ? previous.#placeIn(members) : -1;
    this.#next = next >= 0 ? next : Math.floor(random() * members.length);
  }

  /** Where the first of our members, from the next one on, stands among `members`; -1 when none is left. */
  #placeIn(members: readonly Member[]): number {
    const places = new Map(members.map((member, place) => [member.key, place]));
    for (let step = 0; step < this.#members.length; step++) {
      const place = places.get(this.#members[(this.#next + step) % this.#members.length]!.key);
      if (place !== undefined) return place;
    }
    return -1;
  }

  pick(context: PickContext): number {
    const count = this.#members.length;
    let at = this.#next;
    for (let step = 0; step < count; step++) {
      const { index } = this.#members[at]!;
      if (++at === count) at = 0;
      if (!context.isUsable(index)) continue;
      this.#next = at;
      return index;
    }
    return -1;
  }
}

class Weighted implements Balancer {
  readonly #members: readonly Member[];
  readonly #turns: Turns;

  constructor(members: readonly Member[], random: Random, previous: Balancer | undefined) {
    this.#members = members;
    const goesOn = previous instanceof Weighted;
    this.#turns = new Turns(members, goesOn ? previous.#turns : undefined);
    if (!goesOn) this.#turns.startAnywhere(random());
  }

  pick(context: PickContext): number {
    this.#turns.begin();
    for (let at = 0; at < this.#members.length; at++) {
      if (context.isUsable(this.#members[at]!.index)) this.#turns.enter(at);
    }
    return this.#turns.end();
  }
}
