// The schema's building blocks: numbers, choices, texts, lists and blocks, each with a clear complaint for every
// other kind of value. Their inputs are the values of raw.ts. Which fields exist is said in the *_schema.ts files.

import * as z from "zod";
import { type Block, complaint, isBlock, oddSource, shown, wrongKind } from "./raw.ts";
import { nearest } from "./suggest.ts";

interface Issue {
  readonly input?: unknown;
  readonly code?: string | undefined;
}

/** A whole number in plain decimal digits, `min` to `max`. `unit` is for the reader, as "milliseconds". */
export function integer(min: number, max: number, unit = "") {
  const want = `a whole number${unit === "" ? "" : ` of ${unit}`}, ${min} to ${max}`;
  const error = ({ input }: Issue) => integerComplaint(input, want);
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

function integerComplaint(input: unknown, want: string): string {
  if (typeof input === "number") return complaint("Out of range", input, want);
  if (typeof input === "string" && /^[0-9]+$/.test(input)) {
    return complaint("Leave the quotes out", input, want);
  }
  const source = oddSource(input);
  if (source === undefined) return wrongKind(input, want);
  if (/^[-+]?\.(inf|nan)$/i.test(source)) return complaint("Not a finite number", input, want);
  return complaint("Numbers are written in plain decimal digits here", input, want);
}

/** A number above 0 and up to 1, as `0.5` or `1`. */
export function ratio() {
  const want = "a number above 0 and up to 1, as 0.5";
  const error = ({ input }: Issue) =>
    typeof input === "number" ? complaint("Out of range", input, want) : wrongKind(input, want);
  return z.preprocess(plainFraction, z.number({ error }).gt(0, { error }).max(1, { error }));
}

function plainFraction(value: unknown): unknown {
  const source = oddSource(value);
  return source !== undefined && /^[0-9]*\.[0-9]+$/.test(source) ? Number(source) : value;
}

/** `true` or `false`. */
export function flag() {
  return z.boolean({ error: ({ input }: Issue) => wrongKind(input, "true or false") });
}

/** One of a few words. */
export function choice<const W extends readonly string[]>(words: W) {
  const want = words.length === 2 ? words.join(" or ") : `one of ${words.join(", ")}`;
  return z.enum(words, { error: ({ input }: Issue) => choiceComplaint(input, words, want) });
}

function choiceComplaint(input: unknown, words: readonly string[], want: string): string {
  if (typeof input !== "string") return wrongKind(input, want);
  const meant = nearest(input, words);
  return complaint(
    meant === undefined ? "Unknown word" : `Unknown word, did you mean ${meant}?`,
    input,
    want,
  );
}

/** What `read` in `text` gives when the text is not what is wanted: an additional hint, or nothing. */
export interface NotWanted {
  readonly problem: string;
}

/** A text that `read` turns into a value. `want` ends the sentence "(got "x", want ...)". */
export function text<T>(want: string, read: (text: string) => T | NotWanted) {
  const error = ({ input }: Issue) => textComplaint(input, want, (source) => !isNotWanted(read(source)));
  return z.string({ error }).transform((input, context): T => {
    const value = read(input);
    if (!isNotWanted(value)) return value;
    context.addIssue({ code: "custom", message: complaint(value.problem, input, want) });
    return z.NEVER;
  });
}

function isNotWanted(value: unknown): value is NotWanted {
  return typeof value === "object" && value !== null && "problem" in value;
}

/** `isGood` tells whether quotes would make the number or word what is wanted. */
function textComplaint(input: unknown, want: string, isGood: (source: string) => boolean): string {
  const isNumber = typeof input === "number" || oddSource(input) !== undefined;
  if (!isNumber && typeof input !== "boolean") return wrongKind(input, want);
  const kind = isNumber ? "a number" : "true or false";
  return complaint(
    isGood(shown(input)) ? `Put it in quotes, without them it is ${kind}` : `This is ${kind}`,
    input,
    want,
  );
}

/** A list; `want` names it, as "a list of routes". */
export function list<S extends z.ZodType>(item: S, want: string) {
  return z.array(item, { error: ({ input }: Issue) => wrongKind(input, want) });
}

/** A block with these keys and no others; `want` names it, as "a block of timeouts". */
export function block<S extends z.ZodRawShape>(shape: S, want: string) {
  return z.strictObject(shape, { error: ({ input }: Issue) => wrongKind(input, want) });
}

/** A block that may stand with nothing behind its key: that means all defaults. */
export function switchBlock<S extends z.ZodRawShape>(shape: S, want: string) {
  return z.preprocess((value) => (value === null ? {} : value), block(shape, want)).meta({ nullable: true });
}

/** A block of freely chosen names, each with a text; `problemOf` judges one entry. */
export function textMap(want: string, problemOf: (name: string, value: string) => string | undefined) {
  return z.unknown().transform((input, context): [name: string, value: string][] => {
    const issue = (message: string, path: string[]) => context.addIssue({ code: "custom", message, path });
    if (!isBlock(input)) {
      issue(wrongKind(input, want), []);
      return z.NEVER;
    }
    return textEntries(input, (name, value) => {
      const message = typeof value === "string"
        ? problemOf(name, value)
        : textComplaint(value, "text", () => true);
      if (message !== undefined) issue(message, [name]);
    });
  });
}

function textEntries(input: Block, check: (name: string, value: unknown) => void): [string, string][] {
  const entries = Object.entries(input);
  for (const [name, value] of entries) check(name, value);
  return entries.map(([name, value]) => [name, String(value)]);
}
