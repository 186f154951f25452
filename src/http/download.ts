// The answer's direction: heads up to the final one, then the body at the client's pace, in the framing that this
// client knows. A head is written in place, in front of the first bytes of its body, so that both go out together.

import type { Outcome } from "../core/outcome.ts";
import { Body } from "./body.ts";
import type { Course, Waiting } from "./course.ts";
import { NAME } from "./header_names.ts";
import type { RequestHead } from "./request_head.ts";
import type { IdSpan } from "./request_writer.ts";
import { REFUSALS } from "./refusal.ts";
import { type AnswerFraming, ResponseHead } from "./response_head.ts";
import { type AnswerRewrite, writeInterim, writeResponse, writeSwitch } from "./response_writer.ts";
import { ascii } from "./spans.ts";
import type { Wire, WireOptions } from "./wire.ts";

/** How wires to endpoints lay out what they read: room for a longer head in front, for the end of a chunk behind. */
export const ENDPOINT_WIRE: WireOptions = { headroom: 512, tailroom: 8 };

/** What came of reading a head: it wants more bytes, is refused, or is there and interim or final. */
export type FoundHead = "more" | "refused" | "interim" | "final";

const LAST_CHUNK = ascii("0\r\n\r\n");
const CR_LF = ascii("\r\n");

/** Receives one answer. Reusable. */
export class Download {
  readonly response: ResponseHead = new ResponseHead();
  /** Whether anything of the final answer may have reached the client. */
  hasAnswered = false;
  /** What the answer says about the two connections. */
  keepsClient = false;
  keepsEndpoint = false;
  readonly #course: Course;
  readonly #request: RequestHead;
  readonly #body = new Body();
  readonly #rewrite: AnswerRewrite;
  /** An answer that ends with the connection goes out in chunks of ours. */
  #addsChunks = false;
  /** Whether a head is being read that has not come whole. */
  #isReading = false;
  #hasBegun = false;
  #hasContinued = false;

  constructor(course: Course, request: RequestHead, id: IdSpan) {
    this.#course = course;
    this.#request = request;
    this.#rewrite = { connection: "", coding: "as_sent", id };
  }

  /** Bytes of content so far. */
  get contentBytes(): number {
    return this.hasAnswered ? this.#body.contentBytes : 0;
  }

  /** A new attempt begins. */
  begin(): void {
    this.hasAnswered = this.keepsClient = this.keepsEndpoint = false;
    this.#isReading = this.#hasBegun = this.#hasContinued = false;
  }

  /** Reads the head from what has come, as far as it goes; `final` is the one whose body follows, or a 101. */
  takeHead(wire: Wire): FoundHead {
    const { response } = this;
    if (wire.unread === 0) return "more";
    if (!this.#isReading) response.begin(wire.page, wire.from);
    this.#isReading = this.#hasBegun = true;
    response.bytes = wire.page;
    const progress = response.read(wire.to);
    if (progress !== "done") return progress;
    this.#isReading = false;
    return response.isInterim ? "interim" : "final";
  }

  /** Goes on after a head that was not final, until one is. Gives an outcome when there is none. */
  async readOn(wire: Wire, found: FoundHead): Promise<Outcome | undefined> {
    let isFirst = true;
    while (found !== "final") {
      if (found === "refused") return isFirst ? this.#refused() : "answer_malformed";
      if (found === "interim") {
        isFirst = false;
        if (!await this.#passInterim(wire)) return this.#course.clientGone();
      } else {
        wire.makeRoom();
        if (await wire.read() === 0) return this.#course.stopped ?? this.#missing();
      }
      found = this.takeHead(wire);
    }
    return undefined;
  }

  /**
   * The first bytes on a reused connection are no status line: the rest of the answer before, which had said that it was
   * whole. Nothing of it can be taken for an answer; a request that can be sent again goes out on a fresh connection.
   */
  #refused(): Outcome {
    const isRest = this.#course.endpoint.uses > 1 && this.response.refusal === REFUSALS.status_line;
    return isRest && this.#request.isIdempotent && !this.#request.hasBody
      ? "stale_connection"
      : "answer_malformed";
  }

  #missing(): Outcome {
    if (this.#hasBegun) return "answer_cut";
    return this.#course.endpoint.uses > 1 ? "stale_connection" : "no_answer";
  }

  /** Interim answers go to clients that know them (RFC 9110 15.2). */
  async #passInterim(wire: Wire): Promise<boolean> {
    const { response } = this;
    wire.from = response.end;
    this.#hasContinued ||= response.status === 100;
    if (this.#request.minorVersion === 0) return true;
    writeInterim(this.#course.tools.writer, response);
    return await this.#send(wire.page.subarray(this.#place(wire), response.end), "answer");
  }

  /** Copies the head that was just written into the page, so that it ends where the endpoint's ended; gives where it begins. */
  #place(wire: Wire): number {
    const { writer } = this.#course.tools;
    const at = this.response.end - writer.at;
    wire.page.set(writer.out.subarray(0, writer.at), at);
    return at;
  }

  async #send(bytes: Uint8Array, then: Waiting): Promise<boolean> {
    const course = this.#course;
    course.waiting = "client";
    const isSent = await course.client.wire.write(bytes);
    course.waiting = then;
    return isSent && course.stopped === undefined;
  }

