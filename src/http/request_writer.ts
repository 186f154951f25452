// The request as it goes to an endpoint (W2, W3): the client's bytes in the client's order, without what concerns one
// hop, with the Host that the upstream asks for and with what we know about the client.

import { CHARS, PLAIN } from "./chars.ts";
import type { ClientFacts } from "./forwarding.ts";
import type { HeadWriter } from "./head_writer.ts";
import { bitOf, FORWARDING, HOP_BY_HOP, NAME, NOT_NOMINABLE } from "./header_names.ts";
import type { RequestHead } from "./request_head.ts";
import { ascii, eachItem, isWord } from "./spans.ts";

/** What is changed in a request, besides hop-by-hop headers. */
export interface RequestRewrite {
  readonly client: ClientFacts;
  /** The Host that goes out; undefined: the one the client asked for. */
  readonly host: Readonly<Uint8Array> | undefined;
  /** The Host for clients that gave none (HTTP/1.0): the endpoint's address. */
  readonly endpointHost: Readonly<Uint8Array>;
}

/** A request id as a span. */
export interface IdSpan {
  bytes: Uint8Array;
  from: number;
  to: number;
}

const MAX_ID_BYTES = 128;
const VERSION_LINE = ascii(" HTTP/1.1\r\n");
const HOST = ascii("Host: ");
const FORWARDED_FOR = ascii("X-Forwarded-For: ");
const FORWARDED_PROTO = ascii("X-Forwarded-Proto: ");
const FORWARDED_HOST = ascii("X-Forwarded-Host: ");
const REQUEST_ID = ascii("X-Request-Id: ");
const UPGRADE = ascii("Connection: Upgrade\r\nUpgrade: ");
const TE_TRAILERS = ascii("TE: trailers\r\nConnection: TE\r\n");
const TRAILERS = ascii("trailers");
const LIST_SEPARATOR = ascii(", ");
const LEADS = { "": ascii(""), "/": ascii("/"), "*": ascii("*") };

/** Writes the whole head of `request` as it goes to an endpoint, into a writer that has just begun. `id` is the request id in force. */
export function writeRequest(
  writer: HeadWriter,
  request: RequestHead,
  rewrite: RequestRewrite,
  id: IdSpan,
): void {
  const { bytes, lineAt, names, count } = request;
  const replacesHost = request.isAbsolute || rewrite.host !== undefined;
  const dropped = droppedOf(request, rewrite, replacesHost);
  let runAt = writeFirstLine(writer, request);
  if (!request.has(NAME.host)) writeHost(writer, request, rewrite);
  for (let line = 0; line < count; line++) {
    const name = names[line]!;
    if ((dropped & bitOf(name)) === 0 && !isNominated(request, line, name)) continue;
    writer.copy(bytes, runAt, lineAt[line]!);
    runAt = lineAt[line + 1]!;
    if (name === NAME.host) writeHost(writer, request, rewrite);
  }
  writer.copy(bytes, runAt, lineAt[count]!);
  writeHopHeaders(writer, request);
  writeForwarding(writer, request, rewrite.client);
  if (!keepsRequestId(request)) writeId(writer, id);
  writer.endLine();
}

/** Names whose lines are left out or replaced. Bit 0 (unknown names) is never set. */
function droppedOf(request: RequestHead, rewrite: RequestRewrite, replacesHost: boolean): number {
  let dropped = HOP_BY_HOP | (rewrite.client.isTrusted ? bitOf(NAME.x_forwarded_for) : FORWARDING);
  if (replacesHost) dropped |= bitOf(NAME.host);
  if (!request.chunked) dropped |= bitOf(NAME.trailer);
  // HTTP/1.0 knows no interim answers (RFC 9110 10.1.1).
  if (request.minorVersion === 0) dropped |= bitOf(NAME.expect);
  if (!keepsRequestId(request)) dropped |= bitOf(NAME.x_request_id);
  return dropped & request.seen;
}

function isNominated(request: RequestHead, line: number, name: number): boolean {
  return request.nominated > 0 && (NOT_NOMINABLE & bitOf(name)) === 0 && request.isNominated(line);
}

