// The way in: paths and a port to the files give a config, or every problem there is with its place. Pure apart from
// the port: no clock, no network, no global state, and it never throws for anything that stands in a file.

import type { Config } from "../core/plan.ts";
import { buildConfig } from "./build.ts";
import { checkConfig } from "./checks.ts";
import { type ConfigFiles, FileTable } from "./files.ts";
import { load, type Loaded } from "./load.ts";
import type { Problem } from "./problem.ts";
import { type Source, valueOf } from "./source.ts";

/** Problems that are told at once. */
const MAX_PROBLEMS = 500;

/** What a decode looked at, whatever came of it. */
export interface Inputs {
  /** Every file in use: config files, CA bundles, certificates, keys, token files; missing ones included. */
  readonly files: readonly string[];
  /** The folders to watch: those that hold these files, and those that were listed. */
  readonly folders: readonly string[];
  /** Equal for two decodes exactly when everything read was equal. Holds secrets: hash or compare it, never show it. */
  readonly digestInput: string;
}

/** A config, or why there is none. */
export type Decoded = Inputs & ({ readonly config: Config } | { readonly problems: readonly Problem[] });

/** Decodes files and folders in the given order (C1 to C4). No path at all is a problem like any other. */
export function decode(paths: readonly string[], files: ConfigFiles): Decoded {
  const table = new FileTable(files);
  const loaded = load(paths, table);
  const problems = problemsOf(loaded, table);
  const result = problems.length > 0 ? { problems } : { config: build(loaded.sources, table) };
  return { ...result, files: table.files, folders: table.folders, digestInput: table.digestInput };
}

function problemsOf(loaded: Loaded, table: FileTable): Problem[] {
  const own = loaded.sources.flatMap(({ problems }) => problems);
  const all = [...loaded.problems, ...own, ...checkConfig(loaded, table)];
  if (all.length === 0 && loaded.sources.length === 0) {
    return [{ file: "", line: 1, column: 1, path: "", message: "No config file was named" }];
  }
  const order = new Map(table.files.map((file, index) => [file, index]));
  const rank = ({ file }: Problem) => order.get(file) ?? -1;
  return shortened(all.sort((a, b) => rank(a) - rank(b) || a.line - b.line || a.column - b.column));
}

/** Ends an endless list with a line that says how much was left out. */
function shortened(problems: readonly Problem[]): Problem[] {
  const next = problems[MAX_PROBLEMS];
  if (next === undefined) return [...problems];
  const message = `${problems.length - MAX_PROBLEMS} more problems, this one first: ${next.message}`;
  return [...problems.slice(0, MAX_PROBLEMS), { ...next, message }];
}

function build(sources: readonly Source[], table: FileTable): Config {
  return buildConfig(sources.map((source) => ({
    value: valueOf(source),
    resolve: (path) => table.resolve(source.file, path),
    read: (path) => textOf(table, table.resolve(source.file, path)),
  })));
}

function textOf(table: FileTable, path: string): string {
  const text = table.text(path);
  if (typeof text !== "string") throw new Error(`${path} was checked and could not be read: ${text.error}`);
  return text;
}

/** The config to use when none is named: `./hale.yaml` if there is one, else the folder `/etc/hale` (C1). */
export function defaultPaths(files: ConfigFiles): readonly string[] {
  const here = files.read("hale.yaml");
  const isMissing = typeof here !== "string" && "error" in here && here.isMissing === true;
  return isMissing ? ["/etc/hale"] : ["hale.yaml"];
}
