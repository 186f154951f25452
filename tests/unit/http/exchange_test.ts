// One exchange over memory: what both sides see does not depend on how bytes arrive, and each way in which a side can
// fail has its outcome.

import assert from "node:assert/strict";
import type { Outcome } from "../../../src/core/outcome.ts";
import { TimerWheel } from "../../../src/core/wheel.ts";
import { ClientSide } from "../../../src/http/client_side.ts";
import { ENDPOINT_WIRE } from "../../../src/http/download.ts";
import { Exchange } from "../../../src/http/exchange.ts";
import { Pool } from "../../../src/http/pool.ts";
import { createHttpTools, HTTP_LIMITS, type HttpTools } from "../../../src/http/tools.ts";
import { Wire } from "../../../src/http/wire.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";
import { bytesOf, CLIENT, stringOf } from "../../support/http_heads.ts";
import { type MemoryDuplex, memoryPair } from "../../support/memory_duplex.ts";

const READ_MS = 5000;

/** A client, an endpoint, and an exchange between them, as far as it has come. */
class Scene {
  readonly clock = new FakeClock();
  readonly wheel = new TimerWheel(0);
  readonly tools: HttpTools = createHttpTools({ wheel: this.wheel, clock: this.clock, random: () => 0 });
  readonly client: MemoryDuplex;
  readonly endpoint: MemoryDuplex;
  readonly exchange = new Exchange(this.tools);
  readonly side: ClientSide;
  readonly #endpointWire: Wire;
  outcome: Outcome | undefined;
  toClient = "";
  toEndpoint = "";

  constructor(options: { chunk?: number; capacity?: number } = {}) {
    const [clientNear, clientFar] = memoryPair(options);
    const [endpointNear, endpointFar] = memoryPair(options);
    this.client = clientFar;
    this.endpoint = endpointFar;
    this.side = new ClientSide(clientNear, this.tools);
    this.#endpointWire = new Wire(endpointNear, this.tools.pages, ENDPOINT_WIRE);
  }

  /** Reads one request and passes it on. Resolves when the exchange is over. */
  async run(uses = 1): Promise<void> {
    assert.equal(await this.side.next({ takeHead: () => this.exchange.request }), "request");
    assert.equal(this.exchange.begin(this.side), undefined);
    const connection = new Pool(this.tools).adopt(this.#endpointWire);
    connection.uses = uses;
    const rewrite = { client: CLIENT, host: undefined, endpointHost: bytesOf("e") };
    this.outcome = await this.exchange.attempt(connection, {
      rewrite,
      startedAt: this.clock.now(),
      readMs: READ_MS,
      setsAside: undefined,
    });
  }

  /** Notes all that the two peers get, to the end. */
  listen(): void {
    void this.#note(this.client, (text) => this.toClient += text);
    void this.#note(this.endpoint, (text) => this.toEndpoint += text);
  }

  async #note(duplex: MemoryDuplex, note: (text: string) => void): Promise<void> {
    const buffer = new Uint8Array(65536);
    for (;;) {
      const count = await duplex.read(buffer).catch(() => null);
      if (count === null) return;
      note(stringOf(buffer.subarray(0, count)));
    }
  }

  /** Moves time on, and the wheel with it. */
  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 100) {
      await this.clock.advance(100);
      this.wheel.advance(this.clock.now());
      await settled();
    }
  }

  /** Ends what is left. */
  async end(): Promise<void> {
    this.side.wire.close();
    await this.exchange.finished;
    this.exchange.end();
    this.side.release();
    this.#endpointWire.release();
    await settled();
  }
}

async function write(duplex: MemoryDuplex, text: string): Promise<void> {
  const bytes = bytesOf(text);
  for (let sent = 0; sent < bytes.length;) sent += await duplex.write(bytes.subarray(sent));
}

const REQUEST =
  "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX-Request-Id: r\r\nConnection: X-Y\r\nX-Y: 1\r\n\r\n" +
  "5;a=b\r\nhello\r\n0\r\nX-T: 1\r\nHost: evil\r\n\r\n";
const ANSWER = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nKeep-Alive: x\r\n\r\n3;q\r\nabc\r\n0\r\nX-U: 2\r\n\r\n";
const SENT = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX-Request-Id: r\r\n" +
  "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: a\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n";
const GIVEN = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Request-Id: r\r\n\r\n3\r\nabc\r\n0\r\nX-U: 2\r\n\r\n";

