// What hale writes, to endpoints and to clients, read by a strict parser that is not ours (llhttp): whatever comes in,
// only whole, well-formed messages go out, each with the meaning that the same parser finds in what came in.

import assert from "node:assert/strict";
import { settled } from "../support/fake_clock.ts";
import { type HaleMessage, readAnswers, readRequests } from "../support/hale_reading.ts";
import {
  FUZZ_FACTOR,
  fuzzSeed,
  pieces,
  randomAnswer,
  randomRequest,
  seeded,
  wounded,
} from "../support/http_mutations.ts";
import { Llhttp, type LlMessage } from "../support/llhttp.ts";
import type { MemoryDuplex } from "../support/memory_duplex.ts";
import { hear, MemoryStage, tell } from "../support/memory_stage.ts";

const RUNS = 1000 * FUZZ_FACTOR;
const llhttp = new Llhttp();

const HOP_BY_HOP = [
  "connection",
  "upgrade",
  "te",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-authentication-info",
  "http2-settings",
];
/** What Connection can not remove. */
const KEPT = ["content-length", "transfer-encoding", "expect", "trailer", "cookie"];
const REPLACED = ["host", "x-request-id"];

type Headers = LlMessage["headers"];
const values = (headers: Headers, wanted: string) =>
  headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);

/** The headers that go on from one side to the other, without those that hale replaces. */
function passedOn(headers: Headers, alsoDropped: readonly string[]): Headers {
  const nominated = values(headers, "connection").flatMap((value) => value.toLowerCase().split(","))
    .map((name) => name.replace(/^[ \t]+|[ \t]+$/g, "")).filter((name) => !KEPT.includes(name));
  const dropped = new Set([...HOP_BY_HOP, ...REPLACED, ...alsoDropped, ...nominated]);
  return headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return !dropped.has(lower) && !/^x-forwarded-.|^forwarded$|^x-real-ip$/.test(lower);
  });
}

/** Only requests that llhttp has no other taste for: its methods, and no bytes above 0x7f in targets. */
function isPlain({ method, target }: HaleMessage): boolean {
  return /^(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|TRACE|PATCH)$/.test(method) && !/[\x80-\xff]/.test(target);
}

/** One endpoint that answers each request that llhttp finds; what it got and gave is noted. */
class Endpoint {
  readonly streams: { text: string }[] = [];
  readonly got: LlMessage[] = [];
  readonly gave: { readonly text: string; readonly isHead: boolean }[] = [];

  constructor(readonly next: () => { parts: readonly string[]; ends: boolean }) {}

  readonly take = (conn: MemoryDuplex): void => {
    const stream = { text: "" };
    this.streams.push(stream);
    let seen = 0;
    // One answer after the other.
    let giving = Promise.resolve();
    void hear(conn, (text) => {
      stream.text += text;
      const messages = llhttp.read(stream.text, { kind: "request" }).messages.slice(seen);
      seen += messages.length;
      this.got.push(...messages);
      for (const message of messages) giving = giving.then(() => this.#answer(conn, message));
    });
  };

  async #answer(conn: MemoryDuplex, message: LlMessage): Promise<void> {
    const { parts, ends } = this.next();
    this.gave.push({ text: parts.join(""), isHead: message.method === "HEAD" });
    for (const part of parts) {
      await tell(conn, part);
      await settled();
    }
    if (ends) await conn.closeWrite();
  }
}

/** What was asked of the endpoint is what the client asked for, in that order; a request may have been sent again. */
function assertAsked(sent: readonly LlMessage[], got: readonly LlMessage[], told: string): void {
  let at = 0;
  for (const message of got) {
    at = sent.findIndex((one, index) => index >= at && isAskedBy(one, message));
    assert.ok(at >= 0, `nobody asked for ${JSON.stringify(message)} ${told}`);
    assert.equal(message.version, "1.1");
    assert.deepEqual(values(message.headers, "x-forwarded-for"), ["192.0.2.7"], told);
    assert.equal(values(message.headers, "x-request-id").length, 1, told);
    assert.match(values(message.headers, "connection").join(" and "), /^(?:Upgrade|TE)?$/, told);
  }
}

