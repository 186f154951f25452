// Plays main for the data plane of the chaos test: takes its evidence, and turns endpoints healthy, ejected or half-open
// at random, but by the rules: each change of state is a new epoch, and the evidence of a trial always makes one.

import { type Board, GATE } from "../../src/core/board.ts";
import type { FromWorker } from "../../src/core/message.ts";
import type { Run } from "../../src/core/report.ts";
import type { ClientGround } from "./chaos_client.ts";

const GATES = [0, GATE.half_open, GATE.half_open, GATE.ejected];

/** Decides about the first `count` slots. */
export class ChaosKeeper {
  readonly #ground: ClientGround;
  readonly #board: Board;
  readonly #slots: readonly number[];

  constructor(ground: ClientGround, board: Board, count: number) {
    this.#ground = ground;
    this.#board = board;
    this.#slots = Array.from({ length: count }, (_, slot) => slot);
    for (const slot of this.#slots) if (ground.chance.happens(0.3)) this.#publish(slot, GATE.half_open);
  }

  #publish(slot: number, gate: number): void {
    const cells = this.#board.cells(slot);
    cells.publish(gate, cells.epoch + 1);
  }

  /** What the data plane tells. */
  take(message: FromWorker): void {
    if (message.type === "evidence") { for (const run of message.runs) this.#judge(run); }
    else if (message.type === "loop_error") this.#ground.fault(message.message);
  }

  #judge(run: Run): void {
    const { chance, book, saw } = this.#ground;
    book.told(run);
    const { epoch, gate } = this.#board.cells(run.slot);
    if (run.epoch !== epoch) return;
    const isTrial = gate === GATE.half_open;
    if (isTrial) saw("trial decided");
    if (isTrial || chance.happens(0.3)) this.#publish(run.slot, chance.one(GATES));
  }

  /** A turn is over: some ejections are over, too; and what is on the board must be possible. */
  turn(maxInFlight: number): void {
    for (const slot of this.#slots) {
      const cells = this.#board.cells(slot);
      const { gate, inFlight, trials } = cells;
      const isPossible = inFlight >= 0 && inFlight <= maxInFlight && trials <= 1;
      if (!isPossible) this.#ground.fault(`slot ${slot} has ${inFlight} in flight and ${trials} trials`);
      if (gate === GATE.half_open && trials > inFlight) this.#ground.fault(`slot ${slot} has lost a trial`);
      if (gate === GATE.ejected && this.#ground.chance.happens(0.1)) this.#publish(slot, GATE.half_open);
    }
  }

  /** Nobody uses an endpoint any more. */
  checkQuiet(): void {
    for (const slot of this.#slots) {
      const { inFlight, trials } = this.#board.cells(slot);
      const isQuiet = inFlight === 0 && trials === 0;
      if (!isQuiet) this.#ground.fault(`slot ${slot} ends with ${inFlight} in flight and ${trials} trials`);
    }
  }
}
