// Answers that hale gives itself: a status, a small JSON body that says why, and how the connection goes on (W7).

import { ascii } from "./spans.ts";

/** What a client is told. */
export interface OwnAnswer {
  readonly status: number;
  /** For programs, as "no_endpoint". */
  readonly code: string;
  /** For people, without a full stop. */
  readonly message: string;
  /** Seconds after which to try again; absent: nothing is said. */
  readonly retryAfterS?: number;
}

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Content Too Large",
  414: "URI Too Long",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
};

const ALLOW = "GET, HEAD, POST, PUT, DELETE, OPTIONS, TRACE, PATCH";

/** The reason phrase of a status that hale gives itself; "Unknown" for others. */
export function reasonPhrase(status: number): string {
  return REASONS[status] ?? "Unknown";
}

/** How an own answer goes out. */
export interface OwnAnswerOptions {
  /** ASCII without quotes and backslashes. */
  readonly requestId: string;
  readonly isHead: boolean;
  readonly connection: "" | "close" | "keep-alive";
}

/** The bytes of an own answer, head and body. */
export function ownAnswer(answer: OwnAnswer, options: OwnAnswerOptions): Uint8Array<ArrayBuffer> {
  const { code, message } = answer;
  const body = JSON.stringify({ error: { code, message, request_id: options.requestId } }) + "\n";
  const lines = [
    `HTTP/1.1 ${answer.status} ${reasonPhrase(answer.status)}`,
    "Content-Type: application/json",
    "Cache-Control: no-store",
    `Content-Length: ${body.length}`,
    `X-Request-Id: ${options.requestId}`,
  ];
  if (answer.status === 405) lines.push(`Allow: ${ALLOW}`);
  if (answer.retryAfterS !== undefined) lines.push(`Retry-After: ${answer.retryAfterS}`);
  if (options.connection !== "") lines.push(`Connection: ${options.connection}`);
  return ascii(`${lines.join("\r\n")}\r\n\r\n${options.isHead ? "" : body}`);
}
