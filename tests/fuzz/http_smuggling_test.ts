// Random requests and answers, whole and wounded, through the data plane over real sockets. Toward a node server, whose
// parser is not ours: it must see just the requests that we meant, and must never find fault with one. Toward clients:
// whatever an endpoint says, the next request on a connection gets its own answer.

import assert from "node:assert/strict";
import { HttpEndpoint, OK, say } from "../support/http_endpoint.ts";
import {
  FUZZ_FACTOR,
  fuzzSeed,
  pieces,
  randomAnswer,
  randomRequest,
  seeded,
  wounded,
} from "../support/http_mutations.ts";
import { HttpStage, readUntil } from "../support/http_stage.ts";
import { until } from "../support/until.ts";

const RUNS = 400 * FUZZ_FACTOR;

const NODE_SERVER = `
  const http = require("http");
  const server = http.createServer({ insecureHTTPParser: false, requireHostHeader: true }, (request, response) => {
    let size = 0;
    request.on("data", (chunk) => size += chunk.length);
    request.on("end", () => {
      console.log("saw " + request.headers["x-request-id"] + " " + request.url + " " + size);
      response.end("ok");
    });
  });
  server.on("upgrade", (request, socket) => { console.log("saw " + request.headers["x-request-id"] + " " + request.url + " 0");
    socket.end("HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 2\\r\\n\\r\\nok"); });
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("clientError", (error, socket) => {
    const raw = error.rawPacket === undefined ? "" : error.rawPacket.toString("latin1");
    const id = /\\nX-Request-Id: ([^\\r]*)/i.exec(raw);
    if (error.code !== "ECONNRESET" && error.code !== "HPE_INVALID_EOF_STATE") {
      console.log("fault " + error.code + " " + (id && id[1]) + " " + JSON.stringify(raw.split("\\r\\n")[0]));
    }
    socket.destroy();
  });
  server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));
  process.stdin.on("end", () => process.exit(0)).resume();`;

/** A node server as an endpoint; undefined: this machine has no node. */
async function startNode() {
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command("node", { args: ["-e", NODE_SERVER], stdin: "piped", stdout: "piped" }).spawn();
  } catch {
    return undefined;
  }
  const lines: string[] = [];
  const reading = (async () => {
    let rest = "";
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      rest += part;
      const whole = rest.split("\n");
      rest = whole.pop()!;
      lines.push(...whole);
    }
  })();
  await until(() => lines.length > 0);
  const stop = async () => {
    await child.stdin.close();
    await reading;
    await child.status;
  };
  return { port: Number(lines.shift()!.split(" ")[1]), lines, stop };
}

Deno.test("a strict parser that is not ours sees just the requests that were meant, and faults none", async () => {
  const node = await startNode();
  if (node === undefined) return console.log("no node here");
  const random = seeded(fuzzSeed());
  const limits = { headMs: 300, bodyMs: 300, keepMs: 300, lingerMs: 100 };
  const stage = await HttpStage.start([`127.0.0.1:${node.port}`], { limits });
  for (let run = 0; run < RUNS; run++) {
    const text = wounded(random, randomRequest(random)) +
      "GET /marker HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    using conn = await stage.connect();
    for (const piece of random() < 0.3 ? pieces(random, text) : [text]) {
      await say(conn, piece).catch(() => {});
    }
    await readUntil(conn, () => false);
  }
  await until(() => stage.inFlight === 0);
  await stage[Symbol.asyncDispose]();
  await node.stop();
  const known = new Set(stage.records.map(({ http }) => http!.requestId));
  const faults = node.lines.filter((line) => line.startsWith("fault"));
  // It knows fewer methods, and wants bytes above 0x7f escaped: a matter of taste, as long as it fell upon them at the
  // beginning of a request that was meant as one.
  for (const fault of faults) {
    const [, code, id] = fault.split(" ");
    assert.match(fault, /^fault HPE_INVALID_(METHOD|URL) \S+ "[^ ]+ [^ ]+ HTTP\/1\.1"$/);
    assert.ok(known.has(id!), `${code} in a request that nobody sent`);
  }
  // Each request that the server saw is one that hale took for a request, with the id that hale knows it by.
  const seen = node.lines.filter((line) => line.startsWith("saw")).map((line) => line.split(" ")[1]!);
  for (const id of seen) assert.ok(known.has(id), `${id} was never a request of its own`);
  const own = seen.filter((id) => id !== "abc");
  assert.equal(new Set(own).size, own.length, "no request was seen twice");
  assert.ok(own.length > RUNS / 3);
});

Deno.test("whatever an endpoint answers, the next request gets an answer of its own", async () => {
  const random = seeded(fuzzSeed());
  let answer = OK;
  let late = 0;
  await using endpoint = new HttpEndpoint(async ({ head }, conn) => {
    if (head.includes("/marker")) {
      return await say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nmarker");
    }
    for (const piece of random() < 0.3 ? pieces(random, answer) : [answer]) await say(conn, piece);
    return random() < 0.7;
  });
  await using stage = await HttpStage.start([endpoint.address], {
    limits: { bodyMs: 150, lingerMs: 50 },
    upstream: { timeouts: { connectMs: 1000, readMs: 150, happyEyeballsMs: 250 } },
  });
  for (let run = 0; run < RUNS / 2; run++) {
    answer = wounded(random, randomAnswer(random));
    const method = random() < 0.2 ? "HEAD" : "GET";
    await stage.send(`${method} /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const after = await stage.send("GET /marker HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    // What an endpoint adds to a whole answer only after its connection was taken for the next request can not be told
    // from an answer to that: it is no answer, and is answered for. It never reaches a client as one.
    if (after.startsWith("HTTP/1.1 502 ")) late++;
    else assert.match(after, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nmarker$/, JSON.stringify(answer));
  }
  assert.ok(late <= RUNS / 20, `${late} of ${RUNS / 2} next requests failed`);
  await until(() => stage.inFlight === 0);
});