for (const chunk of [1, 2, 3, 7, Infinity]) {
  Deno.test(`an exchange read ${chunk} bytes at a time is the same on both sides`, async () => {
    const scene = new Scene({ chunk });
    scene.listen();
    await Promise.all([
      write(scene.client, REQUEST + "GET /next"),
      write(scene.endpoint, ANSWER),
      scene.run(),
    ]);
    for (let turn = 0; turn < 20; turn++) await settled();
    assert.equal(scene.outcome, "answered");
    assert.equal(scene.toEndpoint, SENT);
    assert.equal(scene.toClient, GIVEN);
    assert.deepEqual([scene.exchange.keepsClient, scene.exchange.keepsEndpoint], [true, true]);
    assert.deepEqual([scene.exchange.bytesUp, scene.exchange.bytesDown], [5, 3]);
    await scene.end();
  });
}

Deno.test("an exchange is the same whichever byte of either side comes late", async () => {
  for (let cut = 1; cut < Math.max(REQUEST.length, ANSWER.length); cut += 3) {
    const scene = new Scene();
    scene.listen();
    const [upAt, downAt] = [Math.min(cut, REQUEST.length - 1), Math.min(cut, ANSWER.length - 1)];
    await write(scene.client, REQUEST.slice(0, upAt));
    await write(scene.endpoint, ANSWER.slice(0, downAt));
    const running = scene.run();
    await settled();
    await write(scene.endpoint, ANSWER.slice(downAt));
    await settled();
    await write(scene.client, REQUEST.slice(upAt));
    await running;
    await settled();
    assert.deepEqual(
      [scene.outcome, scene.toEndpoint, scene.toClient],
      ["answered", SENT, GIVEN],
      `cut at ${cut}`,
    );
    await scene.end();
  }
});

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const HALF = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";

/** Runs a scene up to the point where the endpoint has said `answer`, then lets `then` happen. */
async function outcomeOf(
  answer: string,
  then: (scene: Scene) => void | Promise<void>,
  options: { request?: string; uses?: number } = {},
): Promise<Scene> {
  const scene = new Scene();
  await write(scene.client, options.request ?? GET);
  const running = scene.run(options.uses);
  await settled();
  await write(scene.endpoint, answer);
  await settled();
  await then(scene);
  await running;
  await settled();
  scene.listen();
  await settled();
  await scene.end();
  return scene;
}

Deno.test("how an endpoint fails is told apart", async () => {
  const reset = (scene: Scene) => scene.endpoint.reset();
  const ends = (scene: Scene) => scene.endpoint.close();
  const cases: [Outcome, string, (scene: Scene) => void | Promise<void>, number][] = [
    ["no_answer", "", ends, 1],
    ["no_answer", "", reset, 1],
    ["stale_connection", "", ends, 2],
    ["stale_connection", "", reset, 2],
    ["answer_cut", "HTTP/1.1 2", ends, 2],
    ["answer_cut", "HTTP/1.1 100 Continue\r\n\r\n", ends, 2],
    ["answer_cut", HALF, ends, 1],
    ["answer_cut", HALF, reset, 1],
    ["answer_malformed", "HTTP/2", () => {}, 1],
    // The late rest of an answer before, in one piece or after a part that looks well.
    ["stale_connection", "<p>", () => {}, 2],
    ["stale_connection", "HTTP/1", async (scene) => void await scene.endpoint.write(bytesOf("<p>")), 2],
    ["answer_malformed", "HTTP/1.1 200 OK\r\nbad\r\n\r\n", () => {}, 2],
    ["answer_malformed", "HTTP/1.1 103 X\r\n\r\n<p>", () => {}, 2],
    ["answered", "HTTP/1.1 200 OK\r\n\r\nall", ends, 1],
    ["answer_cut", "HTTP/1.1 200 OK\r\n\r\nall", reset, 1],
  ];
  for (const [outcome, answer, then, uses] of cases) {
    const scene = await outcomeOf(answer, then, { uses });
    assert.equal(scene.outcome, outcome, `${JSON.stringify(answer)} on use ${uses}`);
    assert.equal(scene.exchange.keepsEndpoint, false);
  }
});

Deno.test("the rest of another answer is a malformed one to a request that may not be sent twice", async () => {
  for (
    const request of [
      "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
      "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
    ]
  ) {
    const scene = await outcomeOf("<p>", () => {}, { uses: 2, request });
    assert.equal(scene.outcome, "answer_malformed");
  }
});

Deno.test("a reset in the middle of an answer that the end delimits leaves out the last chunk", async () => {
  const whole = await outcomeOf("HTTP/1.1 200 OK\r\n\r\nall", (scene) => scene.endpoint.close());
  assert.ok(whole.toClient.endsWith("\r\n\r\n3\r\nall\r\n0\r\n\r\n"));
  const cut = await outcomeOf("HTTP/1.1 200 OK\r\n\r\nall", (scene) => scene.endpoint.reset());
  assert.ok(cut.toClient.endsWith("\r\n\r\n3\r\nall\r\n"));
  assert.equal(cut.exchange.keepsClient, false);
});

