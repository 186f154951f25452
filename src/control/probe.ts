// One probe of one endpoint, on its own connection, by the same dialing rules and trust roots as traffic (P2 to P5). The
// result is a value with the outcome and what each stage took; when to probe and what follows is not decided here.

import { type Address, formatAddress } from "../core/address.ts";
import type { Clock } from "../core/clock.ts";
import { type Duplex, writeAll } from "../core/duplex.ts";
import type { Outcome } from "../core/outcome.ts";
import {
  type ActiveParams,
  type EndpointConfig,
  tlsNameOf,
  type UpstreamPolicy,
  usesTls,
} from "../core/plan.ts";
import type { Dialed, DialFailure, DialOptions, DialTarget } from "../net/dial.ts";
import { printable, type StatusLine, StatusLineReader } from "./status_line.ts";

/** Opens a connection as traffic does: `dial` of net with its resolver and clock filled in. */
export type ProbeDial = (
  target: DialTarget,
  options: Pick<DialOptions, "connectMs" | "happyEyeballsMs"> & { readonly signal: AbortSignal },
) => Promise<Dialed | DialFailure>;

/** What is probed, and how. */
export interface ProbeTarget {
  readonly dial: DialTarget;
  readonly happyEyeballsMs: number;
  readonly params: ActiveParams;
  /** The whole request head; empty for tcp probes. */
  readonly request: string;
}

/** What a probe stands on. */
export interface ProbeOptions {
  readonly dial: ProbeDial;
  readonly clock: Clock;
  /** Aborted: the probe ends as `cancelled`. */
  readonly signal: AbortSignal;
}

/** Milliseconds per stage; absent: not reached, or not needed. */
export interface ProbeStages {
  readonly resolveMs?: number;
  readonly connectMs?: number;
  readonly tlsMs?: number;
  readonly requestMs?: number;
  readonly answerMs?: number;
}

/** How a probe went. */
export interface ProbeResult {
  readonly outcome: Outcome;
  /** "200 OK", "503 Service Unavailable", "10.0.0.1: refused (ECONNREFUSED)". */
  readonly detail: string;
  readonly durationMs: number;
  readonly stages: ProbeStages;
  /** The address that was reached. */
  readonly remote?: Address;
}

/** What has to be known to probe an endpoint; the upstream must have `activeHealth`. */
export function probeTargetOf(
  upstream: UpstreamPolicy & { readonly activeHealth: ActiveParams },
  endpoint: EndpointConfig,
): ProbeTarget {
  const params = upstream.activeHealth;
  const address = { host: endpoint.host, port: params.port ?? endpoint.port };
  const isHttp = params.kind === "http";
  return {
    dial: isHttp && usesTls(upstream, endpoint)
      ? { ...address, tls: tlsOf(upstream, endpoint, params.serverName) }
      : address,
    happyEyeballsMs: upstream.timeouts.happyEyeballsMs,
    params,
    request: isHttp ? requestOf(params, params.host ?? hostOf(upstream, address)) : "",
  };
}

function tlsOf(upstream: UpstreamPolicy, endpoint: EndpointConfig, serverName: string | undefined) {
  const ca = upstream.tls?.ca;
  return {
    serverName: serverName ?? tlsNameOf(upstream, endpoint),
    ...(ca !== undefined && { ca }),
    alpn: ["http/1.1"] as const,
  };
}

/** What traffic would send where that is known, else the address. */
function hostOf(upstream: UpstreamPolicy, address: Address): string {
  return typeof upstream.host === "object" ? upstream.host.name : formatAddress(address);
}

