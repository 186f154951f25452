// One worker's data plane with an http listener, on real sockets in this thread, without control: what it would tell
// main is kept to be looked at. And a raw client that sends bytes and says what came back.

import { Board, Tally } from "../../src/core/board.ts";
import type { FromWorker } from "../../src/core/message.ts";
import { Permits } from "../../src/core/permits.ts";
import type { Listener, Plan, Upstream } from "../../src/core/plan.ts";
import type { Run } from "../../src/core/report.ts";
import type { SessionRecord } from "../../src/core/stats.ts";
import { Plane } from "../../src/data/plane.ts";
import { HTTP_LIMITS, type HttpLimits } from "../../src/http/tools.ts";
import { dial } from "../../src/net/dial.ts";
import { bind } from "../../src/net/listen.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { bytesOf, stringOf } from "./http_heads.ts";
import { healthParams, planOf, upstream } from "./plans.ts";
import { writeBytes } from "./tcp_endpoint.ts";

/** What a stage is to be like. */
export interface StageOptions {
  readonly listener?: Partial<Listener>;
  readonly upstream?: Partial<Omit<Upstream, "endpoints" | "name">>;
  /** More upstreams; slots must not clash. */
  readonly others?: readonly Upstream[];
  readonly limits?: Partial<HttpLimits>;
  readonly hostname?: string;
}

/** A data plane that serves http on a port of 127.0.0.1. */
export class HttpStage implements AsyncDisposable {
  readonly plane: Plane;
  readonly permits = new Permits(Permits.allocate(), 0);
  readonly handshakePermits = new Permits(Permits.allocate(), 0);
  readonly board = new Board();
  readonly tally = new Tally();
  readonly runs: Run[] = [];
  readonly records: SessionRecord[] = [];
  readonly troubles: FromWorker[] = [];
  port = 0;
  #plan: Plan;
  readonly #hostname: string;
  readonly #ticking: ReturnType<typeof setInterval>;

  private constructor(keys: readonly string[], options: StageOptions) {
    this.board.grow(256);
    this.tally.grow(256);
    this.#hostname = options.hostname ?? "127.0.0.1";
    this.plane = new Plane({
      clock: new SystemClock(),
      random: Math.random,
      board: this.board,
      tally: this.tally,
      permits: this.permits,
      handshakePermits: this.handshakePermits,
      dial,
      resolveHost: () => Promise.resolve({ failure: "nxdomain", detail: "no names here" }),
      listen: ({ address, tls }) => this.#listen(address, tls),
      send: (message) => this.#receive(message),
      httpLimits: { ...HTTP_LIMITS, ...options.limits },
    });
    this.#plan = this.#planFor(keys, options);
    this.#ticking = setInterval(() => this.plane.tick(), 20);
  }

  /** Serves the endpoints at the keys ("127.0.0.1:80"), as upstream "app". */
  static async start(keys: readonly string[], options: StageOptions = {}): Promise<HttpStage> {
    const stage = new HttpStage(keys, options);
    await stage.plane.prepare(stage.#plan.listeners);
    stage.plane.take(stage.#plan);
    return stage;
  }

  #listen(address: Listener["address"], tls: Listener["tls"]) {
    const alpn = ["http/1.1"];
    const acceptor = bind(address, {
      reusePort: false,
      ...(tls === undefined ? {} : { tls: { cert: tls.cert, key: tls.key, alpn } }),
    });
    this.port = acceptor.port;
    return acceptor;
  }

  #planFor(keys: readonly string[], options: StageOptions): Plan {
    const listener: Listener = {
      name: "web",
      address: { host: this.#hostname, port: 0 },
      protocol: "http",
      upstream: "app",
      routes: [],
      idleTimeoutMs: 3_600_000,
      halfCloseTimeoutMs: 30_000,
      trustedProxies: [],
      ...options.listener,
    };
    const app = upstream("app", keys, { health: healthParams(), ...options.upstream });
    return planOf([app, ...options.others ?? []], { listeners: [listener], access: "all" });
  }

  /** Swaps to other endpoints or settings; the listener's socket stays. */
  replace(keys: readonly string[], options: StageOptions = {}): void {
    this.#plan = { ...this.#planFor(keys, options), revision: this.#plan.revision + 1 };
    this.plane.take(this.#plan);
  }

  #receive(message: FromWorker): void {
    if (message.type === "evidence") this.runs.push(...message.runs);
    else if (message.type === "sessions") this.records.push(...message.records);
    else this.troubles.push(message);
  }

  /** Exchanges in flight over all endpoints. */
  get inFlight(): number {
    return Array.from({ length: 8 }, (_, slot) => this.board.cells(slot).inFlight).reduce((a, b) => a + b, 0);
  }

  /** Evidence so far as "outcome×count", in order, over all slots, equal neighbours together. */
  get evidence(): string[] {
    this.plane.reporter.flush();
    const runs: { outcome: string; count: number }[] = [];
    for (const { outcome, count } of this.runs) {
      const last = runs.at(-1);
      if (last?.outcome === outcome) last.count += count;
      else runs.push({ outcome, count });
    }
    return runs.map((run) => `${run.outcome}×${run.count}`);
  }

  /** How often something happened that charges nobody. */
  notCharged(outcome: string): number {
    return this.plane.stats().notCharged[outcome] ?? 0;
  }

  connect(): Promise<Deno.TcpConn> {
    return Deno.connect({ hostname: this.#hostname, port: this.port });
  }

  /** Sends bytes on a new connection and gives all that comes back until the end, or until `enough` says so. */
  async send(text: string, enough: (answer: string) => boolean = () => false): Promise<string> {
    using conn = await this.connect();
    await writeBytes(conn, bytesOf(text));
    return await readUntil(conn, enough);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#ticking);
    const ticking = setInterval(() => this.plane.tick(), 5);
    await this.plane.close();
    clearInterval(ticking);
    this.plane.tick(); // for what was noted last
  }
}

/** Reads until the end, a reset, or until `enough`. Gives all as text. */
export async function readUntil(conn: Deno.Conn, enough: (text: string) => boolean): Promise<string> {
  const buffer = new Uint8Array(65536);
  let text = "";
  while (!enough(text)) {
    const count = await conn.read(buffer).catch(() => null);
    if (count === null) break;
    text += stringOf(buffer.subarray(0, count));
  }
  return text;
}
