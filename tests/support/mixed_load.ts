// Clients that send requests of all kinds to one port: GET, HEAD, POST and PUT, with and without bodies of all sizes, by
// length and in chunks, one by one and in pipelined pairs, on new and on kept connections. Every answer is compared with
// what mixed_endpoint.ts has to say to that request. What differs is wrong; what fails is kept to be judged.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { joined } from "../../src/core/bytes.ts";
import { HttpClient, type WholeAnswer } from "./http_client.ts";
import { bytesOf } from "./http_heads.ts";
import { CutShort, valueIn } from "./http_reader.ts";
import { bytesFor, chunk } from "./mixed_endpoint.ts";

/** A request. */
export interface MixedRequest {
  readonly id: number;
  readonly method: "GET" | "HEAD" | "POST" | "PUT";
  readonly version: "1.0" | "1.1";
  /** Bytes of its body, or of its answer's when it has none. */
  readonly size: number;
  readonly isChunked: boolean;
  readonly form: "length" | "chunks" | "end";
  readonly waitMs: number;
  readonly isLast: boolean;
}

/** A request that was not answered as it should be. */
export interface Failure {
  readonly request: MixedRequest;
  /** The code of hale's own answer; `cut`: the answer ended too early; `silence`: there was none. */
  readonly what: string;
  readonly beganAt: number;
  readonly endedAt: number;
}

const hasBody = ({ method }: MixedRequest): boolean => method === "POST" || method === "PUT";

/** The load. */
export class MixedLoad {
  readonly failures: Failure[] = [];
  /** What was wrong with answers that came whole. */
  readonly wrong: string[] = [];
  /** Good answers by who gave them. */
  readonly answered: Record<string, number> = {};
  /** Requests that have come to an end. */
  done = 0;
  connections = 0;
  pairs = 0;
  readonly #port: number;
  readonly #random: () => number;
  #ids = 0;
  #isStopping = false;

  constructor(port: number, random: () => number) {
    this.#port = port;
    this.#random = random;
  }

  /** Runs `clients` clients until `stop`. */
  async run(clients: number): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.#live()));
  }

  /** What is under way is the last. */
  stop(): void {
    this.#isStopping = true;
  }

  async #live(): Promise<void> {
    while (!this.#isStopping) {
      using client = await HttpClient.connect(this.#port);
      this.connections++;
      let isOpen = true;
      while (isOpen && !this.#isStopping) isOpen = await this.#turn(client);
    }
  }

  /** One request or a pipelined pair. False: the connection is of no further use. */
  async #turn(client: HttpClient): Promise<boolean> {
    const requests = [this.#make()];
    if (!requests[0]!.isLast && this.#random() < 0.15) requests.push(this.#make());
    if (requests.length > 1) this.pairs++;
    const beganAt = performance.now();
    // An answer may come before the end of an upload, which then may find nobody who takes it.
    const sending = client.send(joined(requests.map(encoded))).catch(() => {});
    let isOpen = true;
    for (const request of requests) {
      if (!isOpen) break; // RFC 9112 9.3.2: what is behind a last answer was not looked at.
      isOpen = await this.#hear(client, request, beganAt);
      this.done++;
    }
    if (isOpen) await sending;
    return isOpen;
  }

  async #hear(client: HttpClient, request: MixedRequest, beganAt: number): Promise<boolean> {
    const fail = (what: string) =>
      void this.failures.push({ request, what, beganAt, endedAt: performance.now() });
    try {
      const answer = await client.answer(request.method);
      if (answer.status === 200) this.#check(request, answer);
      else fail(codeOf(answer));
      return !request.isLast && valueIn(answer.head, "connection") !== "close";
    } catch (error) {
      if (error instanceof CutShort) fail(error.begun ? "cut" : "silence");
      else this.wrong.push(`${error}`);
      return false;
    }
  }

  #check(request: MixedRequest, { head, body }: WholeAnswer): void {
    const told = `${JSON.stringify(request)}\n${head}`;
    const name = valueIn(head, "x-name") ?? assert.fail(told);
    assert.equal(valueIn(head, "x-id"), String(request.id), told);
    if (request.method === "HEAD") {
      if (request.form === "length") {
        assert.equal(valueIn(head, "content-length"), String(request.size), told);
      }
    } else {
      assert.equal(body.length, request.size, told);
      assert.ok(Buffer.from(body.buffer, body.byteOffset).equals(bytesFor(request.id, request.size)), told);
    }
    this.answered[name] = (this.answered[name] ?? 0) + 1;
  }

  #make(): MixedRequest {
    const random = this.#random;
    const method = (["GET", "GET", "GET", "HEAD", "POST", "POST", "PUT"] as const)[Math.floor(random() * 7)]!;
    const size = this.#size();
    const isOld = method === "GET" && random() < 0.05;
    const form = (["length", "length", "chunks", "end"] as const)[Math.floor(random() * 4)]!;
    return {
      id: ++this.#ids,
      method,
      version: isOld ? "1.0" : "1.1",
      size,
      isChunked: random() < 0.5,
      // Of a body that only the end delimits nobody can tell whether it is whole: it has to be written in one go.
      form: isOld || (form === "end" && size > 4096) ? "length" : form,
      waitMs: random() < 0.05 ? Math.floor(random() * 60) : 0,
      isLast: isOld || random() < 0.1,
    };
  }

  #size(): number {
    const [kind, share] = [this.#random(), this.#random()];
    if (kind < 0.25) return 0;
    if (kind < 0.5) return 1 + Math.floor(share * 200);
    if (kind < 0.85) return Math.floor(share * 5000);
    if (kind < 0.94) return 60_000 + Math.floor(share * 12_000);
    if (kind < 0.995) return Math.floor(share * 200_000);
    return Math.floor(share * 2_000_000);
  }
}

function codeOf({ status, body }: WholeAnswer): string {
  const text = new TextDecoder().decode(body);
  return /"code":"(\w+)"/.exec(text)?.[1] ?? `status ${status}`;
}

function encoded(request: MixedRequest): Uint8Array {
  const { id, method, version, size, form, waitMs, isChunked } = request;
  const lines = [
    `${method} /?id=${id}&size=${size}&form=${form}&wait=${waitMs} HTTP/${version}`,
    "Host: app.test",
    `X-Request-Id: ${id}`,
  ];
  if (request.isLast && version === "1.1") lines.push("Connection: close");
  const body = hasBody(request) ? bytesFor(id, size) : undefined;
  if (body !== undefined) lines.push(isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${size}`);
  const head = bytesOf(`${lines.join("\r\n")}\r\n\r\n`);
  if (body === undefined) return head;
  return isChunked ? joined([head, ...chunks(body, id), bytesOf("0\r\n\r\n")]) : joined([head, body]);
}

/** The body in chunks of some sizes that depend on the id. */
function chunks(body: Uint8Array, id: number): Uint8Array[] {
  const size = 1 + id * 7919 % 40_000;
  const parts: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += size) parts.push(...chunk(body.subarray(at, at + size)));
  return parts;
}
