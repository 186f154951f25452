// A problem: one fault in a config, with the place where a person has to look and what is wanted there.
// Finding problems is the business of the other files of this room.

/** The steps from the top of a file to a value: keys and list places. */
export type Path = readonly (string | number)[];

/** One fault in a config. */
export interface Problem {
  readonly file: string;
  /** 1 for the first line. */
  readonly line: number;
  /** 1 for the first character. */
  readonly column: number;
  /** As `formatPath` writes it; empty for the file as a whole. */
  readonly path: string;
  /** What is wrong, what is there and what is wanted. */
  readonly message: string;
}

/** A line and a column, both counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Writes a path as `upstreams[0].health.eject_ms`; keys with odd characters are quoted. */
export function formatPath(path: Path): string {
  return path.map((step, index) => {
    if (typeof step === "number") return `[${step}]`;
    if (!/^[\w-]{1,100}$/.test(step)) return `[${quoted(step)}]`;
    return index === 0 ? step : `.${step}`;
  }).join("");
}

/** One line for a log or a terminal: `file:line:column  path  message`. */
export function renderProblem(problem: Problem): string {
  const place = `${problem.file}:${problem.line}:${problem.column}`;
  return [place, problem.path, problem.message].filter((part) => part !== "").join("  ");
}

/** A text in quotes on one line, cut after 60 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}
