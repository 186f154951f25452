// Smooth weighted turns: everybody who takes part earns its share, the richest is chosen and pays what all earned, so
// shares (5,1,1) give a a b a c a a. Who does not take part neither earns nor pays: the others keep their shares exactly.

import type { Member } from "./balance_policy.ts";

/** Credits of the members of one group. Use: `begin`, `enter` for each that takes part, `end`. */
export class Turns {
  readonly #members: readonly Member[];
  readonly #credit: Float64Array;
  #best = -1;
  #total = 0;

  /** Credit is carried over by key, in proportion to the new shares: an edit of weights makes no burst for anybody. */
  constructor(members: readonly Member[], previous?: Turns) {
    this.#members = members;
    this.#credit = new Float64Array(members.length);
    if (previous !== undefined) this.#takeOver(previous);
  }

  #takeOver(previous: Turns): void {
    const scale = totalOf(this.#members) / totalOf(previous.#members);
    const old = new Map(previous.#members.map((member, at) => [member.key, previous.#credit[at]!]));
    this.#members.forEach((member, at) => {
      this.#credit[at] = Math.round((old.get(member.key) ?? 0) * scale);
    });
  }

  /** Moves on by a random number of turns of all, so that workers start at different places. `chance`: [0, 1). */
  startAnywhere(chance: number): void {
    const turns = Math.floor(chance * Math.min(totalOf(this.#members), LONGEST_START));
    for (let turn = 0; turn < turns; turn++) {
      this.begin();
      for (let at = 0; at < this.#members.length; at++) this.enter(at);
      this.end();
    }
  }

  /** Begins a turn. */
  begin(): void {
    this.#best = -1;
    this.#total = 0;
  }

  /** Lets the member at `place` take part in this turn. */
  enter(place: number): void {
    const { share } = this.#members[place]!;
    this.#total += share;
    this.#credit[place]! += share;
    if (this.#best < 0 || this.#credit[place]! > this.#credit[this.#best]!) this.#best = place;
  }

  /** The upstream index of the member whose turn it is; -1 when none took part. */
  end(): number {
    if (this.#best < 0) return -1;
    this.#credit[this.#best]! -= this.#total;
    return this.#members[this.#best]!.index;
  }
}

const LONGEST_START = 256;

function totalOf(members: readonly Member[]): number {
  return members.reduce((sum, member) => sum + member.share, 0);
}
