// One TCP client connection from accept to close: its TLS handshake, if any, connect to an endpoint, relay, report. What
// happens after the connection stands never charges the endpoint.

import type { Outcome } from "../core/outcome.ts";
import type { Listener, Plan } from "../core/plan.ts";
import { closeQuietly, Relay } from "../net/relay.ts";
import { clientHashOf, clientTextOf } from "./client_address.ts";
import { connect, type Connecting, type Connection } from "./connect.ts";
import { countOutcome } from "./counts.ts";
import { HandshakeLimit } from "./handshake_limit.ts";
import { IdleLimit } from "./idle_limit.ts";
import type { ClientConn, Service, Session } from "./service.ts";

/** A TCP session. */
export class TcpSession implements Session, Connecting {
  slot = -1;
  cutBy: Outcome | undefined;
  clientHash = 0;
  readonly listener: string;
  readonly #service: Service;
  readonly #config: Listener;
  readonly #plan: Plan;
  readonly #client: ClientConn;
  readonly #startedAt: number;
  #relay: Relay | undefined;

  constructor(service: Service, config: Listener, client: ClientConn) {
    this.#service = service;
    this.#plan = service.plan;
    this.#config = config;
    this.#client = client;
    this.listener = config.name;
    this.#startedAt = service.clock.now();
  }

  /** Serves the connection to its end. */
  async serve(): Promise<void> {
    const ready = this.#client.ready?.();
    if (ready !== undefined && !await this.#becomesReady(ready)) return;
    const picker = this.#service.picker(this.#config.upstream!);
    if (picker?.upstream.loadBalancer === "ip_hash") this.clientHash = clientHashOf(this.#client);
    const found = picker && await connect(this.#service, picker, this);
    if (found?.lease === undefined) {
      return this.#refuse(found?.outcome ?? "no_endpoint", found?.attempts ?? 0);
    }
    using lease = found.lease;
    lease.report("connected", found.dialMs);
    const outcome = await this.#copy(found);
    this.#account(outcome, found);
  }

  /** Whether the client's TLS handshake ends well, and in time. */
  async #becomesReady(ready: Promise<boolean>): Promise<boolean> {
    const limit = new HandshakeLimit(this.#service.wheel, () => closeQuietly(this.#client));
    if (await limit.wait(ready)) return true;
    this.#refuse(this.cutBy ?? (limit.isOver ? "client_slow" : "client_aborted"), 0);
    return false;
  }

  /** Nobody could be reached: the client's connection is closed at once (T4). */
  #refuse(outcome: Outcome, attempts: number): void {
    closeQuietly(this.#client);
    if (outcome === "no_endpoint") this.#service.counts.upstream(this.#config.upstream!).noEndpoint++;
    this.#account(outcome, undefined, attempts);
  }

  async #copy(found: Connection): Promise<Outcome> {
    const { wheel, buffers } = this.#service;
    const limit = new IdleLimit(wheel, this.#config);
    this.#relay = new Relay(this.#client, found.conn, { buffers, owner: limit });
    if (this.cutBy !== undefined) this.#relay.cut(this.cutBy);
    limit.begin(this.#relay);
    const outcome = await this.#relay.run();
    limit.end();
    return outcome;
  }

  /** A TCP session has no point at which it could be asked to leave. */
  drain(): void {}

  /** Ends it now. */
  cut(outcome: "drained"): void {
    this.cutBy ??= outcome;
    if (this.#relay !== undefined) this.#relay.cut(outcome);
    else closeQuietly(this.#client);
  }

  #account(outcome: Outcome, found: Connection | undefined, attempts = found?.attempts ?? 0): void {
    const stats = this.#service.counts.listener(this.listener);
    const bytesUp = this.#relay?.bytesUp ?? 0;
    const bytesDown = this.#relay?.bytesDown ?? 0;
    countOutcome(stats, outcome);
    stats.bytesIn += bytesUp;
    stats.bytesOut += bytesDown;
    if (!isLogged(this.#plan, outcome)) return;
    this.#service.record({
      listener: this.listener,
      protocol: "tcp",
      upstream: this.#config.upstream!,
      endpoint: found?.lease.endpoint.key ?? "",
      client: clientTextOf(this.#client),
      outcome,
      bytesUp,
      bytesDown,
      durationMs: this.#service.clock.now() - this.#startedAt,
      attempts,
      at: this.#service.clock.wallMs(),
    });
  }
}

/** Whether a session that ended so goes to the access log. */
function isLogged(plan: Plan, outcome: Outcome): boolean {
  return plan.access === "all" || (plan.access === "errors" && outcome !== "finished");
}
