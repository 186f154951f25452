// One request and its answer, both ways at once: the body goes up while the answer is awaited, and the answer is passed
// on as it comes, each side at the pace of the slower. What happened is an outcome, and says who did it. Picking
// endpoints, trying again and answers of our own are left to the caller.

import type { Outcome } from "../core/outcome.ts";
import type { ClientSide } from "./client_side.ts";
import { type AttemptOptions, Course } from "./course.ts";
import { Download } from "./download.ts";
import { NAME } from "./header_names.ts";
import type { Page } from "./pages.ts";
import type { EndpointWire } from "./pool.ts";
import type { Refusal } from "./refusal.ts";
import { RequestHead } from "./request_head.ts";
import { REQUEST_ID_BYTES } from "./request_id.ts";
import { type IdSpan, keepsRequestId } from "./request_writer.ts";
import { textOf } from "./spans.ts";
import type { HttpTools } from "./tools.ts";
import { Upload } from "./upload.ts";
import type { Wire } from "./wire.ts";

/** One exchange at a time; reusable. */
export class Exchange {
  /** The request's head; valid from `ClientSide.next` until `end`. */
  readonly request: RequestHead = new RequestHead();
  /** Status of the endpoint's final answer; 0: there was none. */
  status = 0;
  /** When its head was there, by the clock; 0: it was not. */
  answeredAt = 0;
  /** After an attempt: whether the client's and the endpoint's connection can go on with HTTP. */
  keepsClient = false;
  keepsEndpoint = false;
  /** The endpoint has switched protocols: both connections carry raw bytes from here on (W8). */
  isUpgraded = false;
  readonly #tools: HttpTools;
  readonly #course: Course;
  readonly #upload: Upload;
  readonly #download: Download;
  readonly #ownId = new Uint8Array(REQUEST_ID_BYTES);
  readonly #id: IdSpan = { bytes: this.#ownId, from: 0, to: REQUEST_ID_BYTES };
  /** The page with the request head: kept to the end, for further attempts and for the log. */
  #headPage: Page | undefined;

  constructor(tools: HttpTools) {
    this.#tools = tools;
    this.#course = new Course(tools);
    this.#upload = new Upload(this.#course, this.request);
    this.#download = new Download(this.#course, this.request, this.#id);
  }

  /** Begins with the request that `client` has just read into `request`. Gives what is wrong with its body so far. */
  begin(client: ClientSide): Refusal | undefined {
    this.#course.client = client;
    this.#headPage = client.wire.pin();
    this.#forget();
    this.#chooseId();
    return this.#upload.begin(client.wire);
  }

  /** Begins with a head that was refused: nothing of it is sent anywhere, and nothing behind it is read. */
  beginRefused(client: ClientSide): void {
    this.#course.client = client;
    this.#headPage = client.wire.pin();
    this.#forget();
    this.#makeId();
    this.#upload.beginRefused();
    client.wire.from = client.wire.to;
  }

