// Waiting for something to come to pass in real time, without guessing how long it takes.

/** Resolves once `holds` does; throws after 20 s. */
export async function until(holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > giveUpAt) throw new Error("It never came to pass");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
