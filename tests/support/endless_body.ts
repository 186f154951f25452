// Bodies of any size as a stream, for sending and for checking: nothing is kept but one block. Each byte has its place in
// a pattern whose period fits no buffer size, so bytes that are lost, doubled or moved are found.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { bytesOf, stringOf } from "./http_heads.ts";
import { valueIn } from "./http_reader.ts";
import { patterned } from "./patterned.ts";
import { writeBytes } from "./tcp_endpoint.ts";

const BLOCK = 1 << 18;
const PERIOD = 1_000_003;
const CHUNK_SIZES = [1, 4095, 65_536, 17, BLOCK, 100_000];

/** The pattern and its beginning once more, so that a block can start anywhere. */
const PATTERN = ((): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(PERIOD + BLOCK);
  bytes.set(patterned(PERIOD));
  bytes.set(bytes.subarray(0, BLOCK), PERIOD);
  return bytes;
})();

const blockAt = (at: number, size: number): Uint8Array => PATTERN.subarray(at % PERIOD, at % PERIOD + size);

/** Sends a body of `size` bytes, framed when it is chunked. */
export async function sendBody(conn: Deno.Conn, size: number, isChunked: boolean): Promise<void> {
  const frame = new Uint8Array(BLOCK + 32);
  let turn = 0;
  for (let at = 0; at < size;) {
    const wanted = isChunked ? CHUNK_SIZES[turn++ % CHUNK_SIZES.length]! : BLOCK;
    const block = blockAt(at, Math.min(wanted, size - at));
    await writeBytes(conn, isChunked ? framed(frame, block) : block);
    at += block.length;
  }
  if (isChunked) await writeBytes(conn, bytesOf("0\r\n\r\n"));
}

function framed(frame: Uint8Array, block: Uint8Array): Uint8Array {
  const start = bytesOf(`${block.length.toString(16)}\r\n`);
  frame.set(start);
  frame.set(block, start.length);
  frame.set([13, 10], start.length + block.length);
  return frame.subarray(0, start.length + block.length + 2);
}

/** What was received. */
export interface Received {
  readonly head: string;
  /** Length of the body without its framing; each byte was in its place. */
  readonly size: number;
}

/** Reads one message and checks its body against the pattern, byte by byte. Throws at the first difference. */
export async function receiveBody(conn: Deno.Conn): Promise<Received> {
  const stream = new ByteStream(conn);
  let head = "";
  while (!head.endsWith("\r\n\r\n")) head += `${await stream.line()}\r\n`;
  if (valueIn(head, "transfer-encoding") === undefined) {
    const size = Number(valueIn(head, "content-length"));
    await checked(stream, 0, size);
    return { head, size };
  }
  let size = 0;
  for (let next = await chunkSize(stream); next > 0; next = await chunkSize(stream)) {
    await checked(stream, size, next);
    size += next;
    assert.equal(await stream.line(), "", "behind a chunk");
  }
  assert.equal(await stream.line(), "", "no trailers were sent");
  return { head, size };
}

async function chunkSize(stream: ByteStream): Promise<number> {
  const line = await stream.line();
  assert.match(line, /^[0-9a-f]+$/i);
  return parseInt(line, 16);
}

async function checked(stream: ByteStream, at: number, size: number): Promise<void> {
  for (let left = size; left > 0;) {
    const bytes = await stream.some(Math.min(left, BLOCK));
    const expected = blockAt(at, bytes.length);
    assert.equal(Buffer.compare(bytes, expected), 0, `Wrong bytes between ${at} and ${at + bytes.length}`);
    at += bytes.length;
    left -= bytes.length;
  }
}

/** Bytes as they come, one buffer of them at a time. */
class ByteStream {
  readonly #conn: Deno.Conn;
  readonly #buffer = new Uint8Array(BLOCK);
  #from = 0;
  #to = 0;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** At least one and at most `most` bytes; valid until the next call. */
  async some(most: number): Promise<Uint8Array> {
    if (this.#from === this.#to) {
      const count = await this.#conn.read(this.#buffer);
      assert.ok(count !== null, "The connection ended before the message");
      this.#from = 0;
      this.#to = count;
    }
    const end = Math.min(this.#to, this.#from + most);
    const bytes = this.#buffer.subarray(this.#from, end);
    this.#from = end;
    return bytes;
  }

  /** A line without its end. */
  async line(): Promise<string> {
    let line = "";
    while (!line.endsWith("\r\n")) line += stringOf(await this.some(1));
    return line.slice(0, -2);
  }
}
