// A connection after it was upgraded (W8): raw bytes both ways, with half-close and the idle limits of the listener,
// as for a TCP session.

import type { Duplex } from "../core/duplex.ts";
import type { Outcome } from "../core/outcome.ts";
import type { Listener } from "../core/plan.ts";
import { Relay } from "../net/relay.ts";
import { IdleLimit } from "./idle_limit.ts";
import type { Service } from "./service.ts";

/** The two raw sides. */
export interface RawSides {
  readonly client: Duplex;
  readonly endpoint: Duplex;
}

/** One upgraded connection. */
export class Upgraded {
  readonly relay: Relay;
  readonly #limit: IdleLimit;

  /** Takes over both sides. */
  constructor(service: Service, listener: Listener, sides: RawSides) {
    this.#limit = new IdleLimit(service.wheel, listener);
    this.relay = new Relay(sides.client, sides.endpoint, { buffers: service.buffers, owner: this.#limit });
  }

  /** Copies until both sides are over. */
  async run(): Promise<Outcome> {
    this.#limit.begin(this.relay);
    const outcome = await this.relay.run();
    this.#limit.end();
    return outcome;
  }
}
