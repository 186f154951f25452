// `hale endpoint drain|ready|maintenance UPSTREAM/ENDPOINT`: takes an endpoint of a running hale out by hand, or back in.

import type { WhyView } from "../admin/view.ts";
import { diskFiles } from "../control/config_source.ts";
import { EXIT } from "../core/exit_code.ts";
import type { OperatorState } from "../core/event.ts";
import {
  ADMIN_HELP,
  ADMIN_OPTIONS,
  type AdminTarget,
  askAdmin,
  type EndpointName,
  endpointPath,
  type Failure,
  findTarget,
  parseEndpointName,
  printable,
} from "./admin_client.ts";
import type { Io } from "./terminal.ts";
import { readArgs, type Usage } from "./usage.ts";

const USAGE: Usage = {
  synopsis: "hale endpoint drain|ready|maintenance UPSTREAM/ENDPOINT [--admin ADDRESS] [--token-file FILE]",
  purpose:
    "Takes an endpoint out of rotation by hand, or back in. It stays so until somebody sets it ready, " +
    "whatever its health; what is in flight may finish.",
  options: [
    "drain               no new work, as before it is stopped",
    "maintenance         no new work, as while it is worked on",
    "ready               ends both; its health decides again",
    ...ADMIN_HELP,
  ],
  examples: ["hale endpoint drain app/10.0.0.3:8080", "hale endpoint ready app/10.0.0.3:8080"],
};

const STATES: readonly string[] = ["drain", "ready", "maintenance"] satisfies readonly OperatorState[];

/** Sets an operator state. */
export async function endpointCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = readArgs(args, ADMIN_OPTIONS, { usage: USAGE, io, positionals: [2, 2] });
  if ("exitCode" in parsed) return parsed.exitCode;
  const [state, text] = parsed.positionals;
  const name = parseEndpointName(text!);
  if (!STATES.includes(state!) || name === undefined) {
    const wrong = name === undefined
      ? `UPSTREAM/ENDPOINT, got "${text}"`
      : `one of ${STATES.join(", ")}, got "${state}"`;
    io.err(`hale: Wanted ${wrong}\n`);
    return EXIT.usage;
  }
  const target = findTarget(parsed.values, diskFiles);
  const done = "failure" in target ? target : await set(target, name, state as OperatorState);
  if ("failure" in done) io.err(`hale: ${printable(done.failure)}\n`);
  else io.out(`${printable(done.said)}\n`);
  return "failure" in done ? EXIT.problems : EXIT.ok;
}

async function set(
  target: AdminTarget,
  name: EndpointName,
  state: OperatorState,
): Promise<{ readonly said: string } | Failure> {
  const answer = await askAdmin(target, `${endpointPath(name)}/${state}`, "POST");
  if ("failure" in answer) return answer;
  const why = await askAdmin(target, `${endpointPath(name)}/why`);
  return "failure" in why ? why : { said: sayDone(name, state, why.body as WhyView) };
}

function sayDone(name: EndpointName, state: OperatorState, why: WhyView): string {
  const what = `Set ${name.upstream}/${name.endpoint} to ${state}`;
  if (state !== "ready") return `${what}: no new work, ${why.in_flight} in flight may finish`;
  return why.usable ? `${what}: it gets work` : `${what}: it stays out, ${why.reason}`;
}
