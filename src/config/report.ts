// Collects the problems between fields and between files, each at its place, leaving out those that only follow from
// a fault the schema has already named. What counts as a problem is said in the *_checks.ts files.

import { formatPath, type Path, type Problem } from "./problem.ts";
import { isBlock } from "./raw.ts";
import type { Draft, Source } from "./source.ts";
import type { Part } from "./yaml_tree.ts";

/** A place in a file. */
export interface Spot {
  readonly source: Source;
  readonly path: Path;
}

/** A listener, an upstream or another block with the place where it stands. */
export interface Item<T> extends Spot {
  readonly value: Draft<T>;
}

/** The spot some steps below another. */
export function below(spot: Spot, ...steps: Path): Spot {
  return { source: spot.source, path: [...spot.path, ...steps] };
}

/** What stands at a spot before the schema; undefined when nothing does. */
export function rawAt(spot: Spot): unknown {
  let value: unknown = spot.source.raw;
  for (const step of spot.path) {
    if (Array.isArray(value) && typeof step === "number") value = value[step];
    else value = isBlock(value) ? value[step] : undefined;
  }
  return value;
}

/** "conf.d/a.yaml:12", for a message about another place. */
export function placeText(spot: Spot): string {
  return `${spot.source.file}:${spot.source.locate(spot.path).line}`;
}

/** The list of problems as it grows. */
export class Report {
  readonly problems: Problem[] = [];
  readonly #named = new Set<string>();

  /** Knows the problems that the files have on their own. */
  constructor(sources: readonly Source[]) {
    for (const { problems } of sources) {
      for (const problem of problems) this.#named.add(keyOf(problem.file, problem.path));
    }
  }

  /** Whether the schema has found a fault at exactly this place. */
  isFaulty(spot: Spot): boolean {
    return this.#named.has(keyOf(spot.source.file, formatPath(spot.path)));
  }

  /** Adds a problem unless the place is already known to be faulty. */
  add(spot: Spot, message: string, part: Part = "value"): void {
    if (this.isFaulty(spot)) return;
    const { file } = spot.source;
    this.problems.push({
      file,
      ...spot.source.locate(spot.path, part),
      path: formatPath(spot.path),
      message,
    });
  }
}

function keyOf(file: string, path: string): string {
  return JSON.stringify([file, path]);
}