/** Writes the request line unless it can be copied together with the lines behind it; gives where copying begins. */
function writeFirstLine(writer: HeadWriter, request: RequestHead): number {
  const { bytes, start } = request;
  if (request.minorVersion === 1 && !request.isAbsolute && request.has(NAME.host)) return start;
  writer.copy(bytes, start, request.methodEnd + 1);
  writer.put(LEADS[request.pathLead]);
  writer.copy(bytes, request.pathAt, request.pathEnd);
  writer.put(VERSION_LINE);
  return request.lineAt[0]!;
}

function writeHost(writer: HeadWriter, request: RequestHead, rewrite: RequestRewrite): void {
  writer.put(HOST);
  if (rewrite.host !== undefined) writer.put(rewrite.host);
  else if (request.authorityEnd > request.authorityAt) {
    writer.copy(request.bytes, request.authorityAt, request.authorityEnd);
  } else writer.put(rewrite.endpointHost);
  writer.endLine();
}

/** Our own hop-by-hop headers: an upgrade that is passed on, or the wish for trailers (RFC 9110 10.1.4). */
function writeHopHeaders(writer: HeadWriter, request: RequestHead): void {
  if (request.wantsUpgrade) {
    writer.put(UPGRADE);
    let isFirst = true;
    request.eachUpgrade((from, to) => {
      if (!isFirst) writer.put(LIST_SEPARATOR);
      isFirst = false;
      writer.copy(request.bytes, from, to);
    });
    writer.endLine();
  } else if (request.optionTe && wantsTrailers(request)) writer.put(TE_TRAILERS);
}

function wantsTrailers(request: RequestHead): boolean {
  if (!request.has(NAME.te)) return false;
  const line = request.lineOf[NAME.te]!;
  let found = false;
  eachItem(request.bytes, request.valueAt[line]!, request.valueEnd[line]!, (from, to) => {
    found ||= isWord(request.bytes, from, to, TRAILERS);
  });
  return found;
}

function writeForwarding(writer: HeadWriter, request: RequestHead, client: ClientFacts): void {
  const kept = client.isTrusted ? request.seen : 0;
  writer.put(FORWARDED_FOR);
  if ((kept & bitOf(NAME.x_forwarded_for)) !== 0) copyForwardedFor(writer, request);
  writer.putText(client.address);
  writer.endLine();
  if ((kept & bitOf(NAME.x_forwarded_proto)) === 0) {
    writer.put(FORWARDED_PROTO);
    writer.put(client.scheme);
    writer.endLine();
  }
  if ((kept & bitOf(NAME.x_forwarded_host)) === 0 && request.authorityEnd > request.authorityAt) {
    writer.put(FORWARDED_HOST);
    writer.copy(request.bytes, request.authorityAt, request.authorityEnd);
    writer.endLine();
  }
}

function copyForwardedFor(writer: HeadWriter, request: RequestHead): void {
  for (let line = 0; line < request.count; line++) {
    const from = request.valueAt[line]!;
    const to = request.valueEnd[line]!;
    if (request.names[line] !== NAME.x_forwarded_for || from === to) continue;
    writer.copy(request.bytes, from, to);
    writer.put(LIST_SEPARATOR);
  }
}

/** Adds the header with the request id. */
export function writeId(writer: HeadWriter, id: IdSpan): void {
  writer.put(REQUEST_ID);
  writer.copy(id.bytes, id.from, id.to);
  writer.endLine();
}

/** Whether the client's own request id is passed: one, of 1 to 128 visible characters that need no escaping in JSON. */
export function keepsRequestId(request: RequestHead): boolean {
  if (!request.has(NAME.x_request_id)) return false;
  if ((request.repeated & bitOf(NAME.x_request_id)) !== 0) return false;
  const line = request.lineOf[NAME.x_request_id]!;
  const from = request.valueAt[line]!;
  const to = request.valueEnd[line]!;
  if (to === from || to - from > MAX_ID_BYTES) return false;
  for (let at = from; at < to; at++) if ((CHARS[request.bytes[at]!]! & PLAIN) === 0) return false;
  return true;
}

/** An upper bound of the bytes that `writeRequest` writes. */
export function requestBound(request: RequestHead, rewrite: RequestRewrite): number {
  const hostBytes = (rewrite.host?.length ?? 0) + rewrite.endpointHost.length;
  return 2 * (request.end - request.start) + hostBytes + 512;
}
