// Who the client is: its address as text, and as a number for balancing by address.

import { formatAddress, unmapped } from "../core/address.ts";
import { hashText } from "../core/balance_policy.ts";
import type { ClientConn } from "./service.ts";

/** The client's IP address, IPv4 in its own spelling even on a dual-stack socket; empty for other kinds of socket. */
export function clientHostOf(conn: Pick<ClientConn, "remoteAddr">): string {
  const address = conn.remoteAddr;
  return "hostname" in address ? unmapped(address.hostname) : "";
}

/** The client's address and port for logs. */
export function clientTextOf(conn: Pick<ClientConn, "remoteAddr">): string {
  const address = conn.remoteAddr;
  return "port" in address ? formatAddress({ host: clientHostOf(conn), port: address.port }) : "unknown";
}

/** A 32-bit number that is the same for the same client address, for ip_hash. */
export function clientHashOf(conn: Pick<ClientConn, "remoteAddr">): number {
  return hashText(clientHostOf(conn));
}
