// A probe's result for people, stage by stage, as `hale probe` prints it.

import { formatAddress } from "../core/address.ts";
import { formatDuration } from "../core/duration.ts";
import { sentenceOf, verdictOf } from "../core/outcome.ts";
import type { ProbeResult, ProbeTarget } from "../control/probe.ts";

interface Stage {
  readonly name: string;
  readonly ms: number | undefined;
  readonly note: string;
}

/** Several lines without a final line feed: what was asked, each stage with its time, and the verdict. */
export function renderProbe(name: string, target: ProbeTarget, result: ProbeResult): string {
  const verdict = verdictOf(result.outcome);
  const stages = stagesOf(target, result);
  const reached = stages.filter((stage) => stage.ms !== undefined);
  const failedAt = verdict === "success" ? undefined : stages.find((stage) => stage.ms === undefined);
  return [
    `${name}  ${askedOf(target)}`,
    ...reached.map((stage) => lineOf(stage.name, formatDuration(stage.ms!), stage.note)),
    ...(failedAt === undefined ? [] : [lineOf(failedAt.name, "-", "")]),
    lastLine(result, verdict),
  ].join("\n");
}

/** The stages that this probe has, in order. A dial that failed tells no times: its stage is known by its outcome. */
function stagesOf(target: ProbeTarget, result: ProbeResult): Stage[] {
  const { stages, remote, outcome } = result;
  const isHttp = target.params.kind === "http";
  const all: (Stage & { readonly isNeeded: boolean })[] = [
    {
      name: "resolve",
      ms: stages.resolveMs,
      note: remote?.host ?? "",
      isNeeded: stages.resolveMs !== undefined || outcome === "name_unresolved",
    },
    {
      name: "connect",
      ms: stages.connectMs,
      note: remote === undefined ? "" : formatAddress(remote),
      isNeeded: outcome !== "tls_failed" || stages.connectMs !== undefined,
    },
    {
      name: "tls",
      ms: stages.tlsMs,
      note: target.dial.tls?.serverName ?? "",
      isNeeded: target.dial.tls !== undefined,
    },
    { name: "request", ms: stages.requestMs, note: "", isNeeded: isHttp },
    { name: "answer", ms: stages.answerMs, note: "", isNeeded: isHttp },
  ];
  return all.filter((stage) => stage.isNeeded);
}

function askedOf(target: ProbeTarget): string {
  const address = formatAddress(target.dial);
  if (target.params.kind === "tcp") return `tcp ${address}`;
  const scheme = target.dial.tls === undefined ? "http" : "https";
  return `${target.params.method} ${scheme}://${address}${target.params.path}`;
}

function lineOf(name: string, time: string, note: string): string {
  return `  ${name.padEnd(8)} ${time.padStart(9)}  ${note}`.trimEnd();
}

function lastLine(result: ProbeResult, verdict: ReturnType<typeof verdictOf>): string {
  const took = formatDuration(result.durationMs);
  const detail = result.detail === "" ? "" : ` (${result.detail})`;
  if (verdict === "success") return `  passed in ${took}${detail}`;
  const word = verdict === "failure" ? "FAILED" : "NO VERDICT";
  return `  ${word} after ${took}: ${sentenceOf(result.outcome)}${detail}`;
}
