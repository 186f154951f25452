// Reading a command's arguments, and saying what is wrong with them. Every command has a `Usage`; `--help` prints it.

import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import type { Io } from "./terminal.ts";

/** How a command is called. */
export interface Usage {
  /** "hale check [-c PATH]... [--diff]". */
  readonly synopsis: string;
  /** What it does, one or two sentences. */
  readonly purpose: string;
  /** Lines about the options, already aligned. */
  readonly options: readonly string[];
  /** Commands a reader can type. */
  readonly examples: readonly string[];
}

/** The option that chooses the config, for all commands that read one. */
export const CONFIG_OPTION = { config: { type: "string", short: "c", multiple: true } } as const;
/** Its line for `Usage.options`. */
export const CONFIG_HELP =
  "-c, --config PATH   a config file or folder; may repeat (default: ./hale.yaml, then /etc/hale/)";

/** The arguments, or the exit code with which the command ends at once: 0 after --help, 2 after a mistake. */
export function readArgs<const T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
  context: {
    readonly usage: Usage;
    readonly io: Io;
    readonly positionals?: readonly [min: number, max: number];
  },
) {
  const { usage, io, positionals: [min, max] = [0, 0] } = context;
  if (args.includes("--help") || args.includes("-h")) {
    io.out(helpText(usage));
    return { exitCode: 0 } as const;
  }
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const count = parsed.positionals.length;
    if (count < min) throw new Error("an argument is missing");
    if (count > max) throw new Error(`"${parsed.positionals[max]}" is one argument too many`);
    return parsed;
  } catch (error) {
    const message = error instanceof Error ? error.message.split(/\n|\. To specify/)[0] : String(error);
    io.err(`hale: ${message}\nusage: ${usage.synopsis}\nTry --help for more\n`);
    return { exitCode: 2 } as const;
  }
}

/** The help of one command. */
export function helpText(usage: Usage): string {
  const options = usage.options.length === 0
    ? []
    : ["", "Options:", ...usage.options.map((line) => `  ${line}`)];
  const examples = usage.examples.map((line) => `  ${line}`);
  return [`usage: ${usage.synopsis}`, "", usage.purpose, ...options, "", "Examples:", ...examples, ""].join(
    "\n",
  );
}
