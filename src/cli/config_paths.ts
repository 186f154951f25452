// Which config a command means: the paths of `-c`, else the usual places (C1).

import { defaultPaths } from "../config/decode.ts";
import { diskFiles } from "../control/config_source.ts";
import type { Io } from "./terminal.ts";

/** The paths to read, or undefined after saying that there is nothing in the usual places. */
export function chosenPaths(given: readonly string[] | undefined, io: Io): readonly string[] | undefined {
  if (given !== undefined) return given;
  const paths = defaultPaths(diskFiles);
  if (paths[0] !== "/etc/hale" || diskFiles.isFolder("/etc/hale")) return paths;
  io.err(
    "There is neither ./hale.yaml nor /etc/hale/: name a config with -c, or make one with `hale init > hale.yaml`\n",
  );
  return undefined;
}
