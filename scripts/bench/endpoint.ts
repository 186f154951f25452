// The endpoint behind every proxy of the bench, a process of its own. Arguments: TCP_PORT HTTP_PORT.
// TCP: the first byte says what follows: "e" echoes; "d" and 8 digits sends that many KiB and closes; "u" reads to the end
// and answers one byte. HTTP: GET /small, /64k, /10m and /headers (90 answer headers), kept alive.

import { acceptForEver, closeQuietly, readMessage, writeWhole } from "./wire.ts";

const CHUNK = new Uint8Array(65_536).fill(120);

async function serveTcp(conn: Deno.TcpConn): Promise<void> {
  conn.setNoDelay();
  const buffer = new Uint8Array(65_536);
  const first = await conn.read(buffer);
  if (first === null) return;
  if (buffer[0] === 100) return await sendDown(conn, buffer, first);
  if (buffer[0] === 117) return await takeUp(conn, buffer);
  for (let got: number | null = first; got !== null; got = await conn.read(buffer)) {
    await writeWhole(conn, buffer.subarray(0, got));
  }
}

async function sendDown(conn: Deno.TcpConn, buffer: Uint8Array, first: number): Promise<void> {
  let filled = first;
  while (filled < 9) filled += (await conn.read(buffer.subarray(filled))) ?? 9;
  let left = Number(new TextDecoder().decode(buffer.subarray(1, 9))) * 1024;
  for (; left > 0; left -= CHUNK.length) {
    await writeWhole(conn, CHUNK.subarray(0, Math.min(left, CHUNK.length)));
  }
}

async function takeUp(conn: Deno.TcpConn, buffer: Uint8Array): Promise<void> {
  while (await conn.read(buffer) !== null);
  await writeWhole(conn, CHUNK.subarray(0, 1));
}

function answers(): ReadonlyMap<string, Uint8Array> {
  const many = Array.from({ length: 88 }, (_, i) => `X-Answer-Field-${i}: value number ${i}\r\n`).join("");
  const sized = (bytes: number, extra = "") => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${extra}Content-Length: ${bytes}\r\n\r\n`;
    return new TextEncoder().encode(head + "x".repeat(bytes));
  };
  return new Map([
    ["/small", sized(100)],
    ["/64k", sized(65_536)],
    ["/10m", sized(10_485_760)],
    ["/headers", sized(100, many)],
  ]);
}

async function serveHttp(conn: Deno.TcpConn, known: ReadonlyMap<string, Uint8Array>): Promise<void> {
  conn.setNoDelay();
  const buffer = new Uint8Array(65_536);
  while (true) {
    const { head } = await readMessage(conn, buffer);
    const path = head.split(" ", 2)[1] ?? "";
    const answer = known.get(path);
    if (answer === undefined) throw new Error(`No such path: ${path}`);
    await writeWhole(conn, answer);
    if (/^connection: *close/im.test(head)) return;
  }
}

/** The end of a kept connection is an error here; the client's own check notices a wrong one. */
function serving(serve: (conn: Deno.TcpConn) => Promise<void>): (conn: Deno.TcpConn) => void {
  return (conn) => void serve(conn).catch(() => {}).finally(() => closeQuietly(conn));
}

if (import.meta.main) {
  const known = answers();
  const [tcpPort, httpPort] = Deno.args.map(Number);
  if (tcpPort === undefined || httpPort === undefined) throw new Error("Wanted TCP_PORT HTTP_PORT");
  void acceptForEver(httpPort, serving((conn) => serveHttp(conn, known)));
  await acceptForEver(tcpPort, serving(serveTcp));
}
