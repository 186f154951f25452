// The last events and whoever follows them. Ids carry the moment at which the process began, so an id from before a
// restart is known for what it is; within one process they are consecutive, so a follower can see a gap. Ended sessions
// are the access log's business and do not come here.

import type { TimedEvent } from "../core/event.ts";
import { jsonOf, severityOf, textOf } from "../core/event_text.ts";

/** How many events are kept. */
export const RING_SIZE = 256;

/** Most bytes that are replayed to one follower; older events are left out. */
export const REPLAY_BYTES = 448 * 1024;

/** An event whose JSON is longer is told by its sentence alone, cut to LONGEST_TEXT. */
const LONGEST_JSON = 8192;
const LONGEST_TEXT = 2000;

/** An event as followers get it. */
export interface KeptEvent {
  /** `<start>-<number>`, the number counting from 1. */
  readonly id: string;
  /** One JSON object: at, severity, kind, text and what the kind has. */
  readonly json: string;
}

/** Takes one event; must not throw. */
export type Follower = (event: KeptEvent) => void;

/** From where a follower wants to read: after an id, or the last so many; neither: only what is new. */
export interface From {
  readonly afterId?: string;
  readonly last?: number;
}

/** Keeps the last `RING_SIZE` events and passes new ones on. */
export class EventRing {
  readonly #start: string;
  readonly #events: KeptEvent[] = [];
  #count = 0;
  readonly #followers = new Set<Follower>();

  /** `startedAt` is the wall clock moment at which the process began, milliseconds. */
  constructor(startedAt: number) {
    this.#start = Math.round(startedAt).toString(36);
  }

  /** Keeps the event and tells every follower before it returns. */
  publish(event: TimedEvent): void {
    if (event.kind === "session_ended") return;
    this.#count++;
    const kept = { id: `${this.#start}-${this.#count}`, json: shortJson(event) };
    this.#events.push(kept);
    if (this.#events.length > RING_SIZE) this.#events.shift();
    for (const follower of [...this.#followers]) follower(kept);
  }

  /** Replays what `from` asks for, then passes on each new event, with none lost between. Gives how to stop. */
  follow(from: From, follower: Follower): () => void {
    for (const event of newestWithin(this.#wanted(from), REPLAY_BYTES)) follower(event);
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Kept events after an id; all of them when the id is of another process or too long ago. */
  #wanted({ afterId, last }: From): KeptEvent[] {
    if (afterId !== undefined) {
      return this.#events.slice(this.#events.findIndex((event) => event.id === afterId) + 1);
    }
    return last === undefined || last <= 0 ? [] : this.#events.slice(-last);
  }
}

function newestWithin(events: readonly KeptEvent[], bytes: number): readonly KeptEvent[] {
  let left = bytes;
  let first = events.length;
  // A character is at most three bytes, and 64 are ample for what stands around it.
  while (first > 0 && (left -= events[first - 1]!.json.length * 3 + 64) >= 0) first--;
  return events.slice(first);
}

function shortJson(event: TimedEvent): string {
  const json = jsonOf(event);
  if (json.length <= LONGEST_JSON) return json;
  const text = `${textOf(event).slice(0, LONGEST_TEXT)}…`;
  const at = new Date(event.at).toISOString();
  return JSON.stringify({ at, severity: severityOf(event), kind: event.kind, text });
}
