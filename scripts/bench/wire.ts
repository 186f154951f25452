// What the bench's client, endpoint and floor proxies have in common: whole writes, and reading one HTTP message.

/** Where the endpoint listens and the ports every proxy of the bench is told to use. */
export const HOST = "127.0.0.1";

/** Writes all of `bytes`. */
export async function writeWhole(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  let sent = await conn.write(bytes);
  while (sent < bytes.length) sent += await conn.write(bytes.subarray(sent));
}

/** Fills the first `count` bytes of `buffer`; throws at an early end. */
export async function readExactly(conn: Deno.Conn, buffer: Uint8Array, count: number): Promise<void> {
  let filled = 0;
  while (filled < count) {
    const got = await conn.read(buffer.subarray(filled, count));
    if (got === null) throw new Error(`The connection ended after ${filled} of ${count} bytes`);
    filled += got;
  }
}

/** Reads to the end and gives the number of bytes. */
export async function readAll(conn: Deno.Conn, buffer: Uint8Array): Promise<number> {
  let total = 0;
  for (let got = await conn.read(buffer); got !== null; got = await conn.read(buffer)) total += got;
  return total;
}

/** Where the head at the start of `buffer[0, end)` ends, its empty line included; -1 when it is not complete. */
export function headEnd(buffer: Uint8Array, end: number, from = 0): number {
  for (let i = buffer.indexOf(10, Math.max(3, from)); i >= 0 && i < end; i = buffer.indexOf(10, i + 1)) {
    if (buffer[i - 1] === 13 && buffer[i - 2] === 10 && buffer[i - 3] === 13) return i + 1;
  }
  return -1;
}

const decoder = new TextDecoder();

/** The text of a head. */
export function headText(buffer: Uint8Array, end: number): string {
  return decoder.decode(buffer.subarray(0, end));
}

/** Reads one message with Content-Length (or none: no body). Gives the head and the body's length. */
export async function readMessage(
  conn: Deno.Conn,
  buffer: Uint8Array,
): Promise<{ head: string; bodyBytes: number }> {
  let filled = 0;
  let end = -1;
  while (end < 0) {
    const got = await conn.read(buffer.subarray(filled));
    if (got === null) throw new Error("The connection ended within a head");
    filled += got;
    end = headEnd(buffer, filled, filled - got - 3);
  }
  const head = headText(buffer, end);
  const bodyBytes = Number(/^content-length: *([0-9]+)/im.exec(head)?.[1] ?? 0);
  for (let left = bodyBytes - (filled - end); left > 0;) {
    const got = await conn.read(buffer);
    if (got === null) throw new Error("The connection ended within a body");
    left -= got;
  }
  return { head, bodyBytes };
}

/** Accepts for ever. A connection that was reset while it waited fails `accept` and is no reason to stop. */
export async function acceptForEver(port: number, take: (conn: Deno.TcpConn) => void): Promise<never> {
  const listener = Deno.listen({ hostname: HOST, port, tcpBacklog: 4096 });
  while (true) {
    try {
      take(await listener.accept());
    } catch (error) {
      if (error instanceof Deno.errors.BadResource) throw error;
    }
  }
}

/** Closes a connection that may be closed already. */
export function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // Closed by the other path.
  }
}
