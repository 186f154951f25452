// What an endpoint of the chaos test may do with a request: lawful things, and others with which it may be charged. Each
// answer names the request that it is for.

import type { Outcome } from "../../src/core/outcome.ts";
import type { Chance } from "./chance.ts";

/** A request as it reached an endpoint. */
export interface AskedOf {
  readonly method: string;
  readonly path: string;
  readonly wantsUpgrade: boolean;
}

/** A connection to answer on, as an answer may use it. */
export interface AnswerPort {
  readonly chance: Chance;
  /** Writes it all, when the other side takes it. */
  say(text: string): Promise<void>;
  /** Whether what is said at once is read at once. */
  readonly isRoomy: boolean;
  /** Waits for some turns, too few for any time limit but that of clients that have ended their side. */
  pause(): Promise<void>;
  end(): void;
  reset(): void;
  /** Never says anything again. */
  fallSilent(): void;
  /** From here on nothing that comes in is a request; it is sent back. */
  becomeRaw(): void;
  /** Notes what may be told of this endpoint from now on. */
  did(outcome: Outcome): void;
}

/** Answers one request on a connection. */
export type Answer = (port: AnswerPort, asked: AskedOf) => Promise<void> | void;

/** What a tunnel begins with. */
export const TUNNEL_GREETING = "hi";

const nameOf = ({ method, path }: AskedOf): string => `X-Asked: ${method} ${path}\r\n`;

/** A whole answer, whose body is the path. */
function whole(asked: AskedOf, status = "200 OK", fields = ""): string {
  const { method, path } = asked;
  const head = `HTTP/1.1 ${status}\r\nContent-Length: ${path.length}\r\n${nameOf(asked)}${fields}\r\n`;
  return method === "HEAD" ? head : head + path;
}

function bodyless(asked: AskedOf, status: string, fields = ""): string {
  return `HTTP/1.1 ${status}\r\n${fields}${nameOf(asked)}\r\n`;
}

function chunked(asked: AskedOf): string {
  const { method, path } = asked;
  const head = bodyless(asked, "200 OK", "Transfer-Encoding: chunked\r\n");
  return method === "HEAD" ? head : `${head}${path.length.toString(16)}\r\n${path}\r\n0\r\n\r\n`;
}

async function wellSaid(port: AnswerPort, text: string): Promise<void> {
  port.did("answered");
  await port.say(text);
}

async function slow(port: AnswerPort, text: string): Promise<void> {
  const at = port.chance.below(text.length);
  await wellSaid(port, text.slice(0, at));
  await port.pause();
  await port.say(text.slice(at));
}

async function closeDelimited(port: AnswerPort, asked: AskedOf): Promise<void> {
  const head = bodyless(asked, "200 OK", "Connection: close\r\n");
  await wellSaid(port, asked.method === "HEAD" ? head : head + asked.path);
  port.end();
}

async function interim(port: AnswerPort, asked: AskedOf): Promise<void> {
  await port.say(bodyless(asked, "103 Early Hints"));
  if (port.chance.happens(0.5)) await port.pause();
  await wellSaid(port, whole(asked));
}

async function endingLater(port: AnswerPort, asked: AskedOf): Promise<void> {
  await wellSaid(port, whole(asked));
  await port.pause();
  port.end();
}

async function upgrade(port: AnswerPort, asked: AskedOf): Promise<void> {
  if (!asked.wantsUpgrade) return await wellSaid(port, whole(asked));
  port.becomeRaw();
  const head = bodyless(asked, "101 Switching Protocols", "Upgrade: echo\r\nConnection: upgrade\r\n");
  await wellSaid(port, head + TUNNEL_GREETING);
  if (port.chance.happens(0.5)) return;
  await port.pause();
  port.end();
}

async function failing(port: AnswerPort, asked: AskedOf): Promise<void> {
  port.did("status_5xx");
  await port.say(whole(asked, port.chance.one(["500 Broken", "503 Busy"])));
}

/** What any endpoint does with whole requests. An answer with a 5xx status is told, and may be. */
export const LAWFUL: readonly Answer[] = [
  (port, asked) => wellSaid(port, whole(asked)),
  (port, asked) => wellSaid(port, whole(asked)),
  (port, asked) => wellSaid(port, chunked(asked)),
  (port, asked) => wellSaid(port, bodyless(asked, "204 No Content")),
  (port, asked) => wellSaid(port, bodyless(asked, "304 Not Modified", "Content-Length: 9\r\n")),
  (port, asked) => slow(port, whole(asked)),
  (port, asked) => slow(port, chunked(asked)),
  closeDelimited,
  interim,
  endingLater,
  upgrade,
  failing,
];

function vanish(port: AnswerPort): void {
  port.did("no_answer");
  port.end();
}

function reset(port: AnswerPort): void {
  port.did("no_answer");
  port.reset();
}

async function garbage(port: AnswerPort): Promise<void> {
  port.did("answer_malformed");
  await port.say("rubbish rubbish\r\n\r\n");
}

async function cut(port: AnswerPort, asked: AskedOf): Promise<void> {
  const text = port.chance.one([whole(asked), chunked(asked)]);
  const at = port.chance.below(text.length);
  port.did(at === 0 ? "no_answer" : "answer_cut");
  await port.say(text.slice(0, at));
  port.end();
}

/** The body that is announced and must not come comes all the same. */
async function trailing(port: AnswerPort, asked: AskedOf): Promise<void> {
  await wellSaid(port, bodyless(asked, "204 No Content", "Content-Length: 4\r\n"));
  await port.pause();
  port.did("answer_malformed");
  await port.say("ROT!");
}

/** An answer to a request that was not made, right behind the one to that which was. */
async function surplus(port: AnswerPort, asked: AskedOf): Promise<void> {
  const unasked = whole({ method: "GET", path: "/nobody", wantsUpgrade: false });
  await wellSaid(port, whole(asked) + (port.isRoomy ? unasked : ""));
}

/** What only bad endpoints do with whole requests. */
export const UNLAWFUL: readonly Answer[] = [
  vanish,
  reset,
  (port) => port.fallSilent(),
  garbage,
  cut,
  trailing,
  surplus,
];

async function earlyAndLast(port: AnswerPort, asked: AskedOf): Promise<void> {
  await wellSaid(port, whole(asked, "200 OK", port.chance.one(["", "Connection: close\r\n"])));
  port.end();
}

/** What any endpoint does with a request whose body has not come whole. */
export const LAWFUL_EARLY: readonly Answer[] = [
  (port, asked) => wellSaid(port, whole(asked)),
  (port, asked) => wellSaid(port, whole(asked, "413 Too Large", "Connection: close\r\n")),
  earlyAndLast,
];

/** What only bad endpoints do with one. */
export const UNLAWFUL_EARLY: readonly Answer[] = [vanish, reset];
