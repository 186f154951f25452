// The log: one line per event, as text for people or as JSON for machines, with the least severity that is wanted.
// Events carry their own sentences (core/event_text.ts); here they only get a time and a line.

import { jsonOf, type Severity, severityOf, textOf } from "../core/event_text.ts";
import type { TimedEvent } from "../core/event.ts";
import type { LogConfig } from "../core/plan.ts";

const RANK: Readonly<Record<Severity, number>> = { debug: 0, info: 1, warning: 2, error: 3 };

/** Takes finished lines, each with its line feed. */
export type WriteLine = (line: string) => void;

/** Writes events as lines. `settings` may change while it runs. */
export class Log {
  readonly #write: WriteLine;
  settings: Pick<LogConfig, "level" | "format">;

  constructor(write: WriteLine, settings: Pick<LogConfig, "level" | "format">) {
    this.#write = write;
    this.settings = settings;
  }

  /** Writes the event unless it matters less than `level`. */
  event(event: TimedEvent): void {
    const severity = severityOf(event);
    if (RANK[severity] < RANK[this.settings.level]) return;
    this.#write(this.settings.format === "json" ? `${jsonOf(event)}\n` : textLine(event, severity));
  }
}

function textLine(event: TimedEvent, severity: Severity): string {
  const time = new Date(event.at).toISOString();
  return `${time} ${severity.padEnd(7)} ${oneLine(textOf(event))}\n`;
}

/** What peers sent may hold anything; a log line stays one line and moves no cursor. */
function oneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
