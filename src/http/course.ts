// What the two directions of one exchange share while it runs: both connections, what is being waited for, and the
// first reason to stop. Decides whose doing it is when time runs out or the client goes.

import { clientLeft, type Outcome } from "../core/outcome.ts";
import type { ClientSide } from "./client_side.ts";
import type { EndpointWire } from "./pool.ts";
import type { RequestRewrite } from "./request_writer.ts";
import type { HttpTools } from "./tools.ts";

/** How one attempt is made. */
export interface AttemptOptions {
  readonly rewrite: RequestRewrite;
  /** The present time by the clock: reading it costs, and the caller has done so. */
  readonly startedAt: number;
  /** Longest wait for the response head, milliseconds. */
  readonly readMs: number;
  /** Asked when an answer's head is there and the request could be sent again: true sets the answer aside (W6). */
  readonly setsAside: ((status: number) => boolean) | undefined;
}

/** What the answer's direction waits for: a head, more of a body, the client to take bytes, the upload to end. */
export type Waiting = "answer" | "body" | "client" | "upload" | "nothing";

/** What the request's direction does; `dead`: the endpoint takes no more of it. */
export type Uploading = "reading" | "writing" | "done" | "dead";

/** How long an answer to a client that will not stay may take before it is looked whether the client is still there. */
export const LOOK_MS = 100;

/** The state of one attempt. */
export class Course {
  readonly tools: HttpTools;
  client!: ClientSide;
  endpoint!: EndpointWire;
  options!: AttemptOptions;
  waiting: Waiting = "nothing";
  uploading: Uploading = "done";
  /** No read on the client's connection is pending: whether it is still there is looked at when the answer is not quick. */
  looksLater = false;
  /** Whether the client has sent anything of its body. */
  hasBodyBegun = false;
  /** Why the attempt was stopped before its end. */
  stopped: Outcome | undefined;
  /** No attempt is under way. */
  isOver = true;
  readonly #onDue = (): void => this.#due();
  readonly #onClientAhead = (): void => this.#clientAhead();

  constructor(tools: HttpTools) {
    this.tools = tools;
  }

  /** An attempt begins. */
  begin(endpoint: EndpointWire, options: AttemptOptions): void {
    this.endpoint = endpoint;
    this.options = options;
    this.stopped = undefined;
    this.isOver = false;
    this.waiting = "answer";
    this.client.watch.onDue = this.#onDue;
    this.client.wire.onAhead = this.#onClientAhead;
    if (this.client.wire.readFailure !== "") this.stop(this.clientGone());
  }

  /** The attempt is over. */
  end(): void {
    this.isOver = true;
    this.waiting = "nothing";
    this.client.wire.onAhead = undefined;
  }

  /** Ends the attempt now. The connection that is waited for is closed, so that whoever waits goes on. */
  stop(reason: Outcome): void {
    if (this.isOver) return;
    this.stopped ??= reason;
    this.endpoint.wire.close();
    if (this.waiting === "client" || this.waiting === "upload") this.client.wire.close();
  }

  /** What it means that the client's connection failed. */
  clientGone(): Outcome {
    if (this.stopped !== undefined) return this.stopped;
    const { readFailure, writeFailure } = this.client.wire;
    return clientLeft(readFailure === "" ? writeFailure : readFailure);
  }

  #due(): void {
    if (!this.looksLater || this.waiting !== "answer") return this.stop(this.#overdue());
    this.looksLater = false;
    const { startedAt, readMs } = this.options;
    const now = this.tools.clock.now();
    this.client.watch.set(Math.max(startedAt + readMs - now, 1), now);
    this.client.wire.readAhead();
  }

  /** How long the endpoint may say or take nothing, milliseconds: for the head of its answer, or once that is there. */
  get patienceMs(): number {
    const { readMs } = this.options;
    return this.waiting === "answer" ? readMs : Math.max(this.tools.limits.bodyMs, readMs);
  }

  #overdue(): Outcome {
    if (this.waiting === "client" || this.waiting === "upload" || this.uploading === "reading") {
      return "client_slow";
    }
    if (this.waiting === "body") return "answer_cut";
    return this.client.wire.ended ? "client_aborted" : "answer_timeout";
  }

  /**
   * A read on the client's connection ended while its answer is awaited. Bytes are the next request and keep. An end
   * may be a half-close or the client's farewell, nobody can tell: an answer that is near is still sent, a late one not.
   */
  #clientAhead(): void {
    const { wire, watch } = this.client;
    if (wire.readFailure !== "") this.stop(this.clientGone());
    else if (wire.ended && this.waiting === "answer") watch.set(this.tools.limits.halfClosedMs);
  }
}
