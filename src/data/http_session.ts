// One HTTP client connection: request after request, each routed by the plan in force at its moment, until one side
// wants no more. What an exchange did is counted and, if wanted, logged here; the protocol itself is in http/.

import { hashText } from "../core/balance_policy.ts";
import type { Outcome } from "../core/outcome.ts";
import type { Listener, Plan } from "../core/plan.ts";
import type { OwnAnswer } from "../http/answer.ts";
import { ClientSide, type HeadSource, type NextRequest } from "../http/client_side.ts";
import type { Exchange } from "../http/exchange.ts";
import { clientFacts } from "../http/forwarding.ts";
import { RawWire } from "../http/raw_wire.ts";
import type { RequestHead } from "../http/request_head.ts";
import type { Refusal } from "../http/refusal.ts";
import { clientHostOf } from "./client_address.ts";
import { countOutcome } from "./counts.ts";
import { answerFor, NO_ROUTE } from "./http_answers.ts";
import { HandshakeLimit } from "./handshake_limit.ts";
import { Attempts, type AttemptsOwner } from "./http_attempts.ts";
import { ExchangeLog } from "./http_log.ts";
import type { HttpListener, HttpOffice } from "./http_office.ts";
import { Upgraded } from "./http_upgrade.ts";
import type { Picker } from "./pick.ts";
import type { ClientConn, Service, Session } from "./service.ts";

/** An HTTP session. */
export class HttpSession implements Session, HeadSource, AttemptsOwner {
  slot = -1;
  cutBy: Outcome | undefined;
  readonly listener: string;
  readonly clientHash: number;
  readonly #service: Service;
  readonly #office: HttpOffice;
  readonly #config: Listener;
  readonly #client: ClientConn;
  readonly #side: ClientSide;
  readonly #attempts: Attempts;
  readonly #log: ExchangeLog;
  #plan: Plan;
  #settings: HttpListener | undefined;
  #exchange: Exchange | undefined;
  #upgraded: Upgraded | undefined;
  /** How the session will have ended: the outcome of the exchange that ended it. */
  #outcome: Outcome = "finished";

  constructor(service: Service, office: HttpOffice, client: { conn: ClientConn; listener: Listener }) {
    const { conn, listener } = client;
    this.#service = service;
    this.#office = office;
    this.#config = listener;
    this.#client = conn;
    this.listener = listener.name;
    const host = clientHostOf(conn);
    this.clientHash = hashText(host);
    this.#plan = service.plan;
    this.#settings = office.listener(listener.name);
    this.#side = new ClientSide(conn, office.tools);
    const isTrusted = this.#settings?.trusted.includes(host) ?? false;
    const facts = clientFacts(host, { tls: listener.tls !== undefined, isTrusted });
    this.#attempts = new Attempts(service, office, { facts, owner: this, side: this.#side });
    this.#log = new ExchangeLog(service, listener.name, conn);
  }

