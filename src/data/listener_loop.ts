// Accepting on one address: a loop that survives whatever accept does, keeps to the connection limit, and ends
// without losing what the kernel has already queued. What is done with a connection is the plane's business.

import type { Clock } from "../core/clock.ts";
import type { Permits } from "../core/permits.ts";
import type { Listener } from "../core/plan.ts";
import { codeOf } from "../net/socket_errors.ts";
import type { ClientConn } from "./service.ts";

/** Shortest and longest wait after a failed accept, milliseconds. */
const TROUBLE_MS = { least: 5, most: 1000 };
/** How often a loop at the connection limit looks again, milliseconds: other workers free places too. */
const FULL_MS = 20;
/** The kernel's queue counts as empty after this long without a connection; in any case we stop after `most`. */
const QUEUE_MS = { quiet: 10, most: 250 };

/** A bound socket as the loop sees it. */
export interface ConnSource {
  accept(): Promise<ClientConn>;
  close(): void;
}

/** What the loop needs from its plane. */
export interface LoopHost {
  readonly clock: Clock;
  readonly permits: Permits;
  /** Most client connections at a time over all workers. */
  maxConnections(): number;
  /** Takes a connection over, with its permit. */
  admit(conn: ClientConn, listener: Listener): void;
  /** Accepting began to fail, or works again. */
  trouble(listener: string, code: string, over: boolean): void;
}

/** The accept loop of one listener. */
export class ListenerLoop {
  /** The listener as of the plan in force; the socket stays when only its settings change. */
  listener: Listener;
  readonly #source: ConnSource;
  readonly #host: LoopHost;
  #acceptedAt: number;
  #closed = false;
  #running: Promise<void> | undefined;
  #troubleMs = 0;

  constructor(listener: Listener, source: ConnSource, host: LoopHost) {
    this.listener = listener;
    this.#source = source;
    this.#host = host;
    this.#acceptedAt = host.clock.now();
  }

  /** Begins to accept; the second call does nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      while (this.#isFull() && !this.#closed) await this.#host.clock.sleep(FULL_MS);
      await this.#acceptOne();
    }
  }

  #isFull(): boolean {
    return this.#host.permits.taken >= this.#host.maxConnections();
  }

  async #acceptOne(): Promise<void> {
    let conn: ClientConn;
    try {
      conn = await this.#source.accept();
    } catch (error) {
      return await this.#recover(error);
    }
    this.#acceptedAt = this.#host.clock.now();
    if (this.#troubleMs > 0) this.#calm();
    // Another worker may have taken the last permit meanwhile: then this client waits, and so do those behind it.
    while (!this.#host.permits.take(this.#host.maxConnections())) await this.#host.clock.sleep(FULL_MS);
    this.#host.admit(conn, this.listener);
  }

  /** Too many open files, most of all: say so once, wait, go on. */
  async #recover(error: unknown): Promise<void> {
    if (this.#closed) return;
    if (this.#troubleMs === 0) this.#host.trouble(this.listener.name, codeOf(error) ?? "unknown", false);
    this.#troubleMs = Math.min(Math.max(this.#troubleMs * 2, TROUBLE_MS.least), TROUBLE_MS.most);
    await this.#host.clock.sleep(this.#troubleMs);
  }

  #calm(): void {
    this.#troubleMs = 0;
    this.#host.trouble(this.listener.name, "", true);
  }

  /** Accepts what the kernel has queued, then closes the socket. Resolves once the address is free. */
  async retire(): Promise<void> {
    const { clock } = this.#host;
    const began = clock.now();
    this.#acceptedAt = began;
    while (clock.now() - this.#acceptedAt < QUEUE_MS.quiet && clock.now() - began < QUEUE_MS.most) {
      await clock.sleep(QUEUE_MS.quiet);
    }
    await this.close();
  }

  /** Closes the socket at once. Resolves once the address is free. */
  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#source.close();
    }
    await this.#running;
  }
}
