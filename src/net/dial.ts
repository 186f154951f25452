// Opening a connection to an endpoint: resolve, TCP, TLS, within one deadline. However it ends is a value with an
// outcome of core's table and a detail that names each address tried. Address literals never touch DNS (D8); a plain
// literal is the shortest way, since every short-lived connection pays for it. Choosing endpoints is not done here.

import { type Address, formatAddress, isIpLiteral } from "../core/address.ts";
import type { Clock } from "../core/clock.ts";
import type { Duplex } from "../core/duplex.ts";
import type { Outcome } from "../core/outcome.ts";
import type { ResolveHost } from "./dns_types.ts";
import { firmlyClosing } from "./firm_close.ts";
import type { Handshakes } from "./handshakes.ts";
import { interleaved, type Lost, race, type RaceResult } from "./happy_eyeballs.ts";
import { attemptFailure, timedOut } from "./attempt_failure.ts";
import { type Cancellable, connectTcp, Deadline, type Deadlines } from "./deadline.ts";
import type { ConnectFailure } from "./socket_errors.ts";
import { tlsReason } from "./tls_errors.ts";
import { rootsFor } from "./trust.ts";

/** Where to. The host is canonical: a name, IPv4, or bare IPv6. */
export interface DialTarget extends Address {
  /** Absent: plain TCP. */
  readonly tls?: DialTls;
}

/** How to speak TLS to the endpoint. */
export interface DialTls {
  /** The name that is asked for and checked; an address literal is checked against IP SANs. */
  readonly serverName: string;
  /** PEM bundle that is believed INSTEAD of the public roots (see trust.ts); absent: the public roots. */
  readonly ca?: string;
  readonly alpn: readonly "http/1.1"[];
}

/** How to dial. */
export interface DialOptions {
  /** Bounds resolve + TCP + TLS together, milliseconds, above 0. */
  readonly connectMs: number;
  /** Delay before the next address is tried beside (RFC 8305), milliseconds; 0: one address at a time. */
  readonly happyEyeballsMs: number;
  /** Aborted: the dial ends as `cancelled`. */
  readonly signal?: AbortSignal;
  readonly resolveHost: ResolveHost;
  readonly clock: Clock;
  /** One per thread. Absent: a TLS endpoint that accepts and then hangs costs a descriptor per dial until it ends. */
  readonly handshakes?: Handshakes;
  /** Shared deadlines for dials in numbers, with their coarser grain; absent: each dial has its own. */
  readonly deadlines?: Deadlines;
  /** Called at once with what gives the dial up as `cancelled`, and with undefined when a TLS handshake forbids that. */
  readonly begun?: ((dial: Cancellable | undefined) => void) | undefined;
}

/** An open connection; it belongs to the caller now. TCP_NODELAY is set. */
export interface Dialed {
  readonly conn: Duplex;
  /** The address that was reached; the host is an IP literal. */
  readonly remote: Address;
  /** Milliseconds of each stage; 0 for a stage that was not needed. */
  readonly resolveMs: number;
  readonly connectMs: number;
  readonly tlsMs: number;
}

/** No connection. */
export interface DialFailure {
  readonly outcome: Outcome;
  /**
   * For people: why; where a name or TLS was involved, each address tried and its reason. "refused (ECONNREFUSED)",
   * "10.0.0.1: refused (ECONNREFUSED); 10.0.0.2: no answer within 700 ms".
   */
  readonly detail: string;
}

/** Opens a connection. Does not reject; what it opened is closed when it fails, save handshakes (see `handshakes`). */
export function dial(target: DialTarget, options: DialOptions): Promise<Dialed | DialFailure> {
  const isPlainLiteral = target.tls === undefined && isIpLiteral(target.host);
  return isPlainLiteral ? dialPlainLiteral(target, options) : dialInStages(target, options);
}

