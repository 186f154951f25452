// Numbers of the process for metrics. What the platform does not tell, or the runtime keeps from us (newer ones shut
// /proc to programs without full permissions), is absent.

import process from "node:process";
import type { ProcessState } from "../admin/running_state.ts";

/** CPU time, memory and descriptors now. */
export function processState(): Omit<ProcessState, "startedAtWall"> {
  const { user, system } = process.cpuUsage();
  const isLinux = Deno.build.os === "linux";
  const open = isLinux ? entriesOf("/proc/self/fd") : undefined;
  const most = isLinux ? openFilesIn("/proc/self/limits") : undefined;
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: Deno.memoryUsage().rss,
    ...(open === undefined ? {} : { openDescriptors: open }),
    ...(most === undefined ? {} : { maxDescriptors: most }),
  };
}

/** The soft limit on open files. */
function openFilesIn(path: string): number | undefined {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(Deno.readTextFileSync(path));
    return match === null ? undefined : Number(match[1]);
  } catch {
    return undefined; // Kept from us: the number is left out.
  }
}

function entriesOf(folder: string): number | undefined {
  try {
    return [...Deno.readDirSync(folder)].length;
  } catch {
    return undefined; // Kept from us: the number is left out.
  }
}
