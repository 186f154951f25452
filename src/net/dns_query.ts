// One question to one name server: UDP from a fresh socket (so id and port are both random), again without EDNS when
// the server does not know that, over TCP when the answer was truncated. Which servers to ask, and how often, is
// the resolver's business.

import { type Address, canonicalHost, formatAddress, isIpv6 } from "../core/address.ts";
import { type Duplex, writeAll } from "../core/duplex.ts";
import { connectTcp, Deadline } from "./deadline.ts";
import { decodeAnswer, type DnsAnswer, encodeQuery, RCODE } from "./dns_message.ts";
import type { DnsFailureKind, Question } from "./dns_types.ts";
import { firmlyClosing } from "./firm_close.ts";
import { codeOf, messageOf, ownShortage } from "./socket_errors.ts";

/** An answer of a name server, whatever it says. */
export interface Reply {
  readonly answer: DnsAnswer;
  readonly transport: "udp" | "tcp";
}

/** A server that gave no answer that could be read. */
export interface AskFailure {
  readonly failure: Extract<DnsFailureKind, "timeout" | "malformed" | "unreachable" | "own_limit">;
  /** For people, without the server's address: "no answer within 2000 ms". */
  readonly detail: string;
}

/** How to ask. */
export interface AskOptions {
  /** For everything together, milliseconds. */
  readonly timeoutMs: number;
  /** Ask over TCP from the start. */
  readonly useTcp: boolean;
  readonly signal?: AbortSignal;
}

/** Asks one server. Does not reject; aborted it fails as `timeout`. */
export type Ask = (server: Address, question: Question, options: AskOptions) => Promise<Reply | AskFailure>;

/** Asks a real server. */
export async function askServer(
  server: Address,
  question: Question,
  options: AskOptions,
): Promise<Reply | AskFailure> {
  const deadline = new Deadline(options.timeoutMs, options.signal);
  try {
    const asking = { server, question, deadline, timeoutMs: options.timeoutMs };
    const reply = await exchange(asking, { useTcp: options.useTcp, edns: true });
    if ("failure" in reply) return reply;
    const { rcode } = reply.answer;
    const knowsNoEdns = rcode === RCODE.formErr || rcode === RCODE.notImp;
    return knowsNoEdns ? await exchange(asking, { useTcp: options.useTcp, edns: false }) : reply;
  } finally {
    deadline.end();
  }
}

interface Asking {
  readonly server: Address;
  readonly question: Question;
  readonly deadline: Deadline;
  readonly timeoutMs: number;
}

/** One exchange: UDP, and TCP after it when the answer was truncated; or TCP alone. */
async function exchange(
  asking: Asking,
  how: { readonly useTcp: boolean; readonly edns: boolean },
): Promise<Reply | AskFailure> {
  const query = encodeQuery(asking.question, { id: randomId(), edns: how.edns });
  if (query === undefined) return { failure: "malformed", detail: "it is no name that DNS can be asked for" };
  if (how.useTcp) return await exchangeTcp(asking, query);
  const reply = await exchangeUdp(asking, query);
  if ("failure" in reply || !reply.answer.isTruncated) return reply;
  const whole = await exchangeTcp(asking, query);
  return "failure" in whole
    ? { ...whole, detail: `the answer was truncated, and over TCP ${whole.detail}` }
    : whole;
}

/** More than any server should send, given what the query says of EDNS. */
const MAX_DATAGRAM_BYTES = 8192;

function randomId(): number {
  return crypto.getRandomValues(new Uint16Array(1))[0]!;
}

async function exchangeUdp(asking: Asking, query: Uint8Array): Promise<Reply | AskFailure> {
  const hostname = isIpv6(asking.server.host) ? "::" : "0.0.0.0";
  let socket: Deno.DatagramConn;
  try {
    socket = Deno.listenDatagram({ transport: "udp", hostname, port: 0 });
  } catch (error) {
    return unreachable(error);
  }
  const end = await asking.deadline.race(converse(socket, asking.server, query));
  socket.close();
  return end ?? noAnswer(asking);
}

