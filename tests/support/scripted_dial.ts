// A dial whose ends a test writes: each dial gives the near end of a memory pair and hands the far end to a script, or
// fails with an outcome.

import type { ProbeDial } from "../../src/control/probe.ts";
import type { Outcome } from "../../src/core/outcome.ts";
import type { DialTarget } from "../../src/net/dial.ts";
import { type MemoryDuplex, memoryPair } from "./memory_duplex.ts";

/** What the endpoint does with a connection; an outcome instead: the dial fails with it. */
export type EndpointScript = Outcome | ((conn: MemoryDuplex) => Promise<void> | void);

/** A dial and what it saw. */
export class ScriptedDial {
  readonly targets: DialTarget[] = [];
  readonly timeouts: number[] = [];
  /** Far ends whose near end was never closed. */
  readonly near: MemoryDuplex[] = [];
  #script: EndpointScript;

  constructor(script: EndpointScript) {
    this.#script = script;
  }

  /** From the next dial on. */
  set script(script: EndpointScript) {
    this.#script = script;
  }

  /** Connections that are still open at our end. */
  get open(): number {
    return this.near.filter((conn) => !conn.closed).length;
  }

  readonly dial: ProbeDial = (target, { connectMs }) => {
    this.targets.push(target);
    this.timeouts.push(connectMs);
    if (typeof this.#script === "string") {
      return Promise.resolve({ outcome: this.#script, detail: `${target.host}: ${this.#script}` });
    }
    const [near, far] = memoryPair();
    this.near.push(near);
    void this.#script(far);
    const remote = { host: target.host, port: target.port };
    return Promise.resolve({ conn: near, remote, resolveMs: 0, connectMs: 1, tlsMs: 0 });
  };
}

/** Reads the request head, then sends `answer` and keeps the connection open. */
export function answering(answer: string | Uint8Array, seen?: string[]): EndpointScript {
  return async (conn) => {
    const head = await readHead(conn);
    seen?.push(head);
    if (head === "") return;
    const bytes = typeof answer === "string" ? new TextEncoder().encode(answer) : answer;
    if (bytes.length > 0) await conn.write(bytes).catch(() => undefined);
  };
}

/** Never answers. */
export const silent: EndpointScript = async (conn) => {
  await readHead(conn);
};

/** The request head; empty when the connection ended before. */
export async function readHead(conn: MemoryDuplex): Promise<string> {
  const buffer = new Uint8Array(4096);
  let head = "";
  while (!head.endsWith("\r\n\r\n")) {
    const count = await conn.read(buffer).catch(() => null);
    if (count === null) return "";
    head += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return head;
}
