// Records of ended sessions on their way to the log, in batches. When more end than a log can usefully say, the rest is
// counted instead of queued: memory stays bounded whatever clients do.

import type { SessionRecord } from "../core/stats.ts";

/** Most records per batch; there is a batch per tick. */
const MOST = 1000;

/** Gathers records between two ticks. */
export class SessionLog {
  readonly #send: (records: readonly SessionRecord[], dropped: number) => void;
  #records: SessionRecord[] = [];
  #dropped = 0;

  /** `send` gets each batch and how many records did not fit into it. */
  constructor(send: (records: readonly SessionRecord[], dropped: number) => void) {
    this.#send = send;
  }

  /** Adds a record, or counts it when the batch is full. */
  add(record: SessionRecord): void {
    if (this.#records.length < MOST) this.#records.push(record);
    else this.#dropped++;
  }

  /** Sends what has gathered. */
  flush(): void {
    if (this.#records.length === 0) return;
    const [records, dropped] = [this.#records, this.#dropped];
    this.#records = [];
    this.#dropped = 0;
    this.#send(records, dropped);
  }
}
