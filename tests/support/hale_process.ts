// hale as a process, the way a person runs it: started with arguments or a config text, watched through its log,
// stopped by signals. HALE_BIN names the executable; without it the source runs under the deno that runs the test.
// Nothing outlives a test: `using`-style disposal kills what is left and removes the temporary folder.

import { permissionsFor } from "../../scripts/permissions.ts";
import { bufferedLines } from "./lines.ts";

const ROOT = new URL("../../", import.meta.url);

/** How long any single wait may take before the test fails, milliseconds. Generous: machines are busy. */
export const PATIENCE_MS = 30_000;

/** What a finished run of hale left behind. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where and within which limits a process runs. */
export interface ProcessOptions {
  readonly cwd?: string;
  /** Most file descriptors it may have open. */
  readonly descriptors?: number;
  /** What becomes of its log: it is read (the default), nobody reads it, or its reader is gone. */
  readonly log?: "read" | "unread" | "closed";
}

function command(args: readonly string[], { descriptors, cwd }: ProcessOptions): Deno.Command {
  const [path, ...all] = commandLine(args);
  const common = { cwd: cwd ?? ROOT, stdin: "null", stdout: "piped", stderr: "piped" } as const;
  if (descriptors === undefined) return new Deno.Command(path!, { ...common, args: all });
  const limited = ["-c", `ulimit -n ${descriptors}; exec "$0" "$@"`, path!, ...all];
  return new Deno.Command("sh", { ...common, args: limited });
}

function commandLine(args: readonly string[]): readonly string[] {
  const binary = Deno.env.get("HALE_BIN");
  if (binary !== undefined && binary !== "") return [binary, ...args];
  const deno = ["run", "--quiet", ...permissionsFor(Deno.version.deno)];
  const main = new URL("main.ts", ROOT).pathname;
  return [Deno.execPath(), ...deno, main, ...args];
}

/** Runs hale to its end and gives its exit code and output. Kills it and throws after `PATIENCE_MS`. */
export async function runHale(args: readonly string[], options: ProcessOptions = {}): Promise<Finished> {
  const child = command(args, options).spawn();
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const { code, signal, stdout, stderr } = await child.output();
  clearTimeout(timer);
  const finished = {
    code,
    stdout: new TextDecoder().decode(stdout),
    stderr: new TextDecoder().decode(stderr),
  };
  if (signal === "SIGKILL") {
    throw new Error(`hale ${args.join(" ")} did not end: ${JSON.stringify(finished)}`);
  }
  return finished;
}

/** A hale that is running. */
export class HaleProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #readers: readonly Promise<void>[];
  readonly #ended: Promise<void>;
  readonly #leavesLog: boolean;
  readonly #lines: string[] = [];
  #waiters: (() => void)[] = [];
  #status: Deno.CommandStatus | undefined;

  private constructor(child: Deno.ChildProcess, log: "read" | "unread" | "closed" = "read") {
    this.#child = child;
    const read = log === "read" ? [child.stdout, child.stderr] : [child.stderr];
    this.#readers = read.map((stream) => this.#follow(stream));
    if (log === "closed") void child.stdout.cancel();
    this.#leavesLog = log === "unread";
    this.#ended = this.#watchEnd();
  }

  /** Starts hale with these arguments; does not wait for anything. */
  static start(args: readonly string[], options: ProcessOptions = {}): HaleProcess {
    return new HaleProcess(command(args, options).spawn(), options.log);
  }

  /** Everything logged so far, both streams, in the order in which lines came. */
  get log(): string {
    return this.#lines.join("\n");
  }

  /** The process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** The first line that fits, past or future, from line number `after` on. Throws when hale ends or time is up. */
  waitForLog(pattern: RegExp, options: { after?: number } = {}): Promise<string> {
    const find = () => this.#lines.slice(options.after ?? 0).find((line) => pattern.test(line));
    return this.#until(`a log line like ${pattern}`, find, () => this.#status !== undefined);
  }

  /** Waits for the line that says hale has started: its listeners accept. */
  async ready(): Promise<this> {
    await this.waitForLog(/is ready/);
    return this;
  }

  /** How many lines have been logged: a mark for `waitForLog`'s `after`. */
  get lineCount(): number {
    return this.#lines.length;
  }

  /** Sends a signal; one that comes too late is no error. */
  signal(name: Deno.Signal): void {
    try {
      this.#child.kill(name);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // "Child process has already terminated"
    }
  }

  /** Waits for the end and gives the exit code. */
  async exitCode(): Promise<number> {
    const status = await this.#until("hale to end", () => this.#status, () => false);
    return status.code;
  }

  /** Sends SIGTERM and gives the exit code. */
  stop(): Promise<number> {
    this.signal("SIGTERM");
    return this.exitCode();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    await this.#ended;
  }

  /** It has ended once its last line was read as well: whoever waits for a line shall see it. */
  async #watchEnd(): Promise<void> {
    const status = await this.#child.status;
    if (this.#leavesLog) await this.#child.stdout.cancel();
    await Promise.all(this.#readers);
    this.#status = status;
    this.#wake();
  }

  async #follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const line of bufferedLines(stream)) {
      this.#lines.push(line);
      this.#wake();
    }
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter();
  }

  async #until<T>(what: string, find: () => T | undefined, hopeless: () => boolean): Promise<T> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#wake();
    }, PATIENCE_MS);
    try {
      while (true) {
        const found = find();
        if (found !== undefined) return found;
        if (late || hopeless()) throw new Error(`Waited in vain for ${what}. The log:\n${this.log}`);
        await new Promise<void>((resolve) => this.#waiters.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A temporary folder with config files; removed on disposal. */
export class ConfigFolder implements Disposable {
  readonly path: string = Deno.makeTempDirSync({ prefix: "hale-test-" });

  /** Writes a file (in place) and gives its path. */
  write(name: string, text: string): string {
    const path = `${this.path}/${name}`;
    Deno.writeTextFileSync(path, text);
    return path;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

/** A running hale with its config file. */
export interface Running extends AsyncDisposable {
  readonly hale: HaleProcess;
  readonly folder: ConfigFolder;
}

/** Writes `config` to hale.yaml in a new folder, runs hale on it and waits until it is ready. */
export async function startHale(config: string): Promise<Running> {
  const folder = new ConfigFolder();
  const hale = HaleProcess.start(["run", "-c", folder.write("hale.yaml", config)]);
  const running = {
    hale,
    folder,
    async [Symbol.asyncDispose]() {
      await hale[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
  try {
    await hale.ready();
    return running;
  } catch (error) {
    await running[Symbol.asyncDispose]();
    throw error;
  }
}
