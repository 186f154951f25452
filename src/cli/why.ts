// `hale why UPSTREAM/ENDPOINT`: why an endpoint of a running hale is in or out, with its last evidence.

import type { WhyView } from "../admin/view.ts";
import { diskFiles } from "../control/config_source.ts";
import { EXIT } from "../core/exit_code.ts";
import {
  ADMIN_HELP,
  ADMIN_OPTIONS,
  askAdmin,
  endpointPath,
  findTarget,
  parseEndpointName,
  printable,
} from "./admin_client.ts";
import type { Io } from "./terminal.ts";
import { readArgs, type Usage } from "./usage.ts";
import { renderWhy } from "./why_text.ts";

const USAGE: Usage = {
  synopsis: "hale why UPSTREAM/ENDPOINT [--json] [--admin ADDRESS] [--token-file FILE]",
  purpose: "Says why an endpoint is in or out, what has to happen for it to return, and its last evidence.",
  options: ["--json              print the answer as JSON", ...ADMIN_HELP],
  examples: ["hale why app/10.0.0.3:8080", "hale why 'db/[2001:db8::1]:5432' --json"],
};

/** Tells why. */
export async function whyCommand(args: readonly string[], io: Io): Promise<number> {
  const options = { ...ADMIN_OPTIONS, json: { type: "boolean" } } as const;
  const parsed = readArgs(args, options, { usage: USAGE, io, positionals: [1, 1] });
  if ("exitCode" in parsed) return parsed.exitCode;
  const name = parseEndpointName(parsed.positionals[0]!);
  if (name === undefined) {
    io.err(`hale: Wanted UPSTREAM/ENDPOINT, got "${parsed.positionals[0]}"\n`);
    return EXIT.usage;
  }
  const target = findTarget(parsed.values, diskFiles);
  const answer = "failure" in target ? target : await askAdmin(target, `${endpointPath(name)}/why`);
  if ("failure" in answer) {
    io.err(`hale: ${printable(answer.failure)}\n`);
    return EXIT.problems;
  }
  const isJson = parsed.values.json === true;
  io.out(
    isJson
      ? `${JSON.stringify(answer.body, null, 2)}\n`
      : `${printable(renderWhy(answer.body as WhyView))}\n`,
  );
  return EXIT.ok;
}
