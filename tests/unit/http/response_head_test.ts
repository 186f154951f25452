// Response heads: status lines, framing, and that how the bytes arrive makes no difference.

import assert from "node:assert/strict";
import { ResponseHead } from "../../../src/http/response_head.ts";
import { headOf, readResponse, readSlowly } from "../../support/http_heads.ts";

Deno.test("a status line is a version, a blank, three digits, and perhaps a reason", () => {
  for (const line of ["HTTP/1.1 200 OK", "HTTP/1.0 404 ", "HTTP/1.1 204", "HTTP/1.1 999 \xe9t\xe9"]) {
    assert.equal(readResponse(headOf(line)).progress, "done", line);
  }
  const bad = [
    "HTTP/1.1 2000 OK",
    "HTTP/1.1  200 OK",
    "HTTP/1.1 20x OK",
    "HTTP/1.1 099 OK",
    "HTTP/1.1 200\tOK",
    "HTTP/2.0 200 OK",
    "HTTP/1.2 200 OK",
    "http/1.1 200 OK",
    "SSH-2.0-OpenSSH_9",
    "<html>",
    "HTTP/1.1 200 O\0K",
    "HTTP/1.1 200 O\rK",
  ];
  for (const line of bad) assert.equal(readResponse(headOf(line)).progress, "refused", JSON.stringify(line));
  assert.equal(readResponse("HTTP/1.1 200 OK\n\r\n").progress, "refused");
});

Deno.test("a head that can not become one is refused at its first wrong byte", () => {
  assert.equal(readResponse("S").progress, "refused");
  assert.equal(readResponse("HTTP/1.1 2").progress, "more");
});

Deno.test("a response reads the same byte by byte as in one piece", () => {
  const text = headOf("HTTP/1.1 503 Busy", "Content-Length: 12", "Connection: close", "Retry-After: 1");
  const slow = new ResponseHead();
  assert.equal(readSlowly(slow, text), "done");
  const { head } = readResponse(text);
  for (const key of ["status", "count", "end", "contentLength", "optionClose", "statusLineEnd"] as const) {
    assert.equal(slow[key], head[key], key);
  }
  for (let end = 0; end < text.length; end++) assert.equal(readResponse(text.slice(0, end)).progress, "more");
});

Deno.test("how the body ends follows status, method and headers", () => {
  const framing = (isHead: boolean, ...lines: string[]) =>
    readResponse(headOf(...lines)).head.framing(isHead);
  assert.equal(framing(false, "HTTP/1.1 200 OK", "Content-Length: 5"), "length");
  assert.equal(framing(false, "HTTP/1.1 200 OK", "Transfer-Encoding: chunked"), "chunked");
  assert.equal(framing(false, "HTTP/1.1 200 OK"), "until_close");
  assert.equal(framing(true, "HTTP/1.1 200 OK", "Content-Length: 5"), "none");
  assert.equal(framing(true, "HTTP/1.1 200 OK", "Transfer-Encoding: chunked"), "none");
  for (const status of [100, 101, 103, 204, 304]) {
    assert.equal(framing(false, `HTTP/1.1 ${status} X`, "Content-Length: 5"), "none", String(status));
  }
});

Deno.test("contradictory lengths and codings are refused", () => {
  const refused = (...lines: string[]) =>
    readResponse(headOf("HTTP/1.1 200 OK", ...lines)).progress === "refused";
  assert.ok(refused("Content-Length: 2", "Content-Length: 9"));
  assert.ok(refused("Content-Length: 3", "Transfer-Encoding: chunked"));
  assert.ok(refused("Transfer-Encoding: gzip, chunked"));
  assert.ok(refused("Content-Length: 3x"));
  assert.equal(readResponse(headOf("HTTP/1.0 200 OK", "Transfer-Encoding: chunked")).progress, "refused");
});

Deno.test("only 1xx other than 101 are interim", () => {
  const isInterim = (status: number) => readResponse(headOf(`HTTP/1.1 ${status} X`)).head.isInterim;
  assert.deepEqual([100, 101, 102, 103, 199, 200].map(isInterim), [true, false, true, true, true, false]);
});

Deno.test("an endpoint keeps its connection unless it says or is too old", () => {
  const keeps = (...lines: string[]) => readResponse(headOf(...lines)).head.keeps;
  assert.equal(keeps("HTTP/1.1 200 OK"), true);
  assert.equal(keeps("HTTP/1.1 200 OK", "Connection: close"), false);
  assert.equal(keeps("HTTP/1.0 200 OK"), false);
  assert.equal(keeps("HTTP/1.0 200 OK", "Connection: Keep-Alive"), true);
});
