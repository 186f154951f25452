// The same bytes read by two parsers of different origin, hale's and llhttp (which Node uses), at its strictest. What
// hale takes for a message llhttp takes for the same one, with the same end; and what hale writes llhttp reads as it was
// meant. The few differences are named here, and vanish with the bytes they come from.

import assert from "node:assert/strict";
import { type HaleMessage, type HaleReading, readAnswers, readRequests } from "../support/hale_reading.ts";
import {
  FUZZ_FACTOR,
  fuzzSeed,
  randomAnswer,
  randomRequest,
  seeded,
  wounded,
} from "../support/http_mutations.ts";
import { Llhttp, type LlMessage, type LlOptions, type LlReading } from "../support/llhttp.ts";

const RUNS = 20_000 * FUZZ_FACTOR;
const KNOWN_METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"];

/**
 * Why llhttp may refuse, or see more in, what hale takes:
 * - method: it knows a list, hale passes on any token.
 * - target: it wants bytes above 0x7f escaped, hale passes them on.
 * - extension: it wants chunk extensions to be names and values; hale drops them all, so nobody else reads them.
 * - trailer: it refuses Content-Length there and heeds Connection; hale drops both, and all that must not stand there.
 * - option: it does not know an option of Connection with a tab beside it. hale does, and writes options of its own.
 * - status: it takes 104..199 for final answers, which RFC 9110 15.2 says are interim and have no body.
 */
type Taste = "method" | "target" | "extension" | "trailer" | "option" | "status";

/** A stream as hale read it, with some of its messages written so that the tastes agree. */
class Retold {
  readonly text: string;
  /** What llhttp is to find, message by message. */
  readonly wanted: readonly Pick<LlMessage, "method" | "target" | "status" | "body" | "keeps" | "end">[];

  constructor(original: string, messages: readonly HaleMessage[], isPlain: readonly boolean[]) {
    let text = "";
    this.wanted = messages.map((message, index) => {
      const { method, target, status } = message;
      const retold = isPlain[index] === true ? plain(original, message) : {
        text: original.slice(message.from, message.end),
        method,
        target,
        status,
      };
      text += retold.text;
      return {
        method: retold.method,
        target: retold.target,
        status: retold.status,
        body: message.content,
        keeps: message.keeps && !message.wantsUpgrade && (status === 0 || status >= 200),
        end: text.length,
      };
    });
    this.text = text + original.slice(messages.at(-1)?.end ?? 0);
  }
}

/** One message without what is a matter of taste. */
function plain(original: string, message: HaleMessage) {
  const { start, targetAt, headEnd, forwarded } = message;
  const withoutTabs = (head: string) =>
    head.replace(/^connection:.*$/gim, (line) => line.replaceAll("\t", " "));
  if (message.status > 0) {
    const isUnknown = message.status > 103 && message.status < 200;
    const status = isUnknown ? 103 : message.status;
    const head = original.slice(start, start + 9) + status + original.slice(start + 12, headEnd);
    return { text: withoutTabs(head) + forwarded, method: "", target: "", status };
  }
  const method = KNOWN_METHODS.includes(message.method) ? message.method : "LOCK";
  const target = message.target.replace(/[\x80-\xff]/g, "x");
  const rest = withoutTabs(original.slice(targetAt + target.length, headEnd));
  return { text: `${method} ${target}${rest}${forwarded}`, method, target, status: 0 };
}

