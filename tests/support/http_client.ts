// A client's HTTP/1.1 connection, byte by byte: requests are sent as they are given, also several at once, and each
// answer is read to its end.

import assert from "node:assert/strict";
import { bytesOf } from "./http_heads.ts";
import { HttpReader, type ReadBody } from "./http_reader.ts";
import { writeBytes } from "./tcp_endpoint.ts";

/** An answer that came whole. */
export interface WholeAnswer extends ReadBody {
  readonly status: number;
  /** Status line and lines, without the blank line. */
  readonly head: string;
  /** The heads of the interim answers before it. */
  readonly interim: readonly string[];
}

/** One connection to a port of loopback. */
export class HttpClient implements Disposable {
  readonly conn: Deno.TcpConn;
  readonly #reader: HttpReader;

  private constructor(conn: Deno.TcpConn) {
    conn.setNoDelay();
    this.conn = conn;
    this.#reader = new HttpReader(conn);
  }

  static async connect(port: number): Promise<HttpClient> {
    return new HttpClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Sends bytes, texts as Latin-1. */
  async send(...parts: readonly (string | Uint8Array)[]): Promise<void> {
    for (const part of parts) await writeBytes(this.conn, typeof part === "string" ? bytesOf(part) : part);
  }

  /** Sends a request without a body and reads its answer. `lines` are more header lines. */
  async ask(method: string, target: string, ...lines: readonly string[]): Promise<WholeAnswer> {
    await this.send(`${[`${method} ${target} HTTP/1.1`, "Host: app.test", ...lines].join("\r\n")}\r\n\r\n`);
    return await this.answer(method);
  }

  /** Reads the next answer, which is one to a request of that method. Throws `CutShort`. */
  async answer(method = "GET"): Promise<WholeAnswer> {
    const interim: string[] = [];
    let head = await this.#reader.head();
    for (; /^HTTP\/1\.1 1(?!01)/.test(head); head = await this.#reader.head()) interim.push(head);
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/m.exec(head)?.[1] ?? assert.fail(`No status: ${head}`));
    const isEmpty = method === "HEAD" || status === 204 || status === 304 || status === 101;
    const read = isEmpty ? { body: new Uint8Array(0), trailers: "" } : await this.#reader.body(head, true);
    return { status, head, interim, ...read };
  }

  [Symbol.dispose](): void {
    this.conn.close();
  }
}
