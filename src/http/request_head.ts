// The head of a request: its first line, its fields, and what they mean for framing, routing and keeping the
// connection. Strict by W1 to W3: what two programs could read in two ways is refused.

import { CHARS, CR, DIGIT, LF, SLASH, SP, TARGET, TOKEN } from "./chars.ts";
import { Fields, NAME_STAGE, type Progress } from "./fields.ts";
import { bitOf, NAME } from "./header_names.ts";
import { isHost } from "./host.ts";
import { type Refusal, REFUSALS } from "./refusal.ts";
import { ascii, eachItem, isWord, textOf } from "./spans.ts";
import { readTarget } from "./target.ts";

/** Longest request target (W1). */
export const MAX_TARGET_BYTES = 8192;
const MAX_METHOD_BYTES = 64;

const METHOD = 0;
const METHOD_TOKEN = 1;
const TARGET_TEXT = 2;
const VERSION = 3;

const VERSION_TEXT = ascii("HTTP/1.1\r\n");
const H2C = ascii("h2c");

/** What is known of a method. Anything that is not listed is `other`: not idempotent, sent on as it is. */
export type Method =
  | "GET"
  | "HEAD"
  | "POST"
  | "PUT"
  | "DELETE"
  | "OPTIONS"
  | "TRACE"
  | "PATCH"
  | "CONNECT"
  | "other";
const METHODS = (["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"] as const)
  .map(
    (name) => ({ name, bytes: ascii(name) }),
  );

/** A request head as spans. */
export class RequestHead extends Fields {
  method: Method = "other";
  /** 0 or 1, of HTTP/1.x. */
  minorVersion = 1;
  methodEnd = 0;
  targetAt = 0;
  targetEnd = 0;
  /** The host (with port) that the request is for, by its target or its Host header; empty span when there is none. */
  authorityAt = 0;
  authorityEnd = 0;
  /** Path and query as they go out; in front of them goes `pathLead`: nothing, or the "/" or "*" that a URL without a path stands for. */
  pathAt = 0;
  pathEnd = 0;
  pathLead: "" | "/" | "*" = "";
  /** Whether the target names the host itself; its authority then replaces Host. */
  isAbsolute = false;

  override begin(bytes: Uint8Array, start: number): void {
    super.begin(bytes, start);
    this.stage = METHOD;
    this.methodEnd = this.targetAt = this.targetEnd = start;
    this.authorityAt = this.authorityEnd = 0;
    this.pathLead = "";
    this.isAbsolute = false;
  }

  override read(end: number): Progress {
    if (this.stage < NAME_STAGE) {
      const progress = this.#readFirstLine(end);
      if (progress !== undefined) return progress;
    }
    return this.readLines(end);
  }

