// Answers as broken, cut and unusual as they have been seen, byte for byte over real sockets: what the client gets, what
// the endpoint is charged with, and whether its connection is used again.

import assert from "node:assert/strict";
import { REST_MS } from "../../src/http/pool.ts";
import { HttpEndpoint, OK, say } from "../support/http_endpoint.ts";
import { stringOf } from "../support/http_heads.ts";
import { HttpStage, readUntil } from "../support/http_stage.ts";
import { until } from "../support/until.ts";

const GET = "GET /first HTTP/1.1\r\nHost: app.example.test\r\n\r\n";
const AFTER = "GET /after HTTP/1.1\r\nHost: app.example.test\r\nConnection: close\r\n\r\n";
const ID = /X-Request-Id: [0-9a-f]{32}\r\n/g;

interface Case {
  readonly file: string;
  /** All that the client gets for GET /first, request ids taken out; undefined: a 502 of ours. */
  readonly answer?: string;
  readonly request?: string;
  /** What the endpoint is charged with, as the second half of "outcome×count". */
  readonly evidence: readonly string[];
  /** The endpoint closes behind its answer. */
  readonly closes?: boolean;
  /** The client's connection is over with this answer. */
  readonly ends?: boolean;
  /** Whether the next request goes out on the same connection to the endpoint. */
  readonly isReused?: boolean;
}

const head = (...lines: string[]): string => lines.join("\r\n") + "\r\n\r\n";
const answered = { evidence: ["answered×2"], isReused: true };
/** It announces a body that it has not by rule: the connection rests for a moment before it is used again. */
const rested = { evidence: ["answered×2"], isReused: false };
const refused = (outcome: string, file: string, more: Partial<Case> = {}): Case => (
  { file, evidence: [`${outcome}×1`, "answered×1"], isReused: false, ...more }
);

const CASES: readonly Case[] = [
  { file: "39-hop-headers", answer: head("HTTP/1.1 200 OK", "Content-Length: 2") + "ok", ...answered },
  {
    file: "40-103-then-200",
    answer: head("HTTP/1.1 103 Early Hints", "Link: </style.css>; rel=preload") +
      head("HTTP/1.1 200 OK", "Content-Type: text/plain", "Content-Length: 5") + "final",
    ...answered,
  },
  {
    file: "40-100-100-102-then-204",
    answer: head("HTTP/1.1 100 Continue").repeat(2) + head("HTTP/1.1 102 Processing") +
      head("HTTP/1.1 204 No Content"),
    ...answered,
  },
  {
    file: "40-100-with-content-length",
    answer: head("HTTP/1.1 100 Continue") + head("HTTP/1.1 200 OK", "Content-Length: 2") + "ok",
    ...answered,
  },
  { file: "41-200-cl0", answer: head("HTTP/1.1 200 OK", "Content-Length: 0"), ...answered },
  { file: "41-204-with-cl", answer: head("HTTP/1.1 204 No Content"), ...rested },
  { file: "41-304-no-length", answer: head("HTTP/1.1 304 Not Modified", 'ETag: "abc"'), ...answered },
  {
    file: "41-304-with-cl",
    answer: head("HTTP/1.1 304 Not Modified", 'ETag: "abc"', "Content-Length: 1192"),
    ...rested,
  },
  {
    file: "41-head-with-cl",
    request: GET.replace("GET", "HEAD"),
    answer: head("HTTP/1.1 200 OK", "Content-Length: 1192", "Content-Type: text/html"),
    ...rested,
  },
  {
    file: "41-head-chunked",
    request: GET.replace("GET", "HEAD"),
    answer: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked"),
    ...rested,
  },
  {
    file: "44-close-delimited-ok",
    answer: head("HTTP/1.1 200 OK", "Content-Type: text/plain", "Transfer-Encoding: chunked") +
      "1a\r\ncomplete body ended by FIN\r\n0\r\n\r\n",
    evidence: ["answered×2"],
    closes: true,
    isReused: false,
  },
  {
    ...refused("answer_cut", "44-cl-short"),
    answer: head("HTTP/1.1 500 Internal Server Error", "Content-Length: 138", "Content-Type: text/plain") +
      "partial",
    closes: true,
    ends: true,
  },
  {
    ...refused("answer_cut", "44-chunk-cut"),
    answer: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") + "400\r\nhello",
    closes: true,
    ends: true,
  },
  {
    ...refused("answer_cut", "44-chunked-no-end"),
    answer: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") + "5\r\nhello\r\n",
    closes: true,
    ends: true,
  },
  refused("answer_cut", "44-headers-cut", { closes: true }),
  refused("answer_malformed", "44-cl-and-te"),
  refused("answer_malformed", "44-two-different-cl"),
  {
    file: "46-chunked",
    answer: head("HTTP/1.1 200 OK", "Content-Type: text/plain", "Transfer-Encoding: chunked") +
      "7\r\ngood 1 \r\n4\r\ndone\r\n0\r\n\r\n",
    ...answered,
  },
  {
    file: "47-trailers",
    answer: head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Trailer: X-Checksum") +
      "4\r\ndata\r\n0\r\nX-Checksum: abc123\r\n\r\n",
    ...answered,
  },
  refused("answer_malformed", "50-cr-in-response-value"),
  refused("answer_malformed", "50-lf-in-response-value"),
  refused("answer_malformed", "51-unasked-101"),
  { file: "51-upgrade-refused", answer: head("HTTP/1.1 200 OK", "Content-Length: 2") + "ok", ...answered },
  {
    file: "51-upgrade-403",
    request: GET.replace("\r\n\r\n", "\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n"),
    answer: head("HTTP/1.1 403 Forbidden", "Content-Length: 6") + "denied",
    ...answered,
  },
];