  /** Begins to pass a 101 on, with what the endpoint has sent behind it. Raw bytes follow. */
  sendSwitch(wire: Wire): Promise<boolean> {
    writeSwitch(this.#course.tools.writer, this.response, this.#rewrite.id);
    const at = this.#place(wire);
    wire.from = wire.to;
    return this.#begin(wire.page.subarray(at, wire.to));
  }

  #begin(bytes: Uint8Array): Promise<boolean> {
    this.hasAnswered = true;
    this.#course.waiting = "client";
    return this.#course.client.wire.write(bytes);
  }

  /**
   * Begins to pass the final answer on: its head and the part of the body that came with it, in one write. `passRest`
   * comes next unless `isWhole`. Undefined: the body is malformed from its first bytes on.
   */
  sendFirst(wire: Wire, now: number): Promise<boolean> | undefined {
    const { tools, client } = this.#course;
    const body = this.#body;
    this.#chooseFraming();
    body.feed(wire.page, this.response.end, wire.to);
    if (body.refusal !== undefined) return undefined;
    client.watch.set(tools.limits.bodyMs, now);
    writeResponse(tools.writer, this.response, this.#rewrite);
    const bodyBytes = body.outEnd - this.response.end;
    if (this.#addsChunks && bodyBytes > 0) {
      tools.writer.putHex(bodyBytes);
      tools.writer.endLine();
    }
    const at = this.#place(wire);
    wire.from = body.next;
    return this.#begin(wire.page.subarray(at, this.#endPart(wire, bodyBytes > 0)));
  }

  /** Whether `sendFirst` has sent the whole answer. */
  get isWhole(): boolean {
    return this.#body.done && this.#body.tail === undefined && !this.#addsChunks;
  }

  /** Whether the answer had no body by rule (HEAD, 204, 304) though its head announces one. */
  get mayTrail(): boolean {
    const { contentLength, chunked } = this.response;
    return this.#body.framing === "none" && (contentLength > 0 || chunked);
  }

  /** Passes on what follows the first part. Gives an outcome when it did not get through whole. */
  async passRest(wire: Wire): Promise<Outcome | undefined> {
    const { tools, client } = this.#course;
    const body = this.#body;
    let isSent = body.tail === undefined || await this.#send(body.tail, "body");
    while (isSent && !body.done) {
      this.#course.waiting = "body";
      client.watch.set(this.#course.patienceMs);
      if (await wire.read(body.readLimit) === 0) {
        if (this.#endsHere(wire)) break;
        return this.#course.stopped ?? "answer_cut";
      }
      body.feed(wire.page, wire.from, wire.to);
      if (body.refusal !== undefined) return "answer_malformed";
      client.watch.set(tools.limits.bodyMs);
      isSent = await this.#sendMore(wire);
      wire.from = body.next;
    }
    if (isSent && this.#addsChunks) isSent = await this.#send(LAST_CHUNK, "nothing");
    return isSent ? undefined : this.#course.clientGone();
  }

  /** Whether the end of the stream is the end of the body. */
  #endsHere(wire: Wire): boolean {
    return this.#body.framing === "until_close" && wire.ended && this.#course.stopped === undefined;
  }

  /** How the body comes and goes, and with it what becomes of the connections. */
  #chooseFraming(): void {
    const { response } = this;
    const isOld = this.#request.minorVersion === 0;
    const framing = response.framing(this.#request.method === "HEAD");
    this.#body.begin(framing, response.contentLength, !isOld);
    this.#addsChunks = framing === "until_close" && !isOld;
    const endsWithConnection = isOld && (framing === "until_close" || framing === "chunked");
    this.keepsEndpoint = response.keeps && framing !== "until_close";
    this.keepsClient = this.#request.wantsKeep && !this.#course.client.isLeaving && !endsWithConnection &&
      !this.#endsUpload();
    this.#rewrite.coding = codingFor(framing, isOld, response.status);
    this.#rewrite.connection = !this.keepsClient ? "close" : isOld ? "keep-alive" : "";
  }

  /** Whether this answer came early and the rest of the upload is of no use to the endpoint (W9). */
  #endsUpload(): boolean {
    const { uploading, hasBodyBegun } = this.#course;
    if (uploading === "done") return false;
    if (uploading === "dead" || !this.response.keeps) return true;
    // The client was never told to go on: it need not send its body now, and we can not tell whether it will.
    return this.#request.has(NAME.expect) && !this.#hasContinued && !hasBodyBegun;
  }

  async #sendMore(wire: Wire): Promise<boolean> {
    const { writer } = this.#course.tools;
    const body = this.#body;
    let at = wire.from;
    if (this.#addsChunks) {
      writer.begin();
      writer.putHex(body.outEnd - wire.from);
      writer.endLine();
      at -= writer.at;
      wire.page.set(writer.out.subarray(0, writer.at), at);
    }
    const end = this.#endPart(wire, true);
    const isSent = end === at || await this.#send(wire.page.subarray(at, end), "body");
    return isSent && body.tail !== undefined ? await this.#send(body.tail, "body") : isSent;
  }

  /** Ends our own chunk behind what the body gave; gives where the part to be sent ends. */
  #endPart(wire: Wire, hasContent: boolean): number {
    const { outEnd } = this.#body;
    if (!this.#addsChunks || !hasContent) return outEnd;
    wire.page.set(CR_LF, outEnd);
    return outEnd + CR_LF.length;
  }
}

/** Transfer-Encoding as it goes to the client. */
function codingFor(framing: AnswerFraming, isOld: boolean, status: number): AnswerRewrite["coding"] {
  if (isOld || status === 204) return "none";
  return framing === "until_close" ? "added" : "as_sent";
}
