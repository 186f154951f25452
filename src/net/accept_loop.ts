// Accepting on one address: a loop that survives whatever accept does, keeps to a limit, and ends without losing what
// the kernel has already queued. What is done with a connection is the owner's business. Serves listeners and admin.

import type { Clock } from "../core/clock.ts";
import { codeOf } from "./socket_errors.ts";

/** Shortest and longest wait after a failed accept, milliseconds. */
const TROUBLE_MS = { least: 5, most: 1000 };
/** Accepting works again once a connection came so long after the last failure, milliseconds: shortages come in waves. */
const CALM_MS = 1000;
/** How often a loop at the connection limit looks again, milliseconds: other workers free places too. */
const FULL_MS = 20;
/** What accept fails with when this machine or process has run out of something: a pause may help. */
const SHORTAGES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS"]);
/** After this many other failures in a row they are no longer taken for clients that left the queue. */
const MOST_LOST = 100;
/** The kernel's queue counts as empty after so many looks in a row that found it so; in any case we stop after `mostMs`. */
const QUEUE = { looks: 10, lookMs: 1, mostMs: 250 };
/** An accept that finds a client in the queue settles within so many microtasks. */
const FOUND_STEPS = 16;
/** A look that took this much longer than asked, milliseconds, saw nothing: this thread did not run. */
const LATE_MS = 3;

/** A connection as the loop sees it. */
export interface Closable {
  close(): void;
}

/** A bound socket as the loop sees it. */
export interface ConnSource<C extends Closable> {
  accept(): Promise<C>;
  close(): void;
}

/** What the loop needs from its owner. */
export interface LoopOwner<C extends Closable> {
  readonly clock: Clock;
  /** Whether there is no room for a further connection now. */
  isFull(): boolean;
  /** Takes a permit for one connection; false: there is none. */
  takePermit(): boolean;
  /** Takes a connection over, with its permit. */
  admit(conn: C): void;
  /** Accepting began to fail with a code, or works again. */
  trouble(code: string, over: boolean): void;
}

/** The accept loop of one address. */
export class AcceptLoop<C extends Closable> {
  readonly #source: ConnSource<C>;
  readonly #owner: LoopOwner<C>;
  #accepted = 0;
  #closed = false;
  #isRetiring = false;
  #running: Promise<void> | undefined;
  /** How long the last pause was; 0: the last accept went well. */
  #troubleMs = 0;
  #failedAt = 0;
  /** The owner was told of trouble that is not over. */
  #isTold = false;
  #lost = 0;
  // Made once, so that an accept costs no closure.
  readonly #arrived = (conn: C): void | Promise<void> => this.#take(conn);
  readonly #failed = (error: unknown): Promise<void> => this.#recover(error);

  /** Takes the bound socket over; it is closed with the loop. */
  constructor(source: ConnSource<C>, owner: LoopOwner<C>) {
    this.#source = source;
    this.#owner = owner;
  }

  /** Begins to accept; the second call does nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      while (this.#owner.isFull() && !this.#closed) await this.#owner.clock.sleep(FULL_MS);
      await this.#acceptOne();
      if (this.#isRetiring && !this.#closed) await this.#emptyAndClose();
    }
  }

  /**
   * The end under load. An accept that finds nobody is the one moment at which the queue is known to be empty, and in a
   * turn of its own nothing comes between that and the close. Whoever is in the queue when it closes is reset.
   */
  async #emptyAndClose(): Promise<void> {
    await this.#owner.clock.sleep(0);
    while (!this.#closed) {
      let isPending = true;
      const one = this.#acceptOne().finally(() => isPending = false);
      for (let step = 0; step < FOUND_STEPS && isPending; step++) await null;
      if (isPending) this.#closeNow();
      await one;
    }
  }

  /** Waits for one connection and hands it on. Resolves when the next may be awaited. */
  #acceptOne(): Promise<void> {
    return this.#source.accept().then(this.#arrived, this.#failed);
  }

  #take(conn: C): void | Promise<void> {
    this.#accepted++;
    this.#lost = 0;
    this.#troubleMs = 0;
    if (this.#isTold) this.#calm();
    if (!this.#owner.takePermit()) return this.#takeLater(conn);
    this.#owner.admit(conn);
  }

  /** Another worker has taken the last permit meanwhile: this client waits, and so do those behind it. */
  async #takeLater(conn: C): Promise<void> {
    do {
      if (this.#closed) return conn.close();
      await this.#owner.clock.sleep(FULL_MS);
    } while (!this.#owner.takePermit());
    this.#owner.admit(conn);
  }

  /** Too many open files, most of all: say so once, wait, go on. A client that reset while it was queued is no trouble. */
  async #recover(error: unknown): Promise<void> {
    if (this.#closed) return;
    const code = codeOf(error) ?? "unknown";
    if (!SHORTAGES.has(code) && ++this.#lost < MOST_LOST) return;
    this.#failedAt = this.#owner.clock.now();
    if (!this.#isTold) this.#owner.trouble(code, false);
    this.#isTold = true;
    this.#troubleMs = Math.min(Math.max(this.#troubleMs * 2, TROUBLE_MS.least), TROUBLE_MS.most);
    await this.#owner.clock.sleep(this.#troubleMs);
  }

  #calm(): void {
    if (this.#owner.clock.now() - this.#failedAt < CALM_MS) return;
    this.#isTold = false;
    this.#owner.trouble("", true);
  }

  /** Accepts what the kernel has queued, then closes the socket. Resolves once the address is free. */
  async retire(): Promise<void> {
    const { clock } = this.#owner;
    const began = clock.now();
    const passed = () => clock.now() - began;
    this.#isRetiring = true;
    for (let quiet = 0; quiet < QUEUE.looks && passed() < QUEUE.mostMs && !this.#closed;) {
      quiet = await this.#lookIfQuiet() ? quiet + 1 : 0;
    }
    await this.close();
  }

  /** Whether nobody came within a look. Waiting lets the event loop see what has come. */
  async #lookIfQuiet(): Promise<boolean> {
    const { clock } = this.#owner;
    const [accepted, from] = [this.#accepted, clock.now()];
    await clock.sleep(QUEUE.lookMs);
    return this.#accepted === accepted && clock.now() - from < QUEUE.lookMs + LATE_MS;
  }

  /** Closes the socket at once. Resolves once the address is free. */
  async close(): Promise<void> {
    this.#closeNow();
    await this.#running;
  }

  #closeNow(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#source.close();
  }
}
