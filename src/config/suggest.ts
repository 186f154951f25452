// Finds the word somebody meant when they mistyped one.

/** The candidate nearest to the text, or undefined when none is near enough to be meant. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const wanted = text.slice(0, 60).toLowerCase().replaceAll("-", "_");
  const limit = wanted.length <= 4 ? 1 : Math.min(3, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ?? candidates.find((candidate) => isPartOf(wanted, candidate));
}

/** `warn` is meant for `warning`, `eject` for `eject_ms`: a beginning of at least three letters. */
function isPartOf(text: string, candidate: string): boolean {
  return text.length >= 3 && (candidate.startsWith(text) || text.startsWith(`${candidate}_`));
}

/** How many single letters must be added, removed, changed or swapped with their neighbour. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const changed = last[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      let cost = Math.min(changed, last[column]! + 1, current[column - 1]! + 1);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, beforeLast[column - 2]! + 1);
      }
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length]!;
}