/** Which taste explains what llhttp makes of a message that hale took; it began at `began` of what llhttp was given. */
function tasteOf(original: string, message: HaleMessage, found: LlReading, began: number): Taste | undefined {
  const { start, method, targetAt, target, headEnd, end, framing } = message;
  if (message.status > 103 && message.status < 200) return "status";
  if (/^connection:.*\t/im.test(original.slice(start, headEnd))) return "option";
  const other = found.messages.find((one) => one.end === began + end - message.from);
  if (other !== undefined) return other.trailers.length > 0 ? "trailer" : undefined;
  const at = message.from + found.faultAt - began;
  if (at >= start && at <= start + method.length && !KNOWN_METHODS.includes(method)) return "method";
  if (at >= targetAt && at < targetAt + target.length && original.charCodeAt(at) > 0x7f) return "target";
  if (framing !== "chunked" || at < headEnd || at >= end) return undefined;
  const line = original.slice(original.lastIndexOf("\n", at - 1) + 1, at + 1);
  if (/^[0-9a-fA-F]+;[^\r]*\r?\n?$/.test(line)) return "extension";
  return /\r\n0+(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*[^\r\n]*\r?$/.test(
      `\r\n${original.slice(headEnd, at + 1)}`,
    )
    ? "trailer"
    : undefined;
}

const llhttp = new Llhttp();

/** Checks that both readings of a stream agree. Gives the tastes that had to be agreed upon first. */
function assertAgree(original: string, hale: HaleReading, options: LlOptions): ReadonlySet<Taste> {
  const tastes = new Set<Taste>();
  const isPlain = hale.messages.map(() => false);
  for (;;) {
    const { text, wanted } = new Retold(original, hale.messages, isPlain);
    const told = JSON.stringify({ original, text, isPlain });
    const found = llhttp.read(text, options);
    const index = wanted.findIndex((message, index) => !isSame(message, found.messages[index]));
    if (index < 0) {
      assertEnd(hale, found.messages, told);
      return tastes;
    }
    const message = hale.messages[index]!;
    assert.ok(!isPlain[index], `${found.fault} ${found.reason} at ${found.faultAt} ${told}`);
    const taste = tasteOf(original, message, found, index === 0 ? 0 : wanted[index - 1]!.end);
    assert.ok(taste !== undefined, `${found.fault} ${found.reason} at ${found.faultAt} ${told}`);
    tastes.add(taste);
    isPlain[index] = true;
  }
}

function isSame(wanted: Retold["wanted"][number], found: LlMessage | undefined): boolean {
  return found !== undefined && wanted.end === found.end && wanted.method === found.method &&
    wanted.target === found.target && wanted.status === found.status && wanted.body === found.body &&
    (found.keeps || !wanted.keeps);
}

/** Headers, version and upgrade; and no message more than hale found, unless hale refused the next. */
function assertEnd(hale: HaleReading, found: readonly LlMessage[], told: string): void {
  hale.messages.forEach((message, index) => {
    const other = found[index]!;
    assert.deepEqual(other.headers.map(withBlanks), message.headers.map(withBlanks), told);
    assert.equal(other.version, `1.${message.minorVersion}`, told);
    if (message.wantsUpgrade && message.status === 0) assert.ok(other.isUpgrade, told);
  });
  if (hale.stop === "more" || hale.stop === "end") assert.equal(found.length, hale.messages.length, told);
}

function withBlanks([name, value]: readonly [string, string]): readonly [string, string] {
  return [name, name.toLowerCase() === "connection" ? value.replaceAll("\t", " ") : value];
}

/** Several messages one behind the other, each perhaps wounded, and perhaps all of it once more, or cut short. */
function stream(random: () => number, one: () => string): string {
  let text = "";
  for (let count = 1 + Math.floor(random() * 4); count > 0; count--) text += wounded(random, one(), 1);
  const whole = wounded(random, text, 2);
  return random() < 0.1 ? whole.slice(0, Math.ceil(random() * whole.length)) : whole;
}

Deno.test("what hale takes for a request is the same request for llhttp, and ends at the same byte", () => {
  const random = seeded(fuzzSeed());
  const seen = new Map<string, number>();
  for (let run = 0; run < RUNS; run++) {
    const text = stream(random, () => randomRequest(random));
    const hale = readRequests(text);
    for (const taste of assertAgree(text, hale, { kind: "request" })) count(seen, taste);
    for (const { framing } of hale.messages) count(seen, framing);
    count(seen, hale.stop);
  }
  console.log([...seen].map(([what, times]) => `${what} ${times}`).join(", "));
  for (const what of ["none", "length", "chunked", "refused", "more", "closed", "end"]) {
    assert.ok(seen.get(what)! > RUNS / 100, what);
  }
});

Deno.test("what hale takes for an answer is the same answer for llhttp, and ends at the same byte", () => {
  const random = seeded(fuzzSeed());
  const seen = new Map<string, number>();
  for (let run = 0; run < RUNS; run++) {
    const text = stream(random, () => randomAnswer(random));
    const heads = Array.from({ length: 8 }, () => random() < 0.2);
    const isHead = (index: number) => heads[index % heads.length]!;
    const hale = readAnswers(text, isHead);
    for (const taste of assertAgree(text, hale, { kind: "answer", isHead, ends: true, goesOn: true })) {
      count(seen, taste);
    }
    for (const { framing } of hale.messages) count(seen, framing);
    count(seen, hale.stop);
  }
  console.log([...seen].map(([what, times]) => `${what} ${times}`).join(", "));
  for (const what of ["none", "length", "chunked", "until_close", "refused", "more", "closed", "end"]) {
    assert.ok(seen.get(what)! > RUNS / 100, what);
  }
});

function count(seen: Map<string, number>, what: string): void {
  seen.set(what, (seen.get(what) ?? 0) + 1);
}
