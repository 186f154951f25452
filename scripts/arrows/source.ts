// One parsed source file and the findings about it: what all structure rules share.
// Reading files and printing findings is left to ../arrows.ts.

import ts from "typescript";

/** A source file with its syntax tree. `path` is relative to the repository, with forward slashes. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

/** One broken rule at one place. Line and column count from 1. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly rule: string;
  readonly message: string;
}

/** Parses TypeScript text. Never throws: what can not be parsed is left to the compiler to report. */
export function parse(path: string, text: string): Source {
  return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
}

/** A finding about the place where `node` begins. */
export function findingAt(source: Source, node: ts.Node, rule: string, message: string): Finding {
  const { line, character } = source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree));
  return { path: source.path, line: line + 1, column: character + 1, rule, message };
}

/** A finding about the file as a whole, placed at its first line. */
export function findingOfFile(source: Source, rule: string, message: string): Finding {
  return { path: source.path, line: 1, column: 1, rule, message };
}

/** The room of a file: the folder under `src/`, or undefined for anything else (main.ts, scripts, tests). */
export function roomOf(path: string): string | undefined {
  return /^src\/([^/]+)\/./.exec(path)?.[1];
}

/** Calls `visit` for `node` and everything below it, parents first. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** How many lines a file has; a final newline does not begin another. */
export function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

/** The comment lines at the top of the file, without their slashes; empty when it begins with anything else. */
export function headerOf(source: Source): readonly string[] {
  const ranges = ts.getLeadingCommentRanges(source.text, ts.getShebang(source.text)?.length ?? 0) ?? [];
  const lines = ranges.flatMap((range) => source.text.slice(range.pos, range.end).split("\n"));
  return lines.map((line) => line.replace(/^\s*(\/\/|\/\*+|\*\/?)\s?/, "").trim()).filter((line) =>
    line !== ""
  );
}

/** Whether comment text gives the reason that a long file or function needs. */
export function givesReason(comment: string): boolean {
  return /\bLong because\s+\S+\s+\S+/.test(comment);
}
