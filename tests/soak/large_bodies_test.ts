// One gibibyte down and one up through the process, by length and in chunks: every byte in its place, and hale's memory
// does not grow with what it carries. HALE_BIN names a binary. Takes some seconds each.

import assert from "node:assert/strict";
import { receiveBody, sendBody } from "../support/endless_body.ts";
import { startHale } from "../support/hale_process.ts";
import { bytesOf } from "../support/http_heads.ts";
import { freePort } from "../support/ports.ts";
import { TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";

const GIB = 1 << 30;
const WARM_UP = 64 << 20;
/** Most that hale may grow by while it carries a gibibyte, MiB. */
const MOST_GROWTH = 40;

interface Transfer {
  readonly isUp: boolean;
  readonly isChunked: boolean;
  readonly size: number;
}

const framingOf = ({ isChunked, size }: Transfer): string =>
  isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${size}`;

/** Answers a POST with the size of what came, a GET with a body as the target wants it. */
async function serve(conn: Deno.TcpConn): Promise<void> {
  const { head, size } = await receiveBody(conn);
  const wanted = /^GET \/(\d+)(-chunked)? /.exec(head);
  if (wanted === null) {
    const text = String(size);
    return await writeBytes(
      conn,
      bytesOf(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`),
    );
  }
  const transfer = { isUp: false, isChunked: wanted[2] !== undefined, size: Number(wanted[1]) };
  await writeBytes(conn, bytesOf(`HTTP/1.1 200 OK\r\n${framingOf(transfer)}\r\n\r\n`));
  await sendBody(conn, transfer.size, transfer.isChunked);
}

async function carry(port: number, transfer: Transfer): Promise<void> {
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  if (!transfer.isUp) {
    const target = `/${transfer.size}${transfer.isChunked ? "-chunked" : ""}`;
    await writeBytes(conn, bytesOf(`GET ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`));
    const { head, size } = await receiveBody(conn);
    assert.match(head, /^HTTP\/1\.1 200 /);
    return assert.equal(size, transfer.size);
  }
  await writeBytes(conn, bytesOf(`POST / HTTP/1.1\r\nHost: a\r\n${framingOf(transfer)}\r\n\r\n`));
  await sendBody(conn, transfer.size, transfer.isChunked);
  const buffer = new Uint8Array(4096);
  const answer = new TextDecoder().decode(buffer.subarray(0, await conn.read(buffer) ?? 0));
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.ok(answer.endsWith(`\r\n\r\n${transfer.size}`), answer);
}

function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1]) / 1024;
}

for (const isUp of [false, true]) {
  for (const isChunked of [false, true]) {
    const name = `1 GiB ${isUp ? "up" : "down"} ${isChunked ? "in chunks" : "by length"} leaves memory flat`;
    const fn = async () => {
      await using endpoint = new TcpEndpoint(serve);
      const port = freePort();
      await using running = await startHale(`
workers: 1
listeners: [{ name: web, address: "127.0.0.1:${port}", protocol: http, upstream: app }]
upstreams: [{ name: app, protocol: http1, endpoints: ["${endpoint.address}"] }]
`);
      const { pid } = running.hale;
      await carry(port, { isUp, isChunked, size: WARM_UP });
      const before = residentMiB(pid);
      let most = before;
      const looking = setInterval(() => most = Math.max(most, residentMiB(pid)), 20);
      const beganAt = performance.now();
      try {
        await carry(port, { isUp, isChunked, size: GIB });
      } finally {
        clearInterval(looking);
      }
      const rate = 1024 / (performance.now() - beganAt) * 1000;
      console.log(`${before.toFixed(0)} MiB before, at most ${most.toFixed(0)}; ${rate.toFixed(0)} MiB/s`);
      assert.ok(most - before <= MOST_GROWTH, `${before} MiB before, ${most} at most`);
      assert.equal(await running.hale.stop(), 0);
    };
    Deno.test({ name, ignore: Deno.build.os !== "linux", fn });
  }
}
