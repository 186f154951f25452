// What hale's own parsers make of a stream of requests or answers: message after message, as the proxy reads them, to
// the first that is refused or not whole, or after which the connection ends.

import { Body } from "../../src/http/body.ts";
import type { Fields } from "../../src/http/fields.ts";
import { RequestHead } from "../../src/http/request_head.ts";
import { ResponseHead } from "../../src/http/response_head.ts";
import { textOf } from "../../src/http/spans.ts";
import { bytesOf } from "./http_heads.ts";

/** One whole message. All offsets are into the text; what is named `...Text` is a part of it. */
export interface HaleMessage {
  /** Where the message before ended; blank lines may come between. */
  readonly from: number;
  readonly start: number;
  readonly headEnd: number;
  readonly end: number;
  /** Of a request; "" for answers. */
  readonly method: string;
  readonly targetAt: number;
  readonly target: string;
  /** Of an answer; 0 for requests. */
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly framing: string;
  /** The content of the body, and the bytes that are passed on for it. */
  readonly content: string;
  readonly forwarded: string;
  readonly keeps: boolean;
  readonly wantsUpgrade: boolean;
  readonly minorVersion: number;
}

/** What came of reading a stream. */
export interface HaleReading {
  readonly messages: readonly HaleMessage[];
  /** Why reading ended: a message `refused` or not whole (`more`), the connection not kept (`closed`), or no bytes. */
  readonly stop: "refused" | "more" | "closed" | "end";
}

/** Reads a stream of requests. */
export function readRequests(text: string): HaleReading {
  return readAll(text, (from) => readRequestAt(text, from));
}

/** Reads a stream of answers that ends behind the text. `isHead` says which final answers are ones to HEAD. */
export function readAnswers(text: string, isHead: (index: number) => boolean): HaleReading {
  let finals = 0;
  return readAll(text, (from) => {
    const message = readAnswerAt(text, from, isHead(finals));
    if (typeof message !== "string" && (message.status >= 200 || message.status === 101)) finals++;
    return message;
  });
}

type Read = HaleMessage | "refused" | "more";

function readAll(text: string, readAt: (from: number) => Read): HaleReading {
  const messages: HaleMessage[] = [];
  let from = 0;
  while (from < text.length) {
    const message = readAt(from);
    if (typeof message === "string") return { messages, stop: message };
    messages.push(message);
    from = message.end;
    if (!message.keeps) return { messages, stop: "closed" };
  }
  return { messages, stop: "end" };
}

function readRequestAt(text: string, from: number): Read {
  const bytes = bytesOf(text);
  const head = new RequestHead();
  head.begin(bytes, from);
  const progress = head.read(bytes.length);
  if (progress !== "done") return progress;
  const framing = head.chunked ? "chunked" : head.hasBody ? "length" : "none";
  const body = readBody(bytes, head, framing, false);
  if (typeof body === "string") return body;
  return {
    ...commonOf(text, head),
    ...body,
    from,
    method: head.methodText,
    targetAt: head.targetAt,
    target: text.slice(head.targetAt, head.targetEnd),
    status: 0,
    keeps: head.wantsKeep,
    wantsUpgrade: head.wantsUpgrade,
    minorVersion: head.minorVersion,
  };
}

function readAnswerAt(text: string, from: number, isHead: boolean): Read {
  const bytes = bytesOf(text);
  const head = new ResponseHead();
  head.begin(bytes, from);
  const progress = head.read(bytes.length);
  if (progress !== "done") return progress;
  const framing = head.framing(isHead);
  const body = readBody(bytes, head, framing, true);
  if (typeof body === "string") return body;
  return {
    ...commonOf(text, head),
    ...body,
    from,
    method: "",
    targetAt: head.start,
    target: "",
    status: head.status,
    keeps: head.isInterim || (head.keeps && framing !== "until_close" && head.status !== 101),
    wantsUpgrade: head.status === 101,
    minorVersion: head.minorVersion,
  };
}

function commonOf(text: string, head: Fields) {
  const headers = Array.from({ length: head.count }, (_, line) =>
    [
      text.slice(head.lineAt[line], head.nameEnd[line]),
      text.slice(head.valueAt[line], head.valueEnd[line]),
    ] as const);
  return { start: head.start, headEnd: head.end, headers };
}

function readBody(bytes: Uint8Array, head: Fields, framing: Body["framing"], ends: boolean) {
  const read = (keepsFraming: boolean) => {
    const own = bytes.slice();
    const body = new Body();
    body.begin(framing, head.contentLength, keepsFraming);
    body.feed(own, head.end, own.length);
    if (ends) body.end();
    const tail = body.tail === undefined ? "" : textOf(body.tail, 0, body.tail.length);
    return { body, out: textOf(own, head.end, body.outEnd) + tail };
  };
  const { body, out } = read(true);
  if (body.refusal !== undefined) return "refused" as const;
  if (!body.done) return "more" as const;
  return { framing, end: body.next, content: read(false).out, forwarded: out };
}
