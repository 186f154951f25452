// From a request to the outcome of its exchange: pick an endpoint, take a kept connection or dial, try, and try again
// where that is safe (W6): connect failures elsewhere, a stale connection afresh, a fresh one without an answer once
// elsewhere, a status elsewhere if wanted.
// Every attempt is reported under the epoch of its lease, and every lease is released.

import type { Outcome } from "../core/outcome.ts";
import type { ClientSide } from "../http/client_side.ts";
import type { AttemptOptions } from "../http/course.ts";
import { ENDPOINT_WIRE } from "../http/download.ts";
import type { Exchange } from "../http/exchange.ts";
import type { ClientFacts } from "../http/forwarding.ts";
import type { EndpointWire } from "../http/pool.ts";
import type { RequestRewrite } from "../http/request_writer.ts";
import { Wire } from "../http/wire.ts";
import { ClientLook } from "./client_look.ts";
import { dialEndpoint } from "./connect.ts";
import { type HttpOffice, noteLatency, type Site } from "./http_office.ts";
import type { Lease, Picker } from "./pick.ts";
import type { Service } from "./service.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Before the first pick. */
const NO_HOST = new Uint8Array(0);

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
  /** When the last attempt on a connection ended, by the clock. */
  endedAt = 0;
  /** After an upgrade: the connection and its lease, which the caller has to release. */
  upgraded: { readonly connection: EndpointWire; readonly lease: Lease } | undefined;
  readonly #service: Service;
  readonly #office: HttpOffice;
  readonly #owner: AttemptsOwner;
  readonly #side: ClientSide;
  readonly #rewrite: Writable<RequestRewrite>;
  readonly #options: Writable<AttemptOptions>;
  readonly #setsAside = (status: number): boolean => this.#takeNextFor(status);
  #picker!: Picker;
  #exchange!: Exchange;
  #tried: Set<string> | undefined;
  #retries = 0;
  /** The lease for the next attempt, when an answer was set aside for it. */
  #next: Lease | undefined;
  /** How the last dial ended; "connected" while none has failed. */
  #dialOutcome: Outcome = "connected";
  /** Made with the first dial. */
  #look: ClientLook | undefined;

  constructor(
    service: Service,
    office: HttpOffice,
    client: { facts: ClientFacts; owner: AttemptsOwner; side: ClientSide },
  ) {
    this.#service = service;
    this.#office = office;
    this.#owner = client.owner;
    this.#side = client.side;
    this.#rewrite = { client: client.facts, host: undefined, endpointHost: NO_HOST };
    this.#options = { rewrite: this.#rewrite, startedAt: 0, readMs: 0, setsAside: undefined };
  }

  /** Brings the exchange to its outcome. One function for all of it: each promise is paid for by every request. */
  async run(exchange: Exchange, picker: Picker): Promise<Outcome> {
    this.#begin(exchange, picker);
    const { clock } = this.#office.tools;
    let outcome: Outcome = "no_endpoint";
    let isSentElsewhere = false;
    let lease = picker.pick(this.#owner);
    while (lease !== undefined) {
      const site = this.#use(lease);
      let connection = site.pool.take();
      try {
        for (;;) {
          const isKept = connection !== undefined;
          connection ??= await this.#connect(lease, site);
          if (connection === undefined) {
            outcome = this.#dialOutcome;
            break;
          }
          this.#options.startedAt = clock.now();
          outcome = await exchange.attempt(connection, this.#options);
          this.#account(connection, { lease, site }, outcome);
          if (outcome !== "stale_connection" || !isKept || !exchange.canResend) break;
          connection = undefined;
        }
      } finally {
        if (this.upgraded === undefined) lease[Symbol.dispose]();
        this.#owner.slot = -1;
      }
      lease = this.#nextLease();
      if (outcome === "no_answer" && !isSentElsewhere && exchange.canResend) {
        isSentElsewhere = true;
        lease = this.#leaseElsewhere();
      }
    }
    return this.#owner.cutBy ?? outcome;
  }

  #use(lease: Lease): Site {
    const site = this.#office.site(lease.place);
    this.count++;
    this.endpoint = lease.endpoint.key;
    this.#owner.slot = lease.slot;
    this.#rewrite.host = site.host;
    this.#rewrite.endpointHost = site.endpointHost;
    this.#dialOutcome = "connected";
    return site;
  }

  /** A new connection; undefined: there is none, for the reason in `#dialOutcome`. A failed dial is reported. */
  async #connect(lease: Lease, site: Site): Promise<EndpointWire | undefined> {
    const look = this.#look ??= new ClientLook(this.#side);
    look.begin(this.#exchange.isRequestRead);
    const dialed = await dialEndpoint(this.#service, lease, look);
    look.end();
    if ("outcome" in dialed) {
      this.#dialOutcome = dialed.outcome;
      return undefined;
    }
    this.dialMs += dialed.dialMs;
    const wire = new Wire(dialed.conn, this.#office.tools.pages, ENDPOINT_WIRE);
    if (look.gone === undefined && this.#owner.cutBy === undefined) return site.pool.adopt(wire);
    // Nobody wants it any more, but it could not be given up.
    wire.release();
    this.#dialOutcome = this.#owner.cutBy ?? look.gone!;
    lease.report(this.#dialOutcome, dialed.dialMs);
    return undefined;
  }

  /** Ends the dial under way, if there is one: the session is cut. */
  giveUp(reason: Outcome): void {
    this.#look?.giveUp(reason);
  }

  /** An attempt on a connection is over: what becomes of the connection, and what is reported. */
  #account(connection: EndpointWire, { lease, site }: Leased, outcome: Outcome): void {
    const exchange = this.#exchange;
    const now = this.endedAt = this.#office.tools.clock.now();
    if (exchange.keepsEndpoint) site.pool.give(connection, now, exchange.mayTrail);
    else if (exchange.isUpgraded) this.upgraded = { connection, lease };
    else connection.wire.release();
    const hasAnswer = exchange.answeredAt > 0;
    const durationMs = (hasAnswer ? exchange.answeredAt : now) - this.#options.startedAt;
    if (hasAnswer) noteLatency(site, durationMs, now);
    lease.report(outcome, durationMs, exchange.status === 0 ? "" : String(exchange.status));
  }

  /** The lease to go on with: the one an answer was set aside for, or another one after a failed dial. */
  #nextLease(): Lease | undefined {
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined || this.#dialOutcome === "connected") return next;
    // Our own lack of descriptors would be the same everywhere.
    if (this.#dialOutcome === "out_of_descriptors" || this.#look?.gone !== undefined) return undefined;
    return this.#leaseElsewhere();
  }

  #leaseElsewhere(): Lease | undefined {
    if (this.#owner.cutBy !== undefined) return undefined;
    return this.count < this.#picker.upstream.connectAttempts ? this.#pickOther() : undefined;
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
}

interface Leased {
  readonly lease: Lease;
  readonly site: Site;
}
