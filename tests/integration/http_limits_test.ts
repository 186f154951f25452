// Slow, silent and endless peers: time limits hold, and memory stays bounded.

import assert from "node:assert/strict";
import { HttpEndpoint, say } from "../support/http_endpoint.ts";
import { bytesOf } from "../support/http_heads.ts";
import { HttpStage, readUntil } from "../support/http_stage.ts";
import { TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";
import { until } from "../support/until.ts";

const LAST = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends a text one byte every `ms`, as long as the peer takes it; gives what came back and how long it all took. */
async function drip(stage: HttpStage, text: string, ms: number): Promise<{ answer: string; tookMs: number }> {
  using conn = await stage.connect();
  const startedAt = performance.now();
  let isOver = false;
  const reading = readUntil(conn, () => false).finally(() => isOver = true);
  for (let at = 0; at < text.length && !isOver; at++) {
    await writeBytes(conn, bytesOf(text[at]!)).catch(() => {});
    await pause(ms);
  }
  return { answer: await reading, tookMs: performance.now() - startedAt };
}

Deno.test("a head that comes too slowly is answered 408 within its whole time, and dials nobody", async () => {
  await using endpoint = new HttpEndpoint();
  await using stage = await HttpStage.start([endpoint.address], { limits: { headMs: 500 } });
  const slow = Array.from({ length: 50 }, () => drip(stage, LAST, 100));
  assert.match(await stage.send(LAST), /^HTTP\/1\.1 200 OK/, "others are served meanwhile");
  for (const { answer, tookMs } of await Promise.all(slow)) {
    assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n[^]*"code":"request_timeout"/);
    assert.ok(tookMs >= 450 && tookMs < 5000, `${tookMs} ms`);
  }
  assert.equal(endpoint.seen.length, 1);
  assert.equal(stage.notCharged("client_slow"), 50);
});

Deno.test("a second head on a kept connection has its time from its first byte on", async () => {
  await using endpoint = new HttpEndpoint();
  await using stage = await HttpStage.start([endpoint.address], { limits: { headMs: 400, keepMs: 5000 } });
  using conn = await stage.connect();
  await say(conn, LAST.replace("close", "keep-alive"));
  await readUntil(conn, (text) => text.endsWith("ok"));
  await pause(700);
  await say(conn, "GET / HT");
  assert.match(await readUntil(conn, () => false), /^HTTP\/1\.1 408 /);
});

Deno.test("a body that falls silent is answered 408; one that goes on slowly is not", async () => {
  await using endpoint = new HttpEndpoint();
  await using stage = await HttpStage.start([endpoint.address], { limits: { bodyMs: 400, lingerMs: 300 } });
  const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\n";
  assert.match(await stage.send(`${head}he`), /^HTTP\/1\.1 408 /);
  using conn = await stage.connect();
  await say(conn, head);
  for (const letter of "hello") {
    await pause(150);
    await say(conn, letter);
  }
  assert.match(await readUntil(conn, () => false), /^HTTP\/1\.1 200 OK/);
  assert.deepEqual(stage.evidence, ["answered×1"]);
  assert.equal(stage.notCharged("client_slow"), 1);
  await until(() => stage.inFlight === 0);
});

Deno.test("an answer that falls silent in its body is cut, and charged", async () => {
  await using endpoint = new HttpEndpoint(async (_request, conn, reader) => {
    await say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    await reader.more();
    return false;
  });
  await using stage = await HttpStage.start([endpoint.address], {
    limits: { bodyMs: 300 },
    upstream: { timeouts: { connectMs: 1000, readMs: 300, happyEyeballsMs: 250 } },
  });
  assert.ok((await stage.send(LAST)).endsWith("half"));
  assert.deepEqual(stage.evidence, ["answer_cut×1"]);
});

Deno.test("an answer whose pieces are further apart than read_ms goes on", async () => {
  await using endpoint = new HttpEndpoint(async (_request, conn) => {
    await say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    for (const letter of "abc") {
      await pause(500);
      await say(conn, letter);
    }
  });
  await using stage = await HttpStage.start([endpoint.address], {
    upstream: { timeouts: { connectMs: 1000, readMs: 200, happyEyeballsMs: 250 } },
  });
  assert.ok((await stage.send(LAST)).endsWith("abc"));
});

