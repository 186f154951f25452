// The board: the few numbers per endpoint that change all the time, in shared memory, so that every worker sees a
// verdict at its next pick and main sees the load. Slots come in segments of fixed size, so the board grows without
// moving anything. Who writes what: main writes gate, epoch, weight; workers add to in-flight and trial (Atomics);
// each worker alone writes its own tally. Which endpoint a slot belongs to is the plan's business.

/** Slots per segment. */
export const SEGMENT_SLOTS = 256;

/** Reasons why an endpoint may not be picked, as bits of its gate (H11). 0: it may. */
export const GATE = {
  ejected: 1,
  /** May be picked, but only with a trial permit. */
  half_open: 2,
  drained: 4,
  maintenance: 8,
  removed: 16,
} as const;

/** Reasons set by people, which fail_open never overrides (H8), and `removed`. */
export const GATE_FIRM = GATE.drained | GATE.maintenance | GATE.removed;

/** The names of the reasons in a gate, in fixed order. */
export function reasonsOf(gate: number): string[] {
  return Object.entries(GATE).filter(([, bit]) => (gate & bit) !== 0).map(([name]) => name);
}

const SHARED_CELLS = 4;
const GATE_CELL = 0;
const EPOCH_CELL = 1;
const IN_FLIGHT_CELL = 2;
const TRIAL_CELL = 3;

/** What each worker notes per slot. */
export const TALLY = {
  /** Leases it holds now. */
  held: 0,
  picks: 1,
  failOpenPicks: 2,
  /** Decaying peak latency of this worker's answers, milliseconds (peak_ewma). Not a sum. */
  latencyMs: 3,
} as const;
const TALLY_CELLS = Object.keys(TALLY).length;

/** The shared memory of a board as it travels by postMessage. */
export type BoardMemory = readonly SharedArrayBuffer[];

/** The numbers of all slots. Every thread has its own `Board` object over the same memory. */
export class Board {
  readonly #memory: SharedArrayBuffer[] = [];
  readonly #segments: Int32Array[] = [];

  /** Takes the memory another thread sent; none: an empty board. */
  constructor(memory: BoardMemory = []) {
    this.attach(memory);
  }

