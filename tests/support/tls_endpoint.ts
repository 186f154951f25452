// An endpoint that speaks TLS with one of the test certificates. It shakes hands, then keeps each connection open
// until it is closed itself.

const CERTS = new URL("../cases/certs/", import.meta.url);

/** A test certificate, key or bundle as PEM text: "ca.pem", "good.key". */
export function pem(name: string): string {
  return Deno.readTextFileSync(new URL(name, CERTS));
}

/** A TLS listener with the certificate of that name ("good"). Close it with `close`. */
export class TlsEndpoint {
  readonly #listener: Deno.TlsListener;
  readonly #conns: Deno.TlsConn[] = [];
  readonly #accepting: Promise<void>;

  constructor(leaf: string, options: { hostname?: string; alpn?: string[] } = {}) {
    this.#listener = Deno.listenTls({
      hostname: options.hostname ?? "127.0.0.1",
      port: 0,
      cert: pem(`${leaf}.pem`),
      key: pem(`${leaf}.key`),
      alpnProtocols: options.alpn ?? ["http/1.1"],
    });
    this.#accepting = this.#acceptAll();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async #acceptAll(): Promise<void> {
    try {
      while (true) {
        const conn = await this.#listener.accept();
        this.#conns.push(conn);
        conn.handshake().catch(() => {}); // The client's end says what happened.
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted)) {
        throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.#listener.close();
    await this.#accepting;
    for (const conn of this.#conns) conn.close();
  }
}
