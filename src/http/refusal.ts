// Every way in which a message is refused: the status for the client, a code for programs and a sentence for people.
// A refused answer of an endpoint uses the sentence only; its status is always 502.

/** Why a message is refused. */
export interface Refusal {
  readonly status: 400 | 405 | 408 | 414 | 431 | 501 | 505;
  readonly code: string;
  readonly message: string;
}

/** A refusal with status 400. */
export function badRequest(message: string): Refusal {
  return { status: 400, code: "bad_request", message };
}

/** All refusals of heads and bodies. */
export const REFUSALS = {
  line_end: badRequest("A line must end with CR LF"),
  folded: badRequest("A header line must not begin with a blank"),
  name: badRequest("A header name must be a token, followed at once by a colon"),
  value: badRequest("A header value must not hold control characters"),
  start_line: badRequest(
    "The request line must be a method, a target and a version with one blank between them",
  ),
  status_line: badRequest("The status line must begin with HTTP/1.1, a blank and three digits"),
  target: badRequest("The target must be a path, or a URL with scheme http or https"),
  userinfo: badRequest("The target must not hold user information"),
  host_missing: badRequest("A request of HTTP/1.1 must have a Host header"),
  host_repeated: badRequest("There must be one Host header only"),
  host: badRequest("The Host header must be a host with an optional port"),
  length: badRequest("Content-Length must be one decimal number"),
  two_lengths: badRequest("A message must not have both Content-Length and Transfer-Encoding"),
  coding_in_http10: badRequest("A message of HTTP/1.0 must not have Transfer-Encoding"),
  options: badRequest("The Connection header names too many headers"),
  chunk_size: badRequest("A chunk must begin with a hexadecimal size of at most 16 digits"),
  chunk_extension: badRequest("A chunk extension is malformed or too long"),
  chunk_end: badRequest("A chunk must end with CR LF"),
  head_too_large: {
    status: 431,
    code: "head_too_large",
    message: "The head must have at most 64 KiB and 100 headers",
  },
  target_too_long: { status: 414, code: "target_too_long", message: "The target must have at most 8 KiB" },
  coding: {
    status: 501,
    code: "not_implemented",
    message: "The only transfer coding that is understood is a single chunked",
  },
  method: { status: 405, code: "method_not_allowed", message: "CONNECT is not offered" },
  version: {
    status: 505,
    code: "version_not_supported",
    message: "The version must be HTTP/1.0 or HTTP/1.1",
  },
} as const satisfies Record<string, Refusal>;
