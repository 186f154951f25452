// An endpoint for loads of all kinds. The target says what it answers:
//   /?id=ID&size=BYTES&form=length|chunks|end&wait=MS
// The answer to a request with a body is that body, otherwise a part of a known pattern. It can die and return on one
// port, and cut its idle connections; it remembers on which connection it has seen each request.

import { joined } from "../../src/core/bytes.ts";
import { HttpReader } from "./http_reader.ts";
import { bytesOf } from "./http_heads.ts";
import { patterned } from "./patterned.ts";
import { freePort } from "./ports.ts";
import { TcpEndpoint, writeBytes } from "./tcp_endpoint.ts";

const PATTERN = patterned((1 << 21) + 4096);

/** The bytes that belong to a request: of its body, or of the answer when it has none. At most 2 MiB. */
export function bytesFor(id: number, size: number): Uint8Array<ArrayBuffer> {
  const from = id * 97 % 4093;
  return PATTERN.subarray(from, from + size);
}

/** A connection of hale to the endpoint. */
interface Line {
  uses: number;
  isIdle: boolean;
  isCut: boolean;
}

/** Where a request was seen last. */
export interface Sighting {
  readonly line: Line;
  /** The how-manieth request on that connection it was. */
  readonly use: number;
}

/** The endpoint; alive from the start. */
export class MixedEndpoint implements AsyncDisposable {
  readonly port: number = freePort();
  readonly sightings = new Map<number, Sighting>();
  /** When connections were cut, by `performance.now`. */
  readonly cuts: number[] = [];
  readonly #lines = new Map<Deno.TcpConn, Line>();
  #alive: TcpEndpoint | undefined;

  constructor(readonly name: string) {
    this.revive();
  }

  /** "127.0.0.1:PORT". */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get isAlive(): boolean {
    return this.#alive !== undefined;
  }

  /** Listens again. */
  revive(): void {
    this.#alive ??= new TcpEndpoint((conn) => this.#serve(conn), { port: this.port });
  }

  /** Stops listening, then cuts every connection, whatever goes on there: who is cut finds nobody listening. */
  async die(): Promise<void> {
    const dying = this.#alive;
    this.#alive = undefined;
    await dying?.stopListening();
    this.#note(() => true);
    await dying?.[Symbol.asyncDispose]();
  }

  /** Cuts the connections on which it waits for a request. One may be under way. */
  cutIdle(): void {
    for (const conn of this.#note((line) => line.isIdle)) conn.close();
  }

  #note(isCut: (line: Line) => boolean): Deno.TcpConn[] {
    this.cuts.push(performance.now());
    const cut = [...this.#lines].filter(([, line]) => isCut(line));
    for (const [, line] of cut) line.isCut = true;
    return cut.map(([conn]) => conn);
  }

  async #serve(conn: Deno.TcpConn): Promise<void> {
    conn.setNoDelay();
    const line: Line = { uses: 0, isIdle: true, isCut: false };
    this.#lines.set(conn, line);
    try {
      const reader = new HttpReader(conn);
      let isKept = true;
      while (isKept) {
        const head = await reader.head();
        line.isIdle = false;
        isKept = await this.#answer(conn, { reader, line, head });
        line.isIdle = true;
      }
    } finally {
      this.#lines.delete(conn);
    }
  }

  async #answer(conn: Deno.TcpConn, { reader, line, head }: Asked): Promise<boolean> {
    const [method, target] = head.split(" ", 2);
    const { searchParams } = new URL(target!, "http://a");
    const id = Number(searchParams.get("id") ?? -1);
    this.sightings.set(id, { line, use: ++line.uses });
    const sent = (await reader.body(head, false)).body;
    const waitMs = Number(searchParams.get("wait") ?? 0);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const form = searchParams.get("form") ?? "length";
    const hasBody = method === "POST" || method === "PUT";
    const body = hasBody ? sent : bytesFor(id, Number(searchParams.get("size") ?? 0));
    const start = `HTTP/1.1 200 OK\r\nX-Name: ${this.name}\r\nX-Id: ${id}\r\n`;
    await writeBytes(conn, framed(start, form, method === "HEAD" ? undefined : body, body.length));
    return form !== "end";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.die();
  }
}

interface Asked {
  readonly reader: HttpReader;
  readonly line: Line;
  readonly head: string;
}

function framed(start: string, form: string, body: Uint8Array | undefined, length: number): Uint8Array {
  const none = body ?? new Uint8Array(0);
  switch (form) {
    case "chunks": {
      const half = length >> 1;
      const head = bytesOf(`${start}Transfer-Encoding: chunked\r\n\r\n`);
      return body === undefined ? head : joined([
        head,
        ...chunk(none.subarray(0, half)),
        ...chunk(none.subarray(half)),
        bytesOf("0\r\nX-Trailer: yes\r\n\r\n"),
      ]);
    }
    case "end":
      return joined([bytesOf(`${start}Connection: close\r\n\r\n`), none]);
    default:
      return joined([bytesOf(`${start}Content-Length: ${length}\r\n\r\n`), none]);
  }
}

/** A chunk with its framing; none when it has no bytes. */
export function chunk(bytes: Uint8Array): Uint8Array[] {
  return bytes.length === 0 ? [] : [bytesOf(`${bytes.length.toString(16)}\r\n`), bytes, bytesOf("\r\n")];
}
