// The state of a running hale as text for a terminal: first what is out and what else needs a person, then every
// upstream with its endpoints as a table. Pure: view in, text out.

import type { EndpointView, UpstreamView, View } from "../admin/view.ts";
import { formatDuration } from "../core/duration.ts";
import { printable } from "./admin_client.ts";

/** How to show it. */
export interface StatusLook {
  readonly colors: boolean;
  /** Leaves out endpoints that are simply well. */
  readonly onlyTrouble?: boolean;
}

type Colour = "red" | "green" | "yellow" | "blue" | "dim" | "bold";

const CODES: Readonly<Record<Colour, number>> = { red: 31, green: 32, yellow: 33, blue: 34, dim: 2, bold: 1 };

/** The whole text, with a final line feed. */
export function statusText(view: View, look: StatusLook): string {
  const paint = painter(look.colors);
  const lines = [
    ...headLines(view, paint),
    ...configLines(view, paint),
    ...view.upstreams.flatMap((upstream) => upstreamLines(upstream, view, { ...look, paint })),
  ];
  return printableLines(lines);
}

type Paint = (colour: Colour, text: string) => string;

/** Colour codes are put in as marks that no text of a peer can hold once it is printable. */
function painter(colors: boolean): Paint {
  return (colour, text) => colors ? `\u001b[${CODES[colour]}m${printable(text)}\u001b[0m` : text;
}

