// What a worker counts about listeners and upstreams, and the record of one ended session. Main asks for the counts
// when somebody looks, so counting costs the data path an addition and nothing else. Counts only grow.

import type { Outcome } from "./outcome.ts";

/** Counts of one worker since it started. */
export interface PlaneStats {
  /** By listener name. */
  readonly listeners: Readonly<Record<string, ListenerStats>>;
  /** By upstream name. */
  readonly upstreams: Readonly<Record<string, UpstreamStats>>;
  /** Outcomes that charge nobody, by code. */
  readonly notCharged: Readonly<Record<string, number>>;
  /** How late the event loop woke, milliseconds: the worst of the last ten seconds. */
  readonly loopLagMs: number;
}

/** Counts of one listener. */
export interface ListenerStats {
  /** Open client connections. */
  active: number;
  accepted: number;
  /** Ended sessions by outcome. */
  readonly outcomes: Record<string, number>;
  /** Bytes from clients. */
  bytesIn: number;
  /** Bytes to clients. */
  bytesOut: number;
}

/** Counts of one upstream. */
export interface UpstreamStats {
  /** Answers by class: "2xx". */
  readonly responses: Record<string, number>;
  /** Exchange times; buckets by core/histogram.ts. */
  readonly exchangeBuckets: number[];
  exchangeCount: number;
  exchangeSumMs: number;
  /** Sessions and exchanges for which there was no endpoint. */
  noEndpoint: number;
}

/** One ended session or exchange, for the access log (T5). */
export interface SessionRecord {
  readonly listener: string;
  readonly protocol: "tcp" | "http";
  /** Empty: it came to no request that could be routed. */
  readonly upstream: string;
  /** The endpoint that served it; empty: none. */
  readonly endpoint: string;
  readonly client: string;
  readonly outcome: Outcome;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly durationMs: number;
  readonly attempts: number;
  /** Wall clock at its end, milliseconds since 1970. */
  readonly at: number;
  /** Absent with `protocol` "http": there was no request, since the client's TLS handshake did not end well. */
  readonly http?: HttpRecord;
}

/** What an exchange adds. */
export interface HttpRecord {
  readonly method: string;
  /** Target as received; cut at 2 KiB. */
  readonly target: string;
  readonly host: string;
  readonly status: number;
  readonly requestId: string;
  readonly dialMs: number;
  readonly firstByteMs: number;
}
