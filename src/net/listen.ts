// Binding the sockets we accept on. A socket may be bound beside those of other workers (SO_REUSEPORT); whether the
// address is free for us at all is a question asked once, without it, by `isFree` (S2).

import type { Address } from "../core/address.ts";
import { type AcceptedConn, CLOSE_ENDS_WRITES, firmlyClosing } from "./firm_close.ts";
import { codeOf } from "./socket_errors.ts";
import { TlsClientConn } from "./tls_client_conn.ts";

/** How many connections the kernel queues for one socket. */
const BACKLOG = 2048;

/** A bound socket. `accept` rejects with an error with `code` while descriptors are short, and once it is closed. */
export interface Acceptor {
  readonly port: number;
  accept(): Promise<AcceptedConn>;
  close(): void;
}

/** How to bind. */
export interface BindOptions {
  /** Share the address with other sockets of this user (Linux). */
  readonly reusePort: boolean;
  /** Accept TLS. */
  readonly tls?: BindTls;
}

/** How to speak TLS to clients. */
export interface BindTls {
  /** Certificate chain and key, PEM. */
  readonly cert: string;
  readonly key: string;
  /** The protocols among which a client that offers some (ALPN) must find one of its own; empty: whatever it speaks. */
  readonly alpn: readonly string[];
}

/** Binds and listens. Throws the runtime's error, with `code` for the system's own reasons. */
export function bind(address: Address, options: BindOptions): Acceptor {
  const where = { hostname: address.host, port: address.port, tcpBacklog: BACKLOG };
  const shared = { ...where, ...(options.reusePort ? { reusePort: true } : {}) };
  return options.tls === undefined
    ? plainAcceptor(Deno.listen(shared))
    : tlsAcceptor(Deno.listenTls({ ...shared, ...tlsOptions(options.tls) }));
}

function tlsOptions(
  { cert, key, alpn }: BindTls,
): Pick<Deno.ListenTlsOptions, "alpnProtocols"> & Deno.TlsCertifiedKeyPem {
  return { cert, key, ...(alpn.length === 0 ? {} : { alpnProtocols: [...alpn] }) };
}

function plainAcceptor(listener: Deno.TcpListener): Acceptor {
  return {
    port: listener.addr.port,
    accept: CLOSE_ENDS_WRITES ? () => listener.accept() : async () => firmlyClosing(await listener.accept()),
    close: () => listener.close(),
  };
}

function tlsAcceptor(listener: Deno.TlsListener): Acceptor {
  return {
    port: (listener.addr as Deno.NetAddr).port,
    accept: async () => {
      const conn = await listener.accept();
      return new TlsClientConn(conn, firmlyClosing(conn));
    },
    close: () => listener.close(),
  };
}

/** Whether nobody else listens on the address. Gives the port (the one chosen, for port 0) or why not. */
export function probeBind(
  address: Address,
): { readonly port: number } | { readonly code: string; readonly message: string } {
  try {
    const acceptor = bind(address, { reusePort: false });
    acceptor.close();
    return { port: acceptor.port };
  } catch (error) {
    return { code: codeOf(error) ?? "", message: bindMessage(error) };
  }
}

/** A failed bind in plain words. */
export function bindMessage(error: unknown): string {
  switch (codeOf(error)) {
    case "EADDRINUSE":
      return "address in use";
    case "EADDRNOTAVAIL":
      return "this machine has no such address";
    case "EACCES":
      return "not permitted (ports below 1024 need a privilege)";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