function caseText(file: string): string {
  return stringOf(Deno.readFileSync(new URL(`../cases/${file}.upstream.http`, import.meta.url)));
}

/** An endpoint that answers the first request with the case and all others with 200. */
function endpointFor({ file, closes = false }: Case): HttpEndpoint {
  return new HttpEndpoint(async ({ head }, conn) => {
    const isFirst = head.includes(" /first ");
    await say(conn, isFirst ? caseText(file) : OK);
    return !(isFirst && closes);
  });
}

Deno.test("every answer case is passed on, or answered for, as it should be", async (t) => {
  for (const one of CASES) {
    await t.step(one.file, async () => {
      await using endpoint = endpointFor(one);
      await using stage = await HttpStage.start([endpoint.address]);
      const text = (one.request ?? GET) + (one.ends ? "" : AFTER);
      const got = (await stage.send(text)).replaceAll(ID, "");
      const rest = one.ends ? "" : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
      if (one.answer !== undefined) assert.equal(got, one.answer + rest);
      else {
        assert.match(got, /^HTTP\/1\.1 502 Bad Gateway\r\n/);
        assert.ok(got.endsWith(`}}\n${rest}`), got);
        assert.doesNotMatch(got, /Set-Cookie|Connection: Upgrade/);
      }
      if (one.ends) await stage.send(AFTER);
      assert.deepEqual(stage.evidence, one.evidence);
      assert.deepEqual(endpoint.seen.map(({ connection }) => connection), one.isReused ? [1, 1] : [1, 2]);
      await until(() => stage.inFlight === 0);
    });
  }
});

Deno.test("after an answer without a body the endpoint's connection is used again, once it has rested", async () => {
  for (const one of CASES.filter(({ file }) => file.startsWith("41-"))) {
    await using endpoint = endpointFor(one);
    await using stage = await HttpStage.start([endpoint.address]);
    using conn = await stage.connect();
    await say(conn, one.request ?? GET);
    await readUntil(conn, (text) => text.endsWith("\r\n\r\n"));
    await new Promise((resolve) => setTimeout(resolve, 3 * REST_MS));
    await say(conn, AFTER);
    assert.match(await readUntil(conn, () => false), /^HTTP\/1\.1 200 OK\r\n/);
    assert.deepEqual(endpoint.seen.map(({ connection }) => connection), [1, 1], one.file);
  }
});

Deno.test("every answer case that came is tried", () => {
  const special = ["48-response-headers-12k", "51-upgrade-101-with-first-bytes"];
  const files = [...Deno.readDirSync(new URL("../cases/", import.meta.url))].map(({ name }) => name)
    .filter((name) => name.endsWith(".upstream.http")).map((name) => name.replace(".upstream.http", ""));
  assert.deepEqual(files.sort(), [...CASES.map(({ file }) => file), ...special].sort());
});

