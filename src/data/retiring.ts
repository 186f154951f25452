// Sessions whose listener or endpoint has left the plan: they live until they end by themselves, or until the time that
// the plan leaves them is over.

import { formatAddress } from "../core/address.ts";
import type { Plan } from "../core/plan.ts";
import type { Timed, TimerWheel } from "../core/wheel.ts";
import type { Session } from "./service.ts";

/** Cuts what outlasts its time. */
export class Retiring {
  readonly #wheel: TimerWheel;
  readonly #sessions: ReadonlySet<Session>;
  /** Slots that left the plan and whose sessions will be cut. */
  readonly #slots = new Map<number, Timed>();

  /** `sessions` are all that live, kept by somebody else. */
  constructor(wheel: TimerWheel, sessions: ReadonlySet<Session>) {
    this.#wheel = wheel;
    this.#sessions = sessions;
  }

  /** Sessions of listeners whose address is not in `next` any more get `ms` to finish. */
  listeners(before: Plan, next: Plan, ms: number): void {
    const kept = new Set(next.listeners.map(({ address }) => formatAddress(address)));
    const gone = before.listeners.filter(({ address }) => !kept.has(formatAddress(address)));
    const names = new Set(gone.map(({ name }) => name));
    const doomed = [...this.#sessions].filter((session) => names.has(session.listener));
    if (doomed.length > 0) this.#after(ms, () => doomed.forEach((session) => this.#cut(session)));
  }

  /** Sessions on endpoints that are not in `next` any more live on, or for `drain_removed_ms`, unless it returns. */
  endpoints(before: Plan, next: Plan): void {
    const kept = slotsOf(next);
    for (const [slot, timer] of this.#slots) {
      if (!kept.has(slot)) continue;
      this.#wheel.remove(timer);
      this.#slots.delete(slot);
    }
    for (const { discovery, endpoints } of before.upstreams) {
      if (discovery?.drainRemovedMs === undefined) continue;
      for (const { slot } of endpoints) if (!kept.has(slot)) this.#retireSlot(slot, discovery.drainRemovedMs);
    }
  }

  #retireSlot(slot: number, ms: number): void {
    const timer = this.#after(ms, () => {
      this.#slots.delete(slot);
      for (const session of [...this.#sessions]) if (session.slot === slot) this.#cut(session);
    });
    this.#slots.set(slot, timer);
  }

  #after(ms: number, expire: () => void): Timed {
    const timer = { deadline: this.#wheel.now + ms, bucket: -1, place: -1, expire };
    this.#wheel.add(timer);
    return timer;
  }

  #cut(session: Session): void {
    if (this.#sessions.has(session)) session.cut("drained");
  }
}

function slotsOf(plan: Plan): ReadonlySet<number> {
  return new Set(plan.upstreams.flatMap(({ endpoints }) => endpoints.map(({ slot }) => slot)));
}
