// YAML nodes to plain values, keeping the way back from a path to its place in the file. Keys are texts and occur
// once, aliases are followed within limits, merge keys and tags are refused, and no key ever touches a prototype.
// Which keys and values make sense is the business of the schema.

import {
  type Alias,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { isBlock, oddNumber, shown, UNREADABLE } from "./raw.ts";
import { type Path, type Place, quoted } from "./problem.ts";
import { readYaml } from "./yaml_text.ts";

/** How deep blocks and lists may be nested once aliases are followed. */
const MAX_DEPTH = 32;
/** How many values may come into the config by way of aliases. */
const MAX_ALIASED = 10_000;

/** A fault with the path where it was seen. */
export interface TreeFault {
  readonly path: Path;
  readonly place: Place;
  readonly message: string;
}

/** Which part of an entry a problem is about. */
export type Part = "key" | "value";

/** A file as a plain value, and the places of everything in it. */
export interface YamlTree {
  /** The value; undefined when the syntax is broken, so that nothing may be concluded from it. */
  readonly value: unknown;
  readonly faults: readonly TreeFault[];
  /** Where a value stands (or its key); for what is not there, the nearest thing around it. */
  locate(path: Path, part?: Part): Place;
}

/** Reads a text without byte order mark. Never throws, whatever the text. */
export function readTree(text: string): YamlTree {
  const { document, faults, lines } = readYaml(text);
  if (faults.length > 0 || document === undefined) {
    const places = faults.map(({ offset, message }) => ({
      path: [],
      place: placeOf(lines, offset),
      message,
    }));
    return { value: undefined, faults: places, locate: () => ({ line: 1, column: 1 }) };
  }
  const walk = new Walk(lines);
  const value = walk.value(document.contents, []);
  const locate = (path: Path, part: Part = "value") => walk.locate(document.contents, path, part);
  return { value: walk.isExhausted ? undefined : value, faults: walk.faults, locate };
}

function placeOf(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

class Walk {
  readonly faults: TreeFault[] = [];
  isExhausted = false;
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, unknown>();
  /** Which node each alias means, settled when the alias is first met: anchors may be defined anew later. */
  readonly #targets = new Map<Alias, unknown>();
  readonly #open = new Set<unknown>();
  #aliasDepth = 0;
  #aliased = 0;
  /** The alias of the file itself, not of what it stands for, that is being followed. */
  #outermost: { readonly node: Alias; readonly path: Path } | undefined;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  value(node: unknown, path: Path): unknown {
    if (this.isExhausted) return UNREADABLE;
    if (isAlias(node)) return this.#followed(node, path);
    if (!isScalar(node) && !isCollection(node)) return null;
    if (this.#aliasDepth === 0 && node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (this.#aliasDepth > 0 && ++this.#aliased > MAX_ALIASED) return this.#exhaust();
    if (node.tag !== undefined) {
      return this.#refuse(node, path, `A tag is not understood here, leave ${quoted(node.tag)} out`);
    }
    if (isScalar(node)) return scalarValue(node);
    if (path.length >= MAX_DEPTH) return this.#refuse(node, path, "Blocks and lists are nested too deep");
    return this.#collection(node, path);
  }

  #collection(node: YAMLMap | YAMLSeq, path: Path): unknown {
    this.#open.add(node);
    const value = isSeq(node)
      ? node.items.map((item, index) => this.value(item, [...path, index]))
      : this.#block(node as YAMLMap, path);
    this.#open.delete(node);
    return value;
  }

  #block(map: YAMLMap, path: Path): unknown {
    const block: Record<string, unknown> = Object.create(null);
    let merged: Record<string, unknown> = Object.create(null);
    const firstPairs = new Map<string, Pair>();
    if (map.items.some(({ key }) => isSeq(key))) return this.#listAsKey(map, path);
    for (const pair of map.items) {
      const key = this.#key(pair, path);
      if (key === undefined) continue;
      const first = firstPairs.get(key);
      if (isMergeKey(pair)) merged = this.#merged(pair, path);
      else if (first === undefined) block[key] = this.value(pair.value, [...path, key]);
      else this.#twice(pair, first, [...path, key]);
      if (first === undefined) firstPairs.set(key, pair);
    }
    return Object.assign(Object.create(null), merged, block);
  }

  #listAsKey(map: YAMLMap, path: Path): typeof UNREADABLE {
    for (const pair of map.items) this.#key(pair, path);
    return UNREADABLE;
  }

  #twice(pair: Pair, first: Pair, path: Path): void {
    const { line } = this.#placeOf(first.key);
    this.#fault(pair.key, path, `The key ${quoted(String(path.at(-1)))} stands twice, first on line ${line}`);
  }

  /** The key as text; undefined (and reported) when it is none. */
  #key(pair: Pair, path: Path): string | undefined {
    const { key } = pair;
    if (isScalar(key) && typeof key.value === "string" && key.tag === undefined) {
      if (this.#aliasDepth === 0 && key.anchor !== undefined) this.#anchors.set(key.anchor, key);
      return key.value;
    }
    const got = isScalar(key) ? shown(scalarValue(key)) : isSeq(key) ? "a list" : "no plain text";
    // In a list, [::1]:80 without quotes is a list [::1] as the key of 80.
    const want = isSeq(key)
      ? `text; an IPv6 address needs quotes, as "[::1]:80"`
      : "a name, in quotes if need be";
    this.#fault(key ?? pair.value, path, `A key must be text (got ${got}, want ${want})`);
    return undefined;
  }

  /** A merge key is refused; its values are taken nevertheless, so that none of them is reported as missing. */
  #merged(pair: Pair, path: Path): Record<string, unknown> {
    const message = `Merge keys ("<<") are not part of YAML 1.2, use an alias for a whole block instead`;
    this.#fault(pair.key, [...path, "<<"], message);
    const value = this.value(pair.value, path);
    const blocks = (Array.isArray(value) ? value : [value]).filter(isBlock);
    return Object.assign(Object.create(null), ...blocks.reverse());
  }

  #followed(alias: Alias, path: Path): unknown {
    if (!this.#targets.has(alias)) this.#targets.set(alias, this.#anchors.get(alias.source));
    const target = this.#targets.get(alias);
    if (target === undefined) {
      return this.#refuse(alias, path, `No anchor "&${alias.source}" stands before this alias`);
    }
    if (this.#open.has(target)) {
      return this.#refuse(alias, path, `The alias "*${alias.source}" contains itself`);
    }
    if (this.#aliasDepth++ === 0) this.#outermost = { node: alias, path };
    const value = this.value(target, path);
    this.#aliasDepth--;
    return value;
  }

  #exhaust(): typeof UNREADABLE {
    this.isExhausted = true;
    const { node, path } = this.#outermost!;
    return this.#refuse(
      node,
      path,
      `Aliases stand for too many values, up to here (want at most ${MAX_ALIASED})`,
    );
  }

  #refuse(node: unknown, path: Path, message: string): typeof UNREADABLE {
    this.#fault(node, path, message);
    return UNREADABLE;
  }

  #fault(node: unknown, path: Path, message: string): void {
    this.faults.push({ path, place: this.#placeOf(node), message });
  }

  #placeOf(node: unknown): Place {
    return placeOf(this.#lines, offsetOf(node) ?? 0);
  }

  /** Walks down from `root` as far as the path can be followed. */
  locate(root: unknown, path: Path, part: Part): Place {
    let node = root;
    let offset = offsetOf(root) ?? 0;
    for (const [index, step] of path.entries()) {
      if (isAlias(node)) node = this.#targets.get(node);
      if (isSeq(node) && typeof step === "number") {
        node = node.items[step];
        offset = offsetOf(node) ?? offset;
      } else {
        const pair = isMap(node) ? node.items.find((entry) => keyText(entry) === step) : undefined;
        if (pair === undefined) break;
        node = pair.value;
        const wantsKey = (part === "key" && index === path.length - 1) || !isFilledScalar(node);
        offset = (wantsKey ? undefined : offsetOf(node)) ?? offsetOf(pair.key) ?? offset;
      }
    }
    return placeOf(this.#lines, offset);
  }
}

function isMergeKey({ key }: Pair): boolean {
  return isScalar(key) && key.value === "<<" && key.type === "PLAIN";
}

function keyText(pair: Pair): unknown {
  return isScalar(pair.key) ? pair.key.value : undefined;
}

/** A block or list is shown by its key, a text or number by itself, an empty value again by its key. */
function isFilledScalar(node: unknown): boolean {
  return isAlias(node) || (isScalar(node) && node.source !== "");
}

function offsetOf(node: unknown): number | undefined {
  return isAlias(node) || isScalar(node) || isCollection(node) ? node.range?.[0] : undefined;
}

/** Numbers pass as numbers only when nobody could read another number. */
function scalarValue(scalar: Scalar): unknown {
  const { value } = scalar;
  if (typeof value !== "number" && typeof value !== "bigint") return value;
  const source = scalar.source ?? String(value);
  const isPlain = /^(0|-?[1-9][0-9]*)$/.test(source) && Number.isSafeInteger(Number(source));
  return isPlain ? Number(source) : oddNumber(source);
}