function isAskedBy(sent: LlMessage, got: LlMessage): boolean {
  const isChunked = values(sent.headers, "transfer-encoding").length > 0;
  const dropped = [...(isChunked ? [] : ["trailer"]), ...(sent.version === "1.0" ? ["expect"] : [])];
  return sent.method === got.method && sent.body === got.body && pathOf(sent) === got.target &&
    authorityOf(sent) === values(got.headers, "host").join(" and ") &&
    isEqual(passedOn(sent.headers, dropped), passedOn(got.headers, []));
}

const isEqual = (one: Headers, other: Headers): boolean => JSON.stringify(one) === JSON.stringify(other);

function urlOf({ target }: LlMessage): { readonly authority: string; readonly path: string } | undefined {
  const found = /^https?:\/\/([^/?]*)(.*)$/i.exec(target);
  return found === null ? undefined : { authority: found[1]!, path: found[2]! };
}

function pathOf(message: LlMessage): string {
  const url = urlOf(message);
  if (url === undefined) return message.target;
  if (url.path === "") return message.method === "OPTIONS" ? "*" : "/";
  return url.path.startsWith("?") ? `/${url.path}` : url.path;
}

const authorityOf = (message: LlMessage): string =>
  urlOf(message)?.authority ?? (values(message.headers, "host")[0] ?? "10.0.0.1");

/** What the client got of endpoints is what an endpoint answered, in that order; answers of our own may stand between. */
function assertAnswered(finals: readonly LlMessage[], gave: Endpoint["gave"], told: string): void {
  let at = 0;
  for (const final of finals) {
    if (final.body.startsWith('{"error":') || isOwnHead(final) || isOpenEnded(final)) continue;
    const found = gave.findIndex((given, index) => index >= at && isAnswer(final, given));
    assert.ok(found >= 0, `nobody gave ${JSON.stringify(final)} ${told}`);
    at = found + 1;
  }
}

const isOwnHead = ({ headers, body }: LlMessage): boolean =>
  body === "" && values(headers, "cache-control").includes("no-store");

/** An answer to HTTP/1.0 that ends with the connection: such a client can not be told that it was cut. */
const isOpenEnded = ({ headers, keeps }: LlMessage): boolean =>
  !keeps && values(headers, "content-length").length + values(headers, "transfer-encoding").length === 0;

function isAnswer(final: LlMessage, { text, isHead }: Endpoint["gave"][number]): boolean {
  const { messages } = llhttp.read(plainTrailers(text), {
    kind: "answer",
    isHead: () => isHead,
    ends: true,
    goesOn: true,
  });
  const own = messages.find(({ status }) => status >= 200);
  if (own === undefined || own.status !== final.status || own.body !== final.body) return false;
  const framing = ["content-length", "transfer-encoding", "trailer"];
  return isEqual(passedOn(own.headers, framing), passedOn(final.headers, framing));
}

/** The answer as hale passes its body on: llhttp is stricter about extensions and trailers, which hale drops. */
function plainTrailers(text: string): string {
  const { messages } = readAnswers(text, () => false);
  const final = messages.find(({ status }) => status >= 200);
  return final?.framing === "chunked" ? text.slice(0, final.headEnd) + final.forwarded : text;
}

interface Case {
  readonly requests: readonly HaleMessage[];
  /** The client's stream as hale passes bodies on, up to where hale stopped. */
  readonly sent: readonly LlMessage[];
  readonly text: string;
}

function caseOf(random: () => number): Case | undefined {
  let text = "";
  for (let count = 1 + Math.floor(random() * 3); count > 0; count--) text += randomRequest(random);
  text = wounded(random, text, 2);
  const requests = readRequests(text).messages;
  // Behind the last whole one there may be one whose body is cut or malformed.
  const rest = text.slice(requests.at(-1)?.end ?? 0);
  const open = readRequests(rest.replace(/(Transfer-Encoding|Content-Length):/gi, "X-Was-$1:")).messages;
  if (![...requests, ...open].every(isPlain)) return undefined;
  const plain = requests.map((one) => text.slice(one.from, one.headEnd) + one.forwarded).join("");
  return { requests, text, sent: llhttp.read(plain, { kind: "request" }).messages };
}

