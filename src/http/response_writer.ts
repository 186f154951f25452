// The answer as it goes to the client: the endpoint's bytes in the endpoint's order, without what concerns one hop, with
// the framing that this client understands and with the request id.

import { SP } from "./chars.ts";
import type { HeadWriter } from "./head_writer.ts";
import { bitOf, HOP_BY_HOP, NAME, NOT_NOMINABLE } from "./header_names.ts";
import { type IdSpan, writeId } from "./request_writer.ts";
import type { ResponseHead } from "./response_head.ts";
import { ascii } from "./spans.ts";

/** How the answer goes to the client. */
export interface AnswerRewrite {
  /** The Connection header: none, "close", or "keep-alive" for clients of HTTP/1.0. */
  connection: "" | "close" | "keep-alive";
  /** Transfer-Encoding: as the endpoint sent it, none, or added by us. */
  coding: "as_sent" | "none" | "added";
  id: IdSpan;
}

const VERSION = ascii("HTTP/1.1");
const CHUNKED = ascii("Transfer-Encoding: chunked\r\n");
const CLOSE = ascii("Connection: close\r\n");
const KEEP_ALIVE = ascii("Connection: keep-alive\r\n");
const UPGRADE = ascii("Connection: Upgrade\r\n");

/** Length of the version and status of a status line. */
const STATUS_END = 12;

/** Writes the head of a final answer. */
export function writeResponse(writer: HeadWriter, response: ResponseHead, rewrite: AnswerRewrite): void {
  let dropped = HOP_BY_HOP | bitOf(NAME.x_request_id);
  if (rewrite.coding !== "as_sent" || !response.chunked) {
    dropped |= bitOf(NAME.transfer_encoding) | bitOf(NAME.trailer);
  }
  if (response.status === 204) dropped |= bitOf(NAME.content_length);
  writeLines(writer, response, dropped);
  if (rewrite.coding === "added") writer.put(CHUNKED);
  if (rewrite.connection === "close") writer.put(CLOSE);
  else if (rewrite.connection === "keep-alive") writer.put(KEEP_ALIVE);
  writeId(writer, rewrite.id);
  writer.endLine();
}

/** Writes the head of an interim answer, which has no body and says nothing about the connection. */
export function writeInterim(writer: HeadWriter, response: ResponseHead): void {
  const framing = bitOf(NAME.content_length) | bitOf(NAME.transfer_encoding) | bitOf(NAME.trailer);
  writeLines(writer, response, HOP_BY_HOP | framing);
  writer.endLine();
}

/** Writes the head of a 101, which keeps its Upgrade header (W8). */
export function writeSwitch(writer: HeadWriter, response: ResponseHead, id: IdSpan): void {
  const framing = bitOf(NAME.content_length) | bitOf(NAME.transfer_encoding) | bitOf(NAME.trailer);
  const dropped = (HOP_BY_HOP & ~bitOf(NAME.upgrade)) | bitOf(NAME.x_request_id) | framing;
  writeLines(writer, response, dropped);
  writer.put(UPGRADE);
  writeId(writer, id);
  writer.endLine();
}

function writeLines(writer: HeadWriter, response: ResponseHead, dropped: number): void {
  writer.begin();
  const { bytes, lineAt, names, count } = response;
  let runAt = writeStatusLine(writer, response);
  if ((dropped & response.seen) !== 0 || response.nominated > 0) {
    for (let line = 0; line < count; line++) {
      const name = names[line]!;
      if ((dropped & bitOf(name)) === 0 && !isNominated(response, line, name)) continue;
      writer.copy(bytes, runAt, lineAt[line]!);
      runAt = lineAt[line + 1]!;
    }
  }
  writer.copy(bytes, runAt, lineAt[count]!);
}

function isNominated(response: ResponseHead, line: number, name: number): boolean {
  return response.nominated > 0 && (NOT_NOMINABLE & bitOf(name)) === 0 && response.isNominated(line);
}

/** Gives where copying begins: at the status line itself, when that can stay as it is. */
function writeStatusLine(writer: HeadWriter, response: ResponseHead): number {
  const { bytes, start, statusLineEnd } = response;
  const hasBlank = statusLineEnd > start + STATUS_END;
  if (response.minorVersion === 1 && hasBlank) return start;
  writer.put(VERSION);
  writer.copy(bytes, start + VERSION.length, statusLineEnd);
  if (!hasBlank) writer.out[writer.at++] = SP;
  writer.endLine();
  return response.lineAt[0]!;
}
