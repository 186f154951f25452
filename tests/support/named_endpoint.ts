// An endpoint that answers with its name, over TCP or HTTP, and can die and come back on the same port; and the
// matching clients. All on loopback.

/** A small server that says who it is. */
export class NamedEndpoint implements AsyncDisposable {
  readonly name: string;
  readonly port: number;
  /** Connections accepted so far, probes included. */
  accepted = 0;
  readonly #listener: Deno.TcpListener;
  readonly #conns = new Set<Deno.TcpConn>();
  readonly #accepting: Promise<void>;
  readonly #answer: (conn: Deno.TcpConn) => Promise<void>;

  private constructor(name: string, port: number, kind: "tcp" | "http") {
    this.name = name;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port });
    this.port = this.#listener.addr.port;
    this.#answer = kind === "tcp" ? (conn) => this.#answerTcp(conn) : (conn) => this.#answerHttp(conn);
    this.#accepting = this.#acceptAll();
  }

  /** Answers each chunk with "NAME: " before it; passes the end on. Port 0 takes any. */
  static tcp(name: string, port = 0): NamedEndpoint {
    return new NamedEndpoint(name, port, "tcp");
  }

  /** Answers each request head with 200 and its name as the body. Port 0 takes any. */
  static http(name: string, port = 0): NamedEndpoint {
    return new NamedEndpoint(name, port, "http");
  }

  /** "127.0.0.1:PORT". */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Dies: stops listening and cuts all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#conns) closeQuietly(conn);
    await this.#accepting;
  }

  /** Stops listening, lets its sessions end by themselves, and waits for that. */
  async retire(): Promise<void> {
    this.#listener.close();
    await this.#accepting;
  }

  async #acceptAll(): Promise<void> {
    const serving: Promise<void>[] = [];
    for await (const conn of this.#listener) {
      this.accepted++;
      this.#conns.add(conn);
      serving.push(this.#serve(conn));
    }
    await Promise.all(serving);
  }

  async #serve(conn: Deno.TcpConn): Promise<void> {
    try {
      await this.#answer(conn);
    } catch {
      // Cut by the peer or by our own death: what tests do on purpose.
    }
    this.#conns.delete(conn);
    closeQuietly(conn);
  }

  async #answerTcp(conn: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(16_384);
    for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
      await writeText(conn, `${this.name}: ${new TextDecoder().decode(buffer.subarray(0, count))}`);
    }
  }

  async #answerHttp(conn: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(16_384);
    let head = "";
    for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
      head += new TextDecoder().decode(buffer.subarray(0, count));
      for (let end = head.indexOf("\r\n\r\n"); end >= 0; end = head.indexOf("\r\n\r\n")) {
        head = head.slice(end + 4);
        await writeText(conn, `HTTP/1.1 200 OK\r\nContent-Length: ${this.name.length}\r\n\r\n${this.name}`);
      }
    }
  }
}

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // Closed already.
  }
}

async function writeText(conn: Deno.Conn, text: string): Promise<void> {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(await conn.write(bytes));
}

async function readToEnd(conn: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(16_384);
  let text = "";
  for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
    text += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  return text;
}

/** How long an answer may take before the connection is closed and the question fails, milliseconds. */
const PATIENCE_MS = 20_000;

/** Opens a connection for one question. It is closed afterwards in any case, and after `PATIENCE_MS` at the latest. */
async function onConnection<T>(port: number, ask: (conn: Deno.TcpConn) => Promise<T>): Promise<T> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const timer = setTimeout(() => closeQuietly(conn), PATIENCE_MS);
  try {
    return await ask(conn);
  } finally {
    clearTimeout(timer);
    closeQuietly(conn);
  }
}

/** Connects, sends `text`, ends its side and gives all that comes back. Rejects when the connection is reset. */
export function askTcp(port: number, text: string): Promise<string> {
  return onConnection(port, async (conn) => {
    await writeText(conn, text);
    await conn.closeWrite();
    return await readToEnd(conn);
  });
}

/** What came back for one request. */
export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** One request on a connection of its own. The body is taken as it is, without decoding chunks. */
export async function askHttp(
  port: number,
  path: string,
  options: { method?: string; headers?: string } = {},
): Promise<Answer> {
  const { method = "GET", headers = "" } = options;
  const request =
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n${headers}\r\n`;
  const text = await onConnection(port, async (conn) => {
    await writeText(conn, request);
    return await readToEnd(conn);
  });
  const end = text.indexOf("\r\n\r\n");
  const head = end < 0 ? text : text.slice(0, end);
  return {
    status: Number(/^HTTP\/1\.[01] ([0-9]{3})/.exec(head)?.[1] ?? 0),
    head,
    body: text.slice(end + 4),
  };
}

/** Calls `check` until it gives true or `ms` have passed; then throws with `what`. */
export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  ms = 30_000,
): Promise<void> {
  const end = performance.now() + ms;
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
