// Rules about what files import: arrows between rooms, packages per room, names from deno.json only, no circles,
// no barrel files. A module named only by a URL (a worker) is no import and is not looked at.

import ts from "typescript";
import { ARROWS, PACKAGES } from "./rooms.ts";
import { type Finding, findingAt, findingOfFile, roomOf, type Source, walk } from "./source.ts";

interface Import {
  readonly node: ts.Node;
  readonly specifier: string;
}

/** All rules of this file over all sources. */
export function importFindings(sources: readonly Source[]): Finding[] {
  return [
    ...sources.flatMap((source) => importsOf(source).flatMap((item) => judgeImport(source, item))),
    ...sources.flatMap(barrelFindings),
    ...circleFindings(sources),
  ];
}

function importsOf(source: Source): Import[] {
  const found: Import[] = [];
  walk(source.tree, (node) => {
    const literal = specifierOf(node);
    if (literal !== undefined) found.push({ node, specifier: literal.text });
  });
  return found;
}

/** The text after `from` of an import or re-export, of `import("x")`, or of a type `import("x").Y`. */
function specifierOf(node: ts.Node): ts.StringLiteralLike | undefined {
  let target: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) target = node.moduleSpecifier;
  else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    target = node.arguments[0];
  } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) target = node.argument.literal;
  return target !== undefined && ts.isStringLiteralLike(target) ? target : undefined;
}

function judgeImport(source: Source, { node, specifier }: Import): Finding[] {
  if (specifier.startsWith(".")) return judgeArrow(source, node, resolvePath(source.path, specifier));
  if (/^(npm|jsr|https?|data|file):/.test(specifier)) {
    return [findingAt(source, node, "imports", `Give "${specifier}" a name in deno.json and import that`)];
  }
  return judgePackage(source, node, specifier);
}

function judgeArrow(source: Source, node: ts.Node, target: string): Finding[] {
  const room = roomOf(source.path);
  const other = roomOf(target);
  if (source.path === "main.ts") {
    return other === "cli"
      ? []
      : [findingAt(source, node, "arrow", `main.ts imports only cli, not ${target}`)];
  }
  if (room === undefined) return [];
  if (other === undefined) {
    return [findingAt(source, node, "arrow", `${room} may not import ${target}, which is in no room`)];
  }
  const allowed = ARROWS[room];
  if (allowed === undefined) {
    return [
      findingAt(
        source,
        node,
        "arrow",
        `${room} is no room of the design; known: ${Object.keys(ARROWS).join(", ")}`,
      ),
    ];
  }
  if (room === other || allowed.includes(other)) return [];
  const wanted = allowed.length === 0 ? "only itself" : `only ${allowed.join(", ")} and itself`;
  return [
    findingAt(source, node, "arrow", `${room} may not import ${other} (${target}): it imports ${wanted}`),
  ];
}

function judgePackage(source: Source, node: ts.Node, specifier: string): Finding[] {
  const room = roomOf(source.path) ?? (source.path === "main.ts" ? "main" : undefined);
  if (room === undefined) return [];
  const entry = Object.entries(PACKAGES).find(([name]) =>
    specifier === name || specifier.startsWith(name.endsWith(":") ? name : `${name}/`)
  );
  if (entry === undefined) {
    return [findingAt(source, node, "packages", `"${specifier}" is in no list of packages for any room`)];
  }
  if (entry[1].includes(room)) return [];
  return [
    findingAt(
      source,
      node,
      "packages",
      `${room} may not import "${specifier}"; allowed in: ${entry[1].join(", ") || "tests"}`,
    ),
  ];
}

/** The repository path that a relative specifier means. */
function resolvePath(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

function barrelFindings(source: Source): Finding[] {
  if (!source.path.startsWith("src/")) return [];
  if (/(^|\/)(index|mod)\.ts$/.test(source.path)) {
    return [findingOfFile(source, "barrel", "No index.ts or mod.ts: name the file after its main noun")];
  }
  const statements = source.tree.statements;
  const reExports = statements.filter((one) => ts.isExportDeclaration(one));
  const onlyPasses = statements.every((one) => ts.isExportDeclaration(one) || ts.isImportDeclaration(one));
  if (reExports.length === 0 || !onlyPasses) return [];
  return [findingOfFile(source, "barrel", "This file only re-exports: import from where the thing is")];
}

function circleFindings(sources: readonly Source[]): Finding[] {
  const edges = new Map(sources.map((source) => [source.path, localImports(source)]));
  const finished = new Set<string>();
  const circles: string[][] = [];
  for (const path of edges.keys()) visitForCircles(path, [], edges, finished, circles);
  const byPath = new Map(sources.map((source) => [source.path, source]));
  return circles.flatMap((circle) => {
    const first = byPath.get(circle[0] ?? "");
    const message = `Files import each other in a circle: ${[...circle, circle[0]].join(" -> ")}`;
    return first === undefined ? [] : [findingOfFile(first, "circle", message)];
  });
}

function localImports(source: Source): string[] {
  const local = importsOf(source).filter((item) => item.specifier.startsWith("."));
  return local.map((item) => resolvePath(source.path, item.specifier));
}

function visitForCircles(
  path: string,
  trail: readonly string[],
  edges: ReadonlyMap<string, readonly string[]>,
  finished: Set<string>,
  circles: string[][],
): void {
  const at = trail.indexOf(path);
  if (at >= 0) circles.push(trail.slice(at));
  if (at >= 0 || finished.has(path)) return;
  for (const next of edges.get(path) ?? []) visitForCircles(next, [...trail, path], edges, finished, circles);
  finished.add(path);
}