function printableLines(lines: readonly string[]): string {
  // deno-lint-ignore no-control-regex
  const colour = /(\u001b\[\d+m)/;
  const harmless = (line: string) =>
    line.split(colour).map((part, at) => at % 2 === 1 ? part : printable(part)).join("");
  return lines.map((line) => `${harmless(line).trimEnd()}\n`).join("");
}

function headLines(view: View, paint: Paint): string[] {
  const { sessions, max_connections } = view.limits;
  const phase = view.phase === "running" ? "running" : paint("yellow", view.phase);
  return [
    `hale ${view.version}  ${phase} for ${formatDuration(view.uptime_ms)}, generation ${view.generation}` +
    `, ${sessions} of ${max_connections} connections`,
    summary(view, paint),
  ];
}

function summary(view: View, paint: Paint): string {
  const all = view.upstreams.flatMap(({ endpoints }) => endpoints);
  const out = all.filter(isOut).length;
  if (view.generation === 0) return paint("yellow", "No plan is in force yet");
  if (all.length === 0) return paint("red", "There is no endpoint");
  const dead = view.upstreams.filter(({ usable }) => usable === 0).map(({ name }) => name);
  const none = dead.length === 0 ? "" : `, no usable one in ${dead.join(", ")}`;
  if (out === 0 && none === "") return paint("green", `All ${all.length} endpoints are in rotation`);
  return paint(none === "" ? "yellow" : "red", `${out} of ${all.length} endpoints are out${none}`);
}

function isOut({ reasons }: EndpointView): boolean {
  return reasons.some((reason) => reason !== "full" && reason !== "half_open");
}

function configLines(view: View, paint: Paint): string[] {
  const { last_attempt: attempt } = view.config;
  if (attempt.ok) return [];
  const ago = attempt.at === null ? "" : ` ${age(attempt.at, view)} ago`;
  return [
    "",
    paint("red", `The last config edit was refused${ago}, generation ${view.generation} goes on:`),
    ...attempt.problems.map(({ file, line, column, path, message }) => {
      const place = file === "" ? "" : `${file}:${line}:${column}`;
      return `  ${[place, path, message].filter((part) => part !== "").join("  ")}`;
    }),
  ];
}

function upstreamLines(
  upstream: UpstreamView,
  view: View,
  look: StatusLook & { readonly paint: Paint },
): string[] {
  const { paint } = look;
  const shown = upstream.endpoints.filter((endpoint) => look.onlyTrouble !== true || isTrouble(endpoint));
  const rest = upstream.endpoints.length - shown.length;
  return [
    "",
    `${paint("bold", upstream.name)}  ${upstreamFacts(upstream, paint)}`,
    ...(upstream.discovery === undefined ? [] : [discoveryLine(upstream.discovery, paint)]),
    ...endpointTable(shown, view, paint),
    ...(rest > 0 ? [paint("dim", `  ${rest} more, all well`)] : []),
  ];
}

const isTrouble = (endpoint: EndpointView): boolean => !endpoint.usable || endpoint.reason !== "";

function upstreamFacts(upstream: UpstreamView, paint: Paint): string {
  const { usable, total } = upstream;
  const colour = usable === total && total > 0 ? "green" : usable === 0 ? "red" : "yellow";
  return [
    paint(colour, `${usable} of ${total} usable`),
    `${upstream.protocol} ${upstream.load_balancer}`,
    `${upstream.rate_per_s}/s`,
    ...(upstream.health === "enforce" ? [] : [`health ${upstream.health}`]),
    ...(upstream.fail_open ? [paint("yellow", "fail open: picks among all")] : []),
  ].join("  ");
}

function discoveryLine(discovery: NonNullable<UpstreamView["discovery"]>, paint: Paint): string {
  const { hostname, record_type, failure, next_refresh_ms: next, note } = discovery;
  const state = failure === null ? "ok" : paint("red", `failing: ${failure}`);
  const again = next === null ? "" : `, asks again in ${formatDuration(next)}`;
  return `  DNS ${hostname} ${record_type}: ${state}${note === "" ? "" : `, ${note}`}${again}`;
}

const HEADS: readonly string[] = [
  "STATE",
  "ENDPOINT",
  "IN FLIGHT",
  "PICKS/S",
  "P50/P99 MS",
  "FOR",
  "WHY AND WHAT BRINGS IT BACK",
];
const RIGHT: readonly boolean[] = [false, false, true, true, true, true, false];

function endpointTable(endpoints: readonly EndpointView[], view: View, paint: Paint): string[] {
  if (endpoints.length === 0) return [];
  const rows = endpoints.map((endpoint) => cellsOf(endpoint, view).map(printable));
  const widths = HEADS.map((head, at) =>
    rows.reduce((most, row) => Math.max(most, row[at]!.length), head.length)
  );
  const line = (cells: readonly string[]) =>
    cells.map((cell, at) => RIGHT[at] ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!));
  return [
    paint("dim", `  ${line(HEADS).join("  ").trimEnd()}`),
    ...rows.map((row, at) => {
      const [state, ...others] = line(row);
      return `  ${paint(colourOf(endpoints[at]!), state!)}  ${others.join("  ")}`;
    }),
  ];
}

function cellsOf(endpoint: EndpointView, view: View): string[] {
  const { p50_ms: p50, p99_ms: p99 } = endpoint;
  return [
    stateWord(endpoint),
    endpoint.address,
    String(endpoint.in_flight),
    String(endpoint.rate_per_s),
    p50 === null ? "-" : `${p50}/${p99}`,
    age(endpoint.since, view),
    [endpoint.reason, returnText(endpoint)].filter((part) => part !== "").join("; "),
  ];
}

function stateWord({ state, reasons }: EndpointView): string {
  return reasons.length === 0 ? state : reasons.join("+");
}

function colourOf(endpoint: EndpointView): Colour {
  if (endpoint.reasons.includes("ejected") || endpoint.reasons.includes("removed")) return "red";
  if (endpoint.reasons.includes("drained") || endpoint.reasons.includes("maintenance")) return "blue";
  return endpoint.usable && endpoint.state === "healthy" ? "green" : "yellow";
}

function returnText({ returns, returns_in_ms: inMs }: EndpointView): string {
  if (returns === "") return "";
  return inMs === null ? `returns ${returns}` : `returns ${returns} (${formatDuration(inMs)})`;
}

/** How long ago a moment was, by the clock of the hale that was asked. */
function age(iso: string, view: View): string {
  return formatDuration(Date.parse(view.at) - Date.parse(iso));
}
