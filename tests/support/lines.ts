// Lines out of a byte stream, as they come.

/** Gives each line without its end; a last line without a newline counts. Colour codes are taken out. */
export async function* bufferedLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines.map(plain);
  }
  if (rest !== "") yield plain(rest);
}

function plain(line: string): string {
  // deno-lint-ignore no-control-regex
  return line.replace(/\x1b\[[0-9;]*m/g, "").replace(/\r$/, "");
}
