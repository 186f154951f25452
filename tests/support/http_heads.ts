// Small helpers of the HTTP tests: bytes and texts, heads read in one piece or in many, and rewritten heads as text.

import { type ClientFacts, clientFacts } from "../../src/http/forwarding.ts";
import { HeadWriter } from "../../src/http/head_writer.ts";
import { RequestHead } from "../../src/http/request_head.ts";
import { type RequestRewrite, writeRequest } from "../../src/http/request_writer.ts";
import { ResponseHead } from "../../src/http/response_head.ts";
import { ascii, textOf } from "../../src/http/spans.ts";
import type { Fields, Progress } from "../../src/http/fields.ts";

/** Bytes of a text in which each character is one byte. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return ascii(text);
}

/** The text of bytes, one character each. */
export function stringOf(bytes: Uint8Array): string {
  return textOf(bytes, 0, bytes.length);
}

/** Lines joined by CR LF, with the blank line that ends a head. */
export function headOf(...lines: string[]): string {
  return lines.join("\r\n") + "\r\n\r\n";
}

/** Reads a request head that is there in one piece. */
export function readRequest(text: string): { head: RequestHead; progress: Progress } {
  const head = new RequestHead();
  const bytes = bytesOf(text);
  head.begin(bytes, 0);
  return { head, progress: head.read(bytes.length) };
}

/** Reads a response head that is there in one piece. */
export function readResponse(text: string): { head: ResponseHead; progress: Progress } {
  const head = new ResponseHead();
  const bytes = bytesOf(text);
  head.begin(bytes, 0);
  return { head, progress: head.read(bytes.length) };
}

/** Reads a head byte by byte, as from a very slow peer; the buffer moves at every step. */
export function readSlowly<H extends Fields>(head: H, text: string): Progress {
  const bytes = bytesOf(text);
  head.begin(bytes.slice(0, 0), 0);
  let progress: Progress = "more";
  for (let end = 1; end <= bytes.length && progress === "more"; end++) {
    head.bytes = bytes.slice(0, end);
    progress = head.read(end);
  }
  return progress;
}

/** The status with which a request is refused; 0: it is not. */
export function refusalOf(text: string): number {
  return readRequest(text).head.refusal?.status ?? 0;
}

/** Facts of a plain client. */
export const CLIENT: ClientFacts = clientFacts("192.0.2.7", { tls: false, isTrusted: false });

/** The request as it goes to the endpoint, as text. Throws when the request is refused. */
export function rewritten(text: string, rewrite: Partial<RequestRewrite> = {}): string {
  const { head, progress } = readRequest(text);
  if (progress !== "done") throw new Error(`The request is ${progress}: ${head.refusal?.message}`);
  const writer = new HeadWriter();
  writer.begin();
  const full = { client: CLIENT, host: undefined, endpointHost: bytesOf("10.0.0.1:80"), ...rewrite };
  writeRequest(writer, head, full, { bytes: bytesOf("id-1"), from: 0, to: 4 });
  return textOf(writer.out, 0, writer.at);
}

/** What hale adds to every request of `CLIENT`. */
export function added(host?: string): string {
  const forwarded = ["X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: http"];
  if (host !== undefined) forwarded.push(`X-Forwarded-Host: ${host}`);
  return headOf(...forwarded, "X-Request-Id: id-1");
}