/** The request head. A configured header takes the place of ours of the same name; Connection is always ours. */
function requestOf(params: ActiveParams, host: string): string {
  const own: [string, string][] = [["Host", host], ["User-Agent", "hale-probe"]];
  if (["POST", "PUT", "PATCH"].includes(params.method)) own.push(["Content-Length", "0"]);
  const given = params.headers.filter(([name]) => !isName(name, "connection"));
  const kept = own.filter(([name]) => !given.some(([other]) => isName(other, name)));
  const lines = [...kept, ...given, ["Connection", "close"]].map(([name, value]) => `${name}: ${value}\r\n`);
  return `${params.method} ${params.path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

function isName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Probes once. Never rejects, unless hale itself is at fault; nothing it opened is left behind. */
export async function probeOnce(target: ProbeTarget, options: ProbeOptions): Promise<ProbeResult> {
  const { dial, clock, signal } = options;
  const { params, happyEyeballsMs } = target;
  const startedAt = clock.now();
  const dialed = await dial(target.dial, { connectMs: params.timeoutMs, happyEyeballsMs, signal });
  if ("outcome" in dialed) {
    const { outcome, detail } = dialed;
    return { outcome, detail, durationMs: clock.now() - startedAt, stages: {} };
  }
  const end = params.kind === "tcp"
    ? await hangUp(dialed.conn)
    : await new Conversation(dialed.conn, target, options).run(startedAt + params.timeoutMs);
  return {
    outcome: end.outcome,
    detail: end.detail,
    durationMs: clock.now() - startedAt,
    stages: { ...dialStages(dialed, target), ...end.stages },
    remote: dialed.remote,
  };
}

function dialStages(dialed: Dialed, target: ProbeTarget): ProbeStages {
  const { resolveMs, connectMs, tlsMs } = dialed;
  const isResolved = resolveMs > 0 || dialed.remote.host !== target.dial.host;
  return {
    ...(isResolved && { resolveMs }),
    connectMs,
    ...(target.dial.tls !== undefined && { tlsMs }),
  };
}

interface End {
  readonly outcome: Outcome;
  readonly detail: string;
  readonly stages: ProbeStages;
}

/** The end of a tcp probe: a clean close, so that the endpoint's log shows no reset. */
async function hangUp(conn: Duplex): Promise<End> {
  // The endpoint may have reset the connection by now. It did accept it, and that is the question.
  await conn.closeWrite().catch(() => undefined);
  conn.close();
  return { outcome: "probe_ok", detail: "connected", stages: {} };
}

/** Request and answer of an http probe. */
class Conversation {
  readonly #conn: Duplex;
  readonly #target: ProbeTarget;
  readonly #options: ProbeOptions;
  readonly #reader = new StatusLineReader();
  #cut: "timeout" | "cancelled" | undefined;
  #isClosed = false;

  constructor(conn: Duplex, target: ProbeTarget, options: ProbeOptions) {
    this.#conn = conn;
    this.#target = target;
    this.#options = options;
  }

  async run(deadline: number): Promise<End> {
    const { clock, signal } = this.#options;
    const over = new AbortController();
    const cancel = () => this.#cutOff("cancelled");
    signal.addEventListener("abort", cancel, { once: true });
    const timer = clock.sleep(Math.max(0, deadline - clock.now()), over.signal).then(
      () => this.#cutOff("timeout"),
      () => undefined, // The conversation was over first.
    );
    if (signal.aborted) cancel();
    try {
      return await this.#talk();
    } finally {
      signal.removeEventListener("abort", cancel);
      over.abort("over"); // A reason of our own spares making a DOMException.
      await timer;
      this.#close();
    }
  }

  /** Closing is what ends a read or write that is under way. */
  #cutOff(reason: "timeout" | "cancelled"): void {
    if (this.#isClosed) return;
    this.#cut = reason;
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#conn.close();
  }

  async #talk(): Promise<End> {
    const { clock } = this.#options;
    const startedAt = clock.now();
    const failed = await this.#send();
    const sentAt = clock.now();
    const requestMs = sentAt - startedAt;
    if (failed !== undefined) return { ...failed, stages: { requestMs } };
    const judged = await this.#hear();
    return { ...judged, stages: { requestMs, answerMs: clock.now() - sentAt } };
  }

  async #send(): Promise<Omit<End, "stages"> | undefined> {
    try {
      await writeAll(this.#conn, new TextEncoder().encode(this.#target.request));
      return undefined;
    } catch (error) {
      return this.#broken(error);
    }
  }

  async #hear(): Promise<Omit<End, "stages">> {
    for (;;) {
      let count: number | null;
      try {
        count = await this.#conn.read(this.#reader.room);
      } catch (error) {
        return this.#broken(error);
      }
      if (count === null) return this.#ended("closed by the endpoint");
      const line = this.#reader.take(count);
      if (line !== undefined) return judge(line, this.#target.params);
    }
  }

  #broken(error: unknown): Omit<End, "stages"> {
    if (this.#cut === "cancelled") return { outcome: "cancelled", detail: "cancelled" };
    if (this.#cut === "timeout") {
      return { outcome: "answer_timeout", detail: `no answer within ${this.#target.params.timeoutMs} ms` };
    }
    return this.#ended(printable(error instanceof Error ? error.message : String(error)));
  }

  #ended(detail: string): Omit<End, "stages"> {
    return { outcome: this.#reader.isEmpty ? "no_answer" : "answer_cut", detail };
  }
}

function judge(line: StatusLine, params: ActiveParams): Omit<End, "stages"> {
  if ("malformed" in line) return { outcome: "answer_malformed", detail: line.malformed };
  const isExpected = params.expectStatus.some(([from, to]) => line.status >= from && line.status <= to);
  const detail = `${line.status} ${printable(line.reason).slice(0, 60)}`.trim();
  return { outcome: isExpected ? "probe_ok" : "unexpected_status", detail };
}
