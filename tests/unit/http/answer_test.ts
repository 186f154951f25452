// Answers of our own.

import assert from "node:assert/strict";
import { ownAnswer } from "../../../src/http/answer.ts";
import { stringOf } from "../../support/http_heads.ts";

const options = { requestId: "id-1", isHead: false, connection: "" } as const;

Deno.test("an own answer is JSON with code, message and request id", () => {
  const text = stringOf(
    ownAnswer({ status: 503, code: "no_endpoint", message: 'No "x"', retryAfterS: 1 }, options),
  );
  const [head = "", body = ""] = text.split("\r\n\r\n");
  assert.match(head, /^HTTP\/1\.1 503 Service Unavailable\r\nContent-Type: application\/json\r\n/);
  assert.match(
    head,
    new RegExp(`\r\nContent-Length: ${body.length}\r\nX-Request-Id: id-1\r\nRetry-After: 1$`),
  );
  assert.deepEqual(JSON.parse(body), {
    error: { code: "no_endpoint", message: 'No "x"', request_id: "id-1" },
  });
});

Deno.test("HEAD gets the head only, and 405 says what is allowed", () => {
  const text = stringOf(
    ownAnswer({ status: 405, code: "x", message: "y" }, { ...options, isHead: true, connection: "close" }),
  );
  assert.ok(text.endsWith("\r\nConnection: close\r\n\r\n"));
  assert.match(text, /\r\nAllow: GET, /);
});
