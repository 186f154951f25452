// Workers without threads: a test sees what main tells them and decides what they answer, and they share main's memory
// as real ones do.

import { Board, Tally } from "../../src/core/board.ts";
import type { FromWorker, ToWorker } from "../../src/core/message.ts";
import { Permits } from "../../src/core/permits.ts";
import type { PlaneStats } from "../../src/core/stats.ts";
import type { WorkerEvents, WorkerPort } from "../../src/control/worker_link.ts";

/** What a worker has counted, all zero but what a test says. */
export function planeStats(changes: Partial<PlaneStats> = {}): PlaneStats {
  return { listeners: {}, upstreams: {}, notCharged: {}, loopLagMs: 0, ...changes };
}

/** One worker. It answers every request at once, unless it is stuck. */
export class ScriptedWorker implements WorkerPort {
  readonly received: ToWorker[] = [];
  readonly board = new Board();
  readonly tally = new Tally();
  permits!: Permits;
  handshakePermits!: Permits;
  stats: PlaneStats = planeStats();
  /** What it says it has cut. */
  sessions = 0;
  isStuck = false;
  isTerminated = false;
  readonly events: WorkerEvents;

  constructor(events: WorkerEvents) {
    this.events = events;
  }

  post(message: ToWorker): void {
    this.received.push(message);
    if (message.type === "start") {
      this.permits = new Permits(message.permits, message.worker);
      this.handshakePermits = new Permits(message.handshakePermits, message.worker);
    }
    if (message.type === "start" || message.type === "plan") {
      this.board.attach(message.board);
      this.tally.attach(message.tally);
    }
    const answer = this.#answerTo(message);
    if (answer !== undefined && !this.isStuck) queueMicrotask(() => this.events.message(answer));
  }

  #answerTo(message: ToWorker): FromWorker | undefined {
    switch (message.type) {
      case "prepare":
        return { type: "bound", id: message.id };
      case "plan":
        return { type: "taken", id: message.id };
      case "drain":
        return { type: "drained", id: message.id };
      case "cut":
        return { type: "cut", id: message.id, sessions: this.sessions };
      case "stats":
        return { type: "stats", id: message.id, stats: this.stats };
      case "start":
      case "abandon":
        return undefined;
    }
  }

  terminate(): void {
    this.isTerminated = true;
  }

  /** Types of the messages it got, in order. */
  get told(): string[] {
    return this.received.map(({ type }) => type);
  }
}

/** Starts scripted workers and keeps them. */
export class ScriptedWorkers {
  /** In the order of their start. */
  readonly all: ScriptedWorker[] = [];

  /** To be given as `spawn`. */
  readonly spawn = (events: WorkerEvents): WorkerPort => {
    const worker = new ScriptedWorker(events);
    this.all.push(worker);
    return worker;
  };
}
