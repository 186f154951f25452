// A name server on loopback that says what its script says (dns_script.ts), over UDP and TCP on one port. A script that
// refuses TCP connections leaves the TCP port closed.

import type { Address } from "../../src/core/address.ts";
import { DnsScript, type ScriptReply, type ScriptRule } from "./dns_script.ts";

/** The running server. Close it with `close`. */
export class NameServer {
  readonly script: DnsScript;
  readonly #udp: Deno.DatagramConn;
  readonly #tcp: Deno.TcpListener | undefined;
  readonly #conns = new Set<Deno.Conn>();
  readonly #serving: Promise<unknown>;

  private constructor(script: DnsScript, udp: Deno.DatagramConn, tcp: Deno.TcpListener | undefined) {
    this.script = script;
    this.#udp = udp;
    this.#tcp = tcp;
    this.#serving = Promise.all([this.#serveUdp(), this.#serveTcp()]);
  }

  /** Starts on a free port of `hostname`, or on a certain one: where another server was that has been closed. */
  static start(rules: readonly ScriptRule[] = [], hostname = "127.0.0.1", wanted = 0): NameServer {
    const script = new DnsScript(rules);
    for (let attempt = 0;; attempt++) {
      const udp = Deno.listenDatagram({ transport: "udp", hostname, port: wanted });
      try {
        const { port } = udp.addr as Deno.NetAddr;
        return new NameServer(script, udp, script.refusesTcp ? undefined : Deno.listen({ hostname, port }));
      } catch (error) {
        udp.close();
        if (attempt === 20) throw error; // The port was free for UDP only, again and again.
      }
    }
  }

  /** Where it listens. */
  get address(): Address {
    const { hostname, port } = this.#udp.addr as Deno.NetAddr;
    return { host: hostname, port };
  }

  /** From now on the name has exactly these IPv4 addresses. */
  setA(name: string, addresses: readonly string[], ttl = 1): void {
    this.script.setA(name, addresses, ttl);
  }

  /** From now on the name has exactly these IPv6 addresses. */
  setAAAA(name: string, addresses: readonly string[], ttl = 1): void {
    this.script.setAAAA(name, addresses, ttl);
  }

  /** From now on questions of that name and type get this reply: `{ rcode: "SERVFAIL" }`, `{ drop: true }`. */
  set(name: string, type: string, reply: ScriptReply): void {
    this.script.set(name, type, reply);
  }

  async #serveUdp(): Promise<void> {
    try {
      while (true) {
        const [query, from] = await this.#udp.receive();
        const answer = this.script.answer(query, "udp");
        if (answer !== undefined) await this.#udp.send(answer, from);
      }
    } catch (error) {
      if (!isClosed(error)) throw error;
    }
  }

  async #serveTcp(): Promise<void> {
    const talks: Promise<void>[] = [];
    try {
      while (this.#tcp !== undefined) talks.push(this.#talk(await this.#tcp.accept()));
    } catch (error) {
      if (!isClosed(error)) throw error;
    }
    await Promise.all(talks);
  }

  async #talk(conn: Deno.Conn): Promise<void> {
    this.#conns.add(conn);
    const bytes = new Uint8Array(4096);
    let held = 0;
    try {
      for (let n = await conn.read(bytes); n !== null; n = await conn.read(bytes.subarray(held))) {
        held += n;
        const length = held < 2 ? Infinity : bytes[0]! * 256 + bytes[1]!;
        if (held < length + 2) continue;
        const answer = this.script.answer(bytes.subarray(2, length + 2), "tcp");
        held = 0;
        if (answer === undefined) continue;
        await conn.write(Uint8Array.from([answer.length >> 8, answer.length & 255, ...answer]));
      }
    } catch (error) {
      if (!isClosed(error) && (error as { code?: string }).code !== "ECONNRESET") throw error;
    } finally {
      if (this.#conns.delete(conn)) conn.close();
    }
  }

  async close(): Promise<void> {
    this.#udp.close();
    this.#tcp?.close();
    for (const conn of this.#conns) conn.close();
    this.#conns.clear();
    await this.#serving;
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted;
}
