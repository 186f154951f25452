// Answers as clients get them: what is dropped, what is added, and that everything else keeps its bytes.

import assert from "node:assert/strict";
import { HeadWriter } from "../../../src/http/head_writer.ts";
import {
  type AnswerRewrite,
  writeInterim,
  writeResponse,
  writeSwitch,
} from "../../../src/http/response_writer.ts";
import { textOf } from "../../../src/http/spans.ts";
import { bytesOf, headOf, readResponse } from "../../support/http_heads.ts";

const ID = { bytes: bytesOf("id-1"), from: 0, to: 4 };

function answered(text: string, rewrite: Partial<AnswerRewrite> = {}): string {
  const { head, progress } = readResponse(text);
  assert.equal(progress, "done");
  const writer = new HeadWriter();
  writeResponse(writer, head, { connection: "", coding: "as_sent", id: ID, ...rewrite });
  return textOf(writer.out, 0, writer.at);
}

Deno.test("an answer keeps its bytes and gets the request id", () => {
  const head =
    "HTTP/1.1 200 All fine\r\nserver: X\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length:  2 \r\n";
  assert.equal(answered(head + "\r\n"), head + "X-Request-Id: id-1\r\n\r\n");
});

Deno.test("hop-by-hop headers, what Connection names, and the endpoint's own request id are dropped", () => {
  const text = headOf(
    "HTTP/1.1 200 OK",
    "Connection: keep-alive, X-Internal",
    "X-Internal: node-7",
    "Keep-Alive: timeout=3",
    "Proxy-Authenticate: Basic",
    "Upgrade: h2",
    "X-Request-Id: theirs",
    "Content-Length: 2",
  );
  assert.equal(answered(text), headOf("HTTP/1.1 200 OK", "Content-Length: 2", "X-Request-Id: id-1"));
});

Deno.test("the status line becomes one of HTTP/1.1 with a blank behind the status", () => {
  assert.equal(answered(headOf("HTTP/1.0 200 OK")), headOf("HTTP/1.1 200 OK", "X-Request-Id: id-1"));
  assert.equal(answered(headOf("HTTP/1.1 200")), headOf("HTTP/1.1 200 ", "X-Request-Id: id-1"));
});

Deno.test("framing headers follow what the client understands", () => {
  const text = headOf("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Trailer: X-T");
  assert.equal(answered(text), text.slice(0, -2) + "X-Request-Id: id-1\r\n\r\n");
  assert.equal(
    answered(text, { coding: "none", connection: "close" }),
    headOf("HTTP/1.1 200 OK", "Connection: close", "X-Request-Id: id-1"),
  );
  assert.equal(
    answered(headOf("HTTP/1.1 200 OK"), { coding: "added" }),
    headOf("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "X-Request-Id: id-1"),
  );
  assert.equal(
    answered(headOf("HTTP/1.1 200 OK"), { connection: "keep-alive" }),
    headOf("HTTP/1.1 200 OK", "Connection: keep-alive", "X-Request-Id: id-1"),
  );
});

Deno.test("204 has no length, 304 keeps the one it tells of", () => {
  assert.equal(
    answered(headOf("HTTP/1.1 204 No Content", "Content-Length: 10")),
    headOf("HTTP/1.1 204 No Content", "X-Request-Id: id-1"),
  );
  assert.equal(
    answered(headOf("HTTP/1.1 304 Not Modified", "Content-Length: 1192")),
    headOf("HTTP/1.1 304 Not Modified", "Content-Length: 1192", "X-Request-Id: id-1"),
  );
});

Deno.test("interim answers lose framing and hop-by-hop headers and get nothing", () => {
  const { head } = readResponse(
    headOf("HTTP/1.1 103 Early Hints", "Link: </s.css>", "Content-Length: 0", "Connection: close"),
  );
  const writer = new HeadWriter();
  writeInterim(writer, head);
  assert.equal(textOf(writer.out, 0, writer.at), headOf("HTTP/1.1 103 Early Hints", "Link: </s.css>"));
});

Deno.test("a 101 keeps its Upgrade header", () => {
  const { head } = readResponse(
    headOf("HTTP/1.1 101 Switching Protocols", "connection: upgrade", "Upgrade: foo", "X: 1"),
  );
  const writer = new HeadWriter();
  writeSwitch(writer, head, ID);
  assert.equal(
    textOf(writer.out, 0, writer.at),
    headOf(
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: foo",
      "X: 1",
      "Connection: Upgrade",
      "X-Request-Id: id-1",
    ),
  );
});
