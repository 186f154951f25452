// Reading the config from disk: the real files behind the config room's port, and the hash by which "nothing changed" is
// known. What a config means is the config room's business; when to read is the reloader's. A large config takes a good
// part of a second to decode, and the poll reads every few seconds: what has not changed is not decoded again.

import { dirname, join, normalize } from "node:path";
import type { ConfigFiles, FileFailure } from "../config/files.ts";
import { decode, type Decoded } from "../config/decode.ts";
import { ownShortage } from "../net/socket_errors.ts";

/** What one reading gave. */
export interface ConfigReading {
  readonly decoded: Decoded;
  /** Of everything that was read; equal readings have equal hashes. 12 hex digits. */
  readonly hash: string;
  /** Something could not be read for want of descriptors or memory of our own: the reading says nothing about the files. */
  readonly isOwnLimit: boolean;
}

/** Reads, decodes and checks everything the paths name. */
export function readConfig(paths: readonly string[]): Promise<ConfigReading> {
  return new ConfigReader(paths).read();
}

/** Reads one config again and again. While every file and folder is as it was, `read` gives the same reading. */
export class ConfigReader {
  readonly #paths: readonly string[];
  readonly #files: ConfigFiles;
  #last: { readonly seen: SeenFiles; readonly reading: ConfigReading } | undefined;

  /** `files` stand in for the disk in tests. */
  constructor(paths: readonly string[], files: ConfigFiles = diskFiles) {
    this.#paths = paths;
    this.#files = files;
  }

  /** What the paths name now, decoded and checked. */
  async read(): Promise<ConfigReading> {
    if (this.#last?.seen.isAsBefore) return this.#last.reading;
    const seen = new SeenFiles(this.#files);
    const decoded = decode(this.#paths, seen);
    const reading = { decoded, hash: await hashOf(decoded.digestInput), isOwnLimit: seen.isOwnLimit };
    this.#last = { seen, reading };
    return reading;
  }
}

/** Files that remember what they were asked and what they answered. */
class SeenFiles implements ConfigFiles {
  readonly #files: ConfigFiles;
  readonly #answers: { readonly ask: () => unknown; readonly answer: unknown }[] = [];

  constructor(files: ConfigFiles) {
    this.#files = files;
  }

  /** Whether every answer would be the same today: then so is what was made of them. */
  get isAsBefore(): boolean {
    return this.#answers.every(({ ask, answer }) => isEqual(ask(), answer));
  }

  /** Whether an answer was that we could not look. */
  get isOwnLimit(): boolean {
    return this.#answers.some(({ answer }) => (answer as FileFailure | undefined)?.isOwnLimit === true);
  }

  read(path: string): ReturnType<ConfigFiles["read"]> {
    return this.#note(() => this.#files.read(path));
  }

  list(folder: string): ReturnType<ConfigFiles["list"]> {
    return this.#note(() => this.#files.list(folder));
  }

  isFolder(path: string): boolean {
    return this.#note(() => this.#files.isFolder(path));
  }

  resolve(base: string, relative: string): string {
    return this.#files.resolve(base, relative);
  }

  #note<T>(ask: () => T): T {
    const answer = ask();
    this.#answers.push({ ask, answer });
    return answer;
  }
}

/** Contents, names, failures and claims by value. */
function isEqual(one: unknown, other: unknown): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) {
    return one.length === other.length && one.every((byte, at) => byte === other[at]);
  }
  return one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest).subarray(0, 6)].map((byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}

/** Files as they are on disk. */
export const diskFiles: ConfigFiles = {
  read: (path) => orFailure(() => Deno.readFileSync(path)),
  list: (folder) => orFailure(() => [...Deno.readDirSync(folder)].map((entry) => entry.name)),
  isFolder: (path) => {
    try {
      return Deno.statSync(path).isDirectory;
    } catch {
      return false;
    }
  },
  resolve: (base, relative) => {
    if (relative.startsWith("/")) return normalize(relative);
    return join(base.endsWith("/") ? base : dirname(base), relative);
  },
};

function orFailure<T>(read: () => T): T | FileFailure {
  try {
    return read();
  } catch (error) {
    const isMissing = error instanceof Deno.errors.NotFound;
    const failure = { error: reasonOf(error), isMissing };
    return ownShortage(error) === undefined ? failure : { ...failure, isOwnLimit: true };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file or folder";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.NotCapable) return "hale runs without permission to read it";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder";
  return error instanceof Error ? error.message : String(error);
}
