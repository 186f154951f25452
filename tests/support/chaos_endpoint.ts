// Endpoints of the chaos test: they read requests strictly, and answer each in a way that is left to chance. A fair one
// never does what it could be charged with, but for an answer with a 5xx status.

import type { Outcome } from "../../src/core/outcome.ts";
import type { BlameBook } from "./blame_book.ts";
import type { Chance } from "./chance.ts";
import {
  type Answer,
  type AnswerPort,
  type AskedOf,
  LAWFUL,
  LAWFUL_EARLY,
  UNLAWFUL,
  UNLAWFUL_EARLY,
} from "./chaos_answers.ts";
import type { Llhttp, LlMessage } from "./llhttp.ts";
import type { MemoryDuplex } from "./memory_duplex.ts";
import { hear, tell } from "./memory_stage.ts";
import type { Turns } from "./turns.ts";

/** Longest wait for the head of an answer, milliseconds. */
export const READ_MS = 3000;

/** The body of that size that clients of this test send. */
export function bodyOf(size: number): string {
  return "b".repeat(size);
}

/** What all endpoints and clients of a run share. */
export interface ChaosGround {
  readonly chance: Chance;
  readonly turns: Turns;
  readonly book: BlameBook;
  readonly llhttp: Llhttp;
  /** Requests that reached an endpoint, as "GET /path", as often as they did. */
  readonly asked: string[];
  /** The time, milliseconds. */
  readonly now: () => number;
  /** Notes what must not happen. */
  readonly fault: (what: string) => void;
}

/** One endpoint. */
export class ChaosEndpoint {
  /** Whether it never does what it could be charged with. */
  readonly isFair: boolean;
  readonly ground: ChaosGround;
  readonly #slot: number;

  constructor(ground: ChaosGround, slot: number) {
    this.ground = ground;
    this.#slot = slot;
    this.isFair = ground.chance.happens(0.5);
  }

  /** Serves a connection. */
  serve(conn: MemoryDuplex): void {
    new Served(this, conn);
  }

  did(outcome: Outcome): void {
    this.ground.book.did(this.#slot, outcome);
  }

  /** What it does with the next request. */
  next(isEarly: boolean): Answer {
    const { chance } = this.ground;
    const isLawful = this.isFair || chance.happens(0.6);
    if (isEarly) return chance.one(isLawful ? LAWFUL_EARLY : UNLAWFUL_EARLY);
    return chance.one(isLawful ? LAWFUL : UNLAWFUL);
  }
}

/** One connection of an endpoint. */
class Served implements AnswerPort {
  readonly chance: Chance;
  readonly #endpoint: ChaosEndpoint;
  readonly #conn: MemoryDuplex;
  #text = "";
  #isOver = false;
  #isRaw = false;
  /** The head of the present request was there before. */
  #isNoted = false;
  #isAnsweredEarly = false;
  /** When the first byte of the present request came. */
  #begunAt = 0;
  #isSilent = false;
  /** One answer after the other. */
  #answering: Promise<void> = Promise.resolve();

  constructor(endpoint: ChaosEndpoint, conn: MemoryDuplex) {
    this.#endpoint = endpoint;
    this.#conn = conn;
    this.chance = endpoint.ground.chance;
    void hear(conn, (text) => this.#take(text)).then(() => this.#leave());
  }

  /** The other side has ended the connection. Silence may be told when it has lasted long enough. */
  #leave(): void {
    const lasted = this.#endpoint.ground.now() - this.#begunAt;
    if (this.#isSilent && lasted >= READ_MS) this.did("answer_timeout");
    this.end();
  }

  #take(text: string): void {
    if (this.#isOver) return;
    if (this.#isRaw) return this.#then(() => this.say(text));
    const { llhttp, fault, now } = this.#endpoint.ground;
    if (this.#text === "") this.#begunAt = now();
    this.#text += text;
    const { messages, fault: found, isUnfinished } = llhttp.read(this.#text, { kind: "request" });
    if (found !== "") fault(`an endpoint was sent ${JSON.stringify(this.#text)}: ${found}`);
    for (const message of messages) this.#takeRequest(message);
    this.#text = this.#text.slice(messages.at(-1)?.end ?? 0);
    if (isUnfinished) this.#takePart();
  }

  #takeRequest({ method, target, headers, body }: LlMessage): void {
    const fields = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
    if (body !== bodyOf(Number(fields.get("x-size")))) {
      this.#endpoint.ground.fault(`${method} ${target} reached an endpoint with the body "${body}"`);
    }
    const asked = { method, path: target, wantsUpgrade: fields.get("upgrade") === "echo" };
    this.#note(asked);
    if (!this.#isAnsweredEarly) this.#answer(asked, false);
    this.#isNoted = this.#isAnsweredEarly = false;
  }

  /** A request has come of which something is missing. */
  #takePart(): void {
    const [, method, path] = /^(\S+) (\S+) [^]*?\r\n\r\n/.exec(this.#text) ?? [];
    if (method === undefined || path === undefined) return;
    const asked = { method, path, wantsUpgrade: false };
    this.#note(asked);
    if (!this.#isAnsweredEarly && this.chance.happens(0.2)) this.#answer(asked, true);
  }

  #note({ method, path }: AskedOf): void {
    if (!this.#isNoted) this.#endpoint.ground.asked.push(`${method} ${path}`);
    this.#isNoted = true;
  }

  #answer(asked: AskedOf, isEarly: boolean): void {
    this.#isAnsweredEarly = isEarly;
    const answer = this.#endpoint.next(isEarly);
    this.#then(() => answer(this, asked));
  }

  #then(act: () => Promise<void> | void): void {
    this.#answering = this.#answering.then(() => this.#isOver ? undefined : act());
  }

  // What answers use.

  say(text: string): Promise<void> {
    return this.#isOver ? Promise.resolve() : tell(this.#conn, text);
  }

  pause(): Promise<void> {
    return this.#endpoint.ground.turns.wait(this.chance.below(8));
  }

  end(): void {
    if (!this.#isOver) this.#conn.close();
    this.#isOver = true;
  }

  reset(): void {
    this.#isOver = true;
    this.#conn.reset();
  }

  fallSilent(): void {
    this.#isSilent = true;
  }

  get isRoomy(): boolean {
    const { capacity, chunk } = this.#conn.outgoing.options;
    return capacity > 1000 && chunk === Infinity;
  }

  becomeRaw(): void {
    this.#isRaw = true;
  }

  did(outcome: Outcome): void {
    this.#endpoint.did(outcome);
  }
}
