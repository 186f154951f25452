// Which record belongs to which endpoint over plans (H14): records of endpoints that stay are kept, also at another
// slot; new ones begin; discovered endpoints that left may return within a minute; all others are forgotten. Gates of
// endpoints that left are shut by `release`, once no worker can miss them.

import type { Board } from "../core/board.ts";
import type { Clock } from "../core/clock.ts";
import type { Endpoint, Plan, Upstream } from "../core/plan.ts";
import { EndpointRecord } from "./endpoint_record.ts";
import { HealthGroup } from "./health_group.ts";
import { REST_MS } from "./slots.ts";

/** All health records by slot, and the groups they form. */
export class HealthRoster {
  readonly #board: Board;
  readonly #clock: Clock;
  #groups = new Map<string, HealthGroup>();
  #bySlot = new Map<number, EndpointRecord>();
  /** Discovered endpoints that left and may return. */
  #resting: EndpointRecord[] = [];
  /** What left and is not shut yet. */
  #leaving: EndpointRecord[] = [];

  constructor(board: Board, clock: Clock) {
    this.#board = board;
    this.#clock = clock;
  }

  /** The records of the plan in force. */
  get records(): Iterable<EndpointRecord> {
    return this.#bySlot.values();
  }

  /** The groups of the plan in force. */
  get groups(): Iterable<HealthGroup> {
    return this.#groups.values();
  }

  /** The record at a slot of the plan in force. */
  at(slot: number): EndpointRecord | undefined {
    return this.#bySlot.get(slot);
  }

  /** The group of an upstream of the plan in force. */
  group(upstream: string): HealthGroup | undefined {
    return this.#groups.get(upstream);
  }

  /** Takes a plan over. The board must have its slots. */
  adopt(plan: Plan): void {
    const before = new Map(
      [...this.#resting, ...this.#bySlot.values()].map((record) => [idOf(record), record]),
    );
    const previous = this.#groups;
    this.#bySlot = new Map();
    this.#groups = new Map();
    for (const upstream of plan.upstreams) {
      const records = upstream.endpoints.map((endpoint) => this.#recordOf(upstream, endpoint, before));
      this.#groups.set(upstream.name, new HealthGroup(upstream, records, previous.get(upstream.name)));
      for (const record of records) this.#bySlot.set(record.slot, record);
    }
    this.#rest([...before.values()]);
  }

  /** The record that goes on, or a new one. What goes on is taken out of `before`. */
  #recordOf(upstream: Upstream, endpoint: Endpoint, before: Map<string, EndpointRecord>): EndpointRecord {
    const id = idOf({ upstream: upstream.name, key: endpoint.key });
    const old = before.get(id);
    if (old === undefined || !this.#goesOn(old, endpoint)) {
      return new EndpointRecord(upstream, endpoint, this.#takeSlot(endpoint));
    }
    before.delete(id);
    if (old.slot !== endpoint.slot) return old.movedTo(upstream, endpoint, this.#takeSlot(endpoint));
    old.update(upstream, endpoint);
    return old;
  }

  /** In the plan before, or discovered and away for no longer than `REST_MS`. */
  #goesOn(old: EndpointRecord, endpoint: Endpoint): boolean {
    if (old.removedAt === undefined) return true;
    return endpoint.source === "discovered" && this.#clock.now() - old.removedAt <= REST_MS;
  }

  /** Opens the slot to a new owner, with an epoch that was never used on it. Sessions on it may be those of an earlier one. */
  #takeSlot(endpoint: Endpoint): { readonly epoch: number; readonly now: number } {
    const cells = this.#board.cells(endpoint.slot);
    const epoch = cells.epoch + 1;
    cells.publish(0, epoch);
    return { epoch, now: this.#clock.now() };
  }

  #rest(left: readonly EndpointRecord[]): void {
    const now = this.#clock.now();
    for (const record of left) {
      if (record.removedAt !== undefined) continue;
      record.removedAt = now;
      this.#leaving.push(record);
    }
    this.#resting = left.filter((record) =>
      record.source === "discovered" && this.#groups.has(record.upstream) &&
      now - record.removedAt! <= REST_MS
    );
  }

  /** Shuts the gates of what left. To be called when every worker has the plan. */
  release(): void {
    for (const record of this.#leaving) {
      if (!this.#bySlot.has(record.slot)) {
        this.#board.cells(record.slot).publish(record.gate, record.health.epoch);
      }
    }
    this.#leaving = [];
  }
}

function idOf(record: { readonly upstream: string; readonly key: string }): string {
  return `${record.upstream}\n${record.key}`;
}
