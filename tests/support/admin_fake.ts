// An admin app over a running state that a test can change: what control would be to it, without anything running.

import { type AdminApp, adminApp, type AdminPorts } from "../../src/admin/app.ts";
import { EventRing } from "../../src/admin/event_ring.ts";
import type { RunningState } from "../../src/admin/running_state.ts";
import { readinessOf, viewOf, whyOf } from "../../src/admin/view_of.ts";
import { GATE } from "../../src/core/board.ts";
import type { Clock } from "../../src/core/clock.ts";
import type { OperatorState } from "../../src/core/event.ts";
import type { Evidence } from "../../src/core/report.ts";
import { evidenceOf, WALL_MS } from "./admin_states.ts";

const HELD = GATE.drained | GATE.maintenance;
const HOLDS: Readonly<Record<OperatorState, number>> = {
  drain: GATE.drained,
  maintenance: GATE.maintenance,
  ready: 0,
};

/** Stands in for control. */
export class AdminFake {
  state: RunningState;
  readonly events: EventRing = new EventRing(WALL_MS);
  readonly app: AdminApp;
  readonly faults: unknown[] = [];

  constructor(state: RunningState, clock: Clock, over: Partial<AdminPorts> = {}) {
    this.state = state;
    this.app = adminApp({
      address: { host: "127.0.0.1", port: 9900 },
      view: () => viewOf(this.state),
      readiness: () => readinessOf(this.state),
      why: (upstream, key) => whyOf(this.state, { upstream, key }, this.#evidence(upstream, key)),
      setOperator: (upstream, key, operator) => this.setOperator(upstream, key, operator),
      events: this.events,
      clock,
      fault: (error) => this.faults.push(error),
      ...over,
    });
  }

  /** As control would: sets the gate and tells of it. */
  setOperator(upstream: string, key: string, operator: OperatorState): boolean {
    const slot = this.#slotOf(upstream, key);
    const old = slot === undefined ? undefined : this.state.endpoints.get(slot);
    if (slot === undefined || old === undefined) return false;
    const gate = (old.gate & ~HELD) | HOLDS[operator];
    const endpoints = new Map(this.state.endpoints).set(slot, { ...old, gate, sinceAt: this.state.wallMs });
    this.state = { ...this.state, endpoints };
    this.events.publish({
      kind: "endpoint_operator",
      at: this.state.wallMs,
      upstream,
      endpoint: key,
      state: operator,
    });
    return true;
  }

  #slotOf(upstream: string, key: string): number | undefined {
    const found = this.state.plan?.upstreams.find(({ name }) => name === upstream);
    return found?.endpoints.find((endpoint) => endpoint.key === key)?.slot;
  }

  /** 32 pieces of evidence that fit what is known of the endpoint, newest first. */
  #evidence(upstream: string, key: string): Evidence[] {
    const slot = this.#slotOf(upstream, key);
    const last = slot === undefined ? undefined : this.state.endpoints.get(slot)?.last;
    if (last === undefined) return [];
    const failing = last.outcome !== "probe_ok";
    return Array.from({ length: 32 }, (_, at) => {
      const ago = at * 5 + 2;
      if (!failing) return evidenceOf(ago, { durationMs: 1 + at % 4 });
      if (at >= 20) {
        return at % 3 === 2
          ? evidenceOf(ago, { source: "traffic", outcome: "answered", count: 20 + at, detail: "200" })
          : evidenceOf(ago);
      }
      return {
        ...last,
        at: WALL_MS - ago * 1000,
        source: at % 2 === 0 ? "traffic" : "probe",
        count: at % 2 === 0 ? 3 : 1,
      };
    });
  }
}
