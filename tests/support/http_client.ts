// A client's HTTP/1.1 connection, byte by byte: requests are sent as they are given, also several at once, and each
// answer is read to its end by a reader of its own, which shares no code with src/http and believes nothing.

import assert from "node:assert/strict";
import { bytesOf, stringOf } from "./http_heads.ts";
import { writeBytes } from "./tcp_endpoint.ts";

/** An answer that came whole. */
export interface WholeAnswer {
  readonly status: number;
  /** Status line and lines, without the blank line. */
  readonly head: string;
  /** Without the framing. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The heads of the interim answers before it. */
  readonly interim: readonly string[];
  readonly trailers: string;
}

/** The value of a header; undefined: it is not there. */
export function valueIn(head: string, name: string): string | undefined {
  return new RegExp(`^${name}: *(.*?) *$`, "im").exec(head)?.[1];
}

/** The connection ended before the answer did; `begun` tells whether anything of the answer had come. */
export class CutShort extends Error {
  constructor(readonly begun: boolean, cause: unknown) {
    super(`The connection ended ${begun ? "in the middle of" : "before"} the answer`, { cause });
  }
}

const BLANK = bytesOf("\r\n\r\n");

/** One connection to a port of loopback. */
export class HttpClient implements Disposable {
  readonly conn: Deno.TcpConn;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(65_536);
  #from = 0;
  #to = 0;
  #hasBegun = false;

  private constructor(conn: Deno.TcpConn) {
    conn.setNoDelay();
    this.conn = conn;
  }

  static async connect(port: number): Promise<HttpClient> {
    return new HttpClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Sends bytes, texts as Latin-1. */
  async send(...parts: readonly (string | Uint8Array)[]): Promise<void> {
    for (const part of parts) await writeBytes(this.conn, typeof part === "string" ? bytesOf(part) : part);
  }

  /** Sends a request without a body and reads its answer. `lines` are more header lines. */
  async ask(method: string, target: string, ...lines: readonly string[]): Promise<WholeAnswer> {
    await this.send(`${[`${method} ${target} HTTP/1.1`, "Host: app.test", ...lines].join("\r\n")}\r\n\r\n`);
    return await this.answer(method);
  }

  /** Reads the next answer, which is one to a request of that method. Throws `CutShort`. */
  async answer(method = "GET"): Promise<WholeAnswer> {
    this.#hasBegun = this.#to > this.#from;
    const interim: string[] = [];
    let head = await this.#head();
    for (; /^HTTP\/1\.1 1(?!01)/.test(head); head = await this.#head()) interim.push(head);
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/m.exec(head)?.[1] ?? assert.fail(`No status: ${head}`));
    const isEmpty = method === "HEAD" || status === 204 || status === 304 || status === 101;
    if (isEmpty) return { status, head, body: new Uint8Array(0), interim, trailers: "" };
    const coding = valueIn(head, "transfer-encoding");
    const length = valueIn(head, "content-length");
    if (coding !== undefined) {
      assert.equal(coding.toLowerCase(), "chunked");
      assert.equal(length, undefined, "both framings in one head");
      return { status, head, interim, ...await this.#chunks() };
    }
    const body = length === undefined ? await this.rest() : await this.#take(Number(length));
    return { status, head, body, interim, trailers: "" };
  }

  /** Everything up to the end of the connection. */
  async rest(): Promise<Uint8Array<ArrayBuffer>> {
    while (await this.#more()) { /* all of it */ }
    const all = this.#buffer.slice(this.#from, this.#to);
    this.#from = this.#to;
    return all;
  }

  async #head(): Promise<string> {
    let looked = this.#from;
    for (;;) {
      const end = this.#find(looked);
      if (end >= 0) return stringOf(this.#use(end + 4 - this.#from)).slice(0, -4);
      looked = Math.max(this.#from, this.#to - 3) - this.#from;
      if (!await this.#more()) throw new CutShort(this.#hasBegun, undefined);
      looked += this.#from;
    }
  }

  #find(from: number): number {
    for (let at = from; at + 4 <= this.#to; at++) {
      if (BLANK.every((byte, offset) => this.#buffer[at + offset] === byte)) return at;
    }
    return -1;
  }

  async #chunks(): Promise<Pick<WholeAnswer, "body" | "trailers">> {
    const parts: Uint8Array[] = [];
    for (;;) {
      const line = await this.#line();
      assert.match(line, /^[0-9a-f]{1,16}(;.*)?$/i, `chunk size line "${line}"`);
      const size = parseInt(line, 16);
      if (size === 0) break;
      parts.push((await this.#take(size)).slice());
      assert.equal(await this.#line(), "", "behind a chunk");
    }
    let trailers = "";
    for (let line = await this.#line(); line !== ""; line = await this.#line()) trailers += `${line}\r\n`;
    return { body: new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer()), trailers };
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#buffer.subarray(this.#from, this.#to).indexOf(10);
      if (end >= 0) {
        const line = stringOf(this.#use(end + 1));
        assert.ok(line.endsWith("\r\n"), "a bare LF");
        return line.slice(0, -2);
      }
      if (!await this.#more()) throw new CutShort(this.#hasBegun, undefined);
    }
  }

  async #take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    while (this.#to - this.#from < length) {
      if (!await this.#more()) throw new CutShort(this.#hasBegun, undefined);
    }
    return this.#use(length).slice();
  }

  #use(length: number): Uint8Array<ArrayBuffer> {
    this.#from += length;
    return this.#buffer.subarray(this.#from - length, this.#from);
  }

  /** Reads more; false at the end of the connection. */
  async #more(): Promise<boolean> {
    this.#makeRoom();
    let count: number | null;
    try {
      count = await this.conn.read(this.#buffer.subarray(this.#to));
    } catch (error) {
      throw new CutShort(this.#hasBegun, error);
    }
    if (count === null) return false;
    this.#hasBegun = true;
    this.#to += count;
    return true;
  }

  #makeRoom(): void {
    const unread = this.#to - this.#from;
    if (this.#to < this.#buffer.length) return;
    const larger = unread * 2 > this.#buffer.length ? new Uint8Array(this.#buffer.length * 2) : this.#buffer;
    larger.set(this.#buffer.subarray(this.#from, this.#to));
    this.#buffer = larger;
    this.#from = 0;
    this.#to = unread;
  }

  [Symbol.dispose](): void {
    this.conn.close();
  }
}
