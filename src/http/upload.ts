// The request's direction: its head, the part of its body that came with it, and then the rest as it arrives. An
// endpoint that takes no more does not end the exchange, for it may have answered before it closed (W9).

import { Body } from "./body.ts";
import { type Course, LOOK_MS } from "./course.ts";
import type { Page } from "./pages.ts";
import type { RequestHead } from "./request_head.ts";
import { type IdSpan, requestBound, writeRequest } from "./request_writer.ts";
import type { Refusal } from "./refusal.ts";
import type { Wire } from "./wire.ts";

const NO_BYTES: Page = new Uint8Array(0);

/** Sends one request. Reusable. */
export class Upload {
  readonly #course: Course;
  readonly #request: RequestHead;
  readonly #body = new Body();
  /** End of the body bytes that came with the head, and what goes behind them. */
  #firstTo = 0;
  #firstTail: Page | undefined;
  #firstPage: Page = NO_BYTES;
  #pumping: Promise<void> | undefined;

  constructor(course: Course, request: RequestHead) {
    this.#course = course;
    this.#request = request;
  }

  /** Whether the client has sent its whole body. */
  get isRead(): boolean {
    return this.#body.done;
  }

  /** Bytes of content so far. */
  get contentBytes(): number {
    return this.#body.contentBytes;
  }

  /** Takes the part of the body that came with the head. Gives what is wrong with it. */
  begin(wire: Wire): Refusal | undefined {
    const request = this.#request;
    const body = this.#body;
    body.begin(request.chunked ? "chunked" : request.hasBody ? "length" : "none", request.contentLength);
    body.feed(wire.page, request.end, wire.to);
    wire.from = body.next;
    this.#firstTo = body.outEnd;
    this.#firstTail = body.tail;
    this.#pumping = undefined;
    this.#course.hasBodyBegun = body.next > request.end;
    // A client that leaves before an endpoint is found is noticed all the same. For one that will not stay the pending
    // read would have to be cancelled in the end, which costs more than all the rest of a short exchange.
    this.#course.looksLater = body.done && !request.wantsKeep;
    if (body.done && request.wantsKeep) wire.readAhead();
    return body.refusal;
  }

  /** Nothing is to be sent. */
  beginRefused(): void {
    this.#body.begin("none", -1);
    this.#pumping = undefined;
  }

  /** Sends the head and the first part of the body in one write. Say how it ended to `sent`. */
  send(id: IdSpan): Promise<boolean> {
    const course = this.#course;
    const { client, options, endpoint } = course;
    this.#firstPage = this.#writeFirst(id);
    course.uploading = "writing";
    // A dial that took long has begun that read already.
    course.looksLater &&= options.readMs > LOOK_MS && !client.wire.isReading && !client.wire.ended;
    const waitMs = client.wire.ended
      ? course.tools.limits.halfClosedMs
      : course.looksLater
      ? LOOK_MS
      : options.readMs;
    client.watch.set(waitMs, options.startedAt);
    return endpoint.wire.write(this.#firstPage.subarray(0, course.tools.writer.at));
  }

  /** What `send` began is over. The rest of the body is seen to from here on, without being waited for. */
  sent(isSent: boolean): void {
    const course = this.#course;
    course.tools.pages.give(this.#firstPage);
    if (!isSent) course.uploading = "dead";
    else if (this.#body.done) course.uploading = "done";
    if (!this.#body.done) this.#pumping ??= this.#pump();
  }

  #writeFirst(id: IdSpan): Page {
    const { tools, options } = this.#course;
    const request = this.#request;
    const tail = this.#firstTail ?? NO_BYTES;
    const page = tools.pages.take(
      requestBound(request, options.rewrite) + this.#firstTo - request.end + tail.length,
    );
    tools.writer.begin(page);
    writeRequest(tools.writer, request, options.rewrite, id);
    tools.writer.copy(request.bytes, request.end, this.#firstTo);
    tools.writer.put(tail);
    return page;
  }

  /** Whether the endpoint takes no more of the body. */
  get isDead(): boolean {
    return this.#course.uploading === "dead";
  }

  /** Passes the rest of the body on; drops it once the endpoint takes no more; ends with the attempt. */
  async #pump(): Promise<void> {
    const course = this.#course;
    const { wire, watch } = course.client;
    const body = this.#body;
    while (!body.done) {
      if (course.uploading !== "dead") course.uploading = "reading";
      watch.set(course.tools.limits.bodyMs);
      // What came while the endpoint was dialed is there already.
      const count = wire.unread > 0 ? wire.unread : await wire.read(body.readLimit);
      if (course.isOver) return;
      if (count === 0) return course.stop(course.clientGone());
      course.hasBodyBegun = true;
      body.feed(wire.page, wire.from, wire.to);
      if (body.refusal !== undefined) return course.stop("client_garbage");
      if (course.uploading !== "dead") await this.#pass(wire);
      wire.from = body.next;
      // The answer is through, and the endpoint takes no more: nothing is left to be done for it.
      if (course.isOver || (course.waiting === "upload" && this.isDead)) return;
    }
    if (course.uploading !== "dead") course.uploading = "done";
    watch.set(course.patienceMs);
    wire.readAhead();
  }

  async #pass(wire: Wire): Promise<void> {
    const course = this.#course;
    const body = this.#body;
    const endpoint = course.endpoint.wire;
    course.uploading = "writing";
    course.client.watch.set(course.patienceMs);
    let isSent = true;
    if (body.outEnd > wire.from) isSent = await endpoint.write(wire.page.subarray(wire.from, body.outEnd));
    if (isSent && body.tail !== undefined) isSent = await endpoint.write(body.tail);
    if (!isSent) course.uploading = "dead";
  }

  /** What is wrong with the body; known once the exchange was stopped for it. */
  get refusal(): Refusal | undefined {
    return this.#body.refusal;
  }

  /** Resolves once nothing of the body is being read or written any more; undefined: that is so already. */
  get finished(): Promise<void> | undefined {
    return this.#pumping;
  }
}
