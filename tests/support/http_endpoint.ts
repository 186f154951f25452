// HTTP endpoints for tests: one that records every request byte by byte and answers 200, and one that plays a script.
// Their reading of HTTP is a second, independent one: plain texts, no code of src/http.

import { bytesOf, stringOf } from "./http_heads.ts";
import { TcpEndpoint, writeBytes } from "./tcp_endpoint.ts";

/** One request as an endpoint got it. */
export interface SeenRequest {
  /** Number of the connection it came on, from 1. */
  readonly connection: number;
  readonly head: string;
  /** As it came: chunks with their framing. */
  readonly body: string;
}

/** Reads requests one by one from a connection. */
export class RequestReader {
  readonly #conn: Deno.Conn;
  readonly #buffer = new Uint8Array(65536);
  /** Bytes that were read and not yet used. */
  rest = "";

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  async more(): Promise<boolean> {
    const count = await this.#conn.read(this.#buffer);
    if (count === null) return false;
    this.rest += stringOf(this.#buffer.subarray(0, count));
    return true;
  }

  /** The next head, with its blank line; undefined at the end. */
  async head(): Promise<string | undefined> {
    while (!this.rest.includes("\r\n\r\n")) if (!await this.more()) return undefined;
    const end = this.rest.indexOf("\r\n\r\n") + 4;
    const head = this.rest.slice(0, end);
    this.rest = this.rest.slice(end);
    return head;
  }

  /** The body that the head announces, as it comes. Cut short when the connection ends. */
  async body(head: string): Promise<string> {
    const length = /\r\nContent-Length: *(\d+)/i.exec(head);
    if (length !== null) return await this.take(Number(length[1]));
    if (!/\r\nTransfer-Encoding: *chunked/i.test(head)) return "";
    let body = "";
    for (;;) {
      const line = await this.line();
      body += line;
      const size = parseInt(line, 16);
      if (size > 0) body += await this.take(size + 2);
      else if (line === "") return body;
      else break;
    }
    for (;;) {
      const line = await this.line();
      body += line;
      if (line === "\r\n" || line === "") return body;
    }
  }

  async take(length: number): Promise<string> {
    while (this.rest.length < length) if (!await this.more()) break;
    const taken = this.rest.slice(0, length);
    this.rest = this.rest.slice(length);
    return taken;
  }

  async line(): Promise<string> {
    while (!this.rest.includes("\r\n")) if (!await this.more()) return "";
    return await this.take(this.rest.indexOf("\r\n") + 2);
  }
}

/** What to do with one request, besides noting it. Answering is up to it. False: the connection is closed. */
export type Answering = (
  request: SeenRequest,
  conn: Deno.TcpConn,
  reader: RequestReader,
) => Promise<boolean | void>;

/** Answers 200 with a body of two bytes. */
export const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** An endpoint that notes all requests. */
export class HttpEndpoint extends TcpEndpoint {
  readonly seen: SeenRequest[];
  /** Everything that came, of all connections, in order of arrival. */
  readonly raw: { text: string };

  constructor(answering: Answering | string = OK, options: { port?: number; readsBody?: boolean } = {}) {
    const seen: SeenRequest[] = [];
    const raw = { text: "" };
    let connections = 0;
    super(async (conn) => {
      const connection = ++connections;
      const reader = new RequestReader(conn);
      for (;;) {
        const head = await reader.head();
        raw.text += head ?? reader.rest;
        if (head === undefined) return;
        const body = options.readsBody === false ? "" : await reader.body(head);
        raw.text += body;
        const request = { connection, head, body };
        seen.push(request);
        if (typeof answering === "string") await writeBytes(conn, bytesOf(answering));
        else if (await answering(request, conn, reader) === false) return;
      }
    }, options);
    this.seen = seen;
    this.raw = raw;
  }
}

/** Sends a text. */
export function say(conn: Deno.Conn, text: string): Promise<void> {
  return writeBytes(conn, bytesOf(text));
}
