// CPU time and memory of a process as Linux accounts them, all threads together.

/** Nanoseconds of CPU that all threads of a process have used so far. Precise where the kernel keeps schedstat,
 * otherwise in steps of 10 ms (utime and stime of /proc/PID/stat). */
export function cpuNanoseconds(pid: number): number {
  try {
    let sum = 0;
    for (const task of Deno.readDirSync(`/proc/${pid}/task`)) {
      sum += Number(Deno.readTextFileSync(`/proc/${pid}/task/${task.name}/schedstat`).split(" ")[0]);
    }
    return sum;
  } catch {
    return ticksOf(pid) * 1e7;
  }
}

function ticksOf(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/** Resident memory of a process in KiB. */
export function residentKiB(pid: number): number {
  const line = /^VmRSS:\s+([0-9]+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`));
  if (line === null) throw new Error(`No VmRSS for process ${pid}`);
  return Number(line[1]);
}

/** The middle of some numbers; NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}
