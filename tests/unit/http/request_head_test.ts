// Request heads: what is read, what is refused, and that neither depends on how the bytes arrive.

import assert from "node:assert/strict";
import { MAX_FIELDS, MAX_HEAD_BYTES } from "../../../src/http/fields.ts";
import { NAME } from "../../../src/http/header_names.ts";
import { MAX_TARGET_BYTES, RequestHead } from "../../../src/http/request_head.ts";
import { textOf } from "../../../src/http/spans.ts";
import { headOf, readRequest, readSlowly, refusalOf } from "../../support/http_heads.ts";

const HOST = "Host: app.example.test";
const get = (...lines: string[]) => headOf("GET / HTTP/1.1", HOST, ...lines);

Deno.test("a plain request is read as spans", () => {
  const { head, progress } = readRequest(
    headOf("GET /a?b=c HTTP/1.1", HOST, "X-Note:  two words \t", "Empty:"),
  );
  assert.equal(progress, "done");
  const span = (from: number, to: number) => textOf(head.bytes, from, to);
  assert.equal(head.method, "GET");
  assert.equal(span(head.pathAt, head.pathEnd), "/a?b=c");
  assert.equal(span(head.authorityAt, head.authorityEnd), "app.example.test");
  assert.equal(head.count, 3);
  assert.equal(span(head.lineAt[1]!, head.nameEnd[1]!), "X-Note");
  assert.equal(span(head.valueAt[1]!, head.valueEnd[1]!), "two words");
  assert.equal(span(head.valueAt[2]!, head.valueEnd[2]!), "");
  assert.equal(head.end, head.bytes.length);
  assert.equal(head.wantsKeep, true);
  assert.equal(head.hasBody, false);
});

Deno.test("a head reads the same byte by byte as in one piece, and is never done too early", () => {
  const text = headOf(
    "POST /x HTTP/1.1",
    HOST,
    "Content-Length: 5",
    "Connection: close, X-Drop",
    "X-Drop: 1",
  );
  const slow = new RequestHead();
  assert.equal(readSlowly(slow, text), "done");
  const { head } = readRequest(text);
  for (
    const key of ["count", "end", "contentLength", "optionClose", "nominated", "seen", "method"] as const
  ) {
    assert.equal(slow[key], head[key], key);
  }
  assert.deepEqual([...slow.lineAt.slice(0, 6)], [...head.lineAt.slice(0, 6)]);
  for (let end = 0; end < text.length; end++) assert.equal(readRequest(text.slice(0, end)).progress, "more");
});

Deno.test("bytes behind the head are left alone", () => {
  const text = get() + "GET /next HTTP/1.1\r\n";
  assert.equal(readRequest(text).head.end, get().length);
});

Deno.test("empty lines before a request are skipped, a bare line feed is not", () => {
  const { head, progress } = readRequest("\r\n\r\n" + get());
  assert.equal(progress, "done");
  assert.equal(head.start, 4);
  assert.equal(refusalOf("\n" + get()), 400);
  assert.equal(refusalOf("\r\r\n" + get()), 400);
});

Deno.test("request lines that could be read in two ways are refused", () => {
  const lines: [string, number][] = [
    ["GET  / HTTP/1.1", 400],
    ["GET /a b HTTP/1.1", 400],
    ["GET / HTTP/1.1 ", 400],
    [" GET / HTTP/1.1", 400],
    ["GET\t/ HTTP/1.1", 400],
    ["GET /\tx HTTP/1.1", 400],
    ["G(T / HTTP/1.1", 400],
    ["GET /#x HTTP/1.1", 400],
    ["GET x HTTP/1.1", 400],
    ["GET * HTTP/1.1", 400],
    ["GET ftp://app.example.test/ HTTP/1.1", 400],
    ["GET http:///x HTTP/1.1", 400],
    ["GET http://a b/ HTTP/1.1", 400],
    ["GET http://u@app.example.test/ HTTP/1.1", 400],
    ["GET / http/1.1", 400],
    ["GET / HTTP/1.12", 400],
    ["GET / HTTP/11", 400],
    ["GET /", 400],
    ["GET / HTTP/2.0", 505],
    ["GET / HTTP/1.2", 505],
    ["GET / HTTP/0.9", 505],
    ["PRI * HTTP/2.0", 505],
    ["CONNECT app.example.test:443 HTTP/1.1", 405],
    ["M".repeat(65) + " / HTTP/1.1", 400],
  ];
  for (const [line, status] of lines) assert.equal(refusalOf(headOf(line, HOST)), status, line);
});

