// `hale run`, `hale tcp` and `hale http`: the commands that serve.

import { quickConfig } from "../config/quick.ts";
import { ConfigReader, type ConfigReading } from "../control/config_source.ts";
import { LineWriter } from "../control/line_writer.ts";
import { Program } from "../control/program.ts";
import { EXIT } from "../core/exit_code.ts";
import { SystemClock } from "../net/system_clock.ts";
import { VERSION } from "../core/version.ts";
import { chosenPaths } from "./config_paths.ts";
import type { Io } from "./terminal.ts";
import { CONFIG_HELP, CONFIG_OPTION, readArgs, type Usage } from "./usage.ts";

const RUN: Usage = {
  synopsis: "hale [run] [-c PATH]... [--takeover]",
  purpose: "Serves what the config says, and takes edits of it while running.",
  options: [
    CONFIG_HELP,
    "--takeover          listen beside another hale on the same ports, for an upgrade without a gap:",
    "                    start the new one with it, then send the old one SIGTERM",
  ],
  examples: ["hale run -c hale.yaml", "hale run -c /etc/hale/"],
};

/** Serves a config until it is told to stop. */
export async function runCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = readArgs(args, { ...CONFIG_OPTION, takeover: { type: "boolean" } }, { usage: RUN, io });
  if ("exitCode" in parsed) return parsed.exitCode;
  const paths = chosenPaths(parsed.values.config, io);
  if (paths === undefined) return EXIT.problems;
  const reader = new ConfigReader(paths);
  return await serve(() => reader.read(), io, parsed.values.takeover === true);
}

/** The usage of `hale tcp` or `hale http`. */
function quickUsage(protocol: "tcp" | "http"): Usage {
  const endpoints = protocol === "tcp" ? "HOST:PORT..." : "URL...";
  const failing = protocol === "tcp" ? "refuses connections" : "fails";
  return {
    synopsis: `hale ${protocol} LISTEN ${endpoints}`,
    purpose:
      `Balances ${protocol.toUpperCase()} over the endpoints, without a config file or an admin endpoint. ` +
      `An endpoint that ${failing} leaves for 30 s after 5 failures in a row.`,
    options: ["LISTEN   a port or :port (IPv4), or host:port; [::]:port takes IPv4 and IPv6"],
    examples: protocol === "tcp"
      ? ["hale tcp :5432 10.0.0.1:5432 10.0.0.2:5432"]
      : ["hale http :8080 http://10.0.0.1:8080 https://10.0.0.2"],
  };
}

/** Serves endpoints named on the command line. */
export async function quickCommand(
  protocol: "tcp" | "http",
  args: readonly string[],
  io: Io,
): Promise<number> {
  const context = { usage: quickUsage(protocol), io, positionals: [2, 1000] } as const;
  const parsed = readArgs(args, {}, context);
  if ("exitCode" in parsed) return parsed.exitCode;
  const [listen, ...endpoints] = parsed.positionals;
  const quick = quickConfig({ protocol, listen: listen!, endpoints });
  if ("problems" in quick) {
    for (const problem of quick.problems) io.err(`${problem}\n`);
    return EXIT.usage;
  }
  const reading: ConfigReading = {
    hash: "command-line",
    decoded: { config: quick.config, files: [], folders: [], digestInput: "" },
    isOwnLimit: false,
  };
  return await serve(() => Promise.resolve(reading), io, false);
}

async function serve(read: () => Promise<ConfigReading>, io: Io, takeover: boolean): Promise<number> {
  const log = new LineWriter(Deno.stdout);
  const program = new Program({
    clock: new SystemClock(),
    random: Math.random,
    version: VERSION,
    log: (line) => log.line(line),
    complain: (line) => io.err(line),
    read,
    takeover,
  });
  const code = await program.run();
  await log.flush(1000);
  return code;
}
