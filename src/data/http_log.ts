// Accounts for exchanges: the counts of listener and upstream, and the record for the access log when one is wanted.
// Texts are made from spans only for a record.

import type { Outcome } from "../core/outcome.ts";
import type { Exchange } from "../http/exchange.ts";
import { textOf } from "../http/spans.ts";
import type { Wire } from "../http/wire.ts";
import { clientTextOf } from "./client_address.ts";
import { countExchange } from "./counts.ts";
import type { Attempts } from "./http_attempts.ts";
import type { ClientConn, Service } from "./service.ts";

/** Longest target in a record, bytes. */
const MAX_TARGET = 2048;

/** How an exchange ended. */
export interface ExchangeEnd {
  readonly outcome: Outcome;
  /** Status that the client got; 0: none. */
  readonly status: number;
  /** When, by the clock; absent: now. */
  readonly at?: number;
  /** Absent: those of the exchange. */
  readonly bytes?: { readonly up: number; readonly down: number };
}

/** The accounts of one client connection. */
export class ExchangeLog {
  /** Name of the upstream; empty until the request is routed. */
  upstream = "";
  readonly #service: Service;
  readonly #listener: string;
  readonly #client: ClientConn;
  #startedAt = 0;
  #countedIn = 0;
  #countedOut = 0;

  constructor(service: Service, listener: string, client: ClientConn) {
    this.#service = service;
    this.#listener = listener;
    this.#client = client;
  }

  /** A request has begun at `now`. */
  begin(now: number): void {
    this.#startedAt = now;
    this.upstream = "";
  }

  /** The exchange is over. */
  end(exchange: Exchange, attempts: Attempts, end: ExchangeEnd): void {
    const { counts, clock } = this.#service;
    const durationMs = (end.at ?? clock.now()) - this.#startedAt;
    if (this.upstream !== "" && end.status > 0) {
      const stats = counts.upstream(this.upstream);
      const key = CLASSES[Math.floor(end.status / 100)] ?? "other";
      stats.responses[key] = (stats.responses[key] ?? 0) + 1;
      countExchange(stats, durationMs);
    }
    if (this.#isLogged(end)) this.#record(exchange, attempts, { ...end, durationMs });
  }

  /** There was no request: the client's TLS handshake did not end well. It began with the last `begin`. */
  endUnshaken(outcome: Outcome): void {
    const { clock } = this.#service;
    if (!this.#isLogged({ outcome, status: 0 })) return;
    this.#service.record({
      listener: this.#listener,
      protocol: "http",
      upstream: "",
      endpoint: "",
      client: clientTextOf(this.#client),
      outcome,
      bytesUp: 0,
      bytesDown: 0,
      durationMs: clock.now() - this.#startedAt,
      attempts: 0,
      at: clock.wallMs(),
    });
  }

  /** Adds what a wire has moved since the last call to the listener's bytes. */
  countBytes(wire: Wire): void {
    const stats = this.#service.counts.listener(this.#listener);
    stats.bytesIn += wire.bytesIn - this.#countedIn;
    stats.bytesOut += wire.bytesOut - this.#countedOut;
    this.#countedIn = wire.bytesIn;
    this.#countedOut = wire.bytesOut;
  }

  #isLogged({ outcome, status }: ExchangeEnd): boolean {
    const { access } = this.#service.plan;
    if (access !== "errors") return access === "all";
    return (outcome !== "answered" && outcome !== "finished") || status >= 500;
  }

  #record(exchange: Exchange, attempts: Attempts, end: ExchangeEnd & { readonly durationMs: number }): void {
    const { request } = exchange;
    const isRouted = this.upstream !== "";
    this.#service.record({
      listener: this.#listener,
      protocol: "http",
      upstream: this.upstream,
      endpoint: isRouted ? attempts.endpoint : "",
      client: clientTextOf(this.#client),
      outcome: end.outcome,
      bytesUp: end.bytes?.up ?? exchange.bytesUp,
      bytesDown: end.bytes?.down ?? exchange.bytesDown,
      durationMs: end.durationMs,
      attempts: isRouted ? attempts.count : 0,
      at: this.#service.clock.wallMs(),
      http: {
        method: request.methodText,
        target: textOf(
          request.bytes,
          request.targetAt,
          Math.min(request.targetEnd, request.targetAt + MAX_TARGET),
        ),
        host: textOf(request.bytes, request.authorityAt, request.authorityEnd),
        status: end.status,
        requestId: exchange.requestId,
        dialMs: isRouted ? attempts.dialMs : 0,
        firstByteMs: exchange.answeredAt > 0 ? exchange.answeredAt - this.#startedAt : 0,
      },
    });
  }
}

const CLASSES: readonly string[] = ["other", "1xx", "2xx", "3xx", "4xx", "5xx"];
