// The units of work that are measured, and the client that does them. Each work opens what it keeps open first (not
// measured), then does equal turns. Every answer is checked: a fast wrong proxy must not win.

import { closeQuietly, HOST, readAll, readExactly, readMessage, writeWhole } from "./wire.ts";

/** A work whose connections stand. */
export interface Started {
  /** Does one turn and gives how many units it had. Rejects when an answer is wrong. */
  turn(): Promise<number>;
  stop(): void;
}

/** One kind of work. */
export interface Work {
  readonly name: string;
  readonly protocol: "tcp" | "http";
  /** What the CPU time is divided by. */
  readonly unit: string;
  start(port: number): Promise<Started>;
}

/** Connections that work at the same time. */
const PARALLEL = 8;
const MESSAGE_BYTES = 64;
const NOTHING_KEPT = { stop: () => {} };

async function connect(port: number): Promise<Deno.TcpConn> {
  const conn = await Deno.connect({ hostname: HOST, port });
  conn.setNoDelay();
  return conn;
}

async function inParallel(total: number, each: (worker: number) => Promise<void>): Promise<number> {
  const share = Math.ceil(total / PARALLEL);
  const workers = Array.from({ length: PARALLEL }, async (_, worker) => {
    for (let i = 0; i < share; i++) await each(worker);
  });
  await Promise.all(workers);
  return share * PARALLEL;
}

function check(right: boolean, what: string): void {
  if (!right) throw new Error(`Wrong answer: ${what}`);
}

const ping = new Uint8Array(MESSAGE_BYTES).fill(101);

async function exchangePing(conn: Deno.Conn, buffer: Uint8Array): Promise<void> {
  await writeWhole(conn, ping);
  await readExactly(conn, buffer, MESSAGE_BYTES);
  check(buffer[0] === 101 && buffer[MESSAGE_BYTES - 1] === 101, "not the echo of what was sent");
}

async function openMany(port: number, count: number): Promise<Deno.TcpConn[]> {
  const conns: Deno.TcpConn[] = [];
  for (let i = 0; i < count; i++) conns.push(await connect(port));
  return conns;
}

function tcpKept(exchanges: number): Work {
  const start = async (port: number) => {
    const conns = await openMany(port, PARALLEL);
    const buffers = conns.map(() => new Uint8Array(MESSAGE_BYTES));
    const each = (i: number) => exchangePing(conns[i]!, buffers[i]!);
    return { turn: () => inParallel(exchanges, each), stop: () => conns.forEach(closeQuietly) };
  };
  return { name: "TCP exchange, kept", protocol: "tcp", unit: "exchange", start };
}

function tcpConnect(sessions: number): Work {
  const start = (port: number) => {
    const each = async () => {
      using conn = await connect(port);
      await exchangePing(conn, new Uint8Array(MESSAGE_BYTES));
    };
    return Promise.resolve({ ...NOTHING_KEPT, turn: () => inParallel(sessions, each) });
  };
  return { name: "TCP connect, exchange, close", protocol: "tcp", unit: "session", start };
}

function tcpDown(mebibytes: number): Work {
  const share = mebibytes * 1024 / 2;
  const start = (port: number) => {
    const one = async () => {
      using conn = await connect(port);
      await writeWhole(conn, new TextEncoder().encode("d" + String(share).padStart(8, "0")));
      check(await readAll(conn, new Uint8Array(262_144)) === share * 1024, "bytes are missing");
    };
    return Promise.resolve({
      ...NOTHING_KEPT,
      turn: () => Promise.all([one(), one()]).then(() => share * 2),
    });
  };
  return { name: "TCP bulk down", protocol: "tcp", unit: "KiB", start };
}

