// `hale status`: the state of a running hale, once or again and again.

import type { View } from "../admin/view.ts";
import { diskFiles } from "../control/config_source.ts";
import { EXIT } from "../core/exit_code.ts";
import type { Clock } from "../core/clock.ts";
import { SystemClock } from "../net/system_clock.ts";
import {
  ADMIN_HELP,
  ADMIN_OPTIONS,
  type AdminTarget,
  askAdmin,
  findTarget,
  printable,
} from "./admin_client.ts";
import { statusText } from "./status_text.ts";
import type { Io } from "./terminal.ts";
import { readArgs, type Usage } from "./usage.ts";

const USAGE: Usage = {
  synopsis: "hale status [--watch] [--json] [--admin ADDRESS] [--token-file FILE]",
  purpose:
    "Shows what a running hale is doing: what is out and why, every endpoint, and whether the last config " +
    "edit was refused. Exit code 1 when no hale answers.",
  options: [
    "--watch             show it again every two seconds, until Ctrl-C",
    "--json              print the answer of /status; with --watch one line each time",
    ...ADMIN_HELP,
  ],
  examples: ["hale status", "hale status --watch --admin 10.0.0.5:9900 --token-file token"],
};

const WATCH_MS = 2000;

/** What watching stands on; tests give their own. */
export interface WatchPorts {
  readonly clock: Clock;
  /** Lines of the terminal; undefined when that is not known. */
  readonly rows: () => number | undefined;
  /** Aborted: the last round is over. */
  readonly signal?: AbortSignal;
}

const REAL: WatchPorts = { clock: new SystemClock(), rows: terminalRows };

/** Shows the state. */
export async function statusCommand(
  args: readonly string[],
  io: Io,
  ports: WatchPorts = REAL,
): Promise<number> {
  const options = { ...ADMIN_OPTIONS, watch: { type: "boolean" }, json: { type: "boolean" } } as const;
  const parsed = readArgs(args, options, { usage: USAGE, io });
  if ("exitCode" in parsed) return parsed.exitCode;
  const target = findTarget(parsed.values, diskFiles);
  if ("failure" in target) return fail(io, target.failure);
  const isJson = parsed.values.json === true;
  if (parsed.values.watch === true) return await watch(target, isJson, { io, ...ports });
  const answer = await askAdmin(target, "/status");
  if ("failure" in answer) return fail(io, answer.failure);
  io.out(isJson ? `${JSON.stringify(answer.body, null, 2)}\n` : statusText(answer.body as View, io));
  return EXIT.ok;
}

function fail(io: Io, sentence: string): number {
  io.err(`hale: ${printable(sentence)}\n`);
  return EXIT.problems;
}

/** Goes on when no hale answers: it may be on its way up. */
async function watch(target: AdminTarget, isJson: boolean, ports: WatchPorts & { io: Io }): Promise<number> {
  const { io, clock, signal } = ports;
  while (signal?.aborted !== true) {
    const answer = await askAdmin(target, "/status");
    if ("failure" in answer) fail(io, answer.failure);
    else if (isJson) io.out(`${JSON.stringify(answer.body)}\n`);
    else io.out(screen(answer.body as View, ports));
    // Rejects only when the watching is over, which the loop sees by itself.
    await clock.sleep(WATCH_MS, signal).catch(() => {});
  }
  return EXIT.ok;
}

/** On a terminal: in place of the last one, and without the endpoints that are well when they would not fit. */
function screen(view: View, { io, rows }: WatchPorts & { io: Io }): string {
  if (!io.isTerminal) return `${view.at}\n${statusText(view, io)}\n`;
  const whole = statusText(view, io);
  const isTooLong = whole.split("\n").length > (rows() ?? Infinity);
  return `\u001b[H\u001b[2J${
    isTooLong ? statusText(view, { ...io, colors: io.colors, onlyTrouble: true }) : whole
  }`;
}

function terminalRows(): number | undefined {
  try {
    return Deno.consoleSize().rows;
  } catch {
    return undefined;
  }
}
