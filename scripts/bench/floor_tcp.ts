// The barest correct TCP proxy over Deno.Conn: half-close passed on, adaptive pooled buffers, no features at all.
// It shows what the runtime itself costs. Arguments: LISTEN_PORT ENDPOINT_PORT.

import { acceptForEver, closeQuietly, HOST } from "./wire.ts";

const SMALL = 2048;
const LARGE = 65_536;

/** Free large buffers, shared by all sessions. */
class Buffers {
  readonly #free: Uint8Array<ArrayBuffer>[] = [];

  take(): Uint8Array<ArrayBuffer> {
    return this.#free.pop() ?? new Uint8Array(LARGE);
  }

  give(buffer: Uint8Array<ArrayBuffer>): void {
    if (this.#free.length < 64) this.#free.push(buffer);
  }
}

/** Copies one direction to its end. Small reads use a small buffer, full ones a large one for as long as they fill it. */
async function pump(from: Deno.Conn, to: Deno.Conn, buffers: Buffers): Promise<void> {
  const small = new Uint8Array(SMALL);
  let buffer = small;
  for (let got = await from.read(buffer); got !== null; got = await from.read(buffer)) {
    let sent = await to.write(got === buffer.length ? buffer : buffer.subarray(0, got));
    while (sent < got) sent += await to.write(buffer.subarray(sent, got));
    if (buffer === small) {
      if (got === SMALL) buffer = buffers.take();
    } else if (got < LARGE / 8) {
      buffers.give(buffer);
      buffer = small;
    }
  }
  if (buffer !== small) buffers.give(buffer);
  await to.closeWrite();
}

async function relay(client: Deno.TcpConn, endpointPort: number, buffers: Buffers): Promise<void> {
  let endpoint: Deno.TcpConn | undefined;
  try {
    client.setNoDelay();
    endpoint = await Deno.connect({ hostname: HOST, port: endpointPort });
    endpoint.setNoDelay();
    await Promise.all([pump(client, endpoint, buffers), pump(endpoint, client, buffers)]);
  } catch {
    // Either side cut: both are closed below.
  }
  closeQuietly(client);
  if (endpoint !== undefined) closeQuietly(endpoint);
}

if (import.meta.main) {
  const [port, endpointPort] = Deno.args.map(Number);
  if (port === undefined || endpointPort === undefined) throw new Error("Wanted LISTEN_PORT ENDPOINT_PORT");
  const buffers = new Buffers();
  await acceptForEver(port, (conn) => void relay(conn, endpointPort, buffers));
}
