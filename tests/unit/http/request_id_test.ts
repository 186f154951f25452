// Request ids.

import assert from "node:assert/strict";
import { REQUEST_ID_BYTES, RequestIds } from "../../../src/http/request_id.ts";
import { stringOf } from "../../support/http_heads.ts";

function nextOf(ids: RequestIds): string {
  const out = new Uint8Array(REQUEST_ID_BYTES);
  ids.next(out, 0);
  return stringOf(out);
}

Deno.test("ids count on in hexadecimal and never repeat", () => {
  const ids = new RequestIds(() => 15 / 16);
  assert.equal(nextOf(ids), "f".repeat(16) + "0".repeat(16));
  const seen = new Set(Array.from({ length: 1000 }, () => nextOf(ids)));
  assert.equal(seen.size, 1000);
  for (const id of seen) assert.match(id, /^f{16}[0-9a-f]{16}$/);
});
