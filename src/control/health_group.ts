// The endpoints of one upstream taken together: how many are out, whether none is usable (H8), how many probes there
// were. The keeper tells it when something changed; it tells the world when the upstream as a whole went down or came back.

import { GATE_FIRM } from "../core/board.ts";
import type { Emit } from "../core/event.ts";
import type { EjectionGroup } from "../core/health.ts";
import type { Outcome } from "../core/outcome.ts";
import type { HealthParams, Upstream } from "../core/plan.ts";
import type { EndpointRecord } from "./endpoint_record.ts";

/** The records of one upstream in the plan in force. */
export class HealthGroup implements EjectionGroup {
  readonly #name: string;
  readonly #policy: HealthParams["allDown"];
  readonly #records: readonly EndpointRecord[];
  readonly #probes: Map<string, number>;
  #out = 0;
  #downSince: number | undefined;

  /** Counts, and whether it is known to be down, go on from the same upstream of the plan before. */
  constructor(upstream: Upstream, records: readonly EndpointRecord[], previous: HealthGroup | undefined) {
    this.#name = upstream.name;
    this.#policy = upstream.health?.allDown ?? "fail_closed";
    this.#records = records;
    this.#probes = previous === undefined ? new Map() : previous.#probes;
    this.#downSince = previous === undefined ? undefined : previous.#downSince;
    this.#count();
  }

  /** How many endpoints there are. */
  get size(): number {
    return this.#records.length;
  }

  /** How many are ejected or half_open. */
  get out(): number {
    return this.#out;
  }

  #count(): void {
    this.#out = this.#records.filter((record) => record.health.state !== "healthy").length;
  }

  /** Endpoints that fail_open may use: out for their health only. */
  get #ejected(): number {
    return this.#records.filter(({ gate }) => gate !== 0 && (gate & GATE_FIRM) === 0).length;
  }

  /** One that is half_open is not usable: it takes a few trials, no more. */
  get #isDown(): boolean {
    return !this.#records.some((record) => record.gate === 0);
  }

  /** To be called when the state of an endpoint changed. */
  changed(now: number, emit: Emit): void {
    this.#count();
    this.#tellAllDown(now, emit);
  }

  /** Tells, once each, that no endpoint is usable any more and that one is again. An empty set is neither. */
  #tellAllDown(now: number, emit: Emit): void {
    if (this.size === 0 || this.#isDown === (this.#downSince !== undefined)) return;
    if (this.#downSince === undefined) {
      this.#downSince = now;
      const ejected = this.#ejected;
      const held = this.size - ejected;
      return emit({ kind: "all_down_entered", upstream: this.#name, policy: this.#policy, ejected, held });
    }
    const downMs = now - this.#downSince;
    this.#downSince = undefined;
    emit({ kind: "all_down_left", upstream: this.#name, downMs });
  }

  /** Counts one probe. */
  countProbe(outcome: Outcome): void {
    this.#probes.set(outcome, (this.#probes.get(outcome) ?? 0) + 1);
  }

  /** Probes by outcome, since the upstream came into the config. */
  get probes(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#probes);
  }
}
