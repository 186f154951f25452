// Using up the file descriptors of a process, for programs that are run to see what it does without any.

/** Opens files until there is no descriptor left; close them to have some again. */
export function takeAll(): Deno.FsFile[] {
  const files: Deno.FsFile[] = [];
  try {
    while (true) files.push(Deno.openSync("/dev/null"));
  } catch {
    return files; // Too many open files, as wanted.
  }
}
