// Stopping without loss (S1): accept a while longer if asked to, close the listeners once the kernel's queue is empty,
// let what is under way finish until the time is over, then cut. A second wish to stop cuts at once. It ends in any case.

import type { Clock } from "../core/clock.ts";
import type { DrainConfig } from "../core/plan.ts";

/** How often we look whether the last session has ended, milliseconds. */
const LOOK_MS = 20;
/** How long listeners get to close even when sessions get no time, milliseconds. */
const CLOSING_MS = 1000;
/** How long workers get to cut, and cut sessions to be accounted for, milliseconds. */
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

/**
 * Drains. `hurry`, once aborted, means: cut now. Gives the number of sessions that had to be cut. Ends in any case: what
 * does not answer any more is left to whoever ends the process.
 */
export async function drain(
  what: Drained,
  options: { config: DrainConfig; clock: Clock; hurry: AbortSignal },
): Promise<number> {
  const { config, clock, hurry } = options;
  await sleepUnless(hurry, config.acceptMs, clock);
  const closing = what.closeListeners().then(() => true);
  const isClosed = await within(Math.max(config.timeoutMs, CLOSING_MS), closing, { clock, hurry });
  const deadline = clock.now() + (isClosed === true ? config.timeoutMs : 0);
  while (what.sessions > 0 && clock.now() < deadline && !hurry.aborted) {
    await sleepUnless(hurry, Math.min(LOOK_MS, deadline - clock.now()), clock);
  }
  return what.sessions === 0 ? 0 : await cut(what, clock);
}

async function cut(what: Drained, clock: Clock): Promise<number> {
  const { sessions } = what;
  const count = await within(CUT_MS, what.cut(), { clock });
  if (count === undefined) return sessions;
  for (let waited = 0; what.sessions > 0 && waited < CUT_MS; waited += LOOK_MS) await clock.sleep(LOOK_MS);
  return count;
}

/** What `work` gives; undefined when that takes longer than `ms` or somebody is in a hurry. */
async function within<T>(
  ms: number,
  work: Promise<T>,
  { clock, hurry }: { readonly clock: Clock; readonly hurry?: AbortSignal },
): Promise<T | undefined> {
  const done = new AbortController();
  const signal = hurry === undefined ? done.signal : AbortSignal.any([hurry, done.signal]);
  try {
    return await Promise.race([work, sleepUnless(signal, ms, clock)]);
  } finally {
    done.abort();
  }
}

async function sleepUnless(signal: AbortSignal, ms: number, clock: Clock): Promise<undefined> {
  if (ms > 0 && !signal.aborted) await clock.sleep(ms, signal).catch(() => undefined);
}