Deno.test("an answer with 12 KB of headers passes (48-response-headers-12k)", async () => {
  await using endpoint = new HttpEndpoint(caseText("48-response-headers-12k"));
  await using stage = await HttpStage.start([endpoint.address]);
  const got = await stage.send(GET, (answer) => answer.endsWith("ok"));
  assert.equal(got.replaceAll(ID, ""), caseText("48-response-headers-12k"));
});

for (const file of ["46-http10", "46-http10-keepalive"]) {
  Deno.test(`a client of HTTP/1.0 gets a chunked answer as plain bytes that the end delimits (${file})`, async () => {
    await using endpoint = new HttpEndpoint(caseText("46-chunked"));
    await using stage = await HttpStage.start([endpoint.address]);
    const request = stringOf(Deno.readFileSync(new URL(`../cases/${file}.client.http`, import.meta.url)));
    const got = (await stage.send(request)).replaceAll(ID, "");
    assert.equal(
      got,
      head("HTTP/1.1 200 OK", "Content-Type: text/plain", "Connection: close") + "good 1 done",
    );
    assert.match(endpoint.seen[0]!.head, /^GET \/stream HTTP\/1\.1\r\n/);
  });
}

Deno.test("a client of HTTP/1.0 that asks for it keeps its connection over an answer with a length", async () => {
  await using endpoint = new HttpEndpoint();
  await using stage = await HttpStage.start([endpoint.address]);
  const request = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  const got = (await stage.send(request + request.replace("keep-alive", "close"))).replaceAll(ID, "");
  const answer = (connection: string) =>
    head("HTTP/1.1 200 OK", "Content-Length: 2", `Connection: ${connection}`) + "ok";
  assert.equal(got, answer("keep-alive") + answer("close"));
});

Deno.test("a client of HTTP/1.0 gets no interim answers", async () => {
  await using endpoint = new HttpEndpoint(caseText("40-103-then-200"));
  await using stage = await HttpStage.start([endpoint.address]);
  const got = (await stage.send("GET / HTTP/1.0\r\n\r\n")).replaceAll(ID, "");
  assert.equal(
    got,
    head("HTTP/1.1 200 OK", "Content-Type: text/plain", "Content-Length: 5", "Connection: close") + "final",
  );
});

Deno.test("bytes that come with a 101 reach the client, and both directions are raw then (51)", async () => {
  await using endpoint = new HttpEndpoint(async (_request, conn, reader) => {
    await say(conn, caseText("51-upgrade-101-with-first-bytes"));
    while (!reader.rest.includes("end")) if (!await reader.more()) return false;
    await say(conn, `[${reader.rest}]`);
    return false;
  });
  await using stage = await HttpStage.start([endpoint.address]);
  using conn = await stage.connect();
  await say(conn, "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\nearly ");
  const first = await readUntil(conn, (text) => text.endsWith("hello-from-backend"));
  assert.equal(
    first.replaceAll(ID, ""),
    head("HTTP/1.1 101 Switching Protocols", "Upgrade: foo", "Connection: Upgrade") + "hello-from-backend",
  );
  assert.equal(stage.inFlight, 1, "an upgraded connection is in flight");
  await say(conn, "late end");
  assert.equal(await readUntil(conn, () => false), "[early late end]");
  await conn.closeWrite();
  await until(() => stage.inFlight === 0);
  assert.deepEqual(stage.evidence, ["answered×1"]);
});

Deno.test("half-close is passed on after an upgrade", async () => {
  await using endpoint = new HttpEndpoint(async (_request, conn, reader) => {
    await say(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n");
    while (await reader.more());
    await say(conn, `got ${reader.rest}`);
    return false;
  });
  await using stage = await HttpStage.start([endpoint.address]);
  using conn = await stage.connect();
  await say(conn, "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n");
  await readUntil(conn, (text) => text.endsWith("\r\n\r\n"));
  await say(conn, "all of it");
  await conn.closeWrite();
  assert.equal(await readUntil(conn, () => false), "got all of it");
});
