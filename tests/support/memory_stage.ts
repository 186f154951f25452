// One worker's data plane with an http listener, wholly in memory: clients and endpoint connections are memory duplexes,
// time is faked. For runs in large numbers, and for timing that real sockets do not give.

import { Board, Tally } from "../../src/core/board.ts";
import type { Random } from "../../src/core/clock.ts";
import type { FromWorker } from "../../src/core/message.ts";
import { Permits } from "../../src/core/permits.ts";
import type { Plan, UpstreamConfig } from "../../src/core/plan.ts";
import type { SessionRecord } from "../../src/core/stats.ts";
import { Plane, TICK_MS } from "../../src/data/plane.ts";
import type { ClientConn, Dial } from "../../src/data/service.ts";
import { HTTP_LIMITS, type HttpLimits } from "../../src/http/tools.ts";
import { FakeClock, settled } from "./fake_clock.ts";
import { bytesOf, stringOf } from "./http_heads.ts";
import { coded, type MemoryDuplex, memoryPair } from "./memory_duplex.ts";
import { healthParams, listener, planOf, upstream } from "./plans.ts";

const WEB = listener("web", 1, { protocol: "http", upstream: "app" });

/** What a stage is to be like where not as usual. */
export interface MemoryStageOptions {
  /** Absent: always 0. */
  readonly random?: Random;
  readonly upstream?: Partial<Omit<UpstreamConfig, "endpoints">>;
  /** Time limits of HTTP that are not the usual ones. */
  readonly limits?: Partial<HttpLimits>;
  /** Hears all that the worker tells main. */
  readonly told?: (message: FromWorker) => void;
}

/** A data plane with upstream "app", of one endpoint at 10.0.0.1:80 unless others are wanted. */
export class MemoryStage {
  readonly clock = new FakeClock();
  readonly records: SessionRecord[] = [];
  readonly troubles: FromWorker[] = [];
  readonly plane: Plane;
  /** The plan that it begins with. */
  readonly usual: Plan;
  readonly permits = new Permits(Permits.allocate(), 0);
  readonly handshakePermits = new Permits(Permits.allocate(), 0);

  readonly evidence: string[] = [];
  readonly board = new Board();
  readonly #told: MemoryStageOptions["told"];

  /** `endpoint` gets the far end of each connection that is dialed; or it is a dial of its own. */
  constructor(
    endpoint: ((conn: MemoryDuplex) => void) | { readonly dial: Dial },
    keys = ["10.0.0.1:80"],
    options: MemoryStageOptions = {},
  ) {
    const { board } = this;
    this.#told = options.told;
    const tally = new Tally();
    board.grow(keys.length);
    tally.grow(keys.length);
    this.plane = new Plane({
      clock: this.clock,
      random: options.random ?? (() => 0),
      board,
      tally,
      permits: this.permits,
      handshakePermits: this.handshakePermits,
      dial: "dial" in endpoint ? endpoint.dial : (target) => {
        const [near, far] = memoryPair();
        endpoint(far);
        return Promise.resolve({ conn: near, remote: target, resolveMs: 0, connectMs: 0, tlsMs: 0 });
      },
      resolveHost: () => Promise.resolve({ failure: "nxdomain", detail: "" }),
      listen: deserted,
      httpLimits: { ...HTTP_LIMITS, ...options.limits },
      send: (message) => this.#receive(message),
    });
    const app = upstream("app", keys, { health: healthParams(), ...options.upstream });
    this.usual = planOf([app], { listeners: [WEB], access: "all" });
    this.plane.take(this.usual);
  }

  #receive(message: FromWorker): void {
    this.#told?.(message);
    if (message.type === "sessions") this.records.push(...message.records);
    else if (message.type === "evidence") this.evidence.push(...message.runs.map(({ outcome }) => outcome));
    else this.troubles.push(message);
  }

  /** A client connects, with a TLS handshake that ends as `ready` does. */
  connect(ready?: Promise<boolean>): MemoryDuplex {
    const [near, far] = memoryPair();
    this.admit(Object.assign(accepted(near), ready && { ready: () => ready }));
    return far;
  }

  /** A client's connection comes in. */
  admit(conn: ClientConn): void {
    this.permits.take(1000);
    this.plane.admit(conn, WEB);
  }

  /** Lets time pass, tick by tick. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += TICK_MS) {
      await this.clock.advance(TICK_MS);
      this.plane.tick();
      await settled();
    }
  }

  /** Lets time pass in steps until no session is left. */
  async end(): Promise<void> {
    for (let step = 0; this.plane.sessionCount > 0; step++) {
      if (step === 100) throw new Error("A session does not end");
      await this.clock.advance(1500);
      this.plane.tick();
      await settled();
    }
    this.plane.tick();
  }
}

/** A connection as it comes from a client. */
export function accepted(conn: MemoryDuplex): MemoryDuplex & ClientConn {
  return Object.assign(conn, { remoteAddr: { transport: "tcp", hostname: "192.0.2.7", port: 9 } as const });
}

/** A socket at which nobody comes by. */
function deserted() {
  const end = Promise.withResolvers<never>();
  return { accept: () => end.promise, close: () => end.reject(coded("EBADF", "closed")) };
}

/** Gives `take` all that comes in, to the end. */
export async function hear(conn: MemoryDuplex, take: (text: string) => void): Promise<void> {
  const buffer = new Uint8Array(65536);
  for (;;) {
    const count = await conn.read(buffer).catch(() => null);
    if (count === null) return;
    take(stringOf(buffer.subarray(0, count)));
  }
}

/** Writes a text as far as it is taken. */
export async function tell(conn: MemoryDuplex, text: string): Promise<void> {
  const bytes = bytesOf(text);
  try {
    for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
  } catch {
    // It takes no more.
  }
}
