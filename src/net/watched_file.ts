// A small file that others may replace at any time: read again whenever its time, size or inode has changed, so that
// a running hale follows an edit of /etc/resolv.conf without being told.

import { codeOf, ownShortage } from "./socket_errors.ts";

/** Something that can be read again and again, and changes meanwhile. */
export interface FileSource<T> {
  /** For people. */
  readonly path: string;
  /** The content now; undefined when it can not be read. Rejects only when we have nothing left to read it with. */
  read(): Promise<T | undefined>;
}

interface Seen<T> {
  readonly stamp: string;
  readonly value: T;
}

/** The parsed content of a file, kept until the file changes. */
export class WatchedFile<T> implements FileSource<T> {
  readonly path: string;
  readonly #parse: (text: string) => T;
  #seen: Seen<T> | undefined;

  constructor(path: string, parse: (text: string) => T) {
    this.path = path;
    this.#parse = parse;
  }

  /** The content now, or the last one when we have no file descriptor left; undefined: it can not be read. Costs one `stat` while nothing has changed. */
  async read(): Promise<T | undefined> {
    try {
      const stamp = stampOf(await Deno.stat(this.path));
      // The stamp is from before the reading: an edit in between is seen next time.
      if (this.#seen?.stamp !== stamp) {
        this.#seen = { stamp, value: this.#parse(await Deno.readTextFile(this.path)) };
      }
      return this.#seen.value;
    } catch (error) {
      // Nobody may take that for a system without the file.
      if (ownShortage(error) !== undefined) {
        if (this.#seen === undefined) throw error;
        return this.#seen.value;
      }
      if (codeOf(error) === undefined && !(error instanceof Deno.errors.NotCapable)) throw error;
      this.#seen = undefined;
      return undefined;
    }
  }
}

function stampOf(info: Deno.FileInfo): string {
  return `${info.mtime?.getTime()} ${info.ctime?.getTime()} ${info.size} ${info.dev} ${info.ino}`;
}
