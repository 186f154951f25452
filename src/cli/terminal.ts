// What commands know of the terminal they talk to. Tests give their own.

/** Where a command's words go. */
export interface Io {
  /** Writes to standard output. The text brings its own line feeds. */
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
    out: (text) => writeAllSync(Deno.stdout, text),
    err: (text) => writeAllSync(Deno.stderr, text),
    isTerminal,
    colors: isTerminal && !Deno.noColor,
  };
}

function writeAllSync(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let sent = 0; sent < bytes.length;) sent += stream.writeSync(bytes.subarray(sent));
}
