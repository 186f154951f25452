// The one shape in which bytes flow. `Deno.TcpConn` and `Deno.TlsConn` fit it as they are.

/** A two-way byte stream whose two directions end on their own (half-close). */
export interface Duplex {
  /** Fills `p` from its start. Gives the number of bytes (1 or more), or null once the peer has ended its side. */
  read(p: Uint8Array): Promise<number | null>;
  /** Writes from the start of `p` and gives how many bytes were taken (1 or more; it may be fewer than `p` holds). */
  write(p: Uint8Array): Promise<number>;
  /** Ends our side (FIN); reading goes on. */
  closeWrite(): Promise<void>;
  /** Ends both sides. A pending read or write rejects. Throws when called twice. */
  close(): void;
}

/** Writes the whole of `bytes`, however often the stream takes only a part. Rejects as `write` does. */
export async function writeAll(duplex: Pick<Duplex, "write">, bytes: Uint8Array): Promise<void> {
  let sent = await duplex.write(bytes);
  while (sent < bytes.length) sent += await duplex.write(bytes.subarray(sent));
}
