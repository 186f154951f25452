// nginx as an endpoint: files with ranges and validators, sendfile, gzip, uploads that it stores or refuses early, and
// connections that it closes when it likes.

import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { HttpClient } from "../support/http_client.ts";
import { CutShort, valueIn } from "../support/http_reader.ts";
import { HttpStage } from "../support/http_stage.ts";
import { hasNginx, Nginx, type NginxOptions } from "../support/nginx.ts";
import { hashOf, patterned } from "../support/patterned.ts";
import { textOfProgram } from "../support/program.ts";
import { until } from "../support/until.ts";

const ignore = !hasNginx();
const MIB = 1 << 20;
const LARGE = patterned(48 * MIB);
const TEXT = patterned(200_000).map((byte) => 97 + byte % 7);
const SERVER = `
  root FOLDER/www;
  location = /nothing { return 204; }
  location /zipped { alias FOLDER/www; gzip on; gzip_types *; gzip_min_length 1; }
  location /up/ { create_full_put_path on; dav_methods PUT; client_max_body_size 64m; client_body_temp_path FOLDER/www/temp; }
  location /small/ { dav_methods PUT; client_max_body_size 1m; }
`;

/** A test of hale before an nginx with the files above. */
function nginxTest(
  name: string,
  run: (stage: HttpStage, nginx: Nginx) => Promise<void>,
  options: Partial<NginxOptions> = {},
): void {
  Deno.test({
    name: `nginx: ${name}`,
    ignore,
    fn: async () => {
      const files = { "large.bin": LARGE, "text.txt": TEXT };
      await using nginx = await Nginx.start({ server: SERVER, files, ...options });
      await using stage = await HttpStage.start([nginx.address]);
      await run(stage, nginx);
      await until(() => stage.inFlight === 0);
    },
  });
}

nginxTest("ranges, validators, HEAD and 204 go through, all on one connection", async (stage) => {
  using client = await HttpClient.connect(stage.port);
  const whole = await client.ask("GET", "/text.txt");
  assert.equal(hashOf(whole.body), hashOf(TEXT));
  const part = await client.ask("GET", "/text.txt", "Range: bytes=1000-4999");
  assert.equal(part.status, 206);
  assert.equal(valueIn(part.head, "content-range"), "bytes 1000-4999/200000");
  assert.deepEqual(part.body, TEXT.slice(1000, 5000));
  const tail = await client.ask("GET", "/text.txt", "Range: bytes=-3");
  assert.deepEqual(tail.body, TEXT.slice(-3));
  const two = await client.ask("GET", "/text.txt", "Range: bytes=0-9,199990-199999");
  assert.match(valueIn(two.head, "content-type")!, /^multipart\/byteranges; boundary=/);
  assert.equal((new TextDecoder().decode(two.body).match(/Content-Range/g) ?? []).length, 2);
  assert.equal((await client.ask("GET", "/text.txt", "Range: bytes=200000-")).status, 416);
  const head = await client.ask("HEAD", "/text.txt");
  assert.equal(valueIn(head.head, "content-length"), "200000");
  const etag = valueIn(whole.head, "etag")!;
  assert.equal((await client.ask("GET", "/text.txt", `If-None-Match: ${etag}`)).status, 304);
  const since = valueIn(whole.head, "last-modified")!;
  assert.equal((await client.ask("GET", "/text.txt", `If-Modified-Since: ${since}`)).status, 304);
  assert.equal((await client.ask("GET", "/text.txt", `If-Range: "other"`, "Range: bytes=0-9")).status, 200);
  for (const method of ["GET", "HEAD", "POST"]) {
    assert.equal((await client.ask(method, "/nothing", "Content-Length: 0")).status, 204, method);
  }
  assert.equal((await client.ask("GET", "/missing")).status, 404);
  assert.equal(hashOf((await client.ask("GET", "/text.txt")).body), hashOf(TEXT));
  assert.deepEqual(stage.evidence, ["answered×14"]);
});

nginxTest(
  "a large file by sendfile arrives whole, to several clients at once and to HTTP/1.0",
  async (stage) => {
    const hash = hashOf(LARGE);
    const get = async (version: string) => {
      using client = await HttpClient.connect(stage.port);
      await client.send(`GET /large.bin HTTP/${version}\r\nHost: a\r\n\r\n`);
      assert.equal(hashOf((await client.answer()).body), hash, version);
    };
    await Promise.all([get("1.1"), get("1.1"), get("1.0")]);
  },
);

nginxTest(
  "gzip comes in chunks to HTTP/1.1 and up to the end of the connection to HTTP/1.0",
  async (stage) => {
    using client = await HttpClient.connect(stage.port);
    const accepts = "Accept-Encoding: gzip";
    for (let turn = 0; turn < 3; turn++) {
      const answer = await client.ask("GET", "/zipped/text.txt", accepts);
      assert.equal(valueIn(answer.head, "content-encoding"), "gzip");
      assert.equal(valueIn(answer.head, "transfer-encoding"), "chunked");
      assert.equal(hashOf(gunzipSync(answer.body)), hashOf(TEXT));
    }
    using old = await HttpClient.connect(stage.port);
    await old.send(`GET /zipped/text.txt HTTP/1.0\r\n${accepts}\r\n\r\n`);
    const answer = await old.answer();
    assert.equal(valueIn(answer.head, "transfer-encoding"), undefined);
    assert.equal(hashOf(gunzipSync(answer.body)), hashOf(TEXT));
  },
);

