// The last events and whoever follows them. Ids carry the moment at which the process began, so an id from before a
// restart is known for what it is; within one process they are consecutive, so a follower can see a gap.

/** How many events are kept. */
export const RING_SIZE = 256;

const LONGEST_TEXT = 2000;

/** Something that happened, for people and scripts. */
export interface AdminEvent {
  /** `<start>-<number>`, the number counting from 1. */
  readonly id: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** In snake_case: ejected, half_open, restored, would_eject, drained, config_accepted, config_refused ... */
  readonly kind: string;
  readonly level: "info" | "warning" | "error";
  readonly upstream?: string;
  readonly endpoint?: string;
  /** One sentence. */
  readonly text: string;
}

/** An event as it is handed in: its id is given by the ring, its time is wall clock milliseconds. */
export type NewEvent = Omit<AdminEvent, "id" | "at"> & { readonly at: number };

/** Takes one event; must not throw. */
export type Follower = (event: AdminEvent) => void;

/** From where a follower wants to read: after an id, or the last so many; neither: only what is new. */
export interface From {
  readonly afterId?: string;
  readonly last?: number;
}

/** Keeps the last `RING_SIZE` events and passes new ones on. */
export class EventRing {
  readonly #start: string;
  #events: AdminEvent[] = [];
  #count = 0;
  readonly #followers = new Set<Follower>();

  /** `startedAt` is the wall clock moment at which the process began, milliseconds. */
  constructor(startedAt: number) {
    this.#start = Math.round(startedAt).toString(36);
  }

  /** Adds an event and tells every follower before it returns. A text over 2,000 characters is cut. */
  publish(event: NewEvent): AdminEvent {
    this.#count++;
    const text = event.text.length > LONGEST_TEXT ? event.text.slice(0, LONGEST_TEXT - 1) + "…" : event.text;
    const full = {
      ...event,
      text,
      id: `${this.#start}-${this.#count}`,
      at: new Date(event.at).toISOString(),
    };
    this.#events.push(full);
    if (this.#events.length > RING_SIZE) this.#events.shift();
    for (const follower of [...this.#followers]) follower(full);
    return full;
  }

  /** Replays what `from` asks for, then passes on each new event, with none lost between. Gives how to stop. */
  follow(from: From, follower: Follower): () => void {
    for (const event of this.#replay(from)) follower(event);
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Kept events after an id; all of them when the id is of another process or too long ago. */
  #replay({ afterId, last }: From): AdminEvent[] {
    if (afterId !== undefined) {
      const at = this.#events.findIndex((event) => event.id === afterId);
      return this.#events.slice(at + 1);
    }
    return last === undefined || last <= 0 ? [] : this.#events.slice(-last);
  }
}