  /** Serves the connection to its end: request after request. One function for the usual way, since each promise costs. */
  async serve(): Promise<void> {
    const side = this.#side;
    if (this.#service.draining) side.leave();
    try {
      const ready = this.#client.ready?.();
      if (ready !== undefined && !await this.#becomesReady(ready)) return;
      // When the last exchange ended, so that the clock is not asked again.
      let endedAt: number | undefined;
      for (let goesOn = true; goesOn;) {
        const waiting = side.wait(endedAt);
        if (waiting !== undefined) await waiting;
        let next = side.take(this);
        if (next === "more") next = await side.readOn();
        if (next !== "request") return await this.#serveOther(next);
        const exchange = this.#exchange!;
        const picker = this.#route(exchange);
        if (picker === undefined) goesOn = await this.#answerInstead(exchange);
        else {
          const outcome = await this.#attempts.run(exchange, picker);
          const isUsual = this.#concludeWell(exchange, outcome);
          endedAt = isUsual ? this.#attempts.endedAt : undefined;
          goesOn = isUsual ? exchange.keepsClient : await this.#conclude(exchange, outcome);
        }
      }
    } finally {
      side.wire.close();
      if (this.#exchange?.finished !== undefined) await this.#exchange.finished;
      this.#end();
    }
  }

  /** Whether the client's TLS handshake ends well, and in time. Only then the time for the first head begins. */
  async #becomesReady(ready: Promise<boolean>): Promise<boolean> {
    const { wheel, clock } = this.#service;
    const side = this.#side;
    this.#log.begin(clock.now());
    const limit = new HandshakeLimit(wheel, () => side.wire.close(), side.tools.limits.headMs);
    if (await limit.wait(ready)) return true;
    if (this.cutBy === undefined && side.isLeaving) return false; // It was idle, as far as we know.
    if (this.cutBy === undefined) this.#noteClient(limit.isOver ? "client_slow" : "client_aborted");
    this.#log.endUnshaken(this.cutBy ?? this.#outcome);
    return false;
  }

  #end(): void {
    this.#endExchange();
    this.#log.countBytes(this.#side.wire);
    countOutcome(this.#service.counts.listener(this.listener), this.cutBy ?? this.#outcome);
    this.#side.release();
  }

  /** Memory for a head, once its first byte is there. */
  takeHead(): RequestHead {
    this.#exchange ??= this.#office.takeExchange();
    return this.#exchange.request;
  }

  #endExchange(): void {
    if (this.#exchange === undefined) return;
    this.#exchange.end();
    this.#office.giveExchange(this.#exchange);
    this.#exchange = undefined;
  }

  /** There is no request that could be served. */
  async #serveOther(next: Exclude<NextRequest, "request">): Promise<void> {
    if (next === "timed_out") this.#noteClient("client_slow");
    else if (next === "cut") this.#noteClient("client_aborted");
    if (next !== "refused") return;
    this.#log.begin(this.#service.clock.now());
    this.#exchange!.beginRefused(this.#side);
    await this.#refuse(this.#exchange!, this.#exchange!.request.refusal!);
  }

  #noteClient(outcome: Outcome): void {
    this.#outcome = outcome;
    this.#service.counts.notCharged(outcome);
  }

  /** Begins the exchange and finds the upstream for it; undefined: `#answerInstead` has to answer. */
  #route(exchange: Exchange): Picker | undefined {
    this.#log.begin(this.#service.clock.now());
    if (exchange.begin(this.#side) !== undefined) return undefined;
    if (this.#plan !== this.#service.plan) this.#follow();
    const upstream = this.#settings?.routes.find(exchange.request);
    const picker = upstream === undefined ? undefined : this.#service.picker(upstream);
    if (picker !== undefined) this.#log.upstream = picker.upstream.name;
    return picker;
  }

  #answerInstead(exchange: Exchange): Promise<boolean> {
    if (exchange.refusal !== undefined) return this.#refuse(exchange, exchange.refusal);
    return this.#answer(exchange, NO_ROUTE, "finished");
  }

  /** The plan has changed since the last request. A listener that left it serves what is under way, no more. */
  #follow(): void {
    this.#plan = this.#service.plan;
    const settings = this.#office.listener(this.listener);
    if (settings === undefined) this.#side.leave();
    else this.#settings = settings;
  }

  /** The usual ends of an exchange, with nothing to wait for: its whole answer went out. False: it was another. */
  #concludeWell(exchange: Exchange, outcome: Outcome): boolean {
    const { keepsClient, isUpgraded } = exchange;
    if (isUpgraded || exchange.finished !== undefined) return false;
    if (!keepsClient && !this.#endsCleanly(exchange, outcome)) return false;
    this.#log.end(exchange, this.#attempts, { outcome, status: exchange.status, at: this.#attempts.endedAt });
    if (!keepsClient) return true;
    this.#log.countBytes(this.#side.wire);
    this.#endExchange();
    return true;
  }