Deno.test("a client that does not read is let go in the end, at nobody's cost", async () => {
  await using endpoint = new HttpEndpoint(async (_request, conn) => {
    await say(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
    for (let part = 0; part < 1000; part++) await writeBytes(conn, new Uint8Array(100_000));
  });
  await using stage = await HttpStage.start([endpoint.address], { limits: { bodyMs: 500 } });
  using conn = await stage.connect();
  await say(conn, LAST);
  await until(() => stage.notCharged("client_slow") === 1);
  await until(() => stage.inFlight === 0 && stage.plane.sessionCount === 0);
  assert.deepEqual(stage.evidence, []);
});

const BIG = 300_000_000;

/** Runs ten transfers in which one side never reads; gives by how much resident memory grew. */
async function growth(begin: () => Promise<void>, isStalled: () => boolean): Promise<number> {
  const before = Deno.memoryUsage().rss;
  await Promise.all(Array.from({ length: 10 }, begin));
  await until(isStalled);
  await pause(500);
  return Deno.memoryUsage().rss - before;
}

Deno.test("answers to clients that do not read are not piled up", async () => {
  let written = 0;
  const block = new Uint8Array(1_000_000);
  await using endpoint = new TcpEndpoint(async (conn) => {
    await conn.read(new Uint8Array(1000));
    await say(conn, `HTTP/1.1 200 OK\r\nContent-Length: ${BIG}\r\n\r\n`);
    for (let sent = 0; sent < BIG; sent += block.length) {
      await writeBytes(conn, block);
      written += block.length;
    }
  });
  await using stage = await HttpStage.start([endpoint.address]);
  const conns: Deno.TcpConn[] = [];
  let seen = -1;
  const grown = await growth(async () => {
    const conn = await stage.connect();
    conns.push(conn);
    await say(conn, LAST);
  }, () => {
    const isStill = seen === written && written > 0;
    seen = written;
    return isStill;
  });
  assert.ok(grown < 64_000_000, `${grown} bytes more`);
  assert.ok(written < 10 * BIG / 3, "the endpoint is held up");
  conns.forEach((conn) => conn.close());
});

Deno.test("uploads to an endpoint that does not read are not piled up", async () => {
  await using endpoint = new TcpEndpoint(async (conn) => {
    await conn.read(new Uint8Array(100));
    await pause(1_500);
  });
  await using stage = await HttpStage.start([endpoint.address]);
  const conns: Deno.TcpConn[] = [];
  let written = 0;
  let seen = -1;
  const block = new Uint8Array(1_000_000);
  const sends: Promise<void>[] = [];
  const grown = await growth(async () => {
    const conn = await stage.connect();
    conns.push(conn);
    await say(conn, `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${BIG}\r\n\r\n`);
    sends.push(
      (async () => {
        for (let sent = 0; sent < BIG; sent += block.length) {
          await writeBytes(conn, block);
          written += block.length;
        }
      })().catch(() => {}),
    );
  }, () => {
    const isStill = seen === written && written > 0;
    seen = written;
    return isStill;
  });
  assert.ok(grown < 64_000_000, `${grown} bytes more`);
  assert.ok(written < 10 * BIG / 3, "the client is held up");
  conns.forEach((conn) => conn.close());
  await Promise.all(sends);
});

Deno.test("a slow reader gets every byte in order once it reads on", async () => {
  const size = 20_000_000;
  const pattern = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251);
  await using endpoint = new TcpEndpoint(async (conn) => {
    await conn.read(new Uint8Array(1000));
    await say(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (let sent = 0; sent < size; sent += pattern.length) {
      await say(conn, `${pattern.length.toString(16)};x=1\r\n`);
      await writeBytes(conn, pattern);
      await say(conn, "\r\n");
    }
    await say(conn, "0\r\n\r\n");
  });
  await using stage = await HttpStage.start([endpoint.address]);
  using conn = await stage.connect();
  await say(conn, LAST.replace("1.1", "1.0"));
  await pause(300);
  const buffer = new Uint8Array(65536);
  let text = "";
  let got = 0;
  for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
    let at = 0;
    if (got === 0) {
      for (; at < count && !text.endsWith("\r\n\r\n"); at++) text += String.fromCharCode(buffer[at]!);
    }
    for (; at < count; at++, got++) {
      if (buffer[at] !== (got % pattern.length) % 251) assert.fail(`Byte ${got} is wrong`);
    }
  }
  assert.equal(got, size);
});
