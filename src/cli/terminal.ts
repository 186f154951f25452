// What commands know of the terminal they talk to. Tests give their own.

import { EXIT } from "../core/exit_code.ts";

/** Where a command's words go. */
export interface Io {
  /** Writes to standard output. The text brings its own line feeds. Ends the command when nobody reads any more. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
  /** Whether a person watches standard output: colours and redrawing make sense only then. */
  readonly isTerminal: boolean;
  /** Whether colours are wanted: a terminal, and no NO_COLOR. */
  readonly colors: boolean;
}

/** The real terminal. */
export function realIo(): Io {
  const isTerminal = Deno.stdout.isTerminal();
  return {
    out: (text) => {
      if (!writeAllSync(Deno.stdout, text)) Deno.exit(EXIT.problems);
    },
    err: (text) => void writeAllSync(Deno.stderr, text),
    isTerminal,
    colors: isTerminal && !Deno.noColor,
  };
}

/** False: nobody reads any more, as of `hale status | head`. A command has nothing left to do then. */
function writeAllSync(stream: { writeSync(bytes: Uint8Array): number }, text: string): boolean {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let sent = 0; sent < bytes.length;) sent += stream.writeSync(bytes.subarray(sent));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return false;
    throw error;
  }
  return true;
}
