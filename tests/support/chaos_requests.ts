// Requests of the chaos test's clients: each path is asked for once, and the size of a body stands in the head.

import type { Chance } from "./chance.ts";
import { bodyOf } from "./chaos_endpoint.ts";

/** One request, as a client sends it. */
export interface ChaosRequest {
  readonly method: string;
  readonly path: string;
  readonly text: string;
  readonly hasBody: boolean;
}

const METHODS = ["GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE"];

/** A well-formed request for the path that `id` makes unique. */
export function chaosRequest(chance: Chance, id: number): ChaosRequest {
  const method = chance.one(METHODS);
  const path = `/${"p".repeat(chance.below(5))}${id}`;
  const hasBody = method === "POST" || method === "PUT";
  const size = hasBody ? 1 + chance.below(3) * 200 : 0;
  const fields = ["Host: a", `X-Size: ${size}`];
  const wish = chance.one(["", "", "", "close", "upgrade"]);
  if (wish === "close") fields.push("Connection: close");
  if (wish === "upgrade" && method === "GET") fields.push("Connection: upgrade", "Upgrade: echo");
  if (hasBody && chance.happens(0.1)) fields.push("Expect: 100-continue");
  const isChunked = chance.happens(0.5);
  if (hasBody) fields.push(isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${size}`);
  const head = [`${method} ${path} HTTP/1.1`, ...fields].join("\r\n") + "\r\n\r\n";
  const body = bodyOf(size);
  const sent = hasBody && isChunked ? `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  return { method, path, text: head + sent, hasBody };
}
