// Ports for processes that are told their port in advance.

const given = new Set<number>();

/** A port of 127.0.0.1 on which nobody listens, a different one at each call. It lies below the range from which the
 * system takes ports for outgoing connections, so a busy machine does not take it in between. */
export function freePort(): number {
  for (let tries = 0; tries < 1000; tries++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (!given.has(port) && canListen(port)) {
      given.add(port);
      return port;
    }
  }
  throw new Error("No free port in 20000..31999");
}

function canListen(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
