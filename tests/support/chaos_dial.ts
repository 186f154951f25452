// How the chaos test's data plane reaches endpoints: at once or slowly, in ways that can be given up or not, or not at
// all. And how its connections are made: roomy or narrow, as new or as old runtimes have them.

import type { Duplex } from "../../src/core/duplex.ts";
import { FirmConn } from "../../src/net/firm_close.ts";
import type { Dialed, DialFailure, DialOptions, DialTarget } from "../../src/net/dial.ts";
import type { ClientConn } from "../../src/data/service.ts";
import type { ChaosEndpoint } from "./chaos_endpoint.ts";
import { DeafDuplex } from "./deaf_duplex.ts";
import type { HeldWatch } from "./held_watch.ts";
import type { ClientGround } from "./chaos_client.ts";
import { type MemoryDuplex, memoryPair } from "./memory_duplex.ts";
import { accepted } from "./memory_stage.ts";

const FAILURES = ["refused", "connect_timeout", "reset"] as const;
/** Longest dial, in turns. */
const LONG_DIAL = 25;

/** All connections of one run. */
export class ChaosConns {
  readonly #ground: ClientGround;
  readonly #watch: HeldWatch;
  /** Of an old runtime, whose `close` ends nothing that is under way. */
  readonly #isOld: boolean;
  readonly #open = new Set<Duplex>();
  /** Dials under way. */
  dialing = 0;

  constructor(ground: ClientGround, watch: HeldWatch) {
    this.#ground = ground;
    this.#watch = watch;
    this.#isOld = ground.chance.happens(0.5);
  }

  /** How many ends have been given to the data plane and were never closed by it. */
  get open(): number {
    return this.#open.size;
  }

  /** A connection: the data plane's end, and the other one. */
  pair(): [ClientConn, MemoryDuplex] {
    const { chance } = this.#ground;
    const [near, far] = memoryPair({
      ...(chance.happens(0.2) && { capacity: 100 }),
      ...(chance.happens(0.2) && { chunk: 50 }),
    });
    const conn = accepted(near);
    return [this.#followed(this.#isOld ? new FirmConn(new DeafDuplex(conn), false) : conn), far];
  }

  #followed(conn: ClientConn): ClientConn {
    this.#open.add(conn);
    const close = conn.close.bind(conn);
    conn.close = () => {
      this.#open.delete(conn);
      close();
    };
    return this.#watch.follow(conn);
  }

  /** A dial of these endpoints; the last number of a host tells which. */
  dialTo(endpoints: readonly ChaosEndpoint[]) {
    return (target: DialTarget, { begun }: DialOptions): Promise<Dialed | DialFailure> => {
      const { chance, turns } = this.#ground;
      const endpoint = endpoints[Number(target.host.split(".").at(-1)) - 1]!;
      if (chance.happens(0.6)) return Promise.resolve(this.#reach(endpoint, target));
      const { promise, resolve } = Promise.withResolvers<Dialed | DialFailure>();
      this.dialing++;
      let isOver = false;
      const end = (how: () => Dialed | DialFailure) => {
        if (isOver) return;
        isOver = true;
        this.dialing--;
        resolve(how());
      };
      begun?.({ cancel: () => end(() => this.#givenUp()) });
      if (chance.happens(0.3)) begun?.(undefined);
      turns.later(1 + chance.below(LONG_DIAL), () => end(() => this.#reach(endpoint, target)));
      return promise;
    };
  }

  #givenUp(): DialFailure {
    this.#ground.saw("dial given up");
    return { outcome: "cancelled", detail: "" };
  }

  #reach(endpoint: ChaosEndpoint, remote: DialTarget): Dialed | DialFailure {
    const { chance } = this.#ground;
    if (!endpoint.isFair && chance.happens(0.3)) {
      const outcome = chance.one(FAILURES);
      endpoint.did(outcome);
      return { outcome, detail: "" };
    }
    const [conn, far] = this.pair();
    endpoint.serve(far);
    return { conn, remote, resolveMs: 0, connectMs: 1, tlsMs: 0 };
  }
}