/** What is added to a whole answer in the same write, as an answer to a request that was not made yet. */
const SURPLUS = "HTTP/1.1 200 OK\r\nX-Surplus: 1\r\nContent-Length: 2\r\n\r\nno";

function answerOf(random: () => number): ReturnType<Endpoint["next"]> {
  if (random() < 0.2) {
    const text = randomAnswer(random);
    const first = readAnswers(text, () => false).messages[0];
    if (
      first !== undefined && first.status >= 200 && first.framing !== "until_close" &&
      first.end === text.length
    ) {
      return { parts: [text + SURPLUS], ends: false };
    }
  }
  const text = wounded(random, randomAnswer(random), 2);
  return { parts: random() < 0.3 ? pieces(random, text) : [text], ends: random() < 0.5 };
}

Deno.test("only well-formed messages go out, to both sides, and they mean what came in", async () => {
  const random = seeded(fuzzSeed());
  const seen = { asked: 0, answered: 0, own: 0, cut: 0 };
  for (let run = 0; run < RUNS;) {
    const given = caseOf(random);
    if (given === undefined) continue;
    run++;
    const endpoint = new Endpoint(() => answerOf(random));
    const { stage, toClient } = await play(random, given.text, endpoint);
    const told = JSON.stringify({ given: given.text, toClient, gave: endpoint.gave });
    assert.deepEqual(stage.troubles.filter(({ type }) => type === "loop_error"), [], told);
    for (const { text } of endpoint.streams) {
      const { fault, reason } = llhttp.read(text, { kind: "request" });
      assert.equal(fault, "", `${reason} ${JSON.stringify(text)} ${told}`);
    }
    assertAsked(given.sent, endpoint.got, told);
    assert.doesNotMatch(toClient, /X-Surplus/, told);
    if (/ 1(?:0[14-9]|[1-9]\d) /.test(toClient)) continue;
    const isHead = (index: number) => given.requests[index]?.method === "HEAD";
    const found = llhttp.read(toClient, { kind: "answer", isHead, ends: true });
    const finals = found.messages.filter(({ status }) => status >= 200);
    assertAnswered(finals, endpoint.gave, told);
    assertWhole(found, stage, told);
    seen.asked += endpoint.got.length;
    seen.answered += finals.length;
    if (found.isUnfinished) seen.cut++;
  }
  console.log(JSON.stringify(seen));
  assert.ok(seen.asked > RUNS / 4 && seen.answered > RUNS / 4);
});

/** Nothing is malformed; what is not whole is an answer that was known to be cut. */
function assertWhole(found: ReturnType<Llhttp["read"]>, stage: MemoryStage, told: string): void {
  const finals = found.messages.filter(({ status }) => status >= 200).length;
  const whole =
    stage.records.filter(({ outcome }) => outcome === "answered" || outcome === "status_5xx").length;
  const isCut = stage.records.some(({ outcome }) =>
    /^(?:answer_cut|answer_malformed|client_.*)$/.test(outcome)
  );
  assert.ok(finals >= whole, `${finals} of ${whole} ${told}`);
  if (found.isUnfinished) {
    assert.ok(isCut && found.fault === "HPE_INVALID_EOF_STATE", `${found.fault} ${told}`);
  } else assert.equal(found.fault, "", `${found.reason} ${told}`);
}

/** A client sends a text, ends its side when nothing more comes, and takes what it gets. */
async function play(random: () => number, text: string, endpoint: Endpoint) {
  const stage = new MemoryStage(endpoint.take);
  const client = stage.connect();
  let toClient = "";
  void hear(client, (part) => toClient += part);
  for (const piece of random() < 0.3 ? pieces(random, text) : [text]) await tell(client, piece);
  for (let turn = 0; turn < 10; turn++) await settled();
  await client.closeWrite();
  await stage.end();
  return { stage, toClient };
}