Deno.test("a wrong version is refused before the line ends", () => {
  assert.equal(refusalOf("GET / X"), 400);
  assert.equal(refusalOf("GET / HTTP/1.1\n"), 400);
});

Deno.test("header lines that could be read in two ways are refused", () => {
  const lines = [
    "X : y",
    "X\t: y",
    ": y",
    " X: y",
    "\tX: y",
    "X y",
    "X",
    "X: a\0b",
    "X: a\rb",
    "X: a\nb",
    "X: a\x7fb",
    "X: a\x01b",
    "X\0: a",
    "X(: a",
    "\x80: a",
  ];
  for (const line of lines) assert.equal(refusalOf(get(line)), 400, JSON.stringify(line));
  assert.equal(refusalOf(get("A: b\r\n c")), 400, "folded");
  assert.equal(refusalOf("GET / HTTP/1.1\r\nHost: a\n\r\n"), 400, "bare LF");
  assert.equal(refusalOf("GET / HTTP/1.1\r\nHost: a\r\n\n"), 400, "bare LF at the end");
  assert.equal(refusalOf("GET / HTTP/1.1\r\nHost: a\r\n\rx"), 400, "CR without LF at the end");
});

Deno.test("bytes above 0x7f stay in values and targets", () => {
  assert.equal(refusalOf(headOf("GET /\xc3\xa9 HTTP/1.1", HOST, "X: \xe9t\xe9")), 0);
});

Deno.test("only one plain decimal Content-Length is accepted", () => {
  for (
    const value of [
      "",
      "+5",
      "-5",
      "0x5",
      "5.0",
      "5e0",
      "1 5",
      "5,5",
      "5, 6",
      "9".repeat(20),
      "9007199254740993",
    ]
  ) {
    assert.equal(refusalOf(get(`Content-Length: ${value}`)), 400, value);
  }
  assert.equal(refusalOf(get("Content-Length: 5", "Content-Length: 5")), 400);
  assert.equal(refusalOf(get("Content-Length: 5", "content-length: 6")), 400);
  assert.equal(readRequest(get("Content-Length: 0005")).head.contentLength, 5);
  assert.equal(readRequest(get("CONTENT-LENGTH:9007199254740991")).head.contentLength, 9007199254740991);
});

Deno.test("the only transfer coding is a single chunked, in HTTP/1.1, without a length", () => {
  assert.equal(readRequest(get("Transfer-Encoding: Chunked")).head.chunked, true);
  for (
    const value of [
      "gzip",
      "gzip, chunked",
      "chunked, chunked",
      "chunked;q=1",
      "identity",
      "xchunked",
      "",
      "chunked,",
    ]
  ) {
    assert.equal(refusalOf(get(`Transfer-Encoding: ${value}`)), 501, value);
  }
  assert.equal(refusalOf(get("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")), 501);
  assert.equal(refusalOf(get("Transfer-Encoding: chunked", "Content-Length: 5")), 400);
  assert.equal(refusalOf(get("Content-Length: 5", "Transfer-Encoding: gzip")), 400);
  assert.equal(refusalOf(headOf("POST / HTTP/1.0", HOST, "Transfer-Encoding: chunked")), 400);
});

