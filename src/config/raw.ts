// What comes out of YAML before the schema looks at it: null, booleans, numbers, texts, lists and blocks (objects
// without prototype), and two kinds of values that no field takes: numbers in odd spelling, and unreadable ones.
// Also the one wording for "there is X, wanted is Y".

import { quoted } from "./problem.ts";

/** A mapping of YAML. It has no prototype, so that every key is only a key. */
export type Block = { readonly [key: string]: unknown };

/** A value that was already reported, such as an alias that contains itself. */
export const UNREADABLE: unique symbol = Symbol("unreadable");

/**
 * A number that is not written as a plain decimal integer (`010`, `0x2329`, `9e3`, `9001.0`, `.inf`): a symbol with the
 * spelling as its description, so that no part of the schema can take it for a number, a text or a block.
 */
export function oddNumber(source: string): symbol {
  return Symbol(source);
}

/** The spelling of such a number; undefined for any other value. */
export function oddSource(value: unknown): string | undefined {
  return typeof value === "symbol" && value !== UNREADABLE ? value.description : undefined;
}

/** Whether the value came from a mapping. */
export function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as it is shown after "got". */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "string") return quoted(value);
  if (typeof value === "symbol") return oddSource(value) ?? "something unreadable";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return typeof value === "object" ? "a block" : String(value);
}

/** "Out of range (got 0, want 1 to 10)". */
export function complaint(what: string, got: unknown, want: string): string {
  return `${what} (got ${shown(got)}, want ${want})`;
}

/** The complaint about a value of the wrong kind, when nothing more exact can be said. */
export function wrongKind(got: unknown, want: string): string {
  if (got === undefined) return complaint("Missing", got, want);
  if (got === null) return complaint("Empty", got, want);
  return complaint("Wrong kind of value", got, want);
}
