// Watches what the sessions of a data plane hold: buffers, and places on the timer wheel. A buffer that is given back is
// spoiled at once, so that whoever still uses it is found out by what it sends.

import type { Duplex } from "../../src/core/duplex.ts";
import type { Timed, TimerWheel } from "../../src/core/wheel.ts";
import { type Page, Pages } from "../../src/http/pages.ts";
import { BufferPool } from "../../src/net/buffers.ts";

const SPOILED = 0xdd;

/** Watches from its making to its disposal all pages and buffers of this thread, and the wheels it is shown. */
export class HeldWatch implements Disposable {
  /** What was done that must not be. */
  readonly faults: string[] = [];
  readonly #held = new Set<Page>();
  /** Reads into the memory and writes from it that are under way. */
  readonly #pending = new Map<ArrayBufferLike, number>();
  readonly #onWheel = new Set<Timed>();
  readonly #restore: () => void;

  constructor() {
    const [pages, buffers] = [Pages.prototype, BufferPool.prototype];
    const { take, give } = pages;
    const { small, adapt, give: giveBuffer } = buffers;
    const taken = (page: Page) => this.#taken(page);
    const given = (page: Page) => this.#given(page);
    pages.take = function (bytes) {
      return taken(take.call(this, bytes));
    };
    pages.give = function (page) {
      given(page);
      give.call(this, page);
    };
    buffers.small = function () {
      return taken(small.call(this));
    };
    buffers.give = function (buffer) {
      given(buffer);
      giveBuffer.call(this, buffer);
    };
    buffers.adapt = function (buffer, count) {
      const next = adapt.call(this, buffer, count);
      return next === buffer ? next : taken(next);
    };
    this.#restore = () => {
      Object.assign(pages, { take, give });
      Object.assign(buffers, { small, adapt, give: giveBuffer });
    };
  }

  #taken(page: Page): Page {
    if (this.#held.has(page)) this.faults.push(`a buffer of ${page.length} bytes was taken twice`);
    this.#held.add(page);
    return page;
  }

  #given(page: Page): void {
    if (!this.#held.delete(page)) this.#fault(page, "given back by somebody who does not hold it");
    if ((this.#pending.get(page.buffer) ?? 0) > 0) {
      this.#fault(page, "given back while it is read or written");
    }
    page.fill(SPOILED);
  }

  #fault(page: Page, what: string): void {
    this.faults.push(`a buffer of ${page.length} bytes was ${what} ${new Error().stack}`);
  }

  /** Notes the reads and writes of a connection from now on. */
  follow<T extends Duplex>(conn: T): T {
    const read = conn.read.bind(conn);
    const write = conn.write.bind(conn);
    conn.read = (p) => this.#during(p, read(p));
    conn.write = (p) => this.#during(p, write(p));
    return conn;
  }

  async #during<T>({ buffer }: Uint8Array, operation: Promise<T>): Promise<T> {
    this.#pending.set(buffer, (this.#pending.get(buffer) ?? 0) + 1);
    try {
      return await operation;
    } finally {
      this.#pending.set(buffer, this.#pending.get(buffer)! - 1);
    }
  }

  /** Notes what is put on a wheel from now on. */
  followWheel(wheel: TimerWheel): void {
    const add = wheel.add.bind(wheel);
    const remove = wheel.remove.bind(wheel);
    wheel.add = (item) => {
      if (this.#onWheel.has(item)) this.faults.push(`${nameOf(item)} was put on the wheel twice`);
      this.#onWheel.add(item);
      add(item);
    };
    wheel.remove = (item) => {
      this.#onWheel.delete(item);
      remove(item);
    };
  }

  /** What is on a wheel, by class; what plan changes put there (plain objects) does not count. */
  get onWheel(): string[] {
    return [...this.#onWheel].map(nameOf).filter((name) => name !== "Object");
  }

  /** How many buffers are held. */
  get heldBuffers(): number {
    return this.#held.size;
  }

  [Symbol.dispose](): void {
    this.#restore();
  }
}

function nameOf(item: Timed): string {
  return item.constructor.name;
}
