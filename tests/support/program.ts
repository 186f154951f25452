// Programs of this machine that tests use as clients: curl, wrk.

/** Runs a program to its end and gives what it printed; undefined: this machine does not have it, which is said. */
export async function runProgram(program: string, args: readonly string[]): Promise<Uint8Array | undefined> {
  try {
    const { stdout } = await new Deno.Command(program, { args: [...args], stderr: "null" }).output();
    return stdout;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.error(`No ${program} here: what it would do is not tested`);
    return undefined;
  }
}

/** The same as text. */
export async function textOfProgram(program: string, args: readonly string[]): Promise<string | undefined> {
  const bytes = await runProgram(program, args);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}