  /** The memory to send to another thread. */
  get memory(): BoardMemory {
    return [...this.#memory];
  }

  /** How many slots there are. */
  get size(): number {
    return this.#segments.length * SEGMENT_SLOTS;
  }

  /** Takes over segments that were added by the owner since; known ones are left alone. */
  attach(memory: BoardMemory): void {
    for (const segment of memory.slice(this.#memory.length)) this.#add(segment);
  }

  /** Adds segments until `slots` slots fit. Only main grows the board. */
  grow(slots: number): void {
    while (this.size < slots) this.#add(new SharedArrayBuffer(SEGMENT_SLOTS * SHARED_CELLS * 4));
  }

  #add(memory: SharedArrayBuffer): void {
    this.#memory.push(memory);
    this.#segments.push(new Int32Array(memory));
  }

  /** The cells of one slot. Hold on to it: a pick then costs one read per number. Throws for a slot beyond the board. */
  cells(slot: number): Cells {
    const segment = this.#segments[Math.floor(slot / SEGMENT_SLOTS)];
    if (segment === undefined) throw new RangeError(`Slot ${slot} is beyond the board of ${this.size} slots`);
    return new Cells(segment, (slot % SEGMENT_SLOTS) * SHARED_CELLS);
  }
}

/** The shared numbers of one slot. */
export class Cells {
  readonly #segment: Int32Array;
  readonly #at: number;

  /** Views the four cells that begin at `at`. Made by `Board.cells`. */
  constructor(segment: Int32Array, at: number) {
    this.#segment = segment;
    this.#at = at;
  }

  /** Why the endpoint may not be picked, a set of `GATE` bits. */
  get gate(): number {
    return Atomics.load(this.#segment, this.#at + GATE_CELL);
  }

  /** The epoch in force: evidence of another one changes nothing (H7). */
  get epoch(): number {
    return Atomics.load(this.#segment, this.#at + EPOCH_CELL);
  }

  /** Sessions and exchanges that hold a lease, over all workers. */
  get inFlight(): number {
    return Atomics.load(this.#segment, this.#at + IN_FLIGHT_CELL);
  }

  /**
   * Main only: a new verdict. The gate is written first, so that whoever reads the epoch and then the gate, as a pick
   * does, never goes through an old gate with the new epoch: its evidence would count for the state that followed.
   */
  publish(gate: number, epoch: number): void {
    Atomics.store(this.#segment, this.#at + GATE_CELL, gate);
    if (epoch === this.epoch) return;
    Atomics.store(this.#segment, this.#at + EPOCH_CELL, epoch);
    Atomics.store(this.#segment, this.#at + TRIAL_CELL, trialOf(epoch, 0));
  }

  /** Takes a place if fewer than `max` are taken. */
  enter(max: number): boolean {
    const before = Atomics.add(this.#segment, this.#at + IN_FLIGHT_CELL, 1);
    if (before < max) return true;
    Atomics.sub(this.#segment, this.#at + IN_FLIGHT_CELL, 1);
    return false;
  }

  /** Gives `count` places back. */
  leave(count = 1): void {
    Atomics.sub(this.#segment, this.#at + IN_FLIGHT_CELL, count);
  }

  /** Takes one of `max` trial permits of the epoch `epoch`; false when none is free or the epoch has passed. */
  takeTrial(epoch: number, max: number): boolean {
    for (;;) {
      const seen = Atomics.load(this.#segment, this.#at + TRIAL_CELL);
      if (!isTrialOf(seen, epoch) || trialsIn(seen) >= Math.min(max, 255)) return false;
      if (this.#swapTrial(seen, seen + 1)) return true;
    }
  }

  /** Gives a permit of the epoch back; one of an epoch that has passed is simply gone. */
  giveTrialBack(epoch: number): void {
    for (;;) {
      const seen = Atomics.load(this.#segment, this.#at + TRIAL_CELL);
      if (!isTrialOf(seen, epoch) || trialsIn(seen) === 0) return;
      if (this.#swapTrial(seen, seen - 1)) return;
    }
  }

  /** Trial permits now taken. */
  get trials(): number {
    return trialsIn(Atomics.load(this.#segment, this.#at + TRIAL_CELL));
  }

  #swapTrial(seen: number, next: number): boolean {
    return Atomics.compareExchange(this.#segment, this.#at + TRIAL_CELL, seen, next) === seen;
  }
}

// A trial cell holds the low 23 bits of the epoch and, in its low byte, how many permits are taken.
const trialOf = (epoch: number, taken: number): number => ((epoch & 0x7fffff) << 8) | taken;
const isTrialOf = (cell: number, epoch: number): boolean => (cell >> 8) === ((epoch & 0x7fffff) << 8 >> 8);
const trialsIn = (cell: number): number => cell & 255;

/** What one worker has counted, per slot; that worker alone writes it. Segments as on the board. */
export class Tally {
  readonly #memory: SharedArrayBuffer[] = [];
  readonly #segments: Float64Array[] = [];

  /** Takes the memory another thread sent; none: an empty tally. */
  constructor(memory: BoardMemory = []) {
    this.attach(memory);
  }

  /** The memory to send to the worker. */
  get memory(): BoardMemory {
    return [...this.#memory];
  }

  /** Takes over segments that were added since. */
  attach(memory: BoardMemory): void {
    for (const segment of memory.slice(this.#memory.length)) this.#add(segment);
  }

  /** Adds segments until `slots` slots fit. Only main grows a tally. */
  grow(slots: number): void {
    while (this.#segments.length * SEGMENT_SLOTS < slots) {
      this.#add(new SharedArrayBuffer(SEGMENT_SLOTS * TALLY_CELLS * 8));
    }
  }

  #add(memory: SharedArrayBuffer): void {
    this.#memory.push(memory);
    this.#segments.push(new Float64Array(memory));
  }

  /** The slot's numbers as a window on the memory, indexed by `TALLY`. */
  row(slot: number): Float64Array {
    const segment = this.#segments[Math.floor(slot / SEGMENT_SLOTS)];
    if (segment === undefined) throw new RangeError(`Slot ${slot} is beyond the tally`);
    const at = (slot % SEGMENT_SLOTS) * TALLY_CELLS;
    return segment.subarray(at, at + TALLY_CELLS);
  }
}