  #readFirstLine(end: number): Progress | undefined {
    if (this.stage === METHOD && !this.#skipEmptyLines(end)) {
      return this.refusal === undefined ? this.wait(end) : "refused";
    }
    if (this.stage === METHOD_TOKEN) {
      const progress = this.#readMethod(end);
      if (progress !== undefined) return progress;
    }
    if (this.stage === TARGET_TEXT) {
      const progress = this.#readTarget(end);
      if (progress !== undefined) return progress;
    }
    return this.stage === VERSION ? this.#readVersion(end) : undefined;
  }

  /** Empty lines before a request are skipped (RFC 9112 2.2); they count toward the size. */
  #skipEmptyLines(end: number): boolean {
    const bytes = this.bytes;
    while (this.at < end && bytes[this.at] === CR) {
      if (this.at + 1 >= end) return false;
      if (bytes[this.at + 1] !== LF) {
        this.refusal = REFUSALS.line_end;
        return false;
      }
      this.at += 2;
    }
    if (this.at >= end) return false;
    this.start = this.at;
    this.stage = METHOD_TOKEN;
    return true;
  }

  #readMethod(end: number): Progress | undefined {
    const bytes = this.bytes;
    let at = this.at;
    while (at < end && (CHARS[bytes[at]!]! & TOKEN) !== 0) at++;
    this.at = at;
    if (at - this.start > MAX_METHOD_BYTES) return this.refuse(REFUSALS.start_line);
    if (at >= end) return this.wait(end);
    if (bytes[at] !== SP || at === this.start) return this.refuse(REFUSALS.start_line);
    this.methodEnd = at;
    this.targetAt = at + 1;
    this.at = at + 1;
    this.stage = TARGET_TEXT;
    return undefined;
  }

  #readTarget(end: number): Progress | undefined {
    const bytes = this.bytes;
    let at = this.at;
    while (at < end && (CHARS[bytes[at]!]! & TARGET) !== 0) at++;
    this.at = at;
    if (at - this.targetAt > MAX_TARGET_BYTES) return this.refuse(REFUSALS.target_too_long);
    if (at >= end) return this.wait(end);
    if (bytes[at] !== SP || at === this.targetAt) return this.refuse(REFUSALS.start_line);
    this.targetEnd = at;
    this.at = at + 1;
    this.stage = VERSION;
    return undefined;
  }

  #readVersion(end: number): Progress | undefined {
    const { bytes, at } = this;
    const given = Math.min(end - at, VERSION_TEXT.length);
    for (let offset = 0; offset < given; offset++) {
      const isDigit = (offset === 5 || offset === 7) && (CHARS[bytes[at + offset]!]! & DIGIT) !== 0;
      if (bytes[at + offset] !== VERSION_TEXT[offset] && !isDigit) return this.refuse(REFUSALS.start_line);
    }
    if (given < VERSION_TEXT.length) return this.wait(end);
    this.minorVersion = bytes[at + 7]! - 0x30;
    if (bytes[at + 5] !== 0x31 || this.minorVersion > 1) return this.refuse(REFUSALS.version);
    this.at = at + VERSION_TEXT.length;
    this.lineAt[0] = this.at;
    this.stage = NAME_STAGE;
    return undefined;
  }

  protected override judge(): Refusal | undefined {
    this.method = methodOf(this.bytes, this.start, this.methodEnd);
    if (this.method === "CONNECT") return REFUSALS.method;
    return this.judgeFraming(this.minorVersion) ?? this.#judgeHost() ?? readTarget(this);
  }

  #judgeHost(): Refusal | undefined {
    if (!this.has(NAME.host)) return this.minorVersion === 1 ? REFUSALS.host_missing : undefined;
    if ((this.repeated & bitOf(NAME.host)) !== 0) return REFUSALS.host_repeated;
    const line = this.lineOf[NAME.host]!;
    this.authorityAt = this.valueAt[line]!;
    this.authorityEnd = this.valueEnd[line]!;
    return isHost(this.bytes, this.authorityAt, this.authorityEnd) ? undefined : REFUSALS.host;
  }

  /** Whether a body follows; one of length 0 is none. */
  get hasBody(): boolean {
    return this.chunked || this.contentLength > 0;
  }

  /** Whether the client wants to keep the connection (RFC 9112 9.3). */
  get wantsKeep(): boolean {
    return !this.optionClose && (this.minorVersion === 1 || this.optionKeepAlive);
  }

  /** Whether sending it twice has the effect of sending it once (RFC 9110 9.2.2). */
  get isIdempotent(): boolean {
    return this.method !== "other" && this.method !== "POST" && this.method !== "PATCH";
  }

  /** Whether the client asks to switch to a protocol that we pass on: any but h2c, in HTTP/1.1, without a body (W8). */
  get wantsUpgrade(): boolean {
    if (!this.optionUpgrade || !this.has(NAME.upgrade) || this.minorVersion === 0 || this.hasBody) {
      return false;
    }
    let found = false;
    this.eachUpgrade(() => found = true);
    return found;
  }

  /** Calls `visit` with each protocol asked for, h2c left out. */
  eachUpgrade(visit: (from: number, to: number) => void): void {
    for (let line = 0; line < this.count; line++) {
      if (this.names[line] !== NAME.upgrade) continue;
      eachItem(this.bytes, this.valueAt[line]!, this.valueEnd[line]!, (from, to) => {
        if (!this.#isH2c(from, to)) visit(from, to);
      });
    }
  }

  /** By its name: a version may stand behind it. */
  #isH2c(from: number, to: number): boolean {
    const slash = this.bytes.subarray(from, to).indexOf(SLASH);
    return isWord(this.bytes, from, slash < 0 ? to : from + slash, H2C);
  }

  /** The method as text, for logs. */
  get methodText(): string {
    return textOf(this.bytes, this.start, this.methodEnd);
  }
}

function methodOf(bytes: Uint8Array, from: number, to: number): Method {
  for (const { name, bytes: wanted } of METHODS) {
    if (wanted.length === to - from && isSame(bytes, from, wanted)) return name;
  }
  return "other";
}

function isSame(bytes: Uint8Array, from: number, wanted: Readonly<Uint8Array>): boolean {
  for (let at = 0; at < wanted.length; at++) if (bytes[from + at] !== wanted[at]) return false;
  return true;
}
