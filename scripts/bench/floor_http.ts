// The barest correct HTTP/1.1 proxy over Deno.Conn for messages with Content-Length: one pass over each head, bytes sent
// on from where they were read but for the Connection line, buffers and endpoint connections kept. No features, no
// chunked coding, no limits but the buffer. It shows what the runtime itself costs. Arguments: LISTEN_PORT ENDPOINT_PORT.

import { acceptForEver, closeQuietly, HOST, writeWhole } from "./wire.ts";

const LF = 10;
const BUFFER = 65_536;

/** What one pass over a head found, as places in the read buffer. */
interface Head {
  /** Behind the empty line. */
  end: number;
  bodyBytes: number;
  close: boolean;
  /** The Connection line: from 0 to 0 when there is none. */
  dropFrom: number;
  dropTo: number;
}

/** Free buffers, shared by all connections. */
class Buffers {
  readonly #free: Uint8Array<ArrayBuffer>[] = [];

  take(): Uint8Array<ArrayBuffer> {
    return this.#free.pop() ?? new Uint8Array(BUFFER);
  }

  give(buffer: Uint8Array<ArrayBuffer>): void {
    if (this.#free.length < 128) this.#free.push(buffer);
  }
}

/** One connection with its read buffer. */
class Side {
  filled = 0;

  constructor(readonly conn: Deno.TcpConn, readonly buffer: Uint8Array<ArrayBuffer>) {}

  /** Reads until a whole head is there; false at the end of the connection. */
  async readHead(head: Head): Promise<boolean> {
    while (!scan(this.buffer, this.filled, head)) {
      if (this.filled === BUFFER) throw new Error("The head is too long");
      const got = await this.conn.read(this.filled === 0 ? this.buffer : this.buffer.subarray(this.filled));
      if (got === null) return false;
      this.filled += got;
    }
    return true;
  }
}

function isNamed(buffer: Uint8Array, from: number, name: string): boolean {
  if (buffer[from + name.length] !== 58) return false;
  for (let i = 0; i < name.length; i++) {
    if (((buffer[from + i] ?? 0) | 32) !== name.charCodeAt(i)) return false;
  }
  return true;
}

/** One pass over the head. False when it is not complete. */
function scan(buffer: Uint8Array, filled: number, head: Head): boolean {
  head.bodyBytes = head.dropFrom = head.dropTo = 0;
  head.close = false;
  let line = 0;
  for (let lf = buffer.indexOf(LF); lf >= 0 && lf < filled; lf = buffer.indexOf(LF, line)) {
    if (lf - line === 1) {
      head.end = lf + 1;
      return true;
    }
    if (isNamed(buffer, line, "content-length")) head.bodyBytes = numberAt(buffer, line + 15, lf - 1);
    else if (isNamed(buffer, line, "connection")) {
      head.close = ((buffer[line + 12] ?? 0) | 32) === 99;
      head.dropFrom = line;
      head.dropTo = lf + 1;
    }
    line = lf + 1;
  }
  return false;
}

function numberAt(buffer: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) if (buffer[i] !== 32) value = value * 10 + (buffer[i] ?? 0) - 48;
  return value;
}

/** Sends head and body on: what is there of the body goes with the head in one write. */
async function forward(from: Side, to: Deno.TcpConn, head: Head): Promise<void> {
  const { buffer } = from;
  // The lines before Connection move up to those behind it.
  const begin = head.dropTo - head.dropFrom;
  if (begin > 0) buffer.copyWithin(begin, 0, head.dropFrom);
  const used = Math.min(from.filled, head.end + head.bodyBytes);
  await writeWhole(to, buffer.subarray(begin, used));
  let left = head.end + head.bodyBytes - used;
  if (used < from.filled) buffer.copyWithin(0, used, from.filled);
  from.filled -= used;
  while (left > 0) {
    const got = await from.conn.read(left < BUFFER ? buffer.subarray(0, left) : buffer);
    if (got === null) throw new Error("The body was cut");
    await writeWhole(to, buffer.subarray(0, got));
    left -= got;
  }
}

/** Endpoint connections that are idle. */
class Pool {
  readonly #idle: Side[] = [];

  constructor(readonly port: number, readonly buffers: Buffers) {}

  async take(): Promise<Side> {
    const kept = this.#idle.pop();
    if (kept !== undefined) return kept;
    const conn = await Deno.connect({ hostname: HOST, port: this.port });
    conn.setNoDelay();
    return new Side(conn, this.buffers.take());
  }

  give(side: Side, usable: boolean): void {
    if (usable && side.filled === 0 && this.#idle.length < 64) this.#idle.push(side);
    else this.end(side);
  }

  end(side: Side): void {
    closeQuietly(side.conn);
    this.buffers.give(side.buffer);
  }
}

/** Serves one client connection to its end. */
async function serve(client: Side, pool: Pool): Promise<void> {
  const head: Head = { end: 0, bodyBytes: 0, close: false, dropFrom: 0, dropTo: 0 };
  let last = false;
  while (!last && await client.readHead(head)) {
    last = head.close;
    const endpoint = await pool.take();
    let kept = false;
    try {
      await forward(client, endpoint.conn, head);
      if (!await endpoint.readHead(head)) throw new Error("The endpoint gave no answer");
      const endpointStays = !head.close;
      await forward(endpoint, client.conn, head);
      kept = endpointStays;
    } finally {
      pool.give(endpoint, kept);
    }
  }
}

if (import.meta.main) {
  const [port, endpointPort] = Deno.args.map(Number);
  if (port === undefined || endpointPort === undefined) throw new Error("Wanted LISTEN_PORT ENDPOINT_PORT");
  const buffers = new Buffers();
  const pool = new Pool(endpointPort, buffers);
  await acceptForEver(port, (conn) => {
    conn.setNoDelay();
    const client = new Side(conn, buffers.take());
    // A cut connection ends its own loop only.
    void serve(client, pool).catch(() => {}).finally(() => pool.end(client));
  });
}
