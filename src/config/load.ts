// From the paths of the command line to judged files: folders are listed, includes followed, each file is read once.
// What the files say together is the business of the checks.

import type { FileTable } from "./files.ts";
import { formatPath, type Problem, quoted } from "./problem.ts";
import { readSource, type Source } from "./source.ts";

/** All files of a config, each judged on its own. */
export interface Loaded {
  readonly sources: readonly Source[];
  /** Files and folders that could not be read. */
  readonly problems: readonly Problem[];
}

interface Wanted {
  readonly path: string;
  /** Who asked for it, if not the command line. */
  readonly by?: { readonly source: Source; readonly index: number };
}

/** Reads files and folders in the given order, each followed by what it includes (C1). */
export function load(paths: readonly string[], table: FileTable): Loaded {
  const sources: Source[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  const stack: Wanted[] = paths.map((path) => ({ path: table.resolve("", path) })).reverse();
  for (let wanted = stack.pop(); wanted !== undefined; wanted = stack.pop()) {
    if (seen.has(wanted.path)) continue;
    seen.add(wanted.path);
    const found = table.isFolder(wanted.path) ? folderFiles(wanted, table) : readFile(wanted, table);
    if ("message" in found) problems.push(found);
    else if ("files" in found) stack.push(...found.files.reverse());
    else {
      sources.push(found);
      stack.push(...includesOf(found, table).reverse());
    }
  }
  return { sources, problems };
}

function folderFiles(wanted: Wanted, table: FileTable): { files: Wanted[] } | Problem {
  const paths = table.yamlFiles(wanted.path);
  if ("error" in paths) return unreadable(wanted, paths.error);
  const isEmptyRoot = paths.length === 0 && wanted.by === undefined;
  return isEmptyRoot
    ? unreadable(wanted, "the folder has no *.yaml or *.yml file")
    : { files: paths.map((path) => ({ ...wanted, path })) };
}

function readFile(wanted: Wanted, table: FileTable): Source | Problem {
  const text = table.text(wanted.path);
  return typeof text === "string" ? readSource(wanted.path, text) : unreadable(wanted, text.error);
}

function unreadable({ path, by }: Wanted, error: string): Problem {
  const message = `Can not read ${quoted(path)}: ${error}`;
  if (by === undefined) return { file: path, line: 1, column: 1, path: "", message };
  const listed = ["include", by.index];
  const isList = Array.isArray(by.source.raw["include"]);
  const spot = isList ? listed : ["include"];
  return { file: by.source.file, ...by.source.locate(spot), path: formatPath(spot), message };
}

function includesOf(source: Source, table: FileTable): Wanted[] {
  return (source.draft.include ?? []).flatMap((include, index) =>
    include === undefined ? [] : [{ path: table.resolve(source.file, include), by: { source, index } }]
  );
}
