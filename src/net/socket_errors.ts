// What a socket error means for a dial, decided by its `code` alone: the error classes and texts differ between
// runtimes and platforms. TLS errors have no code; `tls_errors.ts` reads those.

import type { Outcome } from "../core/outcome.ts";

/** How one connect attempt failed: the outcome, and the reason in a few words for people. */
export interface ConnectFailure {
  readonly outcome: Outcome;
  readonly reason: string;
}

const BY_CODE: Readonly<Record<string, ConnectFailure>> = {
  ECONNREFUSED: { outcome: "refused", reason: "refused" },
  ECONNRESET: { outcome: "reset", reason: "reset" },
  ECONNABORTED: { outcome: "reset", reason: "aborted" },
  EPIPE: { outcome: "reset", reason: "closed at once" },
  ENOTCONN: { outcome: "reset", reason: "closed at once" },
  ETIMEDOUT: { outcome: "connect_timeout", reason: "timed out in the kernel" },
  ENETUNREACH: { outcome: "unreachable", reason: "network unreachable" },
  EHOSTUNREACH: { outcome: "unreachable", reason: "host unreachable" },
  ENETDOWN: { outcome: "unreachable", reason: "network down" },
  EHOSTDOWN: { outcome: "unreachable", reason: "host down" },
  // A blackhole route says EINVAL, a prohibited one EACCES, a packet filter EPERM.
  EINVAL: { outcome: "unreachable", reason: "no way to that address" },
  EACCES: { outcome: "unreachable", reason: "prohibited by a route" },
  EPERM: { outcome: "unreachable", reason: "prohibited by a packet filter" },
  EAFNOSUPPORT: { outcome: "unreachable", reason: "address family not supported here" },
  EMFILE: { outcome: "out_of_descriptors", reason: "too many open files in this process" },
  ENFILE: { outcome: "out_of_descriptors", reason: "too many open files on this machine" },
  EADDRNOTAVAIL: { outcome: "own_limit", reason: "no local port or address left" },
  EADDRINUSE: { outcome: "own_limit", reason: "no local port left" },
  EAGAIN: { outcome: "own_limit", reason: "no local resources" },
  ENOBUFS: { outcome: "own_limit", reason: "no buffer space" },
  ENOMEM: { outcome: "own_limit", reason: "out of memory" },
};

/** The `code` of an error ("ECONNRESET"); undefined when it has none. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

/** What a failed `connect` means. An error nobody knows is ours (`internal_error`), never the endpoint's. */
export function connectFailure(error: unknown): ConnectFailure {
  const code = codeOf(error);
  const known = code === undefined ? undefined : BY_CODE[code];
  if (known !== undefined) return { outcome: known.outcome, reason: `${known.reason} (${code})` };
  return { outcome: "internal_error", reason: messageOf(error) };
}

/** What this process or machine has run out of, as the error says: nobody else can be blamed for it. Undefined: nothing. */
export function ownShortage(error: unknown): string | undefined {
  const known = BY_CODE[codeOf(error) ?? ""];
  return known?.outcome === "out_of_descriptors" || known?.outcome === "own_limit" ? known.reason : undefined;
}

/** The message of anything thrown, on one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.replace(/\s+/g, " ").slice(0, 300);
}
