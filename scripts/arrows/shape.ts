// Rules about how a file is written: a header, a doc sentence on every export, and sizes. A longer file or function
// passes with a comment line that says "Long because ..." in the file's header (or the function's own comment).

import ts from "typescript";
import {
  type Finding,
  findingAt,
  findingOfFile,
  givesReason,
  headerOf,
  lineCount,
  roomOf,
  type Source,
  walk,
} from "./source.ts";

/** Most lines of a file that gives no reason. */
export const MAX_FILE_LINES = 300;

/** Most lines of a function that gives no reason. */
export const MAX_FUNCTION_LINES = 40;

/** All rules of this file over one source. */
export function shapeFindings(source: Source): Finding[] {
  const header = headerOf(source);
  const findings: Finding[] = [];
  if (header.length === 0) {
    findings.push(
      findingOfFile(
        source,
        "header",
        "Begin with a comment: what this file promises, what it leaves to others",
      ),
    );
  }
  if (!givesReason(header.join("\n"))) findings.push(...sizeFindings(source));
  if (roomOf(source.path) !== undefined || source.path.startsWith("scripts/")) {
    findings.push(...docFindings(source));
  }
  return findings;
}

function sizeFindings(source: Source): Finding[] {
  const findings: Finding[] = [];
  const lines = lineCount(source.text);
  if (lines > MAX_FILE_LINES) {
    const message = `${lines} lines, wanted at most ${MAX_FILE_LINES} or a header line "Long because ..."`;
    findings.push(findingOfFile(source, "size", message));
  }
  walk(source.tree, (node) => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      findings.push(...judgeFunction(source, node));
    }
  });
  return findings;
}

function judgeFunction(source: Source, node: ts.SignatureDeclaration): Finding[] {
  const lines = lineCount(node.getText(source.tree));
  if (lines <= MAX_FUNCTION_LINES || givesReason(leadingComment(source, node))) return [];
  const name = node.name?.getText(source.tree) ?? "A function";
  const message =
    `${name} has ${lines} lines, wanted at most ${MAX_FUNCTION_LINES} or a comment "Long because ..."`;
  return [findingAt(source, node, "size", message)];
}

function leadingComment(source: Source, node: ts.Node): string {
  return source.text.slice(node.getFullStart(), node.getStart(source.tree));
}

function docFindings(source: Source): Finding[] {
  const overloaded = new Set<string>();
  return source.tree.statements.flatMap((statement) => {
    if (!isExported(statement)) return [];
    const name = exportedName(statement, source.tree);
    if (ts.getJSDocCommentsAndTags(statement).some(ts.isJSDoc)) {
      if (ts.isFunctionDeclaration(statement)) overloaded.add(name);
      return [];
    }
    // The sentence on a function's first overload speaks for the others.
    if (ts.isFunctionDeclaration(statement) && overloaded.has(name)) return [];
    return [findingAt(source, statement, "doc", `Export ${name} has no doc comment (/** ... */)`)];
  });
}

function isExported(statement: ts.Statement): boolean {
  if (!ts.canHaveModifiers(statement)) return false;
  return ts.getModifiers(statement)?.some((one) => one.kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

function exportedName(statement: ts.Statement, tree: ts.SourceFile): string {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map((one) => one.name.getText(tree)).join(", ");
  }
  const named = statement as ts.Statement & { readonly name?: ts.Node };
  return named.name?.getText(tree) ?? "default";
}