function tcpUp(mebibytes: number): Work {
  const share = mebibytes * 1024 / 2;
  const chunk = new Uint8Array(65_536).fill(117);
  const start = (port: number) => {
    const one = async () => {
      using conn = await connect(port);
      for (let sent = 0; sent < share; sent += chunk.length / 1024) await writeWhole(conn, chunk);
      await conn.closeWrite();
      check(await readAll(conn, new Uint8Array(16)) === 1, "no answer after the upload");
    };
    return Promise.resolve({
      ...NOTHING_KEPT,
      turn: () => Promise.all([one(), one()]).then(() => share * 2),
    });
  };
  return { name: "TCP bulk up", protocol: "tcp", unit: "KiB", start };
}

function requestFor(path: string, headers: string): Uint8Array {
  return new TextEncoder().encode(
    `GET ${path} HTTP/1.1\r\nHost: bench.test\r\nAccept: */*\r\n${headers}\r\n`,
  );
}

async function exchangeHttp(
  conn: Deno.Conn,
  request: Uint8Array,
  buffer: Uint8Array,
  bytes: number,
): Promise<void> {
  await writeWhole(conn, request);
  const { head, bodyBytes } = await readMessage(conn, buffer);
  check(head.startsWith("HTTP/1.1 200"), head.slice(0, 100));
  check(bodyBytes === bytes, `${bodyBytes} bytes instead of ${bytes}`);
}

interface HttpShape {
  readonly path: string;
  readonly bodyBytes: number;
  /** Requests per turn. */
  readonly requests: number;
  readonly headers?: string;
  /** Units per request; default 1. */
  readonly units?: number;
  readonly unit?: string;
}

function httpKept(name: string, shape: HttpShape): Work {
  const request = requestFor(shape.path, shape.headers ?? "");
  const start = async (port: number) => {
    const conns = await openMany(port, PARALLEL);
    const buffers = conns.map(() => new Uint8Array(65_536));
    const each = (i: number) => exchangeHttp(conns[i]!, request, buffers[i]!, shape.bodyBytes);
    const turn = async () => await inParallel(shape.requests, each) * (shape.units ?? 1);
    return { turn, stop: () => conns.forEach(closeQuietly) };
  };
  return { name, protocol: "http", unit: shape.unit ?? "request", start };
}

function httpNew(name: string, requests: number): Work {
  const request = requestFor("/small", "Connection: close\r\n");
  const start = (port: number) => {
    const each = async () => {
      using conn = await connect(port);
      await exchangeHttp(conn, request, new Uint8Array(4096), 100);
    };
    return Promise.resolve({ ...NOTHING_KEPT, turn: () => inParallel(requests, each) });
  };
  return { name, protocol: "http", unit: "request", start };
}

const MANY_HEADERS = Array.from({ length: 88 }, (_, i) => `X-Request-Field-${i}: value number ${i}\r\n`).join(
  "",
);

/** All works, in the order of the table. Sized so that a turn costs a lean proxy about a tenth of a second of CPU. */
export const WORKS: readonly Work[] = [
  tcpKept(6400),
  tcpConnect(1200),
  tcpDown(192),
  tcpUp(192),
  httpKept("HTTP small GET, kept", { path: "/small", bodyBytes: 100, requests: 3200 }),
  httpNew("HTTP small GET, new connection", 960),
  httpKept("HTTP 64 KiB answer, kept", { path: "/64k", bodyBytes: 65_536, requests: 1600 }),
  httpKept("HTTP 10 MiB answer", {
    path: "/10m",
    bodyBytes: 10_485_760,
    requests: 16,
    units: 10_240,
    unit: "KiB",
  }),
  httpKept("HTTP 90 headers each way", {
    path: "/headers",
    bodyBytes: 100,
    requests: 1600,
    headers: MANY_HEADERS,
  }),
];

/** Sessions that `idleSessions` opens to be measured. */
export const IDLE_SESSIONS = 4000;

/** Opens idle TCP sessions, each after one exchange. */
export async function idleSessions(port: number, count: number): Promise<Deno.TcpConn[]> {
  const conns = await openMany(port, count);
  const buffer = new Uint8Array(MESSAGE_BYTES);
  for (const conn of conns) await exchangePing(conn, buffer);
  return conns;
}
