// Evidence on its way to main. A failure leaves within the present turn of the event loop; successes wait for the next
// tick or ride along with a failure. Equal outcomes of a slot in a row travel as one run, in the order they happened.

import { type Outcome, verdictOf } from "../core/outcome.ts";
import type { Run } from "../core/report.ts";

type OpenRun = { -readonly [K in keyof Run]: Run[K] };

/** How an attempt went. */
export interface Attempt {
  readonly slot: number;
  readonly epoch: number;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly detail: string;
}

/** Collects the evidence of one worker. */
export class Reporter {
  readonly #send: (runs: readonly Run[]) => void;
  #runs: OpenRun[] = [];
  /** The last open run of each slot. */
  readonly #last = new Map<number, OpenRun>();
  #urgent = false;

  /** `send` gets each batch; it is called from a microtask or from `flush`. */
  constructor(send: (runs: readonly Run[]) => void) {
    this.#send = send;
  }

  /** Notes one attempt with a verdict. */
  report(attempt: Attempt): void {
    const last = this.#last.get(attempt.slot);
    if (last !== undefined && last.outcome === attempt.outcome && last.epoch === attempt.epoch) {
      last.count++;
      last.durationMs = attempt.durationMs;
      last.detail = attempt.detail;
    } else {
      this.#open({ ...attempt, count: 1 });
    }
    if (!this.#urgent && verdictOf(attempt.outcome) === "failure") this.#hurry();
  }

  #open(run: OpenRun): void {
    this.#runs.push(run);
    this.#last.set(run.slot, run);
  }

  #hurry(): void {
    this.#urgent = true;
    queueMicrotask(() => this.flush());
  }

  /** Sends what has gathered; called on every tick of the worker. */
  flush(): void {
    this.#urgent = false;
    if (this.#runs.length === 0) return;
    const runs = this.#runs;
    this.#runs = [];
    this.#last.clear();
    this.#send(runs);
  }
}
