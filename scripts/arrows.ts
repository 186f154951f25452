// The structure lint: reads main.ts, src/ and scripts/, prints each broken rule as `file:line:column  rule  message`,
// and exits 1 when there is one. The rules themselves are pure functions in scripts/arrows/.

import { importFindings } from "./arrows/imports.ts";
import { nameFindings } from "./arrows/names.ts";
import { shapeFindings } from "./arrows/shape.ts";
import { type Finding, parse } from "./arrows/source.ts";

/** All findings over files given as path (relative, forward slashes) to text, in order of path, line and column. */
export function judge(files: ReadonlyMap<string, string>): Finding[] {
  const sources = [...files].map(([path, text]) => parse(path, text));
  const findings = [
    ...importFindings(sources),
    ...sources.flatMap(nameFindings),
    ...sources.flatMap(shapeFindings),
  ];
  return findings.sort((a, b) => compareText(a.path, b.path) || a.line - b.line || a.column - b.column);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Every TypeScript file that the rules are about, below `root` (a path that ends with "/"). */
export function readSources(root: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const folder of ["src", "scripts"]) collect(root, folder, files);
  try {
    files.set("main.ts", Deno.readTextFileSync(`${root}main.ts`));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return files;
}

function collect(root: string, folder: string, files: Map<string, string>): void {
  for (const entry of Deno.readDirSync(root + folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) collect(root, path, files);
    else if (entry.name.endsWith(".ts")) files.set(path, Deno.readTextFileSync(root + path));
  }
}

if (import.meta.main) {
  const files = readSources(new URL("../", import.meta.url).pathname);
  const findings = judge(files);
  for (const { path, line, column, rule, message } of findings) {
    console.log(`${path}:${line}:${column}  ${rule}  ${message}`);
  }
  console.log(`${files.size} files, ${findings.length} broken ${findings.length === 1 ? "rule" : "rules"}`);
  if (findings.length > 0) Deno.exit(1);
}