/** Sends the query and waits for its answer; what else arrives is not ours. Ends when the socket is closed. */
async function converse(
  socket: Deno.DatagramConn,
  server: Address,
  query: Uint8Array,
): Promise<Reply | AskFailure> {
  try {
    await socket.send(query, { transport: "udp", hostname: server.host, port: server.port });
    const buffer = new Uint8Array(MAX_DATAGRAM_BYTES);
    while (true) {
      const [bytes, sender] = await socket.receive(buffer);
      const from = sender as Deno.NetAddr;
      if (from.port !== server.port || !isSameHost(from.hostname, server.host)) continue;
      const answer = decodeAnswer(bytes, query);
      if (answer === "not ours") continue;
      return "malformed" in answer ? malformed(answer.malformed) : { answer, transport: "udp" };
    }
  } catch (error) {
    return unreachable(error);
  }
}

/** A link-local server's answer comes without the scope that the query needed. */
function isSameHost(seen: string, asked: string): boolean {
  const bare = (host: string) => canonicalHost(host.replace(/%.*$/, ""));
  return bare(seen) === bare(asked);
}

async function exchangeTcp(asking: Asking, query: Uint8Array): Promise<Reply | AskFailure> {
  const { server, deadline } = asking;
  let conn: Duplex;
  try {
    conn = firmlyClosing(await connectTcp(server, deadline));
  } catch (error) {
    return deadline.struck === undefined ? unreachable(error) : noAnswer(asking);
  }
  const end = await deadline.race(talk(conn, query));
  conn.close();
  return end ?? noAnswer(asking);
}

/** Over TCP each message follows its length in two bytes (RFC 1035 section 4.2.2). */
async function talk(conn: Duplex, query: Uint8Array): Promise<Reply | AskFailure> {
  try {
    await writeAll(conn, Uint8Array.from([query.length >> 8, query.length & 255, ...query]));
    while (true) {
      const head = await readExactly(conn, 2);
      const bytes = head && await readExactly(conn, head[0]! * 256 + head[1]!);
      if (bytes === undefined) return { failure: "unreachable", detail: "the server closed the connection" };
      const answer = decodeAnswer(bytes, query);
      if (answer === "not ours") continue;
      if ("malformed" in answer) return malformed(answer.malformed);
      return answer.isTruncated ? malformed("truncated over TCP") : { answer, transport: "tcp" };
    }
  } catch (error) {
    return unreachable(error);
  }
}

/** Undefined when the connection ends before that many bytes. */
async function readExactly(conn: Duplex, count: number): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(count);
  let filled = 0;
  while (filled < count) {
    const read = await conn.read(bytes.subarray(filled));
    if (read === null) return undefined;
    filled += read;
  }
  return bytes;
}

function noAnswer(asking: Asking): AskFailure {
  const isCancelled = asking.deadline.struck === "cancelled";
  return {
    failure: "timeout",
    detail: isCancelled ? "cancelled" : `no answer within ${asking.timeoutMs} ms`,
  };
}

/** EADDRNOTAVAIL is no want of ports here: this machine has no address of the server's kind (IPv6 is switched off). */
function unreachable(error: unknown): AskFailure {
  const code = codeOf(error);
  const shortage = code === "EADDRNOTAVAIL" ? undefined : ownShortage(error);
  if (shortage !== undefined) return { failure: "own_limit", detail: shortage };
  return { failure: "unreachable", detail: code ?? messageOf(error) };
}

function malformed(detail: string): AskFailure {
  return { failure: "malformed", detail: `unreadable answer: ${detail}` };
}

/** A server as it stands in details: "10.0.0.2" for port 53, "10.0.0.2:5353" for others. */
export function serverName(server: Address): string {
  return server.port === 53 ? server.host : formatAddress(server);
}
