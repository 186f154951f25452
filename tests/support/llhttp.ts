// llhttp, the parser of Node, as WebAssembly: an independent reading of the same bytes, at its strictest. It says what
// messages it finds, where each ends and what it holds, and where and why it stopped.

import wasm from "undici/lib/llhttp/llhttp-wasm.js";
import { stringOf } from "./http_heads.ts";

/** One message as llhttp reads it. */
export interface LlMessage {
  /** Of a request; "" for answers. */
  readonly method: string;
  readonly target: string;
  /** Of an answer; 0 for requests. */
  readonly status: number;
  readonly reason: string;
  /** "1.1" */
  readonly version: string;
  /** In order, values without the blanks around them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly trailers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Whether the connection can go on. */
  readonly keeps: boolean;
  /** Whether what follows is another protocol, should the other side agree. */
  readonly isUpgrade: boolean;
  /** Offset of the first byte behind it. */
  readonly end: number;
}

/** What llhttp makes of some bytes. */
export interface LlReading {
  /** The whole messages, in order. */
  readonly messages: readonly LlMessage[];
  /** Why reading stopped before the end, as "HPE_INVALID_METHOD"; "" when it did not. */
  readonly fault: string;
  /** Its own words for the fault. */
  readonly reason: string;
  /** Offset at which it stopped. */
  readonly faultAt: number;
  /** The last message is not whole. */
  readonly isUnfinished: boolean;
}

/** What is read, and what llhttp can not know by itself. */
export interface LlOptions {
  readonly kind: "request" | "answer";
  /** Whether the final answer number N (from 0) is one to HEAD. */
  readonly isHead?: (index: number) => boolean;
  /** The stream ends behind the bytes. */
  readonly ends?: boolean;
  /** Messages may follow one that says that the connection ends: interim answers say nothing about that. */
  readonly goesOn?: boolean;
}

type Draft = {
  -readonly [K in keyof LlMessage]: LlMessage[K] extends readonly (readonly [string, string])[]
    ? [string, string][]
    : LlMessage[K];
};

const OK = 0;
const PAUSED = 21;
const PAUSED_UPGRADE = 22;
const SKIP_BODY = 1;
const TYPES = { request: 1, answer: 2 } as const;

type Call = (...numbers: number[]) => number;
type Exports = Readonly<Record<string, Call>> & { readonly memory: WebAssembly.Memory };

/** The parser; one reading at a time. */
export class Llhttp {
  readonly #exports: Exports;
  #options: LlOptions = { kind: "request" };
  #parser = 0;
  #draft: Draft = draftOf();
  #messages: LlMessage[] = [];
  #begun = false;
  #isInTrailers = false;
  #nameEnd = -1;

  constructor() {
    const module = new WebAssembly.Module(wasm as unknown as Uint8Array<ArrayBuffer>);
    this.#exports = new WebAssembly.Instance(module, { env: this.#callbacks() })
      .exports as unknown as Exports;
    this.#exports._initialize!();
  }

  /** Reads the bytes, each a character of the text, as one stream from its beginning. */
  read(text: string, options: LlOptions): LlReading {
    const { llhttp_alloc, llhttp_free, malloc, free, memory } = this.#exports;
    this.#options = options;
    this.#messages = [];
    this.#draft = draftOf();
    this.#begun = false;
    this.#parser = llhttp_alloc!(TYPES[options.kind]);
    if (options.goesOn === true) this.#exports.llhttp_set_lenient_keep_alive!(this.#parser, 1);
    const at = malloc!(text.length + 1);
    try {
      const bytes = new Uint8Array(memory.buffer, at, text.length);
      for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
      return this.#run(at, text.length);
    } finally {
      free!(at);
      llhttp_free!(this.#parser);
    }
  }

  #run(at: number, length: number): LlReading {
    const calls = this.#exports;
    const parser = this.#parser;
    let offset = 0;
    let code = OK;
    while (offset < length && code === OK) {
      code = calls.llhttp_execute!(parser, at + offset, length - offset);
      if (code === OK) offset = length;
      else {
        offset = calls.llhttp_get_error_pos!(parser) - at;
        if (code === PAUSED) code = this.#endMessage(offset, false);
        else if (code === PAUSED_UPGRADE) code = this.#endMessage(offset, true);
      }
    }
    if (code === OK && this.#options.ends === true && this.#begun) {
      code = calls.llhttp_finish!(parser);
      if (code === PAUSED) code = this.#endMessage(length, false);
    }
    return {
      messages: this.#messages,
      fault: code === OK ? "" : this.#text(calls.llhttp_errno_name!(code)),
      reason: code === OK ? "" : this.#text(calls.llhttp_get_error_reason!(parser)),
      faultAt: offset,
      isUnfinished: this.#begun,
    };
  }

