// What workers tell main about endpoints: evidence, dated by epoch, as runs of equal outcomes in the order in which
// they happened (per slot). And the lasting form in which main keeps and shows evidence.

import type { Outcome } from "./outcome.ts";

/** Where a piece of evidence comes from. */
export type EvidenceSource = "traffic" | "probe";

/** `count` equal outcomes of one slot in a row, all under one epoch. */
export interface Run {
  readonly slot: number;
  readonly epoch: number;
  readonly outcome: Outcome;
  readonly count: number;
  /** How long the last of them took, milliseconds. */
  readonly durationMs: number;
  /** What exactly was seen last, for people: "ECONNREFUSED", "503". May be empty. */
  readonly detail: string;
}

/** One piece of evidence as it is shown (H13). */
export interface Evidence {
  /** Wall clock, milliseconds since 1970. */
  readonly at: number;
  readonly source: EvidenceSource;
  readonly outcome: Outcome;
  readonly count: number;
  readonly durationMs: number;
  readonly detail: string;
}
