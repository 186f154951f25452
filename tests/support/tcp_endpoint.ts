// An endpoint that does what a test tells it with each connection, counts them, and can die and return.

import { joined } from "../../src/core/bytes.ts";
import { closeQuietly } from "../../src/net/relay.ts";

/** What to do with one connection. It is closed afterwards. */
export type Serve = (conn: Deno.TcpConn) => Promise<void>;

/** A TCP server on a loopback port. */
export class TcpEndpoint implements AsyncDisposable {
  readonly port: number;
  accepted = 0;
  readonly #listener: Deno.TcpListener;
  readonly #conns = new Set<Deno.TcpConn>();
  readonly #accepting: Promise<void>;
  readonly #deaf = Promise.withResolvers<void>();

  constructor(serve: Serve, options: { port?: number; hostname?: string } = {}) {
    const { port = 0, hostname = "127.0.0.1" } = options;
    this.#listener = Deno.listen({ hostname, port });
    this.port = this.#listener.addr.port;
    this.#accepting = this.#acceptAll(serve);
  }

  /** "127.0.0.1:PORT". */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#conns.size;
  }

  async #acceptAll(serve: Serve): Promise<void> {
    const serving: Promise<void>[] = [];
    try {
      for (;;) serving.push(this.#serve(await this.#listener.accept(), serve));
    } catch {
      // The listener was closed: the endpoint has died.
    }
    this.#deaf.resolve();
    await Promise.all(serving);
  }

  async #serve(conn: Deno.TcpConn, serve: Serve): Promise<void> {
    this.accepted++;
    this.#conns.add(conn);
    await serve(conn).catch(() => {}); // Cut by the peer or by our own death: what tests do on purpose.
    this.#conns.delete(conn);
    closeQuietly(conn);
  }

  /** Cuts the connections that are open, and goes on listening. */
  cut(): void {
    for (const conn of this.#conns) closeQuietly(conn);
  }

  /** Stops listening; connections live on. The kernel takes none any more once this resolves. */
  async stopListening(): Promise<void> {
    closeQuietly(this.#listener);
    await this.#deaf.promise;
  }

  /** Dies: stops listening and cuts all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    closeQuietly(this.#listener);
    this.cut();
    await this.#accepting;
  }
}

/** Sends back what comes, and ends when the other side does. */
export async function echo(conn: Deno.TcpConn): Promise<void> {
  const buffer = new Uint8Array(65536);
  for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
    await writeBytes(conn, buffer.subarray(0, count));
  }
}

/** Writes all of the bytes. */
export async function writeBytes(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
}

/** Reads until the end and gives the bytes; rejects on a reset. */
export async function readAll(conn: Deno.Conn): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const buffer = new Uint8Array(65536);
    const count = await conn.read(buffer);
    if (count === null) return joined(chunks);
    chunks.push(buffer.subarray(0, count));
  }
}

/** Reads exactly `length` bytes, or fewer when the stream ends. */
export async function readExactly(conn: Deno.Conn, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let got = 0;
  while (got < length) {
    const count = await conn.read(bytes.subarray(got));
    if (count === null) break;
    got += count;
  }
  return bytes.subarray(0, got);
}