Deno.test("no tab stands beside a value that frames the body, on either side", () => {
  for (const value of ["\t5", " \t5", "5\t", "5 \t "]) {
    assert.equal(refusalOf(get(`Content-Length:${value}`)), 400, JSON.stringify(value));
  }
  for (const value of ["\tchunked", "chunked\t", " chunked \t"]) {
    assert.equal(refusalOf(get(`Transfer-Encoding:${value}`)), 501, JSON.stringify(value));
  }
  assert.equal(readRequest(get("Content-Length:  5  ")).head.contentLength, 5);
  assert.equal(readRequest(get("Transfer-Encoding:  chunked  ")).head.chunked, true);
});

Deno.test("Host is wanted once and must be a host", () => {
  assert.equal(refusalOf(headOf("GET / HTTP/1.1")), 400);
  assert.equal(refusalOf(headOf("GET / HTTP/1.0")), 0);
  assert.equal(refusalOf(headOf("GET / HTTP/1.1", HOST, HOST)), 400);
  assert.equal(refusalOf(headOf("GET http://a.example.test/ HTTP/1.1")), 400);
  const bad = [
    "",
    "a b",
    "a,b",
    "a/b",
    "u@a",
    "a:b",
    "a:1:2",
    "a:99999",
    "a:123456",
    "[::1",
    "::1",
    "[]",
    "[::1]x",
    "a%41",
    "[g::1]",
  ];
  for (const host of bad) assert.equal(refusalOf(headOf("GET / HTTP/1.1", `Host: ${host}`)), 400, host);
  for (const host of ["a", "a.", "A-b_c.d~", "127.0.0.1:80", "[::1]", "[::ffff:1.2.3.4]:65535", "a:"]) {
    assert.equal(refusalOf(headOf("GET / HTTP/1.1", `Host: ${host}`)), 0, host);
  }
});

Deno.test("a URL as target gives authority and path", () => {
  const cases: [string, string, string, string][] = [
    ["GET http://b.example.test:8080/x?y HTTP/1.1", "b.example.test:8080", "", "/x?y"],
    ["GET HTTPS://b.example.test HTTP/1.1", "b.example.test", "/", ""],
    ["GET http://b.example.test?q HTTP/1.1", "b.example.test", "/", "?q"],
    ["OPTIONS http://b.example.test HTTP/1.1", "b.example.test", "*", ""],
    ["GET http://[::1]:1/ HTTP/1.1", "[::1]:1", "", "/"],
  ];
  for (const [line, authority, lead, path] of cases) {
    const { head, progress } = readRequest(headOf(line, HOST));
    assert.equal(progress, "done", line);
    assert.equal(textOf(head.bytes, head.authorityAt, head.authorityEnd), authority);
    assert.equal(head.pathLead, lead);
    assert.equal(textOf(head.bytes, head.pathAt, head.pathEnd), path);
  }
  assert.equal(refusalOf(headOf("OPTIONS * HTTP/1.1", HOST)), 0);
});

Deno.test("the limits are 8 KiB of target, 100 headers and 64 KiB of head", () => {
  const target = (bytes: number) => headOf(`GET /${"a".repeat(bytes - 1)} HTTP/1.1`, HOST);
  assert.equal(refusalOf(target(MAX_TARGET_BYTES)), 0);
  assert.equal(refusalOf(target(MAX_TARGET_BYTES + 1)), 414);
  assert.equal(refusalOf(`GET /${"a".repeat(MAX_TARGET_BYTES + 1)}`), 414);
  const fields = (count: number) => get(...Array.from({ length: count - 1 }, (_, at) => `X-${at}: y`));
  assert.equal(refusalOf(fields(MAX_FIELDS)), 0);
  assert.equal(refusalOf(fields(MAX_FIELDS + 1)), 431);
  const base = get("X: ").length;
  assert.equal(refusalOf(get("X: " + "y".repeat(MAX_HEAD_BYTES - base))), 0);
  assert.equal(refusalOf(get("X: " + "y".repeat(MAX_HEAD_BYTES - base + 1))), 431);
  assert.equal(refusalOf("GET / HTTP/1.1\r\nX: " + "y".repeat(MAX_HEAD_BYTES)), 431);
  assert.equal(refusalOf("\r\n".repeat(MAX_HEAD_BYTES)), 431);
});

