// Clients of the chaos test. Each sends some requests, perhaps without waiting for answers, and checks what it gets: at
// most one answer to each request, in order, whole or cut by the end. A patient one sends all it began and waits for the
// answers, each of which it must get unless the connection was said to end.

import { type ChaosRequest, chaosRequest } from "./chaos_requests.ts";
import { TUNNEL_GREETING } from "./chaos_answers.ts";
import type { ChaosGround } from "./chaos_endpoint.ts";
import type { LlMessage, LlReading } from "./llhttp.ts";
import type { MemoryDuplex } from "./memory_duplex.ts";
import { hear, tell } from "./memory_stage.ts";

/** Longest wait for anything, in turns: of clients that may leave, and of those that must get what they wait for. */
const SHORT_WAIT = 60;
const LONG_WAIT = 2000;

/** What a client knows beside what it shares with endpoints. */
export interface ClientGround extends ChaosGround {
  /** A number that no request has had. */
  nextId(): number;
  /** How often clients were or may have been cut off, by a cut or another plan. */
  readonly cutOffs: number;
  /** Clients get the answer to their first request, and perhaps no others. */
  readonly isDraining: boolean;
  /** Counts what came to pass. */
  saw(what: string): void;
}

/** One client. */
export class ChaosClient {
  readonly #ground: ClientGround;
  readonly #conn: MemoryDuplex;
  readonly #isPatient: boolean;
  readonly #cutOffsBefore: number;
  readonly #sent: ChaosRequest[] = [];
  /** Characters sent, or waiting to be. */
  #said = 0;
  #got = "";
  #hasEnded = false;
  #saying: Promise<void> = Promise.resolve();

  constructor(ground: ClientGround, conn: MemoryDuplex) {
    this.#ground = ground;
    this.#conn = conn;
    this.#isPatient = ground.chance.happens(0.5);
    this.#cutOffsBefore = ground.cutOffs;
  }

  /** From the first request to the end of the connection, and the checks. */
  async run(): Promise<void> {
    void hear(this.#conn, (text) => this.#got += text).then(() => this.#hasEnded = true);
    await this.#ask();
    await this.#wait(this.#isPatient ? LONG_WAIT : SHORT_WAIT);
    this.#check();
    if (!this.#conn.closed) this.#conn.close();
  }

  async #ask(): Promise<void> {
    const { chance, turns } = this.#ground;
    let text = "";
    for (let count = 1 + chance.below(5); count > 0 && !this.#hasEnded; count--) {
      const request = chaosRequest(chance, this.#ground.nextId());
      this.#sent.push(request);
      text += request.text;
      if (count > 1 && chance.happens(0.3)) continue; // Goes out with the next one.
      if (!await this.#send(text)) return;
      text = "";
      if (chance.happens(0.6)) await turns.wait(chance.below(6));
      if (!this.#isPatient && await this.#leaves()) return;
    }
  }

  /** Sends requests in one or two parts; false: there will be no second part. */
  async #send(text: string): Promise<boolean> {
    const { chance, turns } = this.#ground;
    const at = chance.happens(0.6) ? text.length : chance.below(text.length);
    await this.#say(text.slice(0, at));
    if (at === text.length) return true;
    await turns.wait(chance.below(5));
    if (!this.#isPatient && chance.happens(0.1)) return this.#stop();
    await this.#say(text.slice(at));
    return true;
  }

  /** In the middle of a request: leaves, or only says no more. */
  #stop(): false {
    const isLeaving = this.#ground.chance.happens(0.5);
    this.#ground.saw(isLeaving ? "left in the middle" : "silent in the middle");
    if (isLeaving) this.#conn.close();
    return false;
  }

  /** What is sent goes out in order; for a side that does not take it the client waits only so long. */
  async #say(text: string): Promise<void> {
    this.#said += text.length;
    this.#saying = this.#saying.then(() => tell(this.#conn, text));
    await Promise.race([this.#saying, this.#ground.turns.wait(SHORT_WAIT)]);
  }

  async #leaves(): Promise<boolean> {
    const way = this.#ground.chance.below(20);
    if (way === 0) {
      this.#ground.saw("reset by the client");
      this.#conn.reset();
    } else if (way === 1) {
      this.#ground.saw("half-closed");
      await this.#conn.closeWrite();
    }
    return way < 2;
  }

  /** Waits for the end, for all answers, or for so many turns. */
  async #wait(turns: number): Promise<void> {
    for (let seen = -1; turns > 0 && !this.#hasEnded; turns--) {
      if (seen !== this.#got.length && this.#finals(this.#read()).length === this.#sent.length) return;
      seen = this.#got.length;
      await this.#ground.turns.wait(1);
    }
  }

  /** Whether the whole of a request was sent: to a part of a head there is an answer with a body, whatever the method. */
  #hasSaid(index: number): boolean {
    return this.#sent.slice(0, index + 1).reduce((sum, { text }) => sum + text.length, 0) <= this.#said;
  }

  #read(): LlReading {
    const isHead = (index: number) => this.#sent[index]?.method === "HEAD" && this.#hasSaid(index);
    return this.#ground.llhttp.read(this.#got, { kind: "answer", isHead });
  }

  /** The answers, up to the one after which the connection is a tunnel. */
  #finals({ messages }: LlReading): LlMessage[] {
    const finals = messages.filter(({ status }) => status >= 200 || status === 101);
    const last = finals.findIndex(({ status }) => status === 101);
    return last < 0 ? finals : finals.slice(0, last + 1);
  }

