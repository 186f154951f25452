// The command line: picks the command and hands it its arguments. Without a command, hale runs.

import { nearest } from "../config/suggest.ts";
import { checkCommand } from "./check.ts";
import { endpointCommand } from "./endpoint.ts";
import { probeCommand } from "./probe.ts";
import { initCommand, schemaCommand, versionCommand } from "./print.ts";
import { resolveCommand } from "./resolve.ts";
import { quickCommand, runCommand } from "./run.ts";
import { statusCommand } from "./status.ts";
import type { Io } from "./terminal.ts";
import { whyCommand } from "./why.ts";

type Command = (args: readonly string[], io: Io) => Promise<number> | number;

interface Entry {
  readonly run: Command;
  readonly purpose: string;
}

const COMMANDS: ReadonlyMap<string, Entry> = new Map<string, Entry>([
  ["run", { run: runCommand, purpose: "serve a config (the default)" }],
  ["tcp", { run: (args, io) => quickCommand("tcp", args, io), purpose: "balance TCP without a config file" }],
  ["http", {
    run: (args, io) => quickCommand("http", args, io),
    purpose: "balance HTTP without a config file",
  }],
  ["check", { run: checkCommand, purpose: "print every problem of a config" }],
  ["schema", { run: schemaCommand, purpose: "print the JSON Schema of the config" }],
  ["init", { run: initCommand, purpose: "print a commented config to start from" }],
  ["probe", { run: probeCommand, purpose: "run the configured probe once, stage by stage" }],
  ["resolve", { run: resolveCommand, purpose: "ask DNS as hale does, and show what it says" }],
  ["status", { run: statusCommand, purpose: "show what a running hale is doing" }],
  ["why", { run: whyCommand, purpose: "show why an endpoint is out, and what brings it back" }],
  ["endpoint", { run: endpointCommand, purpose: "take an endpoint out of rotation, or back in" }],
  ["version", { run: versionCommand, purpose: "print the version" }],
]);

/** Runs the command that the arguments name. Gives the exit code: 0 ok, 1 problems, 2 usage, 3 forced stop. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  const [name = "run", ...rest] = args;
  if (name === "--help" || name === "-h" || name === "help") return help(io);
  if (name === "--version") return await versionCommand(rest, io);
  if (name.startsWith("-")) return await runCommand(args, io);
  const entry = COMMANDS.get(name);
  return entry === undefined ? unknown(name, io) : await entry.run(rest, io);
}

function help(io: Io): number {
  const lines = [...COMMANDS].map(([name, { purpose }]) => `  ${name.padEnd(10)}${purpose}`);
  io.out(
    [
      "hale: a load-balancing proxy that knows which of its endpoints are well",
      "",
      "usage: hale [COMMAND] [OPTIONS]",
      "",
      ...lines,
      "",
      "hale COMMAND --help tells more, with an example",
      "",
    ].join("\n"),
  );
  return 0;
}

function unknown(name: string, io: Io): number {
  const meant = nearest(name, [...COMMANDS.keys()]);
  const hint = meant === undefined ? "Try hale --help" : `Did you mean "${meant}"?`;
  io.err(`hale: there is no command "${name}". ${hint}\n`);
  return 2;
}
