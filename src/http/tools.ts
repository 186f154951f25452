// What all HTTP connections of one worker share: pages, time, ids, one head writer. And the limits of W7.

import type { Clock, Random } from "../core/clock.ts";
import type { TimerWheel } from "../core/wheel.ts";
import { HeadWriter } from "./head_writer.ts";
import { Pages } from "./pages.ts";
import { RequestIds } from "./request_id.ts";

/** The time limits of HTTP, milliseconds. */
export interface HttpLimits {
  /** For a whole request head, from its first byte (from the connection's beginning for the first one). */
  readonly headMs: number;
  /** For the silence of a request body, and of a client that does not read. */
  readonly bodyMs: number;
  /** For a kept connection without a request. */
  readonly keepMs: number;
  /** For a client that has ended its side and still waits for its answer; then it counts as gone. */
  readonly halfClosedMs: number;
  /** For a client to end a connection that we ended: silence, and all in all. */
  readonly lingerMs: number;
  readonly lingerTotalMs: number;
}

/** W7. */
export const HTTP_LIMITS: HttpLimits = {
  headMs: 10_000,
  bodyMs: 30_000,
  keepMs: 75_000,
  halfClosedMs: 1000,
  lingerMs: 2000,
  lingerTotalMs: 30_000,
};

/** The common ground of the HTTP connections of one worker. */
export interface HttpTools {
  readonly pages: Pages;
  readonly writer: HeadWriter;
  readonly ids: RequestIds;
  readonly wheel: TimerWheel;
  readonly clock: Pick<Clock, "now">;
  readonly limits: HttpLimits;
}

/** Makes the tools of one worker. */
export function createHttpTools(
  base: { readonly wheel: TimerWheel; readonly clock: Pick<Clock, "now">; readonly random: Random },
  limits: HttpLimits = HTTP_LIMITS,
): HttpTools {
  return {
    pages: new Pages(),
    writer: new HeadWriter(),
    ids: new RequestIds(base.random),
    wheel: base.wheel,
    clock: base.clock,
    limits,
  };
}
