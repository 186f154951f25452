// A reader of HTTP/1.1 heads and bodies from a connection, for clients and endpoints of tests. It shares no code with
// src/http, keeps bytes as bytes, and fails on framing that is not exactly right.

import assert from "node:assert/strict";
import { joined } from "../../src/core/bytes.ts";
import { bytesOf, stringOf } from "./http_heads.ts";

/** The value of a header; undefined: it is not there. */
export function valueIn(head: string, name: string): string | undefined {
  return new RegExp(`^${name}: *(.*?) *$`, "im").exec(head)?.[1];
}

/** The connection ended before the message did; `begun` tells whether anything of it had come. */
export class CutShort extends Error {
  constructor(readonly begun: boolean, cause: unknown) {
    super(`The connection ended ${begun ? "in the middle of" : "before"} the message`, { cause });
  }
}

/** A body without its framing. */
export interface ReadBody {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly trailers: string;
}

const BLANK = bytesOf("\r\n\r\n");

/** Reads one message after the other. Everything throws `CutShort` when the connection ends too early. */
export class HttpReader {
  readonly #conn: Deno.Conn;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(16_384);
  #from = 0;
  #to = 0;
  #hasBegun = false;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** Whether bytes are there that belong to the next message. */
  get hasMore(): boolean {
    return this.#to > this.#from;
  }

  /** The next head, without its blank line. */
  async head(): Promise<string> {
    this.#hasBegun = this.hasMore;
    for (let looked = 0;;) {
      const end = this.#find(this.#from + looked);
      if (end >= 0) return stringOf(this.#use(end + 4 - this.#from)).slice(0, -4);
      looked = Math.max(0, this.#to - this.#from - 3);
      await this.#need();
    }
  }

  /** The body that the head announces; `endsWithConnection`: so does one without any framing. */
  async body(head: string, endsWithConnection: boolean): Promise<ReadBody> {
    const coding = valueIn(head, "transfer-encoding");
    const length = valueIn(head, "content-length");
    if (coding !== undefined) {
      assert.equal(coding.toLowerCase(), "chunked");
      assert.equal(length, undefined, "both framings in one head");
      return await this.#chunks();
    }
    if (length !== undefined) return { body: await this.take(Number(length)), trailers: "" };
    return { body: endsWithConnection ? await this.rest() : new Uint8Array(0), trailers: "" };
  }

  /** Everything up to the end of the connection. */
  async rest(): Promise<Uint8Array<ArrayBuffer>> {
    while (await this.#more()) { /* all of it */ }
    return this.#use(this.#to - this.#from).slice();
  }

  /** So many bytes. */
  async take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    while (this.#to - this.#from < length) await this.#need();
    return this.#use(length).slice();
  }

  #find(from: number): number {
    for (let at = from; at + 4 <= this.#to; at++) {
      if (BLANK.every((byte, offset) => this.#buffer[at + offset] === byte)) return at;
    }
    return -1;
  }

  async #chunks(): Promise<ReadBody> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for (;;) {
      const line = await this.#line();
      assert.match(line, /^[0-9a-f]{1,16}(;.*)?$/i, `chunk size line "${line}"`);
      const size = parseInt(line, 16);
      if (size === 0) break;
      parts.push(await this.take(size));
      assert.equal(await this.#line(), "", "behind a chunk");
    }
    let trailers = "";
    for (let line = await this.#line(); line !== ""; line = await this.#line()) trailers += `${line}\r\n`;
    return { body: joined(parts), trailers };
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#buffer.subarray(this.#from, this.#to).indexOf(10);
      if (end >= 0) {
        const line = stringOf(this.#use(end + 1));
        assert.ok(line.endsWith("\r\n"), "a bare LF");
        return line.slice(0, -2);
      }
      await this.#need();
    }
  }

  #use(length: number): Uint8Array<ArrayBuffer> {
    this.#from += length;
    return this.#buffer.subarray(this.#from - length, this.#from);
  }

  async #need(): Promise<void> {
    if (!await this.#more()) throw new CutShort(this.#hasBegun, undefined);
  }

  /** Reads more; false at the end of the connection. */
  async #more(): Promise<boolean> {
    this.#makeRoom();
    let count: number | null;
    try {
      count = await this.#conn.read(this.#buffer.subarray(this.#to));
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
    if (unread === 0) this.#from = this.#to = 0;
    if (this.#to < this.#buffer.length) return;
    const isLarge = unread * 2 > this.#buffer.length;
    const larger = isLarge ? new Uint8Array(this.#buffer.length * 2) : this.#buffer;
    larger.set(this.#buffer.subarray(this.#from, this.#to));
    this.#buffer = larger;
    this.#from = 0;
    this.#to = unread;
  }
}