  #check(): void {
    const reading = this.#read();
    const finals = this.#finals(reading);
    if (finals.length > this.#sent.length) return this.#fault("more answers than requests");
    finals.forEach((final, index) => this.#checkFinal(final, this.#sent[index]!));
    const last = finals.at(-1);
    if (last?.status === 101) return this.#checkTunnel(last, finals.length);
    this.#checkInterim(reading);
    if (reading.fault !== "") this.#fault(`it got what is no answer: ${reading.reason}`);
    if (finals.length === this.#sent.length) {
      if (reading.isUnfinished) this.#fault("bytes behind the last answer");
    } else if (!reading.isUnfinished) this.#checkMissing(finals.length, last);
  }

  #checkFinal(answer: LlMessage, request: ChaosRequest): void {
    const { status, body } = answer;
    const { method, path } = request;
    this.#ground.saw(`answer ${status}`);
    const isBodyless = (method === "HEAD" && status !== 408) || status === 204 || status === 304 ||
      status === 101;
    if (askedIn(answer) === undefined) {
      const isOwn = status >= 400 && (isBodyless ? body === "" : body.startsWith('{"error":'));
      if (!isOwn) this.#fault(`an answer of nobody to ${path}`);
    } else {
      this.#checkAsked(answer, request);
      if (body !== (isBodyless ? "" : path)) this.#fault(`the body "${body}" for ${path}`);
    }
  }

  #checkAsked(answer: LlMessage, { method, path }: ChaosRequest): void {
    const asked = askedIn(answer);
    if (asked !== `${method} ${path}`) this.#fault(`an answer to ${asked} for ${path}`);
  }

  /** Each interim answer belongs to the request whose final answer comes next. */
  #checkInterim({ messages }: LlReading): void {
    let index = 0;
    for (const message of messages) {
      if (message.status >= 200) index++;
      else if (index === this.#sent.length) this.#fault("an interim answer to nothing");
      else this.#checkAsked(message, this.#sent[index]!);
    }
  }

  /** Bytes come back as they were sent behind the request. */
  #checkTunnel({ end }: LlMessage, requests: number): void {
    const behind = this.#sent.slice(requests).map(({ text }) => text).join("");
    const echo = this.#got.slice(end);
    if (!(TUNNEL_GREETING + behind).startsWith(echo)) this.#fault(`the tunnel gave ${JSON.stringify(echo)}`);
  }

  #checkMissing(count: number, last: LlMessage | undefined): void {
    const { cutOffs, isDraining } = this.#ground;
    if (!this.#isPatient || this.#cutOffsBefore !== cutOffs) return;
    // An answer that comes before all of the request may turn out to be the last, without having said so.
    const mayBeLast = last !== undefined && (!last.keeps || isDraining || this.#sent[count - 1]!.hasBody);
    if (!this.#hasEnded || !mayBeLast) this.#fault(`${this.#sent.length - count} answers are missing`);
  }

  #fault(what: string): void {
    const asked = this.#sent.map(({ method, path }) => `${method} ${path}`);
    this.#ground.fault(
      `${what}: a client asked for ${asked.join(", ")} and got ${JSON.stringify(this.#got)}`,
    );
  }
}

function askedIn({ headers }: LlMessage): string | undefined {
  return headers.find(([name]) => name === "X-Asked")?.[1];
}
