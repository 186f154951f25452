// From a request to the outcome of its exchange: pick an endpoint, take a kept connection or dial, try, and try again
// where that is safe (W6): connect failures elsewhere, a stale connection once afresh, a status elsewhere if wanted.
// Every attempt is reported under the epoch of its lease, and every lease is released.

import { type Outcome, verdictOf } from "../core/outcome.ts";
import type { AttemptOptions } from "../http/course.ts";
import { ENDPOINT_WIRE } from "../http/download.ts";
import type { Exchange } from "../http/exchange.ts";
import type { ClientFacts } from "../http/forwarding.ts";
import type { EndpointWire } from "../http/pool.ts";
import type { RequestRewrite } from "../http/request_writer.ts";
import { Wire } from "../http/wire.ts";
import { dialEndpoint } from "./connect.ts";
import { type HttpOffice, noteLatency, type Site } from "./http_office.ts";
import type { Lease, Picker } from "./pick.ts";
import type { Service } from "./service.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What attempts are made for: one client connection. */
export interface AttemptsOwner {
  readonly clientHash: number;
  /** Set once the session is cut: nothing more is tried. */
  readonly cutBy: Outcome | undefined;
  /** The slot that is being used now; -1: none. */
  slot: number;
}

/** The attempts of one request at a time; reusable. */
export class Attempts {
  /** Endpoints tried, for the log. */
  count = 0;
  /** Key of the endpoint tried last; empty: none. */
  endpoint = "";
  /** Time spent dialing, milliseconds. */
  dialMs = 0;
  /** After an upgrade: the connection and its lease, which the caller has to release. */
  upgraded: { readonly connection: EndpointWire; readonly lease: Lease } | undefined;
  readonly #service: Service;
  readonly #office: HttpOffice;
  readonly #owner: AttemptsOwner;
  readonly #rewrite: Writable<RequestRewrite>;
  readonly #options: Writable<AttemptOptions>;
  readonly #setsAside = (status: number): boolean => this.#takeNextFor(status);
  #picker!: Picker;
  #exchange!: Exchange;
  #tried: Set<string> | undefined;
  #retries = 0;
  /** The lease for the next attempt, when an answer was set aside for it. */
  #next: Lease | undefined;
  #hasDialFailed = false;

  constructor(service: Service, office: HttpOffice, client: { facts: ClientFacts; owner: AttemptsOwner }) {
    this.#service = service;
    this.#office = office;
    this.#owner = client.owner;
    this.#rewrite = { client: client.facts, host: undefined, endpointHost: new Uint8Array(0) };
    this.#options = { rewrite: this.#rewrite, readMs: 0, setsAside: undefined };
  }

  /** Brings the exchange to its outcome. */
  async run(exchange: Exchange, picker: Picker): Promise<Outcome> {
    this.#begin(exchange, picker);
    const { upstream } = picker;
    let outcome: Outcome = "no_endpoint";
    let lease = picker.pick(this.#owner);
    while (lease !== undefined) {
      this.count++;
      this.endpoint = lease.endpoint.key;
      this.#owner.slot = lease.slot;
      outcome = await this.#tryEndpoint(lease);
      this.#owner.slot = -1;
      lease = this.#next;
      this.#next = undefined;
      if (lease === undefined && this.#hasDialFailed && this.count < upstream.connectAttempts) {
        lease = this.#mayGoOn(outcome) ? this.#pickOther() : undefined;
      }
    }
    return this.#owner.cutBy ?? outcome;
  }

  #begin(exchange: Exchange, picker: Picker): void {
    const { upstream } = picker;
    this.#exchange = exchange;
    this.#picker = picker;
    this.count = this.dialMs = this.#retries = 0;
    this.endpoint = "";
    this.#tried = this.#next = this.upgraded = undefined;
    this.#options.readMs = upstream.timeouts.readMs;
    this.#options.setsAside = upstream.retries === undefined ? undefined : this.#setsAside;
  }

  /** After a failed dial: only our own lack of descriptors would be the same everywhere. */
  #mayGoOn(outcome: Outcome): boolean {
    return outcome !== "out_of_descriptors" && this.#owner.cutBy === undefined;
  }

  #pickOther(): Lease | undefined {
    this.#tried ??= new Set();
    this.#tried.add(this.endpoint);
    return this.#picker.pick({ clientHash: this.#owner.clientHash, tried: this.#tried });
  }

  /** Whether another endpoint takes over from an answer with this status; its lease is taken right away then. */
  #takeNextFor(status: number): boolean {
    const { retries } = this.#picker.upstream;
    if (retries === undefined || this.#retries >= retries.attempts || !retries.statuses.includes(status)) {
      return false;
    }
    this.#next = this.#pickOther();
    if (this.#next === undefined) return false;
    this.#retries++;
    return true;
  }

  /** One endpoint: on a kept connection or a new one, and once more when the kept one proves stale. */
  async #tryEndpoint(lease: Lease): Promise<Outcome> {
    const site = this.#office.site(lease.place);
    this.#rewrite.host = site.host;
    this.#rewrite.endpointHost = site.endpointHost;
    this.#hasDialFailed = false;
    const kept = site.pool.take();
    let outcome = kept === undefined ? undefined : await this.#tryConnection(kept, lease, site);
    const isWanted = outcome === undefined || (outcome === "stale_connection" && this.#exchange.canResend);
    if (isWanted && this.#owner.cutBy === undefined) {
      const dialed = await dialEndpoint(this.#service, lease);
      if ("outcome" in dialed) {
        this.#hasDialFailed = true;
        return dialed.outcome;
      }
      this.dialMs += dialed.dialMs;
      const connection = site.pool.adopt(new Wire(dialed.conn, this.#office.tools.pages, ENDPOINT_WIRE));
      outcome = await this.#tryConnection(connection, lease, site);
    }
    if (this.upgraded === undefined) lease[Symbol.dispose]();
    return outcome ?? "drained";
  }

  async #tryConnection(connection: EndpointWire, lease: Lease, site: Site): Promise<Outcome> {
    const exchange = this.#exchange;
    const { clock } = this.#office.tools;
    if (this.#owner.cutBy !== undefined) {
      connection.wire.release();
      return this.#owner.cutBy;
    }
    const startedAt = clock.now();
    const outcome = await exchange.attempt(connection, this.#options);
    const hasAnswer = exchange.answeredAt > 0;
    const endedAt = exchange.keepsEndpoint || !hasAnswer ? clock.now() : exchange.answeredAt;
    if (exchange.keepsEndpoint) site.pool.give(connection, endedAt);
    else if (exchange.isUpgraded) this.upgraded = { connection, lease };
    else connection.wire.release();
    const durationMs = (hasAnswer ? exchange.answeredAt : endedAt) - startedAt;
    if (hasAnswer) noteLatency(site, durationMs, endedAt);
    lease.report(outcome, durationMs, detailOf(outcome, exchange));
    return outcome;
  }
}

/** What exactly was seen, for people. */
function detailOf(outcome: Outcome, exchange: Exchange): string {
  return verdictOf(outcome) === "none" || exchange.status === 0 ? "" : String(exchange.status);
}
