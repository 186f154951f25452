// How the config room sees the outside: a port for files and folders, and a table that reads each file once and
// remembers what was in use, so that control knows what to watch and whether anything has changed.

/** Why a file or folder could not be used. */
export interface FileFailure {
  /** For people, as the second half of a sentence: "no such file". */
  readonly error: string;
  /** True when there is nothing of that name; then another place may be tried. */
  readonly isMissing?: boolean;
  /** True when it says nothing about the file: hale itself had no descriptor or memory left to look. */
  readonly isOwnLimit?: boolean;
}

/** Files as the caller offers them. All calls are synchronous and never throw. */
export interface ConfigFiles {
  /** The whole contents; bytes are taken as UTF-8. */
  read(path: string): string | Uint8Array | FileFailure;
  /** The names (not paths) in a folder, in any order. */
  list(folder: string): readonly string[] | FileFailure;
  /** Whether the path is a folder, links followed. False for what does not exist. */
  isFolder(path: string): boolean;
  /**
   * The normal form of `relative` as seen from the file `base`, by spelling alone (links are not followed), like a
   * relative URL: `resolve("etc/hale.yaml", "ca.pem")` is `etc/ca.pem`. A base that ends in "/" is a folder; the base
   * "" is the current one. The relative path "." gives the folder of the file.
   */
  resolve(base: string, relative: string): string;
}

/** Largest file that is read, in UTF-16 units; a YAML file has a lower limit of its own. */
const MAX_FILE_LENGTH = 8 * 1024 * 1024;

/** Reads each file once and remembers every file and folder in use, in the order of first use. */
export class FileTable {
  readonly #files: ConfigFiles;
  readonly #texts = new Map<string, string | FileFailure>();
  readonly #folders = new Map<string, readonly string[] | FileFailure>();
  readonly #watched = new Set<string>();

  /** Reads through the given port. */
  constructor(files: ConfigFiles) {
    this.#files = files;
  }

  /** The text of a file without byte order mark, or why there is none. */
  text(path: string): string | FileFailure {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    this.#watched.add(this.#files.resolve(path, "."));
    const text = decodeText(this.#files.read(path));
    this.#texts.set(path, text);
    return text;
  }

  /** The paths of the `*.yaml` and `*.yml` files of a folder in name order, dot files left out (C1). */
  yamlFiles(folder: string): readonly string[] | FileFailure {
    const base = folder.endsWith("/") ? folder : `${folder}/`;
    this.#watched.add(this.#files.resolve(base, "."));
    const names = this.#files.list(folder);
    this.#folders.set(folder, names);
    if ("error" in names) return names;
    const wanted = names.filter((name) => /\.ya?ml$/.test(name) && !name.startsWith("."));
    return wanted.sort(byCodeUnits).map((name) => this.#files.resolve(base, name));
  }

  /** Whether the path is a folder. */
  isFolder(path: string): boolean {
    return this.#files.isFolder(path);
  }

  /** The path that a file means by a relative one; see `ConfigFiles.resolve`. */
  resolve(base: string, relative: string): string {
    return this.#files.resolve(base, relative);
  }

  /** All files that were asked for, missing ones included. */
  get files(): string[] {
    return [...this.#texts.keys()];
  }

  /** The folders that hold those files and those that were listed: what to watch. */
  get folders(): string[] {
    return [...this.#watched];
  }

  /** One text that is equal exactly when everything that was read is equal. Holds secrets: hash it, never show it. */
  get digestInput(): string {
    const failedFolders = [...this.#folders].filter(([, names]) => "error" in names);
    return JSON.stringify([[...this.#texts], failedFolders]);
  }
}

function decodeText(content: string | Uint8Array | FileFailure): string | FileFailure {
  if (typeof content === "string") return checkedLength(content.replace(/^\uFEFF/, ""));
  if (!(content instanceof Uint8Array)) return content;
  try {
    return checkedLength(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    return { error: "it is not UTF-8 text" };
  }
}

function checkedLength(text: string): string | FileFailure {
  return text.length <= MAX_FILE_LENGTH ? text : { error: `it is larger than ${MAX_FILE_LENGTH} characters` };
}

/** Compares two texts the same way on every machine, whatever its language. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
