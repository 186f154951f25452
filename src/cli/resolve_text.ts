// What `hale resolve` prints: questions with their answers as text. Asking is resolve.ts's business.

import { formatDuration } from "../core/duration.ts";
import type { AddressRecord, Question, Resolved, ServiceRecord, Unresolved } from "../net/dns_types.ts";

/** One question, its end, and how long that took in milliseconds. */
export interface Asked {
  readonly question: Question;
  readonly end: Resolved | Unresolved;
  readonly tookMs: number;
}

/** The lines about one question. `targets`: what asking for SRV targets gave, by their names. */
export function askedLines(
  asked: Asked,
  targets: ReadonlyMap<string, readonly Asked[]> = new Map(),
): string[] {
  const { question: { name, type }, end, tookMs } = asked;
  const took = formatDuration(tookMs);
  if ("failure" in end) {
    const holds = end.negativeTtlMs === undefined ? "" : `, holds for ${formatDuration(end.negativeTtlMs)}`;
    return [`${name} ${type}: ${end.failure} after ${took}${holds}`, `  ${end.detail}`];
  }
  return [
    `${name} ${type}: ${counted(end)}, by ${end.source} in ${took}`,
    ...(end.chain.length > 1 ? [`  ${end.chain.join(" -> ")}`] : []),
    ...end.addresses.map((record) => `  ${record.address.padEnd(40)}${ttlText(end, record.ttlS)}`),
    ...byPriority(end.services).flatMap((service) => serviceLines(service, end, targets)),
  ];
}

function counted(end: Resolved): string {
  const count = end.addresses.length + end.services.length;
  return count === 1 ? "1 record" : `${count} records`;
}

function ttlText(end: Resolved, ttlS: number): string {
  return end.ttlMs === Infinity ? "TTL not known" : `TTL ${lifetime(ttlS * 1000)}`;
}

/** A lifetime of `ms` milliseconds for people: whole seconds at least. */
export function lifetime(ms: number): string {
  return ms < 1000 ? "0 s" : formatDuration(ms);
}

function byPriority(services: readonly ServiceRecord[]): ServiceRecord[] {
  return [...services].sort((a, b) => a.priority - b.priority || b.weight - a.weight);
}

function serviceLines(
  service: ServiceRecord,
  end: Resolved,
  targets: ReadonlyMap<string, readonly Asked[]>,
): string[] {
  const { target, port, priority, weight, ttlS } = service;
  if (target === ".") return [`  not offered (target ".")  ${ttlText(end, ttlS)}`];
  const head = `  ${`${target}:${port}`.padEnd(40)}${
    ttlText(end, ttlS)
  }, priority ${priority}, weight ${weight}`;
  const along = end.additional.filter((record) => record.name === target);
  if (along.length > 0) return [head, ...along.map((record) => `${targetLine(record)}, came along`)];
  return [head, ...(targets.get(target) ?? []).flatMap((asked) => targetLines(asked))];
}

function targetLine(record: AddressRecord): string {
  return `    ${record.address.padEnd(38)}TTL ${lifetime(record.ttlS * 1000)}`;
}

function targetLines({ question, end }: Asked): string[] {
  if (!("failure" in end)) return end.addresses.map(targetLine);
  // Most targets have one family only.
  return end.failure === "nodata" ? [] : [`    ${question.type}: ${end.failure} (${end.detail})`];
}