async function dialPlainLiteral(target: Address, options: DialOptions): Promise<Dialed | DialFailure> {
  const deadline = options.signal === undefined && options.deadlines !== undefined
    ? options.deadlines.begin(options.connectMs)
    : new Deadline(options.connectMs, options.signal);
  options.begun?.(deadline);
  const startedAt = options.clock.now();
  try {
    const conn = await connectTcp(target, deadline);
    prepare(conn, deadline);
    return {
      conn: firmlyClosing(conn),
      remote: target,
      resolveMs: 0,
      connectMs: options.clock.now() - startedAt,
      tlsMs: 0,
    };
  } catch (error) {
    const failure = attemptFailure(error, { host: target.host, deadline, limitMs: options.connectMs });
    return { outcome: failure.outcome, detail: failure.reason };
  } finally {
    deadline.end();
  }
}

/** The last touch of a fresh connection. Closes and throws when it is not wanted any more or already broken. */
function prepare(conn: Deno.TcpConn, deadline: Pick<Deadline, "struck">): void {
  try {
    if (deadline.struck !== undefined) throw new Error(deadline.struck);
    conn.setNoDelay();
  } catch (error) {
    conn.close();
    throw error;
  }
}

/** What the stages of one dial share. */
interface Attempt {
  readonly options: DialOptions;
  readonly deadline: Deadline;
}

async function dialInStages(target: DialTarget, options: DialOptions): Promise<Dialed | DialFailure> {
  const deadline = new Deadline(options.connectMs, options.signal);
  options.begun?.(deadline);
  const attempt = { options, deadline };
  const { clock } = options;
  try {
    const startedAt = clock.now();
    const addresses = await addressesOf(target.host, attempt);
    if ("outcome" in addresses) return addresses;
    const resolvedAt = clock.now();
    const tcp = await connectAny(addresses.list, target.port, attempt);
    if ("outcome" in tcp) return tcp;
    const connectedAt = clock.now();
    options.begun?.(undefined);
    const secured = target.tls === undefined ? tcp : await secure(tcp, target.tls, attempt);
    if ("outcome" in secured) return secured;
    return {
      ...secured,
      conn: firmlyClosing(secured.conn),
      resolveMs: isIpLiteral(target.host) ? 0 : resolvedAt - startedAt,
      connectMs: connectedAt - resolvedAt,
      tlsMs: target.tls === undefined ? 0 : clock.now() - connectedAt,
    };
  } finally {
    deadline.end();
  }
}

async function addressesOf(
  host: string,
  { options, deadline }: Attempt,
): Promise<{ readonly list: readonly string[] } | DialFailure> {
  if (isIpLiteral(host)) return { list: [host] };
  const resolved = await deadline.race(options.resolveHost(host));
  if (resolved === undefined) {
    return deadline.struck === "cancelled"
      ? { outcome: "cancelled", detail: `${host}: cancelled while its name was being resolved` }
      : { outcome: "name_unresolved", detail: `${host}: no answer from DNS within ${options.connectMs} ms` };
  }
  if ("failure" in resolved) return { outcome: "name_unresolved", detail: `${host}: ${resolved.detail}` };
  return { list: interleaved(resolved.addresses) };
}

interface Connected {
  readonly conn: Deno.TcpConn;
  readonly remote: Address;
}

async function connectAny(
  addresses: readonly string[],
  port: number,
  { options, deadline }: Attempt,
): Promise<Connected | DialFailure> {
  const sliceMs = options.happyEyeballsMs > 0 ? Infinity : options.connectMs / addresses.length;
  const result = await race<Deno.TcpConn, ConnectFailure>(addresses, {
    connect: (address, signal) => connectOne({ host: address, port }, signal, sliceMs),
    discard: (conn) => conn.close(),
    delayMs: options.happyEyeballsMs,
    clock: options.clock,
    signal: deadline.signal,
  });
  if ("won" in result) return { conn: result.won, remote: { host: result.address, port } };
  return raceFailure(result, { options, deadline });
}

