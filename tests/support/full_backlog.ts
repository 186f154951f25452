// A loopback address that does not answer: a listener whose queue is full, so that the kernel drops further SYNs.
// Freed, it accepts everything; a client whose SYN was dropped gets through with its next try, about a second later.

/** A listener that accepts nothing until `free` is called. */
export class DeafListener {
  readonly #listener: Deno.TcpListener;
  readonly #fillers: Deno.Conn[] = [];
  readonly accepted: Deno.Conn[] = [];
  #accepting: Promise<void> | undefined;

  private constructor(listener: Deno.TcpListener) {
    this.#listener = listener;
  }

  /** Binds and fills the queue. Port 0 takes any. */
  static async open(hostname: string, port: number): Promise<DeafListener> {
    const deaf = new DeafListener(Deno.listen({ hostname, port, tcpBacklog: 1 }));
    while (await deaf.#fillOne());
    return deaf;
  }

  get port(): number {
    return (this.#listener.addr as Deno.NetAddr).port;
  }

  async #fillOne(): Promise<boolean> {
    const { hostname, port } = this.#listener.addr as Deno.NetAddr;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), 500);
    try {
      this.#fillers.push(await Deno.connect({ hostname, port, signal: stop.signal }));
      return true;
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Begins to accept. `accepted` keeps what arrives from now on, the fillers included. */
  free(): void {
    this.#accepting ??= this.#acceptAll();
  }

  async #acceptAll(): Promise<void> {
    try {
      while (true) this.accepted.push(await this.#listener.accept());
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted)) {
        throw error;
      }
    }
  }

  /** How many connections made by `open` only to fill the queue. */
  get fillers(): number {
    return this.#fillers.length;
  }

  async close(): Promise<void> {
    this.#listener.close();
    await this.#accepting;
    for (const conn of [...this.#fillers, ...this.accepted]) conn.close();
  }
}
