// One coarse timer for thousands of deadlines. An item that lives on just moves its `deadline` forward (one write, no
// call); the wheel looks at it only when its bucket comes up, and puts it further along when the deadline has moved.
// Who drives the wheel decides how coarse it is: `advance` about every `tickMs`.

/** Something with a deadline. It belongs to at most one wheel. */
export interface Timed {
  /** When to end, in the wheel's milliseconds. May be moved later freely; to move it earlier call `reschedule`. */
  deadline: number;
  /** Where the wheel keeps it: which bucket (-1: none), and which place in it. Start with -1 and leave both to the wheel. */
  bucket: number;
  place: number;
  /** Called once when the deadline has passed; the item is off the wheel by then. */
  expire(): void;
}

/** A hashed timer wheel with lazily renewed deadlines. Adding and removing cost the same however many items there are. */
export class TimerWheel {
  readonly #tickMs: number;
  readonly #buckets: Timed[][];
  #tick: number;
  #now: number;
  #isLate = false;

  /** `tickMs` is the grain (default 100 ms); `now` the time it starts at. */
  constructor(now: number, options: { tickMs?: number; buckets?: number } = {}) {
    this.#tickMs = options.tickMs ?? 100;
    this.#buckets = Array.from({ length: options.buckets ?? 512 }, () => []);
    this.#now = now;
    this.#tick = Math.floor(now / this.#tickMs);
  }

  /** The time of the last `advance`: coarse, and free to read. */
  get now(): number {
    return this.#now;
  }

  /** Whether the last `advance` came more than half a tick late: this thread did not run in between. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Puts the item on the wheel; it must not be on one. */
  add(item: Timed): void {
    const ticksAhead = Math.ceil(item.deadline / this.#tickMs) - this.#tick;
    const bounded = Math.min(Math.max(ticksAhead, 1), this.#buckets.length - 1);
    item.bucket = (this.#tick + bounded) % this.#buckets.length;
    item.place = this.#buckets[item.bucket]!.push(item) - 1;
  }

  /** Takes the item off; one that is not on it is left alone. */
  remove(item: Timed): void {
    if (item.bucket < 0) return;
    const bucket = this.#buckets[item.bucket]!;
    const last = bucket.pop()!;
    // The last one takes the place of the one that goes.
    if (last !== item) bucket[last.place = item.place] = last;
    item.bucket = -1;
  }

  /** Sets a deadline that may be earlier than the present one. */
  reschedule(item: Timed, deadline: number): void {
    this.remove(item);
    item.deadline = deadline;
    this.add(item);
  }

  /** Moves time on and expires what is due. A long gap (a stall) expires everything that fell into it, in one pass. */
  advance(now: number): void {
    this.#isLate = now - this.#now > this.#tickMs * 1.5;
    this.#now = now;
    const target = Math.floor(now / this.#tickMs);
    const steps = Math.min(target - this.#tick, this.#buckets.length);
    for (let step = 0; step < steps; step++) {
      this.#tick = target - steps + step + 1;
      this.#turn(this.#buckets[this.#tick % this.#buckets.length]!);
    }
  }

  #turn(bucket: Timed[]): void {
    if (bucket.length === 0) return;
    for (const item of [...bucket]) {
      if (item.bucket < 0) continue; // removed by an item that expired just before it
      this.remove(item);
      if (item.deadline <= this.#now) item.expire();
      else this.add(item);
    }
  }
}