  /** Whether both sides have said all they had to say, so that the connection can be closed right away. */
  #endsCleanly(exchange: Exchange, outcome: Outcome): boolean {
    return isWhole(outcome) && exchange.hasAnswered && exchange.isRequestRead && this.#side.wire.unread === 0;
  }

  /** Any end of an exchange: accounts for it and says whether the session goes on. */
  async #conclude(exchange: Exchange, outcome: Outcome): Promise<boolean> {
    if (exchange.isUpgraded) return await this.#relay(exchange, outcome);
    if (outcome === "no_endpoint") this.#service.counts.upstream(this.#log.upstream).noEndpoint++;
    if (!exchange.hasAnswered) {
      const answer = this.#answerFor(exchange, outcome);
      if (answer !== undefined) return await this.#answer(exchange, answer, outcome);
    }
    await this.#whenKept(exchange);
    this.#log.end(exchange, this.#attempts, { outcome, status: exchange.hasAnswered ? exchange.status : 0 });
    if (!exchange.keepsClient) return await this.#finish(exchange, outcome);
    this.#log.countBytes(this.#side.wire);
    this.#endExchange();
    return true;
  }

  /** A connection that goes on has nothing pending for the exchange that is over. */
  async #whenKept(exchange: Exchange): Promise<void> {
    if (exchange.keepsClient) await exchange.finished;
  }

  #answerFor(exchange: Exchange, outcome: Outcome): OwnAnswer | undefined {
    return outcome === "client_garbage" && exchange.refusal !== undefined
      ? exchange.refusal
      : answerFor(outcome);
  }

  /** The connection ends with this exchange, as gently as it may. */
  async #finish(exchange: Exchange, outcome: Outcome): Promise<false> {
    const { wire } = this.#side;
    if (!isWhole(outcome)) this.#outcome = outcome;
    // What the client still sends would turn our end into a reset that can destroy the answer.
    else if (!exchange.isRequestRead || wire.unread > 0) await this.#side.linger();
    return false;
  }

  #refuse(exchange: Exchange, refusal: Refusal): Promise<boolean> {
    this.#noteClient("client_garbage");
    return this.#answer(exchange, refusal, "client_garbage");
  }

  /** Answers for an endpoint that did not. */
  async #answer(exchange: Exchange, answer: OwnAnswer, outcome: Outcome): Promise<boolean> {
    const side = this.#side;
    const { request } = exchange;
    const isRefused = outcome === "client_garbage";
    const keeps = !isRefused && exchange.isRequestRead && request.wantsKeep && !side.isLeaving;
    const isSent = await side.answer(answer, {
      requestId: exchange.requestId,
      isHead: !isRefused && request.method === "HEAD",
      connection: !keeps ? "close" : request.minorVersion === 0 ? "keep-alive" : "",
    });
    this.#log.end(exchange, this.#attempts, { outcome, status: answer.status });
    if (isSent && keeps) {
      this.#endExchange();
      return true;
    }
    if (!isRefused && outcome !== "finished") this.#outcome = outcome;
    if (isSent) await side.linger();
    return false;
  }

  /** Raw bytes from here on. */
  async #relay(exchange: Exchange, outcome: Outcome): Promise<false> {
    const { connection, lease } = this.#attempts.upgraded!;
    using _lease = lease;
    this.slot = lease.slot;
    this.#side.watch.stop();
    const sides = { client: new RawWire(this.#side.wire), endpoint: new RawWire(connection.wire) };
    this.#upgraded = new Upgraded(this.#service, this.#settings?.config ?? this.#config, sides);
    if (this.cutBy !== undefined) this.#upgraded.relay.cut(this.cutBy);
    this.#outcome = await this.#upgraded.run();
    this.slot = -1;
    const { bytesUp, bytesDown } = this.#upgraded.relay;
    this.#side.wire.bytesIn += bytesUp;
    this.#side.wire.bytesOut += bytesDown;
    connection.wire.release();
    this.#log.end(exchange, this.#attempts, {
      outcome: this.#outcome === "finished" ? outcome : this.#outcome,
      status: exchange.status,
      bytes: { up: bytesUp, down: bytesDown },
    });
    return false;
  }

  /** No new work after what is under way. */
  drain(): void {
    this.#side.leave();
  }

  /** Ends it now. */
  cut(outcome: "drained"): void {
    this.cutBy ??= outcome;
    if (this.#upgraded !== undefined) this.#upgraded.relay.cut(outcome);
    else this.#exchange?.stop(outcome);
    this.#attempts.giveUp(outcome);
    this.#side.wire.close();
  }
}

/** Whether an exchange ended with a whole answer of its endpoint. */
function isWhole(outcome: Outcome): boolean {
  return outcome === "answered" || outcome === "status_5xx";
}
