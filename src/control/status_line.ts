// The one line of an HTTP answer that a probe wants: the first status line that is no interim one (P3). Strict, bounded,
// and decided as early as the bytes allow, because a peer that speaks something else may never send a line's end.

/** Most bytes that are read for the line, interim heads included. */
export const STATUS_LINE_LIMIT = 4096;

const LONGEST_SHOWN = 40;
const LINE = /^HTTP\/1\.[01] ([1-9][0-9]{2})(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
/** What a line begins with: `#` stands for a digit. */
const BEGIN = "HTTP/1.# ###";

/** What the answer begins with. */
export type StatusLine =
  | { readonly status: number; readonly reason: string }
  | { readonly malformed: string };

/** Reads an answer up to its status line. */
export class StatusLineReader {
  readonly #buffer = new Uint8Array(STATUS_LINE_LIMIT);
  #end = 0;
  /** Where the head that is being looked at begins. */
  #start = 0;

  /** Where the next bytes go: read into it, then `take` the number. Empty only when the answer is decided. */
  get room(): Uint8Array {
    return this.#buffer.subarray(this.#end);
  }

  /** Whether no byte has come. */
  get isEmpty(): boolean {
    return this.#end === 0;
  }

  /** Takes `count` bytes that were read into `room`. Gives the line once it is decided. */
  take(count: number): StatusLine | undefined {
    this.#end += count;
    for (;;) {
      const text = latin1(this.#buffer.subarray(this.#start, this.#end));
      const line = lineOf(text);
      if (line === undefined || "malformed" in line || !isInterim(line.status)) {
        return line ?? this.#unlessFull("no status line");
      }
      const length = text.indexOf("\r\n\r\n");
      if (length < 0) return this.#unlessFull("no end of an interim head");
      this.#start += length + 4;
    }
  }

  #unlessFull(problem: string): StatusLine | undefined {
    if (this.#end < STATUS_LINE_LIMIT) return undefined;
    return { malformed: `${problem} within ${STATUS_LINE_LIMIT} bytes` };
  }
}

/** 101 is not interim: after it, HTTP is over. */
function isInterim(status: number): boolean {
  return status < 200 && status !== 101;
}

function lineOf(text: string): StatusLine | undefined {
  if (!couldBegin(text)) return { malformed: `got ${shown(text)}` };
  const end = text.search(/[\r\n]/);
  if (end < 0 || (end === text.length - 1 && text[end] === "\r")) return undefined;
  const match = text.startsWith("\r\n", end) ? LINE.exec(text.slice(0, end)) : null;
  if (match === null) return { malformed: `got ${shown(text)}` };
  return { status: Number(match[1]), reason: match[2] ?? "" };
}

/** Whether the text is the beginning of a status line, as far as it goes. */
function couldBegin(text: string): boolean {
  for (let at = 0; at < Math.min(text.length, BEGIN.length); at++) {
    const fits = BEGIN[at] === "#" ? isDigit(text[at]!) : BEGIN[at] === text[at];
    if (!fits) return false;
  }
  const next = text[BEGIN.length];
  return next === undefined || next === " " || next === "\r";
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}

/** What came, fit for a log line. */
function shown(text: string): string {
  const line = text.split(/[\r\n]/, 1)[0]!;
  const cut = line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}...` : line;
  return JSON.stringify(printable(cut));
}

/** Bytes beyond printable ASCII become "?": what an endpoint sends must not move a cursor. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

/** One character per byte, none changed (TextDecoder's latin1 is windows-1252). */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
