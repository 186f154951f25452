// Durations as people read them, the same in logs, on the page and in the command line.

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
];

/**
 * A duration of `ms` milliseconds in one or two units: "0.4 ms", "250 ms", "1.5 s", "30 s", "1 min 30 s", "2 h".
 * Negative ones read as 0; Infinity as "ever".
 */
export function formatDuration(ms: number): string {
  if (ms === Infinity) return "ever";
  if (!(ms > 0)) return "0 ms";
  if (ms < 10) return `${trimmed(ms)} ms`;
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  return Math.round(ms / 100) < 100 ? `${trimmed(ms / 1000)} s` : inUnits(Math.round(ms / 1000) * 1000);
}

/** One decimal, unless it is 0. */
function trimmed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function inUnits(ms: number): string {
  const at = UNITS.findIndex(([, size]) => ms >= size);
  const [name, size] = UNITS[at]!;
  const next = UNITS[at + 1];
  const text = `${Math.floor(ms / size)} ${name}`;
  const rest = next === undefined ? 0 : Math.floor((ms % size) / next[1]);
  return rest === 0 ? text : `${text} ${rest} ${next![0]}`;
}
