// Watching folders for anything that happens in them. Folders, not files: a file that is replaced by rename would never
// be heard of again. A folder that was itself replaced is noticed by its identity and watched anew.

/** Watches a changing set of folders. Every event is only a hint: whoever is told reads and compares. */
export class FolderWatch {
  readonly #onEvent: () => void;
  readonly #onFailure: (path: string, message: string) => void;
  readonly #watchers = new Map<string, { readonly watcher: Deno.FsWatcher; readonly identity: string }>();
  /** Folders that cannot be watched, told once. */
  readonly #failed = new Set<string>();

  constructor(options: { onEvent: () => void; onFailure: (path: string, message: string) => void }) {
    this.#onEvent = options.onEvent;
    this.#onFailure = options.onFailure;
  }

  /** Watches exactly these folders from now on; calling it again with the same ones is cheap and heals. */
  set(folders: readonly string[]): void {
    for (const folder of this.#watchers.keys()) if (!folders.includes(folder)) this.#drop(folder);
    for (const folder of folders) this.#ensure(folder);
  }

  #ensure(folder: string): void {
    const identity = identityOf(folder);
    const known = this.#watchers.get(folder);
    if (known !== undefined && known.identity === identity) return;
    this.#drop(folder);
    if (identity === undefined) return;
    try {
      const watcher = Deno.watchFs(folder, { recursive: false });
      this.#watchers.set(folder, { watcher, identity });
      this.#failed.delete(folder);
      void this.#listen(folder, watcher);
    } catch (error) {
      if (!this.#failed.has(folder)) {
        this.#onFailure(folder, error instanceof Error ? error.message : String(error));
      }
      this.#failed.add(folder);
    }
  }

  async #listen(folder: string, watcher: Deno.FsWatcher): Promise<void> {
    try {
      for await (const event of watcher) if (event.kind !== "access") this.#onEvent();
    } catch {
      // It has lost events: reading again makes up for them, and the next `set` watches anew.
      if (this.#watchers.get(folder)?.watcher === watcher) this.#watchers.delete(folder);
      this.#onEvent();
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }

  /** Ends all watching. */
  close(): void {
    for (const folder of [...this.#watchers.keys()]) this.#drop(folder);
  }
}

/** Which folder the path leads to now, links followed; undefined: none. */
function identityOf(folder: string): string | undefined {
  try {
    const { dev, ino, isDirectory } = Deno.statSync(folder);
    return isDirectory ? `${dev}:${ino}` : undefined;
  } catch {
    return undefined;
  }
}
