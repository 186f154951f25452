// The admin endpoint's sockets: bound with the config that names them, kept over edits that do not, and served by the
// admin room's app over hale's own HTTP. Survives a shortage of descriptors as listeners do.

import { type AdminApp, adminApp, type AdminPorts } from "../admin/app.ts";
import { type Address, formatAddress } from "../core/address.ts";
import type { Clock, Random } from "../core/clock.ts";
import type { Emit } from "../core/event.ts";
import type { AdminConfig } from "../core/plan.ts";
import { TimerWheel } from "../core/wheel.ts";
import { createHttpTools, type HttpTools } from "../http/tools.ts";
import { AcceptLoop } from "../net/accept_loop.ts";
import type { AcceptedConn } from "../net/firm_close.ts";
import { bind, bindMessage } from "../net/listen.ts";
import { codeOf } from "../net/socket_errors.ts";
import { AdminConnection } from "./admin_connection.ts";

/** Most admin clients at a time. */
const MAX_CONNECTIONS = 128;
/** From so many on, idle kept connections are closed: they may not keep out who asks for readiness. */
const CROWDED = 96;
const TICK_MS = 100;
/** How often an address that another hale still has is tried again, milliseconds. */
const RETRY_MS = 500;

/** What the server needs. */
export interface AdminServerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  /** At the start another hale may still have the address: wait for it instead of refusing (S2). */
  readonly takeover?: boolean;
  /** The app's ports but for what the config says. */
  readonly app: Omit<AdminPorts, "address" | "token" | "allowedHosts">;
}

interface Bound {
  readonly address: Address;
  readonly loop: AcceptLoop<AcceptedConn>;
  app: AdminApp;
}

/** The admin endpoint, as long as a config wants one. */
export class AdminServer {
  readonly #ports: AdminServerPorts;
  readonly #tools: HttpTools;
  readonly #wheel: TimerWheel;
  readonly #connections = new Set<AdminConnection>();
  #bound: Bound | undefined;
  #prepared: Bound | undefined;
  #ticking: ReturnType<typeof setInterval> | undefined;
  /** Tries to bind what another hale still has. */
  #retrying: ReturnType<typeof setInterval> | undefined;
  #mayWait: boolean;

  constructor(ports: AdminServerPorts) {
    this.#ports = ports;
    this.#mayWait = ports.takeover === true;
    this.#wheel = new TimerWheel(ports.clock.now(), { tickMs: TICK_MS });
    this.#tools = createHttpTools({ wheel: this.#wheel, clock: ports.clock, random: ports.random });
  }

  /** Binds what a config to come wants, beside what runs. Gives the reason when that fails. */
  prepare(config: AdminConfig | undefined): string | undefined {
    if (config === undefined || this.#isSameAddress(config.address)) return undefined;
    try {
      this.#prepared = this.#bind(config);
      return undefined;
    } catch (error) {
      if (this.#mayWait && codeOf(error) === "EADDRINUSE") return undefined;
      return `Admin can not listen on ${formatAddress(config.address)}: ${bindMessage(error)}`;
    }
  }

  #isSameAddress(address: Address): boolean {
    return this.#bound !== undefined && formatAddress(this.#bound.address) === formatAddress(address);
  }

  #bind(config: AdminConfig): Bound {
    const acceptor = bind(config.address, { reusePort: false });
    const bound: Bound = {
      address: { host: config.address.host, port: acceptor.port },
      app: this.#appOf(config),
      loop: new AcceptLoop(acceptor, {
        clock: this.#ports.clock,
        isFull: () => this.#connections.size >= MAX_CONNECTIONS,
        takePermit: () => true,
        admit: (conn) => this.#serve(conn, bound),
        trouble: (code, over) => this.#trouble(code, over),
      }),
    };
    return bound;
  }

  #appOf({ address, token }: AdminConfig): AdminApp {
    return adminApp({ ...this.#ports.app, address, ...(token === undefined ? {} : { token }) });
  }

  #trouble(code: string, over: boolean): void {
    const listener = "admin";
    if (over) this.#ports.emit({ kind: "accept_recovered", listener, worker: -1 });
    else this.#ports.emit({ kind: "accept_failed", listener, worker: -1, code });
  }

  /** Lets go of what was prepared. */
  async abandon(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    await prepared?.loop.close();
  }

  /** Swaps to the config whose address was prepared. A changed token counts from the next request on. */
  async take(config: AdminConfig | undefined): Promise<void> {
    if (config !== undefined && this.#bound !== undefined && this.#isSameAddress(config.address)) {
      const { app } = this.#bound;
      this.#bound.app = this.#appOf(config);
      return app.close();
    }
    const old = this.#bound;
    this.#bound = this.#prepared;
    this.#prepared = undefined;
    clearInterval(this.#retrying);
    if (this.#bound !== undefined) this.#start(this.#bound);
    else if (config !== undefined) this.#wait(config);
    old?.app.close();
    await old?.loop.close();
  }

  /** The other hale ends sometime; until then it is the one that answers. */
  #wait(config: AdminConfig): void {
    this.#ports.emit({ kind: "admin_waiting", address: formatAddress(config.address) });
    this.#retrying = setInterval(() => {
      if (this.#prepared !== undefined) return; // An edit is about to decide.
      if (this.prepare(config) === undefined && this.#prepared !== undefined) void this.take(config);
    }, RETRY_MS);
  }

  #start(bound: Bound): void {
    this.#mayWait = false;
    this.#ticking ??= setInterval(() => this.#wheel.advance(this.#ports.clock.now()), TICK_MS);
    bound.loop.start();
    this.#ports.emit({ kind: "admin_listening", address: formatAddress(bound.address) });
  }

  #serve(conn: AcceptedConn, bound: Bound): void {
    if (this.#connections.size >= CROWDED) { for (const connection of this.#connections) connection.leave(); }
    const connection = new AdminConnection(conn, {
      tools: this.#tools,
      fetch: (request) => bound.app.fetch(request),
    });
    this.#connections.add(connection);
    connection.serve()
      .catch((error) => this.#ports.app.fault(error))
      .finally(() => this.#connections.delete(connection));
  }

  /** Ends everything: no new clients, streams end, what is under way is cut after a moment. */
  async close(): Promise<void> {
    clearInterval(this.#retrying);
    await this.abandon();
    this.#bound?.app.close();
    await this.#bound?.loop.close();
    for (const connection of this.#connections) connection.leave();
    for (let waited = 0; this.#connections.size > 0 && waited < 20; waited++) {
      await this.#ports.clock.sleep(10);
    }
    for (const connection of this.#connections) connection.close();
    while (this.#connections.size > 0) await this.#ports.clock.sleep(5);
    clearInterval(this.#ticking);
  }
}
