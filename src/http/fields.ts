// Header lines as spans: one pass over the bytes notes where each name and value begins and ends and which of the
// known names it is. Nothing is decoded or copied. Fed a growing prefix it goes on where it stopped. Used for the
// fields of requests, of responses (which add their first line) and for trailers.

import { CHARS, COLON, CR, LF, SP, TAB, TOKEN, VALUE } from "./chars.ts";
import { bitOf, knownName, NAME } from "./header_names.ts";
import { type Refusal, REFUSALS } from "./refusal.ts";
import { ascii, decimal, eachItem, isSameWord, isWord } from "./spans.ts";

/** Most bytes of a head, and of a trailer section (W1). */
export const MAX_HEAD_BYTES = 65536;
/** Most header lines of a head, and of a trailer section (W1). */
export const MAX_FIELDS = 100;
/** Most headers that `Connection` may name beyond the known options. */
const MAX_NOMINATED = 50;

/** How far reading has come: `more` bytes are needed, the head is `done`, or it is `refused` (see `refusal`). */
export type Progress = "more" | "done" | "refused";

const CLOSE = ascii("close");
const KEEP_ALIVE = ascii("keep-alive");
const UPGRADE = ascii("upgrade");
const TE = ascii("te");
const CHUNKED = ascii("chunked");
const NO_BYTES = new Uint8Array(0);

/** The stages of reading: those of a first line are below `NAME_STAGE` and belong to the subclasses. */
export const NAME_STAGE = 10;
const BLANK_STAGE = 11;
const VALUE_STAGE = 12;

/** The header lines of one message, as offsets into `bytes`. Reusable: `begin` forgets the message before. */
export class Fields {
  /** The buffer that all offsets refer to. May be exchanged for a longer copy between two reads. */
  bytes: Uint8Array = NO_BYTES;
  /** Offset of the first byte of the head. */
  start = 0;
  /** Offset behind the blank line; valid once done. */
  end = 0;
  /** How many header lines there are. */
  count = 0;
  /** Where each line begins; entry `count` is the blank line. */
  readonly lineAt: Uint32Array = new Uint32Array(MAX_FIELDS + 1);
  readonly nameEnd: Uint32Array = new Uint32Array(MAX_FIELDS);
  /** Values without the blanks around them. */
  readonly valueAt: Uint32Array = new Uint32Array(MAX_FIELDS);
  readonly valueEnd: Uint32Array = new Uint32Array(MAX_FIELDS);
  /** The known name of each line, 0 for others. */
  readonly names: Uint8Array = new Uint8Array(MAX_FIELDS);
  /** The last line of each known name; valid for names in `seen`. */
  readonly lineOf: Uint8Array = new Uint8Array(32);
  /** Known names that occur, and those that occur more than once. */
  seen = 0;
  repeated = 0;
  /** Value of Content-Length, -1 when there is none. */
  contentLength = -1;
  /** Whether the body comes in chunks. */
  chunked = false;
  /** Options of the Connection header. */
  optionClose = false;
  optionKeepAlive = false;
  optionUpgrade = false;
  optionTe = false;
  /** How many other headers Connection names. */
  nominated = 0;
  /** Why the head is refused. */
  refusal: Refusal | undefined;
  protected stage = NAME_STAGE;
  protected at = 0;

  /** Begins a new message whose first byte is at `start` of `bytes`. */
  begin(bytes: Uint8Array, start: number): void {
    this.bytes = bytes;
    this.start = start;
    this.end = 0;
    this.count = 0;
    this.seen = 0;
    this.repeated = 0;
    this.contentLength = -1;
    this.chunked = false;
    this.optionClose =
      this.optionKeepAlive =
      this.optionUpgrade =
      this.optionTe =
        false;
    this.nominated = 0;
    this.refusal = undefined;
    this.stage = NAME_STAGE;
    this.at = start;
    this.lineAt[0] = start;
  }

