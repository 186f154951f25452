// A worker as a thread has it: messages from main become calls on the plane, and the plane's word becomes messages. The
// scope it talks through is a real worker's (worker.ts) or, in tests, an object in the same thread.

import { Board, Tally } from "../core/board.ts";
import type { FromWorker, ToWorker } from "../core/message.ts";
import { Permits } from "../core/permits.ts";
import type { Listener } from "../core/plan.ts";
import { dial } from "../net/dial.ts";
import { HostResolver } from "../net/host_resolver.ts";
import { bind, type BindOptions } from "../net/listen.ts";
import { messageOf } from "../net/socket_errors.ts";
import { SystemClock } from "../net/system_clock.ts";
import { Plane, TICK_MS } from "./plane.ts";

/** The part of the worker's global scope that is used here. */
export interface WorkerScope {
  postMessage(message: FromWorker): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToWorker>) => void): void;
  addEventListener(type: "unhandledrejection", listener: (event: PromiseRejectionEvent) => void): void;
}

/** HTTP clients are told which HTTP we speak; what tcp clients speak is between them and the endpoint. */
function tlsOf({ tls, protocol }: Listener): Pick<BindOptions, "tls"> {
  if (tls === undefined) return {};
  return { tls: { cert: tls.cert, key: tls.key, alpn: protocol === "http" ? ["http/1.1"] : [] } };
}

/** One worker. It says `ready`, then waits for `start`. */
export class WorkerThread {
  readonly #scope: WorkerScope;
  readonly #board = new Board();
  readonly #tally = new Tally();
  #plane: Plane | undefined;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #resolver: HostResolver | undefined;

  constructor(scope: WorkerScope) {
    this.#scope = scope;
    scope.addEventListener("message", (event) => this.#receive(event.data));
    scope.addEventListener("unhandledrejection", (event) => {
      event.preventDefault();
      this.#send({ type: "loop_error", message: `Unhandled rejection: ${messageOf(event.reason)}` });
    });
    this.#send({ type: "ready" });
  }

  #send(message: FromWorker): void {
    this.#scope.postMessage(message);
  }

  #receive(message: ToWorker): void {
    if (message.type === "start") return this.#start(message);
    const plane = this.#plane;
    if (plane === undefined) throw new Error(`Message ${message.type} came before start`);
    this.#handle(plane, message).catch((error) => {
      this.#send({ type: "loop_error", message: `Message ${message.type} failed: ${messageOf(error)}` });
    });
  }

  #start(message: Extract<ToWorker, { type: "start" }>): void {
    const clock = new SystemClock();
    this.#board.attach(message.board);
    this.#tally.attach(message.tally);
    this.#resolver = new HostResolver(clock);
    this.#plane = new Plane({
      clock,
      random: Math.random,
      board: this.#board,
      tally: this.#tally,
      permits: new Permits(message.permits, message.worker),
      handshakePermits: new Permits(message.handshakePermits, message.worker),
      dial,
      resolveHost: (host) => this.#resolver!.resolve(host),
      listen: (listener) => bind(listener.address, { reusePort: message.reusePort, ...tlsOf(listener) }),
      send: (answer) => this.#send(answer),
    });
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  /** One session whose time ends badly must not end all others with this thread. */
  #tick(): void {
    try {
      this.#plane!.tick();
    } catch (error) {
      this.#send({ type: "loop_error", message: `Tick failed: ${messageOf(error)}` });
    }
  }

  async #handle(plane: Plane, message: Exclude<ToWorker, { type: "start" }>): Promise<void> {
    switch (message.type) {
      case "prepare": {
        const failure = await plane.prepare(message.listeners);
        return this.#send({ type: "bound", id: message.id, ...(failure === undefined ? {} : { failure }) });
      }
      case "abandon":
        return await plane.abandon();
      case "plan":
        return this.#takePlan(plane, message);
      case "drain":
        await plane.drain();
        return this.#send({ type: "drained", id: message.id });
      case "cut":
        return this.#send({ type: "cut", id: message.id, sessions: plane.cut() });
      case "stats":
        return this.#send({ type: "stats", id: message.id, stats: plane.stats() });
    }
  }

  #takePlan(plane: Plane, message: Extract<ToWorker, { type: "plan" }>): void {
    this.#board.attach(message.board);
    this.#tally.attach(message.tally);
    this.#resolver!.use(message.plan.resolver);
    plane.take(message.plan, message.retireMs);
    this.#send({ type: "taken", id: message.id });
  }

  /** Ends everything this worker holds, as the end of its thread would. */
  async stop(): Promise<void> {
    clearInterval(this.#ticking);
    await this.#plane?.close();
  }
}
