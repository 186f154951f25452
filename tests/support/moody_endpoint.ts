// An HTTP endpoint that is well, or ill in one of the ways a probe can meet, and changes between them on one port.

import { pem } from "./tls_endpoint.ts";
import { RequestReader } from "./http_endpoint.ts";
import { freePort } from "./ports.ts";
import { writeBytes } from "./tcp_endpoint.ts";

/** A status it answers with; `silent`: takes connections and says nothing; `gone`: does not listen; `stranger`: TLS with
 * a certificate nobody trusts. */
export type Mood = number | "silent" | "gone" | "stranger";

/** The endpoint. Well is 200. */
export class MoodyEndpoint implements AsyncDisposable {
  readonly port: number = freePort();
  /** Connections accepted. */
  accepted = 0;
  /** Requests answered, by path, in the order in which they came. */
  readonly asked: { readonly path: string; readonly status: number; readonly at: number }[] = [];
  readonly #isTls: boolean;
  #mood: Mood = "gone";
  #listener: Deno.Listener<Deno.TcpConn | Deno.TlsConn> | undefined;
  #accepting: Promise<void> = Promise.resolve();
  readonly #conns = new Set<Deno.Conn>();

  private constructor(isTls: boolean) {
    this.#isTls = isTls;
  }

  /** Starts in this mood. `tls`: with the test certificate for 127.0.0.1. */
  static async start(mood: Mood = 200, options: { tls?: boolean } = {}): Promise<MoodyEndpoint> {
    const endpoint = new MoodyEndpoint(options.tls ?? false);
    await endpoint.become(mood);
    return endpoint;
  }

  /** "127.0.0.1:PORT". */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Requests answered with 200. */
  get wellAnswers(): number {
    return this.asked.filter(({ status }) => status === 200).length;
  }

  /** Changes the mood. Open connections are cut. */
  async become(mood: Mood): Promise<void> {
    await this.#stopListening();
    this.#mood = mood;
    if (mood === "gone") return;
    const listener = this.#listen(mood);
    this.#listener = listener;
    this.#accepting = this.#acceptAll(listener);
  }

  #listen(mood: Mood): Deno.Listener<Deno.TcpConn | Deno.TlsConn> {
    const where = { hostname: "127.0.0.1", port: this.port };
    if (!this.#isTls) return Deno.listen(where);
    const leaf = mood === "stranger" ? "other-ca" : "by-ip";
    return Deno.listenTls({ ...where, cert: pem(`${leaf}.pem`), key: pem(`${leaf}.key`) });
  }

  async #stopListening(): Promise<void> {
    this.#listener?.close();
    this.#listener = undefined;
    for (const conn of this.#conns) close(conn);
    await this.#accepting;
  }

  async #acceptAll(listener: Deno.Listener<Deno.TcpConn | Deno.TlsConn>): Promise<void> {
    const serving: Promise<void>[] = [];
    try {
      for (;;) serving.push(this.#serve(await listener.accept()));
    } catch {
      // Closed: the mood has changed.
    }
    await Promise.all(serving);
  }

  async #serve(conn: Deno.Conn): Promise<void> {
    this.accepted++;
    this.#conns.add(conn);
    try {
      const reader = new RequestReader(conn);
      for (let head = await reader.head(); head !== undefined; head = await reader.head()) {
        if (typeof this.#mood !== "number") continue;
        this.asked.push({ path: head.split(" ")[1]!, status: this.#mood, at: performance.now() });
        await writeBytes(
          conn,
          new TextEncoder().encode(`HTTP/1.1 ${this.#mood} Mood\r\nContent-Length: 0\r\n\r\n`),
        );
      }
    } catch {
      // The client has closed, did not like our certificate, or the mood has changed.
    }
    this.#conns.delete(conn);
    close(conn);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.become("gone");
  }
}

function close(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // Closed already.
  }
}
