// random: two different endpoints drawn by weight, the one with fewer in flight over weight; the first drawn when both
// are as busy. While all is well a pick looks at two endpoints only.

import { leastRequestsCost } from "./balance_least.ts";
import type { Balancer, Member, PickContext } from "./balance_policy.ts";
import type { Random } from "./clock.ts";

/** Two random choices. */
export class TwoRandom implements Balancer {
  readonly #members: readonly Member[];
  readonly #random: Random;
  /** Running totals of the shares: member i has the range that ends at `#ends[i]` on a line. */
  readonly #ends: Float64Array;
  /** Shares of what is usable in this pass, 0 for the rest; only filled when one that was drawn is out. */
  readonly #usable: Float64Array;

  constructor(members: readonly Member[], random: Random) {
    this.#members = members;
    this.#random = random;
    this.#ends = new Float64Array(members.length);
    this.#usable = new Float64Array(members.length);
    let end = 0;
    members.forEach((member, at) => this.#ends[at] = end += member.share);
  }

  pick(context: PickContext): number {
    if (this.#members.length < 2) return this.#pickOnly(context);
    const first = this.#memberAt(this.#random() * this.#length);
    if (!context.isUsable(this.#members[first]!.index)) return this.#pickAmongUsable(context, first);
    const second = this.#drawBeside(first);
    if (context.isUsable(this.#members[second]!.index)) return this.#lessBusy(first, second);
    return this.#pickBeside(first, context, second);
  }

  get #length(): number {
    return this.#ends[this.#ends.length - 1]!;
  }

  #pickOnly(context: PickContext): number {
    const only = this.#members[0];
    return only !== undefined && context.isUsable(only.index) ? only.index : -1;
  }

  /** A draw among all but `first`: its range is cut out of the line. */
  #drawBeside(first: number): number {
    const { share } = this.#members[first]!;
    const from = this.#ends[first]! - share;
    const point = this.#random() * (this.#length - share);
    const drawn = this.#memberAt(point < from ? point : point + share);
    // Only rounding at the very edge of a range can give the first again.
    if (drawn !== first) return drawn;
    return first > 0 ? first - 1 : 1;
  }

  /** The member whose range holds `point`. */
  #memberAt(point: number): number {
    let low = 0;
    let high = this.#ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (point < this.#ends[middle]!) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #lessBusy(first: number, second: number): number {
    const one = this.#members[first]!;
    const other = this.#members[second]!;
    return leastRequestsCost(other) < leastRequestsCost(one) ? other.index : one.index;
  }

  /** Fills `#usable` with all but the places given, which count as not usable, and gives its sum. */
  #findUsable(context: PickContext, known: number, alsoKnown: number): number {
    let total = 0;
    for (let at = 0; at < this.#members.length; at++) {
      const member = this.#members[at]!;
      const isUsable = at !== known && at !== alsoKnown && context.isUsable(member.index);
      this.#usable[at] = isUsable ? member.share : 0;
      total += this.#usable[at]!;
    }
    return total;
  }

  /** The first drawn is out: both are drawn from what is usable. */
  #pickAmongUsable(context: PickContext, out: number): number {
    const total = this.#findUsable(context, out, out);
    if (total === 0) return -1;
    const first = this.#usableAt(this.#random() * total);
    const rest = total - this.#usable[first]!;
    this.#usable[first] = 0;
    return this.#withSecond(first, rest);
  }

  /** The second drawn is out: another second is drawn from what is usable, so that the first keeps its odds. */
  #pickBeside(first: number, context: PickContext, out: number): number {
    return this.#withSecond(first, this.#findUsable(context, first, out));
  }

  /** `rest` is the sum of `#usable`, where `first` is not counted. */
  #withSecond(first: number, rest: number): number {
    if (rest <= 0) return this.#members[first]!.index;
    return this.#lessBusy(first, this.#usableAt(this.#random() * rest));
  }

  /** The usable member whose range on the line of usable shares holds `point`. */
  #usableAt(point: number): number {
    let last = -1;
    let rest = point;
    for (let at = 0; at < this.#usable.length && rest >= 0; at++) {
      if (this.#usable[at] === 0) continue;
      last = at;
      rest -= this.#usable[at]!;
    }
    return last;
  }
}