Deno.test("how a client fails is told apart, and never the endpoint's doing", async () => {
  const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf";
  const chunks = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const cases: [Outcome, string, (scene: Scene) => void | Promise<void>][] = [
    ["client_reset", GET, (scene) => scene.client.reset()],
    ["client_aborted", GET, async (scene) => {
      scene.client.close();
      await scene.pass(HTTP_LIMITS.halfClosedMs + 400);
    }],
    ["client_reset", post, (scene) => scene.client.reset()],
    ["client_aborted", post, (scene) => scene.client.close()],
    ["client_slow", post, (scene) => scene.pass(HTTP_LIMITS.bodyMs + 400)],
    ["client_garbage", chunks, (scene) => write(scene.client, "x")],
  ];
  for (const [outcome, request, then] of cases) {
    const scene = await outcomeOf("", then, { request });
    assert.equal(scene.outcome, outcome);
    assert.deepEqual([scene.exchange.keepsClient, scene.exchange.keepsEndpoint], [false, false]);
  }
});

Deno.test("an endpoint that says nothing in its time is cut off", async () => {
  const scene = await outcomeOf("", (scene) => scene.pass(READ_MS + 400));
  assert.equal(scene.outcome, "answer_timeout");
});

Deno.test("once its answer has begun, an endpoint may pause as long as any answer, though the upload goes on", async () => {
  assert.ok(READ_MS < HTTP_LIMITS.bodyMs);
  const scene = new Scene();
  scene.listen();
  await write(scene.client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nhalf");
  const running = scene.run();
  await settled();
  await write(scene.endpoint, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf");
  await settled();
  await write(scene.client, "more");
  await scene.pass(READ_MS + 1000);
  assert.equal(scene.outcome, undefined);
  await write(scene.endpoint, "more");
  await running;
  assert.equal(scene.outcome, "answered");
  assert.ok(scene.toClient.endsWith("halfmore"));
  await scene.end();
});

Deno.test("a client that will not stay gets its 504 as soon as others", async () => {
  const times: number[] = [];
  for (const request of [GET, GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")]) {
    const scene = new Scene();
    scene.listen();
    await write(scene.client, request);
    void scene.run();
    await settled();
    while (scene.outcome === undefined) await scene.pass(100);
    assert.equal(scene.outcome, "answer_timeout");
    times.push(scene.clock.now());
    await scene.end();
  }
  assert.ok(times.every((time) => time >= READ_MS && time <= READ_MS + 200), `${times}`);
});

Deno.test("a write that fails does not hide an answer that is there", async () => {
  const scene = new Scene();
  scene.listen();
  await write(scene.client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf");
  const running = scene.run();
  await settled();
  await write(scene.endpoint, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
  scene.endpoint.outgoing.end();
  scene.endpoint.incoming.fail(Object.assign(new Error("Broken pipe"), { code: "EPIPE" }));
  await write(scene.client, "more");
  await running;
  await settled();
  assert.equal(scene.outcome, "answered");
  assert.ok(scene.toClient.endsWith("\r\n\r\nno"), scene.toClient);
  assert.deepEqual([scene.exchange.keepsClient, scene.exchange.keepsEndpoint], [false, false]);
  await scene.end();
});

Deno.test("a stop from outside ends an exchange at any point, with its own reason", async () => {
  for (const answer of ["", "HTTP/1.1 200", HALF]) {
    const scene = await outcomeOf(answer, (scene) => scene.exchange.stop("drained"));
    assert.equal(scene.outcome, "drained");
  }
});

Deno.test("a client that does not read stops the endpoint's side, and is let go in the end", async () => {
  const scene = new Scene({ capacity: 1000 });
  await write(scene.client, GET);
  const running = scene.run();
  let taken = 0;
  void (async () => {
    const bytes = bytesOf("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + "x".repeat(1_000_000));
    while (taken < bytes.length) taken += await scene.endpoint.write(bytes.subarray(taken));
  })().catch(() => {}); // cut off in the end
  await settled();
  await settled();
  assert.ok(taken < 100_000, `${taken} bytes were taken`);
  await scene.pass(HTTP_LIMITS.bodyMs + 400);
  await running;
  assert.equal(scene.outcome, "client_slow");
  await scene.end();
});

Deno.test("no page is lost or given twice, however an exchange ends", async () => {
  for (const end of ["answered", "cut", "reset", "stopped"]) {
    const scene = await outcomeOf(end === "answered" ? "HTTP/1.1 204 X\r\n\r\n" : HALF, (scene) => {
      if (end === "cut") scene.endpoint.close();
      else if (end === "reset") scene.client.reset();
      else if (end === "stopped") scene.exchange.stop("drained");
      return end === "reset" ? write(scene.endpoint, "more12").catch(() => {}) : undefined;
    });
    const pages = new Set(Array.from({ length: 20 }, () => scene.tools.pages.take(1)));
    assert.equal(pages.size, 20, end);
  }
});
