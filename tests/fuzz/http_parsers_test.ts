// Thousands of random heads and bodies, whole and wounded: how the bytes arrive makes no difference, nothing throws, and
// what is accepted means one thing only.

import assert from "node:assert/strict";
import { Body } from "../../src/http/body.ts";
import type { Fields } from "../../src/http/fields.ts";
import { RequestHead } from "../../src/http/request_head.ts";
import { ResponseHead } from "../../src/http/response_head.ts";
import { bytesOf, rewritten, stringOf } from "../support/http_heads.ts";
import {
  FUZZ_FACTOR,
  fuzzSeed,
  pieces,
  randomAnswer,
  randomRequest,
  seeded,
  wounded,
} from "../support/http_mutations.ts";

const RUNS = 20_000 * FUZZ_FACTOR;

/** Reads a head in pieces, each in a longer buffer. */
function readPieces(head: Fields, text: string, parts: readonly string[]): string {
  head.begin(bytesOf(""), 0);
  let end = 0;
  let progress = "more";
  for (const part of parts) {
    end += part.length;
    head.bytes = bytesOf(text.slice(0, end));
    progress = head.read(end);
    if (progress !== "more") break;
  }
  return progress;
}

/** Everything that was learned from a head, as one text. */
function learned(head: Fields, progress: string): string {
  if (progress !== "done") return progress === "refused" ? `refused ${head.refusal!.status}` : progress;
  const { start, end, count, seen, repeated, contentLength, chunked, optionClose, nominated } = head;
  const spans = [
    ...head.lineAt.slice(0, count + 1),
    ...head.nameEnd.slice(0, count),
    ...head.valueAt.slice(0, count),
  ];
  return JSON.stringify([start, end, seen, repeated, contentLength, chunked, optionClose, nominated, spans]);
}

Deno.test("heads read the same in pieces as whole", () => {
  const random = seeded(fuzzSeed());
  for (let run = 0; run < RUNS; run++) {
    const isRequest = run % 2 === 0;
    const text = wounded(random, isRequest ? randomRequest(random) : randomAnswer(random));
    const make = () => isRequest ? new RequestHead() : new ResponseHead();
    const [whole, pieced] = [make(), make()];
    const one = learned(whole, readPieces(whole, text, [text]));
    const other = learned(pieced, readPieces(pieced, text, pieces(random, text)));
    assert.equal(other, one, JSON.stringify(text));
  }
});

/** An independent strict reading: every line by one regular expression. */
function oracle(head: string): { readonly ok: boolean; readonly lines: readonly string[] } {
  const isWhole =
    /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [!"$-~\x80-\xff]+ HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*\r\n$/
      .test(head);
  return { ok: isWhole, lines: head.split("\r\n").slice(1, -2) };
}

Deno.test("what goes to an endpoint is a strict request with one Host, one length and no hop-by-hop header", () => {
  const random = seeded(fuzzSeed());
  let accepted = 0;
  for (let run = 0; run < RUNS; run++) {
    const text = wounded(random, randomRequest(random));
    const head = new RequestHead();
    if (readPieces(head, text, [text]) !== "done") continue;
    accepted++;
    const out = rewritten(text.slice(0, head.end));
    const { ok, lines } = oracle(out);
    assert.ok(ok, JSON.stringify([text, out]));
    const named = (name: string) => lines.filter((line) => line.toLowerCase().startsWith(`${name}:`));
    assert.equal(named("host").length, 1, out);
    assert.ok(named("content-length").length + named("transfer-encoding").length <= 1, out);
    for (const line of named("content-length")) assert.match(line, /:[ \t]*\d+[ \t]*$/);
    for (const line of named("transfer-encoding")) assert.match(line, /:[ \t]*chunked[ \t]*$/i);
    assert.equal(named("x-forwarded-for").length, 1);
    assert.deepEqual(named("keep-alive"), []);
    assert.equal(named("x-request-id").length, 1);
  }
  assert.ok(accepted > RUNS / 10, `only ${accepted} were accepted`);
});

/** Feeds chunks in pieces; gives what went on, the state and what was left. */
function feedPieces(parts: readonly string[], keepsFraming: boolean): string {
  const body = new Body();
  body.begin("chunked", -1, keepsFraming);
  let out = "";
  let rest = "";
  for (const part of parts) {
    if (body.done || body.refusal !== undefined) {
      rest += part;
      continue;
    }
    const bytes = bytesOf(part);
    body.feed(bytes, 0, bytes.length);
    out += stringOf(bytes.subarray(0, body.outEnd)) + (body.tail === undefined ? "" : stringOf(body.tail));
    if (body.done) rest += part.slice(body.next);
  }
  return body.refusal === undefined
    ? JSON.stringify([body.done, out, rest])
    : `refused ${body.refusal.status}`;
}

Deno.test("chunks read the same in pieces as whole, and what goes on is what came, without extensions", () => {
  const random = seeded(fuzzSeed());
  for (let run = 0; run < RUNS; run++) {
    const request = randomRequest(random);
    const text = wounded(random, request.slice(request.indexOf("\r\n\r\n") + 4) + "GET / HTTP/1.1\r\n", 2);
    if (text === "") continue;
    for (const keepsFraming of [true, false]) {
      const whole = feedPieces([text], keepsFraming);
      assert.equal(feedPieces(pieces(random, text), keepsFraming), whole, JSON.stringify(text));
      if (!whole.startsWith("[true")) continue;
      const [, out, rest] = JSON.parse(whole) as [boolean, string, string];
      assert.ok(text.endsWith(rest));
      if (keepsFraming) {
        assert.match(out, /^(?:[0-9a-fA-F]{1,16}\r\n[^]*?)*0+\r\n(?:[^\r\n:]+:[^\r\n]*\r\n)*\r\n$/);
      }
      assert.doesNotMatch(keepsFraming ? out.split("\r\n")[0]! : "", /;/);
    }
  }
});
