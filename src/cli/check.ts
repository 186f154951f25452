// `hale check`: every problem of a config, before anything runs.

import { defaultPaths } from "../config/decode.ts";
import { renderProblem } from "../config/problem.ts";
import { diskFiles, readConfig } from "../control/config_source.ts";
import { EXIT } from "../core/exit_code.ts";
import type { Io } from "./terminal.ts";
import { CONFIG_HELP, CONFIG_OPTION, readArgs, type Usage } from "./usage.ts";

const USAGE: Usage = {
  synopsis: "hale check [-c PATH]...",
  purpose:
    "Reads a config as `hale run` would and prints every problem with its file, line and column. Exit code 1 if there is one.",
  options: [CONFIG_HELP],
  examples: ["hale check -c hale.yaml", "hale check -c /etc/hale/"],
};

/** Checks a config. */
export async function checkCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = readArgs(args, CONFIG_OPTION, { usage: USAGE, io });
  if ("exitCode" in parsed) return parsed.exitCode;
  const { decoded } = await readConfig(parsed.values.config ?? defaultPaths(diskFiles));
  if ("problems" in decoded) {
    for (const problem of decoded.problems) io.out(`${renderProblem(problem)}\n`);
    return EXIT.problems;
  }
  const { listeners, upstreams } = decoded.config;
  io.out(`No problems: ${counted(listeners.length, "listener")}, ${counted(upstreams.length, "upstream")}\n`);
  return EXIT.ok;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
