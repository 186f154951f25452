// Builds the executable with the least permissions it can live with, then tries it: a compiler reports success even
// when the result can not start. The compiler is the deno that runs this script; DENORT_BIN, when set, is the runtime
// that goes into the executable, otherwise deno fetches its own.
//
// `--bundle` finds the worker by itself, as long as the source says it in one expression:
//   new Worker(new URL("../data/worker.ts", import.meta.url), { type: "module" })

import { parseArgs } from "node:util";
import { permissionsFor } from "./permissions.ts";

/** `reusePort` needs unstable-net. The code cache would be a file of predictable name in the temp folder. */
const BUILD = ["--bundle", "--unstable-net", "--no-code-cache"] as const;

/** What must work before the executable counts as built: start, embedded packages, reading a file. */
const TRIALS = [["version"], ["schema"], ["check", "-c", "config/demo.yaml"]] as const;

const HELP = `Usage: deno task compile [--output FILE] [--target TRIPLE]

Builds hale (default: dist/hale) and tries it. With --target the executable is for another
platform (x86_64-unknown-linux-gnu, aarch64-unknown-linux-gnu, x86_64-apple-darwin,
aarch64-apple-darwin, x86_64-pc-windows-msvc) and is not tried.

DENORT_BIN  a bare runtime to build on; it must fit the deno that runs this (see README)`;

/** Runs a command to its end; what a failing one wrote goes to stderr. A silent command has failed too. */
function run(
  command: string,
  args: readonly string[],
  options: { clearEnv: boolean; mayBeSilent: boolean },
): number {
  const { clearEnv, mayBeSilent } = options;
  const child = new Deno.Command(command, {
    args: [...args],
    clearEnv,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = child.outputSync();
  if (code !== 0) Deno.stderr.writeSync(new Uint8Array([...stdout, ...stderr]));
  return code === 0 && stdout.length === 0 && !mayBeSilent ? 1 : code;
}

function compile(output: string, target: string | undefined): void {
  const targetArgs = target === undefined ? [] : ["--target", target];
  const args = [
    "compile",
    "--quiet",
    ...permissionsFor(Deno.version.deno),
    ...BUILD,
    ...targetArgs,
    "--output",
    output,
    "main.ts",
  ];
  const code = run(Deno.execPath(), args, { clearEnv: false, mayBeSilent: true });
  if (code !== 0) fail(`deno ${Deno.version.deno} could not compile (exit ${code})`);
}

/** The trials run with an empty environment, as a service manager would start it. */
function tryOut(output: string): void {
  for (const args of TRIALS) {
    const code = run(output, args, { clearEnv: true, mayBeSilent: false });
    if (code !== 0) fail(`${output} was built, but "${args.join(" ")}" ended with exit ${code}`);
  }
}

function fail(message: string): never {
  console.error(`compile: ${message}`);
  Deno.exit(1);
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      output: { type: "string" },
      target: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(HELP);
    Deno.exit(0);
  }
  Deno.chdir(new URL("../", import.meta.url));
  const output = values.output ?? "dist/hale";
  Deno.mkdirSync(output.replace(/[^/]*$/, "") || ".", { recursive: true });
  compile(output, values.target);
  if (values.target === undefined) tryOut(output.includes("/") ? output : `./${output}`);
  const megabytes = (Deno.statSync(output).size / 1e6).toFixed(0);
  console.log(`${output}: ${megabytes} MB, built by deno ${Deno.version.deno}`);
}