  /** A message is whole: it paused there, so that the offset is known. */
  #endMessage(end: number, isUpgrade: boolean): number {
    const calls = this.#exports;
    if (isUpgrade) calls.llhttp_resume_after_upgrade!(this.#parser);
    else calls.llhttp_resume!(this.#parser);
    // After the pause at its end an upgrade pauses once more, at the same place.
    const last = this.#messages.at(-1);
    if (!this.#begun && isUpgrade && last !== undefined) {
      this.#messages[this.#messages.length - 1] = { ...last, end };
      return OK;
    }
    const trimmed = (pairs: readonly (readonly [string, string])[]) =>
      pairs.map(([name, value]) => [name, value.replace(/^[ \t]+|[ \t]+$/g, "")] as const);
    const { headers, trailers } = this.#draft;
    this.#messages.push({
      ...this.#draft,
      headers: trimmed(headers),
      trailers: trimmed(trailers),
      end,
    });
    this.#begun = false;
    return OK;
  }

  #span(at: number, length: number): string {
    return stringOf(new Uint8Array(this.#exports.memory.buffer, at, length));
  }

  #text(at: number): string {
    const memory = new Uint8Array(this.#exports.memory.buffer);
    return at === 0 ? "" : this.#span(at, memory.indexOf(0, at) - at);
  }

  #callbacks(): Record<string, Call> {
    return {
      wasm_on_message_begin: () => {
        this.#draft = draftOf();
        this.#begun = true;
        this.#isInTrailers = false;
        this.#nameEnd = -1;
        return OK;
      },
      wasm_on_url: (_parser, at, length) => this.#add("target", at!, length!),
      wasm_on_status: (_parser, at, length) => this.#add("reason", at!, length!),
      wasm_on_header_field: (_parser, at, length) => this.#addName(at!, length!),
      wasm_on_header_value: (_parser, at, length) => this.#addValue(at!, length!),
      wasm_on_headers_complete: (_parser, status) => this.#endHead(status!),
      wasm_on_body: (_parser, at, length) => this.#add("body", at!, length!),
      wasm_on_message_complete: (parser) => {
        this.#draft.isUpgrade = this.#exports.llhttp_get_upgrade!(parser!) === 1;
        this.#draft.keeps = this.#exports.llhttp_should_keep_alive!(parser!) === 1;
        return PAUSED;
      },
    };
  }

  #add(field: "target" | "reason" | "body", at: number, length: number): number {
    this.#draft[field] += this.#span(at, length);
    return OK;
  }

  get #pairs(): [string, string][] {
    return this.#isInTrailers ? this.#draft.trailers : this.#draft.headers;
  }

  /** A span that goes on where the last one ended is the rest of it. */
  #addName(at: number, length: number): number {
    if (at === this.#nameEnd) this.#pairs.at(-1)![0] += this.#span(at, length);
    else this.#pairs.push([this.#span(at, length), ""]);
    this.#nameEnd = at + length;
    return OK;
  }

  #addValue(at: number, length: number): number {
    this.#pairs.at(-1)![1] += this.#span(at, length);
    this.#nameEnd = -1;
    return OK;
  }

  #endHead(status: number): number {
    const calls = this.#exports;
    const draft = this.#draft;
    this.#isInTrailers = true;
    this.#nameEnd = -1;
    draft.status = status;
    draft.version = `${calls.llhttp_get_http_major!(this.#parser)}.${
      calls.llhttp_get_http_minor!(this.#parser)
    }`;
    if (this.#options.kind === "request") {
      draft.method = this.#text(calls.llhttp_method_name!(calls.llhttp_get_method!(this.#parser)));
      return OK;
    }
    const finals = this.#messages.filter((message) => message.status >= 200 || message.status === 101).length;
    return this.#options.isHead?.(finals) === true ? SKIP_BODY : OK;
  }
}

function draftOf(): Draft {
  return {
    method: "",
    target: "",
    status: 0,
    reason: "",
    version: "",
    headers: [],
    trailers: [],
    body: "",
    keeps: false,
    isUpgrade: false,
    end: 0,
  };
}
