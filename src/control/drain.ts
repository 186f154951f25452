// Stopping without loss (S1): accept a while longer if asked to, close the listeners once the kernel's queue is empty,
// let what is under way finish until the time is over, then cut. A second wish to stop cuts at once.

import type { Clock } from "../core/clock.ts";
import type { DrainConfig } from "../core/plan.ts";

/** How often we look whether the last session has ended, milliseconds. */
const LOOK_MS = 20;
/** How long cut sessions get to be accounted for, milliseconds. */
const CUT_MS = 500;

/** What is drained. */
export interface Drained {
  /** Open client connections. */
  readonly sessions: number;
  /** Stops accepting; resolves when the listeners are closed. */
  closeListeners(): Promise<void>;
  /** Cuts what is left and gives the number. */
  cut(): Promise<number>;
}

/** Drains. `hurry`, once aborted, means: cut now. Gives the number of sessions that had to be cut. */
export async function drain(
  what: Drained,
  options: { config: DrainConfig; clock: Clock; hurry: AbortSignal },
): Promise<number> {
  const { config, clock, hurry } = options;
  await sleepUnless(hurry, config.acceptMs, clock);
  await Promise.race([what.closeListeners(), abortOf(hurry)]);
  const deadline = clock.now() + config.timeoutMs;
  while (what.sessions > 0 && clock.now() < deadline && !hurry.aborted) {
    await sleepUnless(hurry, Math.min(LOOK_MS, deadline - clock.now()), clock);
  }
  if (what.sessions === 0) return 0;
  const cut = await what.cut();
  for (let waited = 0; what.sessions > 0 && waited < CUT_MS; waited += LOOK_MS) await clock.sleep(LOOK_MS);
  return cut;
}

async function sleepUnless(signal: AbortSignal, ms: number, clock: Clock): Promise<void> {
  if (ms > 0 && !signal.aborted) await clock.sleep(ms, signal).catch(() => undefined);
}

function abortOf(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
