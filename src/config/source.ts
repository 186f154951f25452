// One config file after the schema has looked at it: its problems, and a draft of everything that could be read, so
// that rules between fields are checked even when other fields are faulty. Where files come from is in load.ts.

import * as z from "zod";
import type { Address } from "../core/address.ts";
import { fileSchema, type FileValue } from "./file_schema.ts";
import { formatPath, type Path, type Place, type Problem } from "./problem.ts";
import { type Block, complaint, isBlock } from "./raw.ts";
import { nearest } from "./suggest.ts";
import { type Part, readTree, type YamlTree } from "./yaml_tree.ts";

/** Problems that are listed for one file. */
const MAX_PROBLEMS = 200;

/** A decoded value in which every faulty part is missing: each field may be undefined, each item of a list too. */
export type Draft<T> = T extends Address ? T
  : T extends readonly (infer Item)[] ? readonly (Draft<Item> | undefined)[]
  : T extends object ? { readonly [Key in keyof T]?: Draft<T[Key]> | undefined }
  : T;

/** One file, as far as it could be understood. */
export interface Source {
  readonly file: string;
  /** False when the file could not be read as YAML: then nothing follows from what it does not say. */
  readonly isReadable: boolean;
  /** The value before the schema; an empty block when there is none. */
  readonly raw: Block;
  readonly draft: Draft<FileValue>;
  readonly problems: readonly Problem[];
  /** The place of a value, or of its key. */
  locate(path: Path, part?: Part): Place;
}

/** Judges the text of one file on its own. */
export function readSource(file: string, text: string): Source {
  const tree = readTree(text);
  const faults = tree.faults.map(({ path, place, message }) => ({
    file,
    ...place,
    path: formatPath(path),
    message,
  }));
  // A file with nothing in it says nothing, which is no fault.
  const value = tree.value === null ? {} : tree.value;
  const isReadable = value !== undefined;
  return {
    file,
    isReadable,
    raw: isBlock(value) ? value : {},
    draft: (isReadable ? draftOf(fileSchema, value) ?? {} : {}) as Draft<FileValue>,
    problems: firstPerPath([...faults, ...(isReadable ? schemaProblems(file, value, tree) : [])]),
    locate: tree.locate,
  };
}

/** The strict value of a source without problems. Throws when there are any: check first. */
export function valueOf(source: Source): FileValue {
  return fileSchema.parse(source.raw);
}

function firstPerPath(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  const firsts = problems.filter((problem) => {
    // Faults of syntax have no path, and each stands for itself.
    if (problem.path === "") return true;
    const isFirst = !seen.has(problem.path);
    seen.add(problem.path);
    return isFirst;
  });
  return firsts.slice(0, MAX_PROBLEMS);
}

function schemaProblems(file: string, value: unknown, tree: YamlTree): Problem[] {
  const { error } = fileSchema.safeParse(value);
  return (error?.issues ?? []).slice(0, MAX_PROBLEMS).flatMap((issue) => {
    const path = issue.path.map((step) => typeof step === "number" ? step : String(step));
    if (issue.code === "unrecognized_keys") return unknownKeys(file, { path, keys: issue.keys }, tree);
    return [{ file, ...tree.locate(path), path: formatPath(path), message: issue.message }];
  });
}

function unknownKeys(
  file: string,
  issue: { path: Path; keys: readonly string[] },
  tree: YamlTree,
): Problem[] {
  const known = knownKeys(fileSchema, issue.path);
  return issue.keys.slice(0, MAX_PROBLEMS).map((key) => {
    const path = [...issue.path, key];
    const meant = nearest(key, known);
    const what = meant === undefined ? "Unknown key" : `Unknown key, did you mean ${meant}?`;
    const message = complaint(what, key, `one of ${known.join(", ")}`);
    return { file, ...tree.locate(path, "key"), path: formatPath(path), message };
  });
}

function knownKeys(schema: unknown, path: Path): string[] {
  let inner = innerOf(schema);
  for (const step of path) {
    if (inner instanceof z.ZodArray) inner = innerOf(inner.element);
    else if (inner instanceof z.ZodObject) inner = innerOf(inner.shape[step]);
  }
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

/** The object, list or leaf inside optional, default and preprocess. */
function innerOf(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return innerOf(schema.unwrap());
  }
  return schema instanceof z.ZodPipe && schema.in instanceof z.ZodTransform ? innerOf(schema.out) : schema;
}

/** Decodes field by field and item by item; what does not fit is undefined. */
function draftOf(schema: z.ZodType, raw: unknown): unknown {
  const inner = innerOf(schema);
  const value = beforeInner(schema, raw);
  if (inner instanceof z.ZodObject && isBlock(value)) {
    const fields = Object.entries(inner.shape).map((
      [key, field],
    ) => [key, draftOf(field as z.ZodType, value[key])]);
    return Object.fromEntries(fields);
  }
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => draftOf(inner.element as z.ZodType, item));
  }
  return schema.safeParse(raw).data;
}

/** What the preprocess steps of a schema make of a value. */
function beforeInner(schema: unknown, raw: unknown): unknown {
  if (raw === undefined) return raw;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return beforeInner(schema.unwrap(), raw);
  }
  if (!(schema instanceof z.ZodPipe) || !(schema.in instanceof z.ZodTransform)) return raw;
  return beforeInner(schema.out, schema.in.safeParse(raw).data);
}
