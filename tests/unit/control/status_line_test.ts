import assert from "node:assert/strict";
import { STATUS_LINE_LIMIT, type StatusLine, StatusLineReader } from "../../../src/control/status_line.ts";

const CASES = new URL("../../cases/", import.meta.url);

/** Feeds the bytes in pieces; gives the line and how many bytes were needed. */
function read(bytes: Uint8Array, piece: number): { line: StatusLine | undefined; used: number } {
  const reader = new StatusLineReader();
  for (let used = 0; used < bytes.length;) {
    const part = bytes.subarray(used, used + Math.min(piece, reader.room.length));
    reader.room.set(part);
    used += part.length;
    const line = reader.take(part.length);
    if (line !== undefined) return { line, used };
  }
  return { line: undefined, used: bytes.length };
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function readBothWays(text: string): StatusLine | undefined {
  const whole = read(bytesOf(text), Infinity).line;
  const single = read(bytesOf(text), 1).line;
  assert.equal(whole !== undefined && "status" in whole, single !== undefined && "status" in single);
  return whole;
}

const GOOD: readonly (readonly [text: string, status: number, reason: string])[] = [
  ["HTTP/1.1 200 OK\r\n", 200, "OK"],
  ["HTTP/1.0 200 OK\r\n", 200, "OK"],
  ["HTTP/1.1 204 \r\n", 204, ""],
  ["HTTP/1.1 204\r\n", 204, ""],
  ["HTTP/1.1 503 Service Unavailable\r\nServer: x\r\n\r\nbody", 503, "Service Unavailable"],
  ["HTTP/1.1 404 N\xe4h\t!\r\n", 404, "N\xe4h\t!"],
  ["HTTP/1.1 999 Odd\r\n", 999, "Odd"],
  ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", 200, "OK"],
  ["HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 P\r\n\r\nHTTP/1.1 500 No\r\n", 500, "No"],
  ["HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", 101, "Switching Protocols"],
];

for (const [text, status, reason] of GOOD) {
  Deno.test(`${JSON.stringify(text)} is status ${status}`, () => {
    assert.deepEqual(readBothWays(text), { status, reason });
  });
}

const MALFORMED = [
  "http/1.1 200 OK\r\n",
  "HTTP/2 200 OK\r\n",
  "HTTP/1.2 200 OK\r\n",
  "HTTP/1.1  200 OK\r\n",
  "HTTP/1.1\t200 OK\r\n",
  "HTTP/1.1 20 OK\r\n",
  "HTTP/1.1 2000 OK\r\n",
  "HTTP/1.1 2xx OK\r\n",
  "HTTP/1.1 +20 OK\r\n",
  "HTTP/1.1 099 Low\r\n",
  "HTTP/1.1 200\tOK\r\n",
  "HTTP/1.1 200 OK\nServer: x\r\n",
  "HTTP/1.1 200 O\rK\r\n",
  "HTTP/1.1 200 O\0K\r\n",
  " HTTP/1.1 200 OK\r\n",
  "\r\nHTTP/1.1 200 OK\r\n",
  "HTTP/1.1 100 Continue\r\n\r\n<html>",
  "SSH-2.0-OpenSSH_9.6\r\n",
];

for (const text of MALFORMED) {
  Deno.test(`${JSON.stringify(text)} is no status line`, () => {
    const line = readBothWays(text);
    assert.ok(line !== undefined && "malformed" in line, JSON.stringify(line));
  });
}

for (
  const text of ["", "H", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 200", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r"]
) {
  Deno.test(`${JSON.stringify(text)} is not decided yet`, () => {
    assert.equal(readBothWays(text), undefined);
  });
}

const PROBE_ANSWERS: readonly (readonly [file: string, status: number | undefined])[] = [
  ["14-probe-101", 101],
  ["14-probe-302-login", 302],
  ["14-probe-404-nonempty", 404],
  ["14-probe-http09-html", undefined],
  ["14-probe-http2-settings", undefined],
  ["14-probe-ssh-banner", undefined],
  ["14-probe-status-2000", undefined],
  ["14-probe-status-garbage", undefined],
];

for (const [file, status] of PROBE_ANSWERS) {
  Deno.test(`${file} is decided by its own bytes, without an end`, () => {
    const bytes = Deno.readFileSync(new URL(`${file}.probe-answer.http`, CASES));
    for (const piece of [1, 3, Infinity]) {
      const { line } = read(bytes, piece);
      assert.ok(line !== undefined);
      assert.equal("status" in line ? line.status : undefined, status);
    }
  });
}

Deno.test("what is no HTTP is decided at the first byte that can not be", () => {
  assert.equal(read(bytesOf("SSH-2.0-OpenSSH"), 1).used, 1);
  assert.equal(read(bytesOf("HTTP/1.1 2000"), 1).used, 13);
});

Deno.test("no more than 4 KiB are read, however the peer goes on", () => {
  const endless = [
    `HTTP/1.1 200 ${"a".repeat(10_000)}`,
    `HTTP/1.1 103 Early\r\n${"Link: </a>\r\n".repeat(1000)}`,
    "HTTP/1.1 100 Continue\r\n\r\n".repeat(1000),
  ];
  for (const text of endless) {
    const { line, used } = read(bytesOf(text), 1000);
    assert.ok(line !== undefined && "malformed" in line, text.slice(0, 30));
    assert.ok(used <= STATUS_LINE_LIMIT, `${used} bytes`);
  }
});

Deno.test("what is shown of a strange answer is short, printable and one line", () => {
  const { line } = read(bytesOf(`\x1b[2J\0${"evil\u00ff".repeat(50)}\r\nmore`), Infinity);
  assert.ok(line !== undefined && "malformed" in line);
  assert.match(line.malformed, /^got "\?\[2J\?(evil\?)*.{0,8}"$/);
  assert.ok(line.malformed.length < 60);
});
