// One deadline per client connection, moved forward as things happen, on the coarse wheel of the worker. Moving it
// costs a field; the wheel looks at each connection every few seconds at least, or when the deadline is nearer.

import type { Clock } from "../core/clock.ts";
import type { Timed, TimerWheel } from "../core/wheel.ts";

/** Longest time between two looks of the wheel, milliseconds. */
const LOOK_MS = 5000;
/**
 * An overdue deadline is believed only at the next tick, or after a stall only so much later, milliseconds: what came
 * meanwhile counts first.
 */
const STALL_GRACE_MS = 300;

/** A deadline that moves. */
export class Watch implements Timed {
  deadline = 0;
  bucket = -1;
  place = -1;
  readonly #wheel: TimerWheel;
  readonly #clock: Pick<Clock, "now">;
  #dueAt = Infinity;
  #isOverdue = false;
  /** Called once when the deadline has passed; it is off then, until it is set again. */
  onDue: () => void;

  constructor(wheel: TimerWheel, clock: Pick<Clock, "now">, onDue: () => void) {
    this.#wheel = wheel;
    this.#clock = clock;
    this.onDue = onDue;
  }

  /** The deadline is `ms` from `now` (the present time by the clock, when the caller knows it already). */
  set(ms: number, now: number = this.#clock.now()): void {
    this.#dueAt = now + ms;
    this.#isOverdue = false;
    if (this.bucket >= 0 && this.deadline <= this.#dueAt) return;
    this.#wheel.reschedule(this, Math.min(this.#dueAt, now + LOOK_MS));
  }

  /** No deadline any more. */
  stop(): void {
    this.#dueAt = Infinity;
    this.#wheel.remove(this);
  }

  /** Called by the wheel. */
  expire(): void {
    const now = this.#wheel.now;
    if (this.#dueAt > now) return this.#lookAgain(Math.min(this.#dueAt, now + LOOK_MS));
    if (!this.#isOverdue) {
      this.#isOverdue = true;
      return this.#lookAgain(now + (this.#wheel.isLate ? STALL_GRACE_MS : 1));
    }
    this.#dueAt = Infinity;
    this.onDue();
  }

  #lookAgain(at: number): void {
    this.deadline = at;
    this.#wheel.add(this);
  }
}
