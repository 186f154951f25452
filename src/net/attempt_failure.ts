// What it means that one attempt to connect to one IP address failed: its deadline struck, the address could not be
// reached, or this machine lacked something. A dial to an IPv6 address where IPv6 is switched off fails with the same
// code as one for which no local port is left; the one is the address's fault, the other is ours.

import { isIpv6 } from "../core/address.ts";
import type { Deadline } from "./deadline.ts";
import { codeOf, type ConnectFailure, connectFailure } from "./socket_errors.ts";

/** What is known of an attempt. */
export interface FailedAttempt {
  /** The IP address that was tried. */
  readonly host: string;
  readonly deadline: Pick<Deadline, "struck">;
  /** How long it might take, milliseconds. */
  readonly limitMs: number;
}

/** What `error` means for the attempt. `hasIpv6` stands in for the machine in tests. */
export function attemptFailure(
  error: unknown,
  { host, deadline, limitMs }: FailedAttempt,
  hasIpv6: () => boolean = machineHasIpv6,
): ConnectFailure {
  if (deadline.struck === "cancelled") return { outcome: "cancelled", reason: "cancelled" };
  if (deadline.struck === "timeout") return timedOut(limitMs);
  if (codeOf(error) === "EADDRNOTAVAIL" && isIpv6(host) && !hasIpv6()) {
    return { outcome: "unreachable", reason: "no IPv6 on this machine (EADDRNOTAVAIL)" };
  }
  return connectFailure(error);
}

/** Nothing was heard in time. */
export function timedOut(limitMs: number): ConnectFailure {
  return { outcome: "connect_timeout", reason: `no answer within ${Math.round(limitMs)} ms` };
}

/** Asked anew each time, since it can be switched on. UDP has ports of its own, so their want is not what fails. */
function machineHasIpv6(): boolean {
  try {
    Deno.listenDatagram({ transport: "udp", hostname: "::1", port: 0 }).close();
    return true;
  } catch (error) {
    return codeOf(error) !== "EADDRNOTAVAIL" && codeOf(error) !== "EAFNOSUPPORT";
  }
}