  #forget(): void {
    this.status = this.answeredAt = 0;
    this.keepsClient = this.keepsEndpoint = this.isUpgraded = false;
    this.#download.begin();
  }

  #chooseId(): void {
    const { request } = this;
    const id = this.#id;
    if (keepsRequestId(request)) {
      const line = request.lineOf[NAME.x_request_id]!;
      id.bytes = request.bytes;
      id.from = request.valueAt[line]!;
      id.to = request.valueEnd[line]!;
    } else this.#makeId();
  }

  #makeId(): void {
    const id = this.#id;
    id.bytes = this.#ownId;
    id.from = 0;
    id.to = REQUEST_ID_BYTES;
    this.#tools.ids.next(this.#ownId, 0);
  }

  /** The request id in force, as text. */
  get requestId(): string {
    return textOf(this.#id.bytes, this.#id.from, this.#id.to);
  }

  /** Whether anything of an answer may have reached the client: then no other can be given. */
  get hasAnswered(): boolean {
    return this.#download.hasAnswered;
  }

  /** Whether the request could go out once more: it has no body, twice does no harm, and nothing was answered. */
  get canResend(): boolean {
    return this.request.isIdempotent && !this.request.hasBody && !this.hasAnswered;
  }

  /** Whether the endpoint may yet send a body that its answer announced and could not have. */
  get mayTrail(): boolean {
    return this.#download.mayTrail;
  }

  /** Whether the client has sent its whole request. */
  get isRequestRead(): boolean {
    return this.#upload.isRead;
  }

  /** What is wrong with the request's body, after the outcome `client_garbage`. */
  get refusal(): Refusal | undefined {
    return this.#upload.refusal;
  }

  /** Bytes of content that came from the client. */
  get bytesUp(): number {
    return this.#upload.contentBytes;
  }

  /** Bytes of content that came from the endpoint for the client. */
  get bytesDown(): number {
    return this.#download.contentBytes;
  }

  /**
   * Sends the request to an endpoint and passes the answer on. Afterwards the connection is to be kept when
   * `keepsEndpoint`, handed on raw when `isUpgraded`, else it is closed and to be released. Never rejects for what
   * peers do.
   */
  async attempt(endpoint: EndpointWire, options: AttemptOptions): Promise<Outcome> {
    const course = this.#course;
    const download = this.#download;
    const { wire } = endpoint;
    this.#forget();
    course.begin(endpoint, options);
    // Every promise here is paid for by every request: what is rare is done by functions that are called rarely.
    let outcome = course.stopped;
    if (outcome === undefined) {
      this.#upload.sent(await this.#upload.send(this.#id));
      if (wire.unread === 0) await wire.read();
      const found = download.takeHead(wire);
      if (found !== "final") outcome = await download.readOn(wire, found);
    }
    const sending = outcome ?? this.#answer(wire);
    if (typeof sending === "string") outcome = sending;
    else {
      outcome = await sending && course.stopped === undefined ? undefined : course.clientGone();
      if (outcome === undefined && !this.isUpgraded && !download.isWhole) {
        outcome = await download.passRest(wire);
      }
      if (outcome === undefined) {
        if (!this.#upload.isRead) await this.#finishUpload();
        outcome = this.#settle(wire);
      } else this.isUpgraded = false;
    }
    course.end();
    if (!this.keepsEndpoint && !this.isUpgraded) wire.close();
    return outcome;
  }

  /** The final head is there: begins to send what the client gets of it, or says why it gets nothing. */
  #answer(wire: Wire): Promise<boolean> | Outcome {
    const download = this.#download;
    const { status } = download.response;
    this.answeredAt = this.#tools.clock.now();
    if (status === 101 && !this.request.wantsUpgrade) return "answer_malformed";
    this.status = status;
    if (status === 101) {
      this.isUpgraded = true;
      return download.sendSwitch(wire);
    }
    if (this.canResend && this.#course.options.setsAside?.(status)) return outcomeOf(status);
    return download.sendFirst(wire, this.answeredAt) ?? "answer_malformed";
  }

  /** The whole answer came before the upload ended (W9): the endpoint gets the rest, if it goes on reading. */
  async #finishUpload(): Promise<void> {
    const { keepsClient, keepsEndpoint } = this.#download;
    if (!keepsClient || !keepsEndpoint || this.#upload.isDead) return;
    this.#course.waiting = "upload";
    await this.#upload.finished;
  }

  /** The whole answer has gone out: what becomes of the connections. */
  #settle(wire: Wire): Outcome {
    const course = this.#course;
    const download = this.#download;
    if (!this.isUpgraded) {
      const isClean = course.stopped === undefined && this.#upload.isRead;
      this.keepsClient = download.keepsClient && isClean;
      this.keepsEndpoint = download.keepsEndpoint && isClean && course.uploading === "done" &&
        wire.unread === 0 && !wire.isOver;
      wire.settle();
    }
    return outcomeOf(this.status);
  }

  /** Ends the attempt under way from outside. The client's connection is its owner's to close. */
  stop(reason: Outcome): void {
    this.#course.stop(reason);
  }

  /** Resolves once nothing is read or written for the exchange any more; undefined: that is so already. */
  get finished(): Promise<void> | undefined {
    return this.#upload.finished;
  }

  /** The head is no longer needed. Only once `finished`, for which the client's connection may have to be closed. */
  end(): void {
    if (this.#headPage === undefined) return;
    const { wire } = this.#course.client;
    wire.unpin(this.#headPage);
    wire.settle();
    this.#headPage = undefined;
  }
}

function outcomeOf(status: number): Outcome {
  return status >= 500 && status <= 599 ? "status_5xx" : "answered";
}