Deno.test("the Connection header is read as a list, over several lines, in any case", () => {
  const { head } = readRequest(
    get("Connection: ", "Connection: , X-Drop ,CLOSE", "Connection: Upgrade,te", "x-drop: 1", "X-Keep: 1"),
  );
  assert.equal(head.optionClose, true);
  assert.equal(head.optionUpgrade, true);
  assert.equal(head.optionTe, true);
  assert.equal(head.optionKeepAlive, false);
  assert.equal(head.nominated, 1);
  assert.equal(head.isNominated(4), true);
  assert.equal(head.isNominated(5), false);
  const many = Array.from({ length: 51 }, (_, at) => `x${at}`).join(",");
  assert.equal(refusalOf(get(`Connection: ${many}`)), 400);
});

Deno.test("whether the connection is kept follows version and Connection", () => {
  const keeps = (...lines: string[]) => readRequest(headOf(...lines)).head.wantsKeep;
  assert.equal(keeps("GET / HTTP/1.1", HOST), true);
  assert.equal(keeps("GET / HTTP/1.1", HOST, "Connection: close"), false);
  assert.equal(keeps("GET / HTTP/1.1", HOST, "Connection: keep-alive, close"), false);
  assert.equal(keeps("GET / HTTP/1.0"), false);
  assert.equal(keeps("GET / HTTP/1.0", "Connection: keep-alive"), true);
});

Deno.test("an upgrade is wanted only with both headers, in HTTP/1.1, without a body, and not for h2c", () => {
  const wants = (first: string, ...lines: string[]) =>
    readRequest(headOf(first, HOST, ...lines)).head.wantsUpgrade;
  const line = "GET / HTTP/1.1";
  assert.equal(wants(line, "Connection: Upgrade", "Upgrade: websocket"), true);
  assert.equal(wants(line, "Connection: Upgrade", "Upgrade: h2c, foo/2"), true);
  assert.equal(wants(line, "Connection: Upgrade", "Upgrade: H2C/1, h2c/"), false);
  assert.equal(wants(line, "Connection: Upgrade", "Upgrade: h2cx"), true);
  assert.equal(wants(line, "Connection: Upgrade", "Upgrade: H2C"), false);
  assert.equal(wants(line, "Connection: Upgrade"), false);
  assert.equal(wants(line, "Upgrade: websocket"), false);
  assert.equal(wants("GET / HTTP/1.0", "Connection: Upgrade", "Upgrade: websocket"), false);
  assert.equal(
    wants("POST / HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Content-Length: 1"),
    false,
  );
});

Deno.test("known names are known in any case, and nothing else is", () => {
  const { head } = readRequest(
    get(
      "cOnTeNt-LeNgTh: 0",
      "X-Forwarded-Whatever: 1",
      "X_forwarded-foR: 1",
      "X_REAL_IP: 1",
      "X-Forwarded: 1",
      "content_length: 9",
      "Hos: x",
      "X-Real-IQ: 1",
      "X_Real_IPs: 1",
    ),
  );
  assert.deepEqual([...head.names.slice(0, 10)], [
    NAME.host,
    NAME.content_length,
    NAME.x_forwarded_other,
    NAME.x_forwarded_other,
    NAME.x_forwarded_other,
    0,
    0,
    0,
    0,
    0,
  ]);
});

Deno.test("methods are told apart by case; only known ones count as idempotent", () => {
  const method = (text: string) => readRequest(headOf(`${text} / HTTP/1.1`, HOST)).head;
  assert.equal(method("HEAD").method, "HEAD");
  assert.equal(method("get").method, "other");
  assert.equal(method("PROPFIND").isIdempotent, false);
  assert.equal(method("POST").isIdempotent, false);
  assert.equal(method("DELETE").isIdempotent, true);
  assert.equal(method("BREW").methodText, "BREW");
});
