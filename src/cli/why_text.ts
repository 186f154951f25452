// The answer to "why is it out" as text for a terminal (H13): what the API gives as JSON, read top down by a person in
// a hurry: where the endpoint is, why, what brings it back, then the evidence. The data is the admin room's `WhyView`.

import type { EvidenceView, WhyView } from "../admin/view.ts";
import { formatDuration } from "../core/duration.ts";

/** Several lines without a final line feed. Times are UTC. */
export function renderWhy(why: WhyView): string {
  return [
    headLine(why),
    labelled("why", why.reason === "" ? "nothing keeps it out" : why.reason),
    ...(why.returns === "" ? [] : [labelled("returns", returnsText(why))]),
    labelled("now", countsText(why)),
    ...(why.failures.length === 0 ? [] : [labelled("failures", failuresText(why))]),
    ...evidenceLines(why),
  ].join("\n");
}

function headLine(why: WhyView): string {
  const forMs = Date.parse(why.now) - Date.parse(why.since);
  const usable = why.usable ? "usable" : "not usable";
  const out = why.reasons.length === 0 ? "" : ` (${why.reasons.join(", ")})`;
  return `${why.upstream}/${why.address}  ${why.state} for ${formatDuration(forMs)}, ${usable}${out}`;
}

function returnsText(why: WhyView): string {
  const { returns, returns_in_ms: inMs } = why;
  return inMs === null ? returns : `${returns}; its time is over in ${formatDuration(inMs)}`;
}

function countsText(why: WhyView): string {
  const parts = [
    `${why.in_flight} in flight`,
    `${why.picks_total} picks`,
    `${why.streak} failures in a row`,
    `${why.ejections} ejections`,
  ];
  if (why.would_eject > 0) parts.push(`${why.would_eject} only noted`);
  return parts.join(", ");
}

function failuresText(why: WhyView): string {
  return why.failures.map(({ source, outcome, count }) => `${source} ${outcome} ${count}`).join(", ");
}

function evidenceLines(why: WhyView): string[] {
  if (why.evidence.length === 0) return [labelled("evidence", "none yet")];
  return [labelled("evidence", "newest first"), ...why.evidence.map(evidenceLine)];
}

function evidenceLine(piece: EvidenceView): string {
  const time = piece.at.replace("T", " ").replace("Z", "");
  const times = piece.count === 1 ? "" : `, ${piece.count} times`;
  const detail = piece.detail === "" ? "" : ` (${piece.detail})`;
  const took = formatDuration(piece.duration_ms).padStart(7);
  return `    ${time}  ${piece.source.padEnd(7)}  ${
    MARKS[piece.verdict]
  } ${took}  ${piece.sentence}${detail}${times}`;
}

const MARKS = { success: "+", failure: "-", none: " " } as const;

function labelled(label: string, text: string): string {
  return `  ${label.padEnd(8)}  ${text}`;
}
