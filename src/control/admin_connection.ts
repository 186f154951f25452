// One client of the admin endpoint: hale's own HTTP/1.1 on one side, a `fetch` function on the other. Answers of known
// length keep the connection; streams (events) go out in chunks at the client's pace and end with it.

import { joined } from "../core/bytes.ts";
import type { Duplex } from "../core/duplex.ts";
import { reasonPhrase } from "../http/answer.ts";
import { Body } from "../http/body.ts";
import { ClientSide } from "../http/client_side.ts";
import { NAME } from "../http/header_names.ts";
import { RequestHead } from "../http/request_head.ts";
import { ascii, textOf } from "../http/spans.ts";
import type { HttpTools } from "../http/tools.ts";

/** Largest request body that is taken, bytes: the admin endpoint needs none. */
const MAX_BODY_BYTES = 65_536;
/** How long a client may take to read one piece of an answer, milliseconds. */
const WRITE_MS = 30_000;

/** Answers one request; never rejects. */
export type Fetch = (request: Request) => Promise<Response>;

/** A client connection of the admin endpoint. */
export class AdminConnection {
  readonly #client: ClientSide;
  readonly #fetch: Fetch;
  readonly #head = new RequestHead();

  constructor(conn: Duplex, options: { tools: HttpTools; fetch: Fetch }) {
    this.#client = new ClientSide(conn, options.tools);
    this.#fetch = options.fetch;
  }

  /** Serves requests until one side has had enough. */
  async serve(): Promise<void> {
    const client = this.#client;
    try {
      while (await this.#serveOne());
      await client.linger();
    } finally {
      client.release();
    }
  }

  /** No further request is wanted. */
  leave(): void {
    this.#client.leave();
  }

  /** Ends the connection now. */
  close(): void {
    this.#client.wire.close();
  }

  /** Whether the connection goes on. */
  async #serveOne(): Promise<boolean> {
    const next = await this.#client.next({ takeHead: () => this.#head });
    if (next === "refused") await this.#refuse(this.#head.refusal!);
    if (next === "request" && this.#head.method === "TRACE") await this.#refuse(NO_TRACE);
    if (next !== "request" || this.#head.method === "TRACE") return false;
    const head = this.#head;
    const { wire, watch } = this.#client;
    const request = requestOf(head);
    const keeps = head.wantsKeep && !this.#client.isLeaving;
    wire.from = head.end;
    if (!await this.#skipBody()) return false;
    watch.stop();
    return await this.#answer(await this.#fetch(request), { keeps, isHead: head.method === "HEAD" });
  }

  async #refuse(refusal: { status: number; code: string; message: string }): Promise<void> {
    const requestId = this.#client.newRequestId();
    await this.#client.answer(refusal, { requestId, isHead: false, connection: "close" });
  }

  /** Reads a body and drops it. False: it is too large, broken, or the client is gone. */
  async #skipBody(): Promise<boolean> {
    const { wire, watch, tools } = this.#client;
    const body = new Body();
    const { chunked, contentLength } = this.#head;
    body.begin(chunked ? "chunked" : contentLength > 0 ? "length" : "none", contentLength);
    watch.onDue = () => wire.close();
    watch.set(tools.limits.bodyMs);
    while (!body.done) {
      if (wire.unread === 0 && await wire.read() === 0) return false;
      body.feed(wire.page, wire.from, wire.to);
      wire.from = body.next;
      if (body.refusal !== undefined || body.contentBytes > MAX_BODY_BYTES) {
        await this.#refuse(
          body.refusal ?? { status: 413, code: "body_too_large", message: "The body is too large" },
        );
        return false;
      }
    }
    return true;
  }

  async #answer(response: Response, how: { keeps: boolean; isHead: boolean }): Promise<boolean> {
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
      await this.#stream(response);
      return false;
    }
    const body = new Uint8Array(await response.arrayBuffer());
    const length = how.isHead ? "" : `content-length: ${body.length}`;
    const head = headOf(response, [length, how.keeps ? "" : "connection: close"]);
    const { watch, wire } = this.#client;
    watch.onDue = () => wire.close();
    watch.set(WRITE_MS);
    const isSent = await wire.write(how.isHead ? head : joined([head, body]));
    watch.stop();
    return isSent && how.keeps;
  }

  /** Passes a body on piece by piece until it or the client ends. A client that takes nothing for long is cut. */
  async #stream(response: Response): Promise<void> {
    const { wire, watch } = this.#client;
    const reader = response.body!.getReader();
    watch.onDue = () => wire.close();
    void this.#noticeEnd(reader);
    try {
      await wire.write(headOf(response, ["transfer-encoding: chunked", "connection: close"]));
      for (let piece = await reader.read(); !piece.done && !wire.isClosed; piece = await reader.read()) {
        watch.set(WRITE_MS);
        if (!await wire.write(chunkOf(piece.value))) break;
        watch.stop();
      }
      await wire.write(LAST_CHUNK);
    } catch {
      // The stream failed on purpose: its client was too slow (see admin/event_stream.ts).
      wire.close();
    } finally {
      watch.stop();
      await reader.cancel().catch(() => undefined);
    }
  }

  /** While events flow, nothing is expected from the client but its end. */
  async #noticeEnd(reader: ReadableStreamDefaultReader): Promise<void> {
    const { wire } = this.#client;
    while (await wire.read() > 0) wire.from = wire.to;
    await reader.cancel().catch(() => undefined);
  }
}

const NO_TRACE = { status: 405, code: "method_not_allowed", message: "TRACE is not answered" };
const LAST_CHUNK = ascii("0\r\n\r\n");

function requestOf(head: RequestHead): Request {
  const headers = new Headers();
  for (let line = 0; line < head.count; line++) {
    const name = textOf(head.bytes, head.lineAt[line]!, head.nameEnd[line]!);
    headers.append(name, textOf(head.bytes, head.valueAt[line]!, head.valueEnd[line]!));
  }
  const host = textOf(head.bytes, head.authorityAt, head.authorityEnd);
  if (!head.has(NAME.host)) headers.set("host", host);
  const path = head.pathLead + textOf(head.bytes, head.pathAt, head.pathEnd);
  const url = new URL(`http://admin${path.startsWith("/") ? path : "/"}`);
  return new Request(url, { method: head.methodText, headers });
}

function headOf(response: Response, more: readonly string[]): Uint8Array<ArrayBuffer> {
  const lines = [`HTTP/1.1 ${response.status} ${reasonPhrase(response.status)}`];
  for (const [name, value] of response.headers) {
    if (name !== "content-length" && name !== "transfer-encoding") lines.push(`${name}: ${value}`);
  }
  lines.push(...more.filter((line) => line !== ""));
  return ascii(`${lines.join("\r\n")}\r\n\r\n`);
}

function chunkOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return joined([ascii(`${bytes.length.toString(16)}\r\n`), bytes, ascii("\r\n")]);
}
