// Taking edits of the config while hale runs (DESIGN 6): notice, read, compare, apply, and say what came of it. One
// path for the start, for edits, for SIGHUP. What an edit does to what runs is the supervisor's business.

import type { Clock } from "../core/clock.ts";
import type { Emit, ReloadTrigger } from "../core/event.ts";
import type { Config } from "../core/plan.ts";
import { type Problem, renderProblem } from "../config/problem.ts";
import { messageOf } from "../net/socket_errors.ts";
import type { ConfigReading } from "./config_source.ts";

/** How often the files are read whether or not anybody said that they changed, milliseconds. */
export const POLL_MS = 5000;
/** An edit counts as finished once nothing has happened for `quiet`, or after `most`, milliseconds. */
export const SETTLE_MS = { quiet: 200, most: 2000 };
/** A faulty edit noticed by the watch is read again after this long before it is refused: it may be half written. */
export const CONFIRM_MS = 1000;

/** A problem as status shows it. A bind failure has no place in a file. */
export type ReloadProblem = Partial<Omit<Problem, "message">> & { readonly message: string };

/** The last attempt to take a config, and what is in force. Moments are wall clock. */
export interface ReloadState {
  readonly hash: string;
  readonly loadedAt?: number;
  readonly lastAttempt?: {
    readonly at: number;
    readonly ok: boolean;
    readonly problems: readonly ReloadProblem[];
  };
  readonly accepted: number;
  readonly refused: number;
  readonly unchanged: number;
}

/** What the reloader works with. */
export interface ReloaderPorts {
  readonly clock: Clock;
  readonly emit: Emit;
  readonly read: () => Promise<ConfigReading>;
  /** Brings everything to the config, or gives the reasons why not. */
  readonly apply: (
    config: Config,
    origin: { hash: string; trigger: ReloadTrigger },
  ) => Promise<readonly string[]>;
  /** The folders that the last reading depends on, to be watched from now on. */
  readonly watch: (folders: readonly string[]) => void;
}

/** Keeps the running config equal to the files. */
export class Reloader {
  readonly #ports: ReloaderPorts;
  #state: ReloadState = { hash: "", accepted: 0, refused: 0, unchanged: 0 };
  /** The reading that was refused last, so that the same refusal is not told twice. */
  #refused: { readonly hash: string; readonly text: string } | undefined;
  #wake: (() => void) | undefined;
  #noticedAt: number | undefined;
  #changedAt = 0;
  #asked = false;

  constructor(ports: ReloaderPorts) {
    this.#ports = ports;
  }

  /** What is in force and how the last attempt ended. */
  get state(): ReloadState {
    return this.#state;
  }

  /** Something happened in a watched folder. */
  notice(): void {
    this.#changedAt = this.#ports.clock.now();
    this.#noticedAt ??= this.#changedAt;
    this.#wake?.();
  }

  /** Somebody asks for a reload (SIGHUP): at once, and the answer is told even when it is an old one. */
  ask(): void {
    this.#asked = true;
    this.#wake?.();
  }

