// The client's connection: reading one request head after the other within the time limits, answers of our own, and
// an end that does not destroy what the client has yet to read. Serves the proxy and the admin endpoint alike.

import type { Duplex } from "../core/duplex.ts";
import { type OwnAnswer, ownAnswer, type OwnAnswerOptions } from "./answer.ts";
import type { Progress } from "./fields.ts";
import type { RequestHead } from "./request_head.ts";
import { REQUEST_ID_BYTES } from "./request_id.ts";
import { textOf } from "./spans.ts";
import type { HttpTools } from "./tools.ts";
import { Watch } from "./watch.ts";
import { Wire } from "./wire.ts";

/**
 * What came of waiting for a request. `ended`: the client ended the connection, or was idle for too long, or we are
 * told to go; `cut`: it ended or fell silent in the middle of a head.
 */
export type NextRequest = "request" | "refused" | "ended" | "timed_out" | "cut";

/** How long a client that has just come may take to begin its first request once no further ones are wanted, milliseconds. */
const LAST_CALL_MS = 1000;

const TIMED_OUT: OwnAnswer = {
  status: 408,
  code: "request_timeout",
  message: "The request head did not arrive in time",
};

/** Who provides the memory for a head, at the moment when it is needed: idle connections need none. */
export interface HeadSource {
  takeHead(): RequestHead;
}

/** One client connection. */
export class ClientSide {
  readonly wire: Wire;
  readonly watch: Watch;
  readonly tools: HttpTools;
  /** Requests begun so far. */
  requests = 0;
  /** No further request is wanted. */
  isLeaving = false;
  #head: RequestHead | undefined;
  #state: "idle" | "head" | "timed_out" | "busy" = "idle";
  readonly #onDue = (): void => this.#due();

  constructor(duplex: Duplex, tools: HttpTools) {
    this.tools = tools;
    this.wire = new Wire(duplex, tools.pages);
    this.watch = new Watch(tools.wheel, tools.clock, this.#onDue);
  }

  /**
   * Waits for the next request and reads its head into what `source` gives once the first byte is there. Then the
   * watch is the caller's.
   */
  async next(source: HeadSource): Promise<NextRequest> {
    const waiting = this.wait();
    if (waiting !== undefined) await waiting;
    const next = this.take(source);
    return next === "more" ? await this.readOn() : next;
  }

  /**
   * The first part of `next`: a promise of bytes, or undefined when there is nothing to wait for. `take` comes next.
   * `now` is the present time, when the caller knows it already.
   */
  wait(now?: number): Promise<number> | undefined {
    const { wire } = this;
    this.watch.onDue = this.#onDue;
    const isFirst = this.requests === 0;
    this.#state = isFirst ? "head" : "idle";
    if (wire.unread > 0 || (this.isLeaving && !isFirst)) return undefined;
    const { headMs, keepMs } = this.tools.limits;
    this.watch.set(!isFirst ? keepMs : this.isLeaving ? LAST_CALL_MS : headMs, now);
    return wire.read();
  }

  /** The second part of `next`: reads the head that has come; "more": `readOn` has to wait for the rest. */
  take(source: HeadSource): NextRequest | "more" {
    const { wire } = this;
    if (wire.unread === 0) return "ended";
    const head = this.#head = source.takeHead();
    head.begin(wire.page, wire.from);
    const progress = head.read(wire.to);
    return progress === "more" ? progress : this.#arrived(progress);
  }

  /** The third part of `next`: the head did not come in one piece, so from its first byte on it has a time limit. */
  async readOn(): Promise<NextRequest> {
    const { wire } = this;
    const head = this.#head!;
    if (this.requests > 0 || this.isLeaving) this.watch.set(this.tools.limits.headMs);
    this.#state = "head";
    let progress: Progress = "more";
    while (progress === "more") {
      wire.makeRoom();
      head.bytes = wire.page;
      if (await wire.read() === 0) return this.#state === "head" ? "cut" : "timed_out";
      progress = head.read(wire.to);
    }
    return this.#arrived(progress);
  }

  #arrived(progress: "done" | "refused"): NextRequest {
    this.requests++;
    this.#state = "busy";
    return progress === "done" ? "request" : "refused";
  }

  #due(): void {
    if (this.#state === "busy") return;
    if (this.#state === "head" && this.wire.unread > 0) this.#sayTimedOut();
    else this.wire.close();
  }

  /** The answer can be sent while the read is still pending; the connection ends with it. */
  #sayTimedOut(): void {
    this.#state = "timed_out";
    const options = { requestId: this.newRequestId(), isHead: false, connection: "close" } as const;
    this.wire.write(ownAnswer(TIMED_OUT, options)).then(() => this.wire.close());
  }

  /**
   * No further request is wanted: a kept connection that is idle closes now, a busy one after what is under way. The
   * first request of a client that has just come may be on its way: it gets a moment.
   */
  leave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    if (this.requests === 0) {
      if (this.wire.unread === 0) this.watch.set(LAST_CALL_MS);
    } else if (this.#state === "idle") this.wire.close();
  }

  /** A fresh request id as text. */
  newRequestId(): string {
    const id = new Uint8Array(REQUEST_ID_BYTES);
    this.tools.ids.next(id, 0);
    return textOf(id, 0, REQUEST_ID_BYTES);
  }

  /** Sends an answer of our own; false: the client is gone. */
  answer(answer: OwnAnswer, options: OwnAnswerOptions): Promise<boolean> {
    this.watch.onDue = () => this.wire.close();
    this.watch.set(this.tools.limits.bodyMs);
    return this.wire.write(ownAnswer(answer, options));
  }

  /**
   * Ends the connection so that the client gets all we sent: our side ends, and what it still sends is read and
   * dropped for a while, because closing over unread bytes would reset the connection (RFC 9112 9.6).
   */
  async linger(): Promise<void> {
    const { wire, tools } = this;
    const { limits } = tools;
    this.#state = "busy";
    this.watch.onDue = () => wire.close();
    const endAt = tools.clock.now() + limits.lingerTotalMs;
    this.watch.set(limits.lingerMs);
    let isOpen = await wire.endWriting();
    while (isOpen && !wire.isClosed) {
      wire.from = wire.to;
      isOpen = await wire.read() > 0;
      const now = tools.clock.now();
      if (now >= endAt) break;
      this.watch.set(Math.min(limits.lingerMs, endAt - now), now);
    }
    wire.close();
  }

  /** Gives everything back. The connection is closed if it is not yet. */
  release(): void {
    this.watch.stop();
    this.wire.release();
  }
}
