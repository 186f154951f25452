// Which endpoint has which slot of the board. A slot is given to another endpoint only when nobody can still mean the
// old one: it has left the plan of every worker, its last session has ended, and a while has passed since.

import type { Board } from "../core/board.ts";
import type { Clock } from "../core/clock.ts";
import type { EndpointConfig } from "../core/plan.ts";

/** How long a slot rests after its endpoint left, milliseconds; a discovered endpoint that returns meanwhile gets it back (H14). */
export const REST_MS = 60_000;

interface Resting {
  readonly slot: number;
  readonly since: number;
  /** Discovered endpoints may return to it. */
  readonly mayReturn: boolean;
}

/** The slots of all endpoints. */
export class Slots {
  readonly #board: Board;
  readonly #clock: Clock;
  /** Called when a slot gets a new owner, before anybody can pick it. */
  readonly #onReuse: (slot: number) => void;
  #taken = new Map<string, { slot: number; discovered: boolean }>();
  readonly #resting = new Map<string, Resting>();
  #count = 0;

  constructor(board: Board, options: { clock: Clock; onReuse: (slot: number) => void }) {
    this.#board = board;
    this.#clock = options.clock;
    this.#onReuse = options.onReuse;
  }

  /** How many slots the board has to hold. */
  get count(): number {
    return this.#count;
  }

  /**
   * The slots of a whole plan: given are its endpoints by upstream. Kept endpoints keep theirs; those that are missing
   * go to rest. Gives a function from upstream and endpoint to slot.
   */
  assign(
    upstreams: readonly { readonly name: string; readonly endpoints: readonly EndpointConfig[] }[],
  ): SlotOf {
    const next = new Map<string, { slot: number; discovered: boolean }>();
    for (const { name, endpoints } of upstreams) {
      for (const endpoint of endpoints) {
        const id = idOf(name, endpoint.key);
        const slot = this.#taken.get(id)?.slot ?? this.#returning(id, endpoint) ?? this.#fresh();
        next.set(id, { slot, discovered: endpoint.source === "discovered" });
      }
    }
    this.#rest(next);
    this.#taken = next;
    this.#board.grow(this.#count);
    return (upstream, key) => next.get(idOf(upstream, key))!.slot;
  }

  #returning(id: string, endpoint: EndpointConfig): number | undefined {
    const resting = this.#resting.get(id);
    if (resting === undefined || !resting.mayReturn || endpoint.source !== "discovered") return undefined;
    if (this.#clock.now() - resting.since > REST_MS) return undefined;
    this.#resting.delete(id);
    return resting.slot;
  }

  #fresh(): number {
    for (const [id, { slot, since }] of this.#resting) {
      if (this.#clock.now() - since <= REST_MS) break; // The map is in order of leaving.
      if (this.#board.cells(slot).inFlight > 0) continue;
      this.#resting.delete(id);
      this.#onReuse(slot);
      return slot;
    }
    return this.#count++;
  }

  #rest(next: ReadonlyMap<string, unknown>): void {
    for (const [id, { slot, discovered }] of this.#taken) {
      if (next.has(id)) continue;
      // A second rest under the same name must not hide the first: it goes under a name of its own.
      if (this.#resting.has(id)) this.#resting.set(`${id}\n${slot}`, this.#resting.get(id)!);
      this.#resting.delete(id);
      this.#resting.set(id, { slot, since: this.#clock.now(), mayReturn: discovered });
    }
  }
}

/** The slot of an endpoint by upstream name and endpoint key. */
export type SlotOf = (upstream: string, key: string) => number;

function idOf(upstream: string, key: string): string {
  return `${upstream}\n${key}`;
}
