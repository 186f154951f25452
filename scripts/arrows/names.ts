// Rules about what code may name: no `Deno` in the platform-free rooms; nothing of time, chance or the outside in
// core; no mutable state at module level. Comments and texts are not looked at.

import ts from "typescript";
import { ASYNC_IN_CORE, IMPURE_NAMES, PLATFORM_FREE } from "./rooms.ts";
import { type Finding, findingAt, roomOf, type Source, walk } from "./source.ts";

/** All rules of this file over one source. */
export function nameFindings(source: Source): Finding[] {
  const room = roomOf(source.path);
  if (room === undefined) return [];
  const findings: Finding[] = [];
  walk(source.tree, (node) => {
    if (PLATFORM_FREE.includes(room)) findings.push(...judgePlatform(source, room, node));
    if (room === "core") findings.push(...judgePurity(source, node), ...judgeAsync(source, node));
    findings.push(...judgeStatic(source, node));
  });
  return [...findings, ...source.tree.statements.flatMap((statement) => judgeState(source, statement))];
}

function judgePlatform(source: Source, room: string, node: ts.Node): Finding[] {
  const named = ts.isIdentifier(node) && node.text === "Deno";
  const looked = ts.isStringLiteralLike(node) && node.text === "Deno" &&
    ts.isElementAccessExpression(node.parent);
  return named || looked ? [findingAt(source, node, "platform", `${room} never names Deno`)] : [];
}

function judgePurity(source: Source, node: ts.Node): Finding[] {
  if (!ts.isIdentifier(node)) return [];
  // Writing out a given moment is deterministic; asking for the present one is not.
  if (node.text === "Date" && ts.isNewExpression(node.parent) && node.parent.arguments?.length) return [];
  const message = `core is deterministic: it does not use ${node.text}`;
  if (IMPURE_NAMES.includes(node.text) && isReference(node)) {
    return [findingAt(source, node, "pure", message)];
  }
  const random = node.text === "random" && ts.isPropertyAccessExpression(node.parent) &&
    node.parent.expression.getText(source.tree) === "Math";
  return random
    ? [findingAt(source, node, "pure", "core is deterministic: take a Random, not Math.random")]
    : [];
}

/** Whether an identifier stands for a global or variable, not for a member's name or a key. */
function isReference(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) {
    return parent.expression.getText() === "globalThis";
  }
  if (ts.isQualifiedName(parent) && parent.right === node) return false;
  const isMemberName = ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) ||
    ts.isPropertyDeclaration(parent) || ts.isMethodDeclaration(parent) || ts.isMethodSignature(parent) ||
    ts.isGetAccessor(parent) || ts.isSetAccessor(parent) || ts.isNamedTupleMember(parent);
  return !(isMemberName && parent.name === node);
}

function judgeAsync(source: Source, node: ts.Node): Finding[] {
  if (ASYNC_IN_CORE.includes(source.path)) return [];
  const isAsync = node.kind === ts.SyntaxKind.AsyncKeyword || ts.isAwaitExpression(node);
  if (!isAsync) return [];
  return [findingAt(source, node, "pure", `core is synchronous, save ${ASYNC_IN_CORE.join(", ")}`)];
}

function judgeStatic(source: Source, node: ts.Node): Finding[] {
  if (!ts.isPropertyDeclaration(node) || !hasModifier(node, ts.SyntaxKind.StaticKeyword)) return [];
  if (hasModifier(node, ts.SyntaxKind.ReadonlyKeyword)) return [];
  return [
    findingAt(source, node, "state", "A static field is module state: make it readonly or an instance field"),
  ];
}

function judgeState(source: Source, statement: ts.Statement): Finding[] {
  if (!ts.isVariableStatement(statement)) return [];
  if (hasModifier(statement, ts.SyntaxKind.DeclareKeyword)) return [];
  if ((statement.declarationList.flags & ts.NodeFlags.BlockScoped) !== ts.NodeFlags.Const) {
    return [
      findingAt(
        source,
        statement,
        "state",
        "No variable at module level: use const, or keep it in an object",
      ),
    ];
  }
  return statement.declarationList.declarations.filter((one) => isMutable(one, source.tree)).map((one) =>
    findingAt(
      source,
      one,
      "state",
      `${one.name.getText(source.tree)} can change at module level: give it a readonly type`,
    )
  );
}

/** Types that are changeable as written. A type by another name is trusted: names carry their own readonly. */
const MUTABLE_TYPE = /^(?!readonly\b)(Map|Set|WeakMap|WeakSet|Array|Record)\b|^(?!readonly\b).*\]$/s;

function isMutable(declaration: ts.VariableDeclaration, tree: ts.SourceFile): boolean {
  const value = declaration.initializer;
  if (value === undefined) return false;
  if (declaration.type !== undefined && !MUTABLE_TYPE.test(declaration.type.getText(tree))) return false;
  if (ts.isArrayLiteralExpression(value)) return true;
  if (ts.isObjectLiteralExpression(value)) return value.properties.length === 0;
  if (!ts.isNewExpression(value)) return false;
  return ["Map", "Set", "WeakMap", "WeakSet", "Array"].includes(value.expression.getText(tree));
}

function hasModifier(node: ts.HasModifiers, kind: ts.SyntaxKind): boolean {
  return ts.getModifiers(node)?.some((modifier) => modifier.kind === kind) ?? false;
}