nginxTest(
  "an upload waits for 100 Continue, and is stored whole, with a length and in chunks",
  async (stage, nginx) => {
    const body = LARGE.subarray(0, 8 * MIB);
    for (const isChunked of [false, true]) {
      using client = await HttpClient.connect(stage.port);
      const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
      const target = `/up/${isChunked}.bin`;
      await client.send(`PUT ${target} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${framing}\r\n\r\n`);
      const leave = new Uint8Array(100);
      const count = await client.conn.read(leave);
      assert.match(new TextDecoder().decode(leave.subarray(0, count!)), /^HTTP\/1\.1 100 Continue\r\n/);
      if (isChunked) await client.send(`${body.length.toString(16)}\r\n`, body, "\r\n0\r\n\r\n");
      else await client.send(body);
      assert.equal((await client.answer("PUT")).status, 201);
      assert.equal(hashOf(Deno.readFileSync(`${nginx.folder}/www${target}`)), hashOf(body));
      assert.equal(hashOf((await client.ask("GET", target)).body), hashOf(body), "on the same connection");
    }
  },
);

/** Sends a whole upload as fast as it is taken, and only then reads. Undefined: the answer was lost. */
async function upload(port: number, framing: string, body: Uint8Array): Promise<number | undefined> {
  using client = await HttpClient.connect(port);
  await client.send(`PUT /small/file HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`);
  const isChunked = framing.startsWith("Transfer");
  const sending = isChunked
    ? client.send(`${body.length.toString(16)}\r\n`, body, "\r\n0\r\n\r\n")
    : client.send(body);
  await sending.catch(() => {}); // It need not take all of it.
  try {
    return (await client.answer("PUT")).status;
  } catch (error) {
    if (error instanceof CutShort) return undefined;
    throw error;
  }
}

nginxTest("413 for a large upload reaches a client that goes on sending", async (stage) => {
  for (let turn = 0; turn < 4; turn++) {
    for (const framing of [`Content-Length: ${LARGE.length}`, "Transfer-Encoding: chunked"]) {
      assert.equal(await upload(stage.port, framing, LARGE), 413, `turn ${turn}, ${framing}`);
    }
  }
});

nginxTest(
  "connections closed after three requests each cost no request, whatever its method",
  async (stage) => {
    const ask = async (turn: number) => {
      using client = await HttpClient.connect(stage.port);
      for (let at = 0; at < 50; at++) {
        const method = ["GET", "HEAD", "PUT"][(at + turn) % 3]!;
        const target = method === "PUT" ? `/put/${turn}-${at}` : "/text.txt";
        await client.send(`${method} ${target} HTTP/1.1\r\nHost: a\r\n`);
        await client.send(method === "PUT" ? "Content-Length: 5\r\n\r\nhello" : "\r\n");
        const { status, body } = await client.answer(method);
        assert.equal(status, method === "PUT" ? 201 : 200, `${method} ${at}`);
        if (method === "GET") assert.equal(hashOf(body), hashOf(TEXT));
      }
    };
    await Promise.all(Array.from({ length: 6 }, (_, turn) => ask(turn)));
    assert.deepEqual(stage.evidence.filter((each) => !each.startsWith("answered")), []);
  },
  { server: `${SERVER} keepalive_requests 3; location /put/ { dav_methods PUT; create_full_put_path on; }` },
);

nginxTest("idle connections that time out under the pool cost no GET", async (stage) => {
  const ask = async (turn: number) => {
    using client = await HttpClient.connect(stage.port);
    for (let at = 0; at < 60; at++) {
      assert.equal((await client.ask("GET", "/nothing")).status, 204);
      // About the time after which nginx closes: the end and the next request cross now and then.
      await new Promise((resolve) => setTimeout(resolve, 15 + (at * 7 + turn * 3) % 11));
    }
  };
  await Promise.all(Array.from({ length: 6 }, (_, turn) => ask(turn)));
  assert.deepEqual(stage.evidence.filter((each) => !/^(answered|stale_connection)×/.test(each)), []);
}, { server: `${SERVER} keepalive_timeout 20ms;` });

nginxTest("its reloads under load cost no GET", async (stage, nginx) => {
  let answered = 0;
  let isOver = false;
  const ask = async () => {
    using client = await HttpClient.connect(stage.port);
    for (; !isOver; answered++) assert.equal((await client.ask("GET", "/text.txt")).status, 200);
  };
  const asking = Promise.all(Array.from({ length: 4 }, ask));
  for (let turn = 0; turn < 5; turn++) {
    const enough = answered + 50;
    nginx.reload();
    await until(() => answered > enough);
  }
  isOver = true;
  await asking;
}, { hasMaster: true });

nginxTest("curl in parallel and wrk get nothing but good answers", async (stage) => {
  const url = `http://127.0.0.1:${stage.port}/text.txt?[1-200]`;
  const format = ["-o", "/dev/null", "-w", "%{http_code} %{size_download} %{exitcode}\\n"];
  const told = await textOfProgram("curl", ["-s", "--parallel", "--parallel-max", "30", ...format, url]);
  if (told !== undefined) assert.equal(told, "200 200000 0\n".repeat(200));
  const report = await textOfProgram("wrk", ["-t1", "-c32", "-d1s", url]);
  if (report !== undefined) {
    assert.match(report, /\n +[1-9]\d* requests in /);
    assert.doesNotMatch(report, /Socket errors|Non-2xx/);
  }
});
