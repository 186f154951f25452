// `hale schema`, `hale init` and `hale version`: commands that only print.

import { jsonSchema } from "../config/json_schema.ts";
import { STARTER } from "../config/starter.ts";
import { VERSION } from "../core/version.ts";
import type { Io } from "./terminal.ts";
import { readArgs, type Usage } from "./usage.ts";

const SCHEMA: Usage = {
  synopsis: "hale schema",
  purpose: "Prints the JSON Schema of the config, for editors.",
  options: [],
  examples: ["hale schema > hale.schema.json"],
};

const INIT: Usage = {
  synopsis: "hale init",
  purpose: "Prints a commented config to start from.",
  options: [],
  examples: ["hale init > hale.yaml"],
};

const VERSION_USAGE: Usage = {
  synopsis: "hale version",
  purpose: "Prints the version of hale and of what it runs on.",
  options: [],
  examples: ["hale version"],
};

function print(text: () => string, usage: Usage): (args: readonly string[], io: Io) => number {
  return (args, io) => {
    const parsed = readArgs(args, {}, { usage, io });
    if ("exitCode" in parsed) return parsed.exitCode;
    io.out(text());
    return 0;
  };
}

/** Prints the JSON Schema. */
export const schemaCommand = print(() => `${JSON.stringify(jsonSchema(), null, 2)}\n`, SCHEMA);

/** Prints a starter config. */
export const initCommand = print(() => STARTER, INIT);

/** Prints the version. */
export const versionCommand = print(
  () => `hale ${VERSION} (deno ${Deno.version.deno}, ${Deno.build.os} ${Deno.build.arch})\n`,
  VERSION_USAGE,
);