  /** Takes edits until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const trigger = await this.#next(signal);
      if (trigger !== undefined && !signal.aborted) await this.#guardedReload(trigger, signal);
    }
  }

  /** A fault of our own must not make hale deaf to edits. */
  async #guardedReload(trigger: ReloadTrigger, signal: AbortSignal): Promise<void> {
    try {
      await this.#reload(trigger, signal);
    } catch (error) {
      this.#ports.emit({ kind: "loop_error", thread: "reload", message: messageOf(error) });
    }
  }

  /** Waits for whatever comes first: a wish, the end of an edit, the poll. */
  async #next(signal: AbortSignal): Promise<ReloadTrigger | undefined> {
    const polled = await this.#sleep(this.#waitMs(), signal);
    if (this.#asked) return "signal";
    if (this.#noticedAt !== undefined) return this.#waitMs() <= 0 ? "watch" : undefined;
    return polled ? "poll" : undefined;
  }

  #waitMs(): number {
    if (this.#asked) return 0;
    if (this.#noticedAt === undefined) return POLL_MS;
    const settled = Math.min(this.#changedAt + SETTLE_MS.quiet, this.#noticedAt + SETTLE_MS.most);
    return settled - this.#ports.clock.now();
  }

  async #reload(trigger: ReloadTrigger, signal: AbortSignal): Promise<void> {
    this.#asked = false;
    this.#noticedAt = undefined;
    const reading = await this.#ports.read();
    if (signal.aborted) return;
    // The poll tries again: what we could not read may well be unchanged.
    if (reading.isOwnLimit && trigger !== "signal") return;
    if (trigger === "signal" || "config" in reading.decoded || reading.hash === this.#refused?.hash) {
      await this.take(reading, trigger);
      return;
    }
    // Half-written files and moments without a file are normal: only what stays faulty is refused.
    await this.#sleep(CONFIRM_MS, signal);
    if (this.#noticedAt !== undefined || signal.aborted) return;
    const again = await this.#ports.read();
    if (!again.isOwnLimit) await this.take(again, trigger);
  }

  /** Applies one reading unless it is in force already. Gives the problems; none: it is in force now. */
  async take(reading: ConfigReading, trigger: ReloadTrigger): Promise<readonly ReloadProblem[]> {
    const { decoded, hash } = reading;
    this.#ports.watch(decoded.folders);
    if (hash === this.#state.hash) {
      const isNews = trigger === "signal" || this.#refused !== undefined;
      if (isNews) this.#ports.emit({ kind: "plan_unchanged", trigger });
      this.#note(true, [], trigger === "signal" ? "unchanged" : undefined);
      return [];
    }
    if ("problems" in decoded) return this.#refuse(reading, decoded.problems, trigger);
    const problems = await this.#ports.apply(decoded.config, { hash, trigger });
    if (problems.length > 0) return this.#refuse(reading, problems.map((message) => ({ message })), trigger);
    this.#refused = undefined;
    this.#state = { ...this.#state, hash, loadedAt: this.#ports.clock.wallMs() };
    this.#note(true, [], "accepted");
    return [];
  }

  #refuse(
    reading: ConfigReading,
    problems: readonly ReloadProblem[],
    trigger: ReloadTrigger,
  ): readonly ReloadProblem[] {
    const lines = problems.map(problemLine);
    const refusal = { hash: reading.hash, text: lines.join("\n") };
    const isNews = refusal.hash !== this.#refused?.hash || refusal.text !== this.#refused?.text;
    this.#refused = refusal;
    if (!isNews && trigger !== "signal") return problems;
    this.#note(false, problems, "refused");
    // At the start nothing runs that could go on: whoever starts hale prints the problems.
    if (trigger !== "start") this.#ports.emit({ kind: "plan_refused", trigger, problems: lines });
    return problems;
  }

  #note(
    ok: boolean,
    problems: readonly ReloadProblem[],
    count: "accepted" | "refused" | "unchanged" | undefined,
  ): void {
    if (count === undefined && this.#state.lastAttempt?.ok === ok) return;
    this.#state = {
      ...this.#state,
      lastAttempt: { at: this.#ports.clock.wallMs(), ok, problems },
      ...(count === undefined ? {} : { [count]: this.#state[count] + 1 }),
    };
    if (ok) this.#refused = undefined;
  }

  /** True when the time ran out; false when something woke it. */
  async #sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    if (ms <= 0) return true;
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    try {
      await this.#ports.clock.sleep(ms, woken.signal);
      return true;
    } catch {
      return false;
    } finally {
      this.#wake = undefined;
      signal.removeEventListener("abort", wake);
    }
  }
}

/** A problem as one line, with its place where it has one. */
export function problemLine(problem: ReloadProblem): string {
  const { file, line, column, path, message } = problem;
  if (file === undefined) return message;
  return renderProblem({ file, line: line ?? 1, column: column ?? 1, path: path ?? "", message });
}
