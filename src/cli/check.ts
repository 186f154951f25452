// `hale check`: every problem of a config, before anything runs; and what it would change.

import { describeConfigDiff } from "../config/describe_diff.ts";
import { renderProblem } from "../config/problem.ts";
import { readConfig } from "../control/config_source.ts";
import { EXIT } from "../core/exit_code.ts";
import type { Config } from "../core/plan.ts";
import { chosenPaths } from "./config_paths.ts";
import { counted } from "../core/words.ts";
import type { Io } from "./terminal.ts";
import { CONFIG_HELP, CONFIG_OPTION, readArgs, type Usage } from "./usage.ts";

const USAGE: Usage = {
  synopsis: "hale check [-c PATH]... [--diff PATH]...",
  purpose: "Reads a config as `hale run` would and prints every problem with its file, line and column. " +
    "Exit code 1 if there is one.",
  options: [
    CONFIG_HELP,
    "--diff PATH         a config to compare with, such as the one that runs: prints what the edit adds (+),",
    "                    removes (-), changes (~) and leaves alone (=); may repeat",
  ],
  examples: ["hale check -c hale.yaml", "hale check -c edited.yaml --diff hale.yaml"],
};

const OPTIONS = { ...CONFIG_OPTION, diff: { type: "string", multiple: true } } as const;

/** Checks a config. */
export async function checkCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = readArgs(args, OPTIONS, { usage: USAGE, io });
  if ("exitCode" in parsed) return parsed.exitCode;
  const { config: paths, diff } = parsed.values;
  const chosen = chosenPaths(paths, io);
  const next = chosen && await configOrProblems(chosen, io);
  const running = diff === undefined ? undefined : await configOrProblems(diff, io);
  if (next === undefined || (diff !== undefined && running === undefined)) return EXIT.problems;
  const { listeners, upstreams } = next;
  io.out(`No problems: ${counted(listeners.length, "listener")}, ${counted(upstreams.length, "upstream")}\n`);
  if (running !== undefined) { for (const line of describeConfigDiff(running, next)) io.out(`${line}\n`); }
  return EXIT.ok;
}

async function configOrProblems(paths: readonly string[], io: Io): Promise<Config | undefined> {
  const { decoded } = await readConfig(paths);
  if ("config" in decoded) return decoded.config;
  for (const problem of decoded.problems) io.out(`${renderProblem(problem)}\n`);
  return undefined;
}