/** One address. With one at a time (`sliceMs` finite) none may use up the time of those after it. */
async function connectOne(
  address: Address,
  signal: AbortSignal,
  sliceMs: number,
): Promise<{ readonly conn: Deno.TcpConn } | { readonly failure: ConnectFailure }> {
  const slice = new Deadline(sliceMs, signal);
  try {
    const conn = await connectTcp(address, slice);
    prepare(conn, slice);
    return { conn };
  } catch (error) {
    return { failure: attemptFailure(error, { host: address.host, deadline: slice, limitMs: sliceMs }) };
  } finally {
    slice.end();
  }
}

function raceFailure(
  result: Extract<RaceResult<never, ConnectFailure>, { lost: unknown }>,
  { options, deadline }: Attempt,
): DialFailure {
  const open = deadline.struck === "cancelled"
    ? { outcome: "cancelled", reason: "cancelled" } as const
    : timedOut(options.connectMs);
  const lost = [...result.lost, ...result.pending.map((address) => ({ address, failure: open }))];
  const detail = lost.map(({ address, failure }) => `${address}: ${failure.reason}`).join("; ");
  return { outcome: deadline.struck === undefined ? verdictOf(lost) : open.outcome, detail };
}

/** The most telling first. What only we lacked decides when no address was judged by anything else. */
const TELLING: readonly Outcome[] = [
  "out_of_descriptors",
  "refused",
  "reset",
  "connect_timeout",
  "unreachable",
  "own_limit",
];

/** One dial is one outcome (D9), however many addresses were tried. */
function verdictOf(lost: readonly Lost<ConnectFailure>[]): Outcome {
  const outcomes = lost.map(({ failure }) => failure.outcome);
  return TELLING.find((outcome) => outcomes.includes(outcome)) ?? outcomes[0] ?? "internal_error";
}

async function secure(
  tcp: Connected,
  tls: DialTls,
  attempt: Attempt,
): Promise<Secured | DialFailure> {
  const { host } = tcp.remote;
  const forbidding = attempt.options.handshakes?.forbids(formatAddress(tcp.remote)) ?? 0;
  if (forbidding > 0) {
    tcp.conn.close();
    const detail = `${host}: ${forbidding} earlier TLS handshakes with it are still unanswered`;
    return { outcome: "connect_timeout", detail };
  }
  let conn: Deno.TlsConn;
  try {
    conn = await Deno.startTls(tcp.conn, {
      hostname: tls.serverName.replace(/%.*$/, ""), // a zone is no part of what a certificate names
      caCerts: rootsFor(tls.ca),
      alpnProtocols: [...tls.alpn],
    });
  } catch (error) {
    // No byte has been sent yet: a bundle or a name that can not be used is our config's doing.
    closeIfOpen(tcp.conn);
    return { outcome: "internal_error", detail: `${host}: ${tlsReason(error)}` };
  }
  return await shakeHands({ conn, remote: tcp.remote }, attempt);
}

/** A failed `startTls` has taken the connection with it or not, depending on how far it came. */
function closeIfOpen(conn: Deno.TcpConn): void {
  try {
    conn.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

interface Secured {
  readonly conn: Deno.TlsConn;
  readonly remote: Address;
}

/** The handshake takes no signal: when the deadline strikes first it is left behind. */
async function shakeHands(tls: Secured, { options, deadline }: Attempt): Promise<Secured | DialFailure> {
  const { host } = tls.remote;
  const address = formatAddress(tls.remote);
  const shaken = tls.conn.handshake().then(() => "done" as const, (error: unknown) => ({ error }));
  const end = await deadline.race(shaken);
  if (end !== undefined) options.handshakes?.answered(address);
  if (end === "done") return tls;
  if (end !== undefined) {
    tls.conn.close();
    return { outcome: "tls_failed", detail: `${host}: ${tlsReason(end.error)}` };
  }
  if (options.handshakes === undefined) tls.conn.close();
  else options.handshakes.leave(address, tls.conn, shaken);
  if (deadline.struck === "cancelled") {
    return { outcome: "cancelled", detail: `${host}: cancelled in the TLS handshake` };
  }
  const detail = `${host}: no end of the TLS handshake within ${options.connectMs} ms`;
  return { outcome: "connect_timeout", detail };
}