  /** Reads on, now that `bytes` holds the message up to `end`. */
  read(end: number): Progress {
    return this.readLines(end);
  }

  /** Whether a header with this known name occurs. */
  has(name: number): boolean {
    return (this.seen & bitOf(name)) !== 0;
  }

  protected readLines(end: number): Progress {
    for (;;) {
      if (this.stage === NAME_STAGE) {
        const progress = this.#readName(end);
        if (progress !== undefined) return progress;
      }
      const progress = this.#readValue(end);
      if (progress !== undefined) return progress;
    }
  }

  /** A name up to its colon, or the blank line. Gives nothing once the value may be read. */
  #readName(end: number): Progress | undefined {
    const bytes = this.bytes;
    const line = this.lineAt[this.count]!;
    let at = this.at;
    if (at === line && at < end) {
      const first = bytes[at]!;
      if (first === CR) return this.#readBlankLine(end);
      if (first === SP || first === TAB) return this.refuse(REFUSALS.folded);
      if (this.count === MAX_FIELDS) return this.refuse(REFUSALS.head_too_large);
    }
    const chars = CHARS;
    while (at < end && (chars[bytes[at]!]! & TOKEN) !== 0) at++;
    this.at = at;
    if (at >= end) return this.wait(end);
    if (bytes[at] !== COLON || at === line) {
      return this.refuse(bytes[at] === LF ? REFUSALS.line_end : REFUSALS.name);
    }
    this.nameEnd[this.count] = at;
    this.at = at + 1;
    this.stage = BLANK_STAGE;
    return undefined;
  }

  #readValue(end: number): Progress | undefined {
    const bytes = this.bytes;
    let at = this.at;
    if (this.stage === BLANK_STAGE) {
      while (at < end && (bytes[at] === SP || bytes[at] === TAB)) at++;
      this.at = at;
      if (at >= end) return this.wait(end);
      this.valueAt[this.count] = at;
      this.stage = VALUE_STAGE;
    }
    const chars = CHARS;
    while (at < end && (chars[bytes[at]!]! & VALUE) !== 0) at++;
    this.at = at;
    if (at >= end) return this.wait(end);
    if (bytes[at] !== CR) return this.refuse(bytes[at] === LF ? REFUSALS.line_end : REFUSALS.value);
    if (at + 1 >= end) return this.wait(end);
    if (bytes[at + 1] !== LF) return this.refuse(REFUSALS.line_end);
    this.#endLine(at);
    return undefined;
  }

  #endLine(end: number): void {
    const { bytes, count } = this;
    const valueAt = this.valueAt[count]!;
    let valueEnd = end;
    while (valueEnd > valueAt && (bytes[valueEnd - 1] === SP || bytes[valueEnd - 1] === TAB)) valueEnd--;
    this.valueEnd[count] = valueEnd;
    const name = knownName(bytes, this.lineAt[count]!, this.nameEnd[count]!);
    this.names[count] = name;
    if (name !== 0) {
      const bit = bitOf(name);
      this.repeated |= this.seen & bit;
      this.seen |= bit;
      this.lineOf[name] = count;
    }
    this.count = count + 1;
    this.at = end + 2;
    this.lineAt[count + 1] = end + 2;
    this.stage = NAME_STAGE;
  }

  #readBlankLine(end: number): Progress {
    if (this.at + 1 >= end) return this.wait(end);
    if (this.bytes[this.at + 1] !== LF) return this.refuse(REFUSALS.line_end);
    this.end = this.at + 2;
    if (this.end - this.start > MAX_HEAD_BYTES) return this.refuse(REFUSALS.head_too_large);
    const refusal = this.judge();
    return refusal === undefined ? "done" : this.refuse(refusal);
  }

  /** What is wrong with the message as a whole, once all lines are read. */
  protected judge(): Refusal | undefined {
    return undefined;
  }

  /** More bytes are needed, unless there are too many already. */
  protected wait(end: number): Progress {
    return end - this.start > MAX_HEAD_BYTES ? this.refuse(REFUSALS.head_too_large) : "more";
  }

  protected refuse(refusal: Refusal): Progress {
    this.refusal = refusal;
    return "refused";
  }

  /** Reads Content-Length, Transfer-Encoding and Connection into the fields above (RFC 9112 6). */
  protected judgeFraming(minorVersion: number): Refusal | undefined {
    if (this.has(NAME.connection) && !this.#readConnection()) return REFUSALS.options;
    const hasLength = this.has(NAME.content_length);
    if (this.has(NAME.transfer_encoding)) {
      if (hasLength) return REFUSALS.two_lengths;
      if (minorVersion === 0) return REFUSALS.coding_in_http10;
      return this.#readCoding();
    }
    return hasLength ? this.#readLength() : undefined;
  }

  /**
   * Whether a tab stands beside the value of the line. The grammar allows it, but not all who read the line behind us do
   * (llhttp for one): where framing is at stake that is an ambiguity, and it is refused.
   */
  #hasTab(line: number): boolean {
    const { bytes } = this;
    const valueAt = this.valueAt[line]!;
    for (let at = this.nameEnd[line]! + 1; at < valueAt; at++) if (bytes[at] === TAB) return true;
    const end = this.lineAt[line + 1]!;
    for (let at = this.valueEnd[line]!; at < end; at++) if (bytes[at] === TAB) return true;
    return false;
  }

  #readLength(): Refusal | undefined {
    const line = this.lineOf[NAME.content_length]!;
    const from = this.valueAt[line]!;
    const to = this.valueEnd[line]!;
    if ((this.repeated & bitOf(NAME.content_length)) !== 0 || this.#hasTab(line)) return REFUSALS.length;
    const length = decimal(this.bytes, from, to);
    if (length < 0) return REFUSALS.length;
    this.contentLength = length;
    return undefined;
  }

  #readCoding(): Refusal | undefined {
    const line = this.lineOf[NAME.transfer_encoding]!;
    if ((this.repeated & bitOf(NAME.transfer_encoding)) !== 0 || this.#hasTab(line)) return REFUSALS.coding;
    if (!isWord(this.bytes, this.valueAt[line]!, this.valueEnd[line]!, CHUNKED)) return REFUSALS.coding;
    this.chunked = true;
    return undefined;
  }

  #readConnection(): boolean {
    for (let line = 0; line < this.count; line++) {
      if (this.names[line] === NAME.connection) this.#readOptions(this.valueAt[line]!, this.valueEnd[line]!);
    }
    return this.nominated <= MAX_NOMINATED;
  }

  #readOptions(from: number, to: number): void {
    // Nearly always there is one option: no list to walk then.
    if (isWord(this.bytes, from, to, KEEP_ALIVE)) this.optionKeepAlive = true;
    else eachItem(this.bytes, from, to, (start, end) => this.#readOption(start, end));
  }

  #readOption(from: number, to: number): void {
    const bytes = this.bytes;
    if (isWord(bytes, from, to, CLOSE)) this.optionClose = true;
    else if (isWord(bytes, from, to, KEEP_ALIVE)) this.optionKeepAlive = true;
    else if (isWord(bytes, from, to, UPGRADE)) this.optionUpgrade = true;
    else if (isWord(bytes, from, to, TE)) this.optionTe = true;
    else this.nominated++;
  }

  /** Whether a line's name stands in a Connection header. Only worth asking when `nominated` is not 0. */
  isNominated(line: number): boolean {
    const from = this.lineAt[line]!;
    const to = this.nameEnd[line]!;
    let found = false;
    for (let other = 0; other < this.count && !found; other++) {
      if (this.names[other] !== NAME.connection) continue;
      eachItem(this.bytes, this.valueAt[other]!, this.valueEnd[other]!, (start, end) => {
        found ||= isSameWord(this.bytes, start, end, from, to);
      });
    }
    return found;
  }
}
