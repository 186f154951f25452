// Bodies: where they end, what of them goes on, and that how the bytes arrive makes no difference.

import assert from "node:assert/strict";
import { Body } from "../../../src/http/body.ts";
import { bytesOf, stringOf } from "../../support/http_heads.ts";

interface Fed {
  readonly out: string;
  readonly rest: string;
  readonly done: boolean;
  readonly status: number;
  readonly contentBytes: number;
}

/** Feeds a text in pieces of `size` bytes, each in a buffer of its own. */
function feed(text: string, size: number, begin: (body: Body) => void): Fed {
  const body = new Body();
  begin(body);
  let out = "";
  let at = 0;
  while (at < text.length && !body.done && body.refusal === undefined) {
    const piece = bytesOf(text.slice(at, at + size));
    body.feed(piece, 0, piece.length);
    out += stringOf(piece.subarray(0, body.outEnd)) + (body.tail === undefined ? "" : stringOf(body.tail));
    at += body.refusal === undefined ? body.next : piece.length;
  }
  return {
    out,
    rest: text.slice(at),
    done: body.done,
    status: body.refusal?.status ?? 0,
    contentBytes: body.contentBytes,
  };
}

const chunked = (body: Body) => body.begin("chunked", -1);
const unchunked = (body: Body) => body.begin("chunked", -1, false);

/** Feeds in one piece and in every smaller size, and wants the same each time. */
function feedAlike(text: string, begin: (body: Body) => void): Fed {
  const whole = feed(text, text.length, begin);
  for (let size = 1; size < text.length; size++) {
    const pieces = feed(text, size, begin);
    assert.deepEqual(
      pieces.status !== 0 ? { ...pieces, out: "", rest: "", contentBytes: 0 } : pieces,
      whole.status !== 0 ? { ...whole, out: "", rest: "", contentBytes: 0 } : whole,
      `pieces of ${size}`,
    );
  }
  return whole;
}

Deno.test("a body of known length ends there and leaves the rest", () => {
  const fed = feedAlike("helloGET /", (body) => body.begin("length", 5));
  assert.deepEqual(fed, { out: "hello", rest: "GET /", done: true, status: 0, contentBytes: 5 });
});

Deno.test("no body takes nothing", () => {
  const body = new Body();
  body.begin("none", -1);
  const bytes = bytesOf("GET /");
  body.feed(bytes, 2, 5);
  assert.deepEqual([body.done, body.outEnd, body.next, body.contentBytes], [true, 2, 2, 0]);
});

Deno.test("a body until the end is complete when the end is said", () => {
  const body = new Body();
  body.begin("until_close", -1);
  body.feed(bytesOf("abc"), 0, 3);
  assert.deepEqual([body.done, body.outEnd, body.next], [false, 3, 3]);
});

Deno.test("chunks go on as they are and end at the blank line", () => {
  const text = "5\r\nhello\r\n00a\r\n0123456789\r\n0\r\n\r\n";
  assert.deepEqual(feedAlike(text + "GET /", chunked), {
    out: text,
    rest: "GET /",
    done: true,
    status: 0,
    contentBytes: 15,
  });
});

Deno.test("chunks lose their framing for receivers that do not know it", () => {
  const text = "5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX-T: 1\r\n\r\nGET /";
  assert.deepEqual(feedAlike(text, unchunked), {
    out: "hello!",
    rest: "GET /",
    done: true,
    status: 0,
    contentBytes: 6,
  });
});

Deno.test("chunk extensions are dropped", () => {
  const fed = feedAlike('5;name="v\t w"\r\nhello\r\n0;x\r\n\r\n', chunked);
  assert.equal(fed.out, "5\r\nhello\r\n0\r\n\r\n");
});

Deno.test("trailers go on without the fields that may not stand there", () => {
  const trailers =
    "X-Checksum: abc\r\nContent-Length: 9\r\nhost: evil\r\nX-Forwarded-For: 1\r\nTransfer-Encoding: chunked\r\nY:\r\n\r\n";
  const fed = feedAlike("4\r\ndata\r\n0\r\n" + trailers + "rest", chunked);
  assert.equal(fed.out, "4\r\ndata\r\n0\r\nX-Checksum: abc\r\nY:\r\n\r\n");
  assert.equal(fed.rest, "rest");
});

Deno.test("malformed chunks are refused with 400", () => {
  const bad = [
    "5\nhello\r\n0\r\n\r\n",
    "5\r\nhelloXX0\r\n\r\n",
    "5\r\nhello\n0\r\n\r\n",
    "5\r\nhello\r0\r\n\r\n",
    "5;a\nxx\r\nhello\r\n0\r\n\r\n",
    "5;a\0\r\nhello\r\n0\r\n\r\n",
    "5;a\rb\r\nhello\r\n0\r\n\r\n",
    " 5\r\nhello\r\n0\r\n\r\n",
    "5 \r\nhello\r\n0\r\n\r\n",
    "5 ;a\r\nhello\r\n0\r\n\r\n",
    "+5\r\nhello\r\n0\r\n\r\n",
    "-5\r\nhello\r\n0\r\n\r\n",
    "0x5\r\nhello\r\n0\r\n\r\n",
    "\r\nhello\r\n0\r\n\r\n",
    ";a\r\nhello\r\n0\r\n\r\n",
    "g\r\n",
    "00000000000000005\r\nhello\r\n0\r\n\r\n",
    "ffffffffffffffff\r\n",
    "0\r\nX : y\r\n\r\n",
    "0\r\n folded\r\n\r\n",
    "0\r\nX: a\nY: b\r\n\r\n",
    "0\r\n\n",
  ];
  for (const text of bad) assert.equal(feedAlike(text, chunked).status, 400, JSON.stringify(text));
});

Deno.test("extensions and trailers have limits", () => {
  const extension = (bytes: number) => `1;${"a".repeat(bytes)}\r\nx\r\n0\r\n\r\n`;
  assert.equal(feed(extension(1024), 4096, chunked).status, 0);
  assert.equal(feed(extension(1025), 4096, chunked).status, 400);
  const line = `1;${"a".repeat(1000)}\r\nx\r\n`;
  assert.equal(feed(line.repeat(16) + "0\r\n\r\n", 1 << 20, chunked).status, 0);
  assert.equal(feed(line.repeat(17) + "0\r\n\r\n", 1 << 20, chunked).status, 400);
  assert.equal(feed("0\r\n" + "X: y\r\n".repeat(101) + "\r\n", 1 << 20, chunked).status, 431);
  assert.equal(feed("0\r\nX: " + "y".repeat(70000), 1000, chunked).status, 431);
});

Deno.test("sixteen digits are enough for the largest chunk", () => {
  const body = new Body();
  body.begin("chunked", -1);
  const bytes = bytesOf("001fffffffffffff\r\nx");
  body.feed(bytes, 0, bytes.length);
  assert.equal(body.refusal, undefined);
  assert.equal(body.remaining, Number.MAX_SAFE_INTEGER - 1);
});

Deno.test("a body can be used again after a refusal", () => {
  const body = new Body();
  chunked(body);
  body.feed(bytesOf("x"), 0, 1);
  assert.equal(body.refusal?.status, 400);
  chunked(body);
  const bytes = bytesOf("1\r\nx\r\n0\r\n\r\n");
  body.feed(bytes, 0, bytes.length);
  assert.deepEqual([body.done, body.refusal, body.contentBytes], [true, undefined, 1]);
});
