// A health keeper with a fake clock and a board, and ways to make things happen to its endpoints.

import { HealthKeeper } from "../../src/control/health_keeper.ts";
import { Board, reasonsOf } from "../../src/core/board.ts";
import type { EventKind, HaleEvent } from "../../src/core/event.ts";
import { textOf } from "../../src/core/event_text.ts";
import type { Outcome } from "../../src/core/outcome.ts";
import type { Upstream } from "../../src/core/plan.ts";
import { FakeClock } from "./fake_clock.ts";
import { planOf } from "./plans.ts";

/** A keeper and what it stands on. Dispose of it. */
export class HealthWorld implements Disposable {
  readonly board = new Board();
  readonly clock: FakeClock;
  readonly events: HaleEvent[] = [];
  readonly keeper: HealthKeeper;

  /** Upstreams of the first plan, after a clock of one's own if it has to be that. */
  constructor(...given: readonly (Upstream | FakeClock)[]) {
    const [first] = given;
    this.clock = first instanceof FakeClock ? first : new FakeClock();
    const emit = (event: HaleEvent) => void this.events.push(event);
    this.keeper = new HealthKeeper(this.board, { clock: this.clock, emit });
    this.adopt(...given.filter((each): each is Upstream => !(each instanceof FakeClock)));
  }

  /** Takes a plan of these upstreams over, all workers included. */
  adopt(...upstreams: readonly Upstream[]): void {
    const slots = upstreams.flatMap(({ endpoints }) => endpoints.map(({ slot }) => slot));
    this.board.grow(Math.max(0, ...slots) + 1);
    this.keeper.adopt(planOf(upstreams));
    this.keeper.release();
  }

  /** The kinds of events so far, and forgets them. */
  kinds(): EventKind[] {
    return this.events.splice(0).map(({ kind }) => kind);
  }

  /** The sentences of the events so far, and forgets them. */
  texts(): string[] {
    return this.events.splice(0).map(textOf);
  }

  /** Evidence of traffic under the present epoch. */
  traffic(
    slot: number,
    outcome: Outcome,
    changes: { count?: number; epoch?: number; detail?: string } = {},
  ): void {
    const epoch = this.board.cells(slot).epoch;
    this.keeper.reportRuns([{ slot, epoch, outcome, count: 1, durationMs: 3, detail: "", ...changes }]);
  }

  /** Evidence of a probe under the present epoch. */
  probe(slot: number, outcome: Outcome, successes = 0): void {
    const epoch = this.board.cells(slot).epoch;
    this.keeper.reportProbe(slot, outcome, { epoch, durationMs: 2, detail: "", successes });
  }

  /** The reasons on the board. */
  reasons(slot: number): string[] {
    return reasonsOf(this.board.cells(slot).gate);
  }

  [Symbol.dispose](): void {
    this.keeper.stop();
  }
}
