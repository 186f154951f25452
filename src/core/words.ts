// Small work on words for people that no room has for itself.

/** A number with its noun: "1 endpoint", "2 endpoints". For nouns that take a plain s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
