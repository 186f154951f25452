// The head of an answer: its status line, its fields, and how its body ends. As strict as for requests: what breaks a
// rule here is answered with 502.

import { CHARS, CR, DIGIT, LF, SP, VALUE } from "./chars.ts";
import { Fields, NAME_STAGE, type Progress } from "./fields.ts";
import { type Refusal, REFUSALS } from "./refusal.ts";
import { ascii } from "./spans.ts";

const VERSION = 0;
const REASON = 1;

/** A version and a blank; then three digits, and a blank or the end of the line. */
const VERSION_TEXT = ascii("HTTP/1.1 ");
const STATUS_END = 12;

/** How the body of an answer ends. */
export type AnswerFraming = "none" | "length" | "chunked" | "until_close";

/** A response head as spans. */
export class ResponseHead extends Fields {
  /** 100..999. */
  status = 0;
  minorVersion = 1;
  /** Where the line ends (at its CR). */
  statusLineEnd = 0;

  override begin(bytes: Uint8Array, start: number): void {
    super.begin(bytes, start);
    this.stage = VERSION;
    this.status = 0;
  }

  override read(end: number): Progress {
    if (this.stage === VERSION) {
      const progress = this.#readVersion(end);
      if (progress !== undefined) return progress;
    }
    if (this.stage === REASON) {
      const progress = this.#readReason(end);
      if (progress !== undefined) return progress;
    }
    return this.readLines(end);
  }

  /** "HTTP/1.1 200", and one byte more: a blank before the reason, or the end of a line without one. */
  #readVersion(end: number): Progress | undefined {
    const { bytes, start } = this;
    const given = Math.min(end - start, STATUS_END + 1);
    for (let offset = 0; offset < given; offset++) {
      if (!isStatusByte(offset, bytes[start + offset]!)) return this.refuse(REFUSALS.status_line);
    }
    if (given <= STATUS_END) return this.wait(end);
    const at = start + VERSION_TEXT.length;
    this.minorVersion = bytes[start + 7]! - 0x30;
    this.status = (bytes[at]! - 0x30) * 100 + (bytes[at + 1]! - 0x30) * 10 + bytes[at + 2]! - 0x30;
    if (this.status < 100) return this.refuse(REFUSALS.status_line);
    this.at = start + STATUS_END;
    this.stage = REASON;
    return undefined;
  }

  #readReason(end: number): Progress | undefined {
    const bytes = this.bytes;
    let at = this.at;
    while (at < end && (CHARS[bytes[at]!]! & VALUE) !== 0) at++;
    this.at = at;
    if (at + 1 >= end && (at >= end || bytes[at] === CR)) return this.wait(end);
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return this.refuse(REFUSALS.line_end);
    this.statusLineEnd = at;
    this.at = at + 2;
    this.lineAt[0] = this.at;
    this.stage = NAME_STAGE;
    return undefined;
  }

  protected override judge(): Refusal | undefined {
    return this.judgeFraming(this.minorVersion);
  }

  /** Whether this is an interim answer, after which another follows. 101 is not: it is the last one of HTTP. */
  get isInterim(): boolean {
    return this.status < 200 && this.status !== 101;
  }

  /** How the body ends (RFC 9112 6.3), given whether the request was HEAD. */
  framing(isHead: boolean): AnswerFraming {
    if (isHead || this.status < 200 || this.status === 204 || this.status === 304) return "none";
    if (this.chunked) return "chunked";
    return this.contentLength >= 0 ? "length" : "until_close";
  }

  /** Whether the endpoint keeps the connection (RFC 9112 9.3). */
  get keeps(): boolean {
    return !this.optionClose && (this.minorVersion === 1 || this.optionKeepAlive);
  }
}

function isStatusByte(offset: number, byte: number): boolean {
  if (offset === 7) return byte === 0x30 || byte === 0x31;
  if (offset < VERSION_TEXT.length) return byte === VERSION_TEXT[offset];
  if (offset < STATUS_END) return (CHARS[byte]! & DIGIT) !== 0;
  return byte === SP || byte === CR;
}
