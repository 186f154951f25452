// Who may ask the admin address what: requests for a foreign Host (a page that rebinds its DNS name to us), from a
// foreign Origin, or without the token are refused before anything is looked at.

import { createHash, timingSafeEqual } from "node:crypto";
import { type Address, canonicalHost, isIpLiteral, isLoopback, unmapped } from "../core/address.ts";

/** What is let in. */
export interface GuardRules {
  /** The configured admin address. */
  readonly address: Address;
  /** Further host names by which people reach it. */
  readonly allowedHosts?: readonly string[];
  /** Absent: no token is asked for. */
  readonly token?: string;
}

/** Why a request is refused. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly code: "foreign_host" | "foreign_origin" | "token_required";
  readonly message: string;
}

/** Refuses requests for a host that is not ours, or from a page of another origin. */
export function foreignRefusal(request: Request, rules: GuardRules): Refusal | undefined {
  const host = request.headers.get("host") ?? new URL(request.url).host;
  if (!isOurHost(host, rules)) {
    return { status: 403, code: "foreign_host", message: `This is not the host "${host.slice(0, 100)}"` };
  }
  if (isOurOrigin(request, host)) return undefined;
  return {
    status: 403,
    code: "foreign_origin",
    message: "Requests from pages of another origin are refused",
  };
}

/** Refuses requests without `Authorization: Bearer <token>` when a token is set. */
export function tokenRefusal(request: Request, rules: GuardRules): Refusal | undefined {
  if (rules.token === undefined || hasToken(request, rules.token)) return undefined;
  return { status: 401, code: "token_required", message: "Send the token as Authorization: Bearer TOKEN" };
}

function hasToken(request: Request, token: string): boolean {
  const given = /^Bearer +(\S.*)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  return timingSafeEqual(digestOf(given.trim()), digestOf(token));
}

/** Equal length whatever the text, so that comparing takes equal time. */
function digestOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

function isOurHost(header: string, { address, allowedHosts }: GuardRules): boolean {
  const host = hostIn(header);
  if (host === undefined) return false;
  if (isLoopback(host) || host === address.host) return true;
  // Bound to every address of this machine: any literal may be one of them, and no page can rebind a literal.
  if (isWildcard(address.host) && isIpLiteral(host)) return true;
  return (allowedHosts ?? []).some((allowed) => canonicalHost(allowed) === host);
}

/** The canonical host of a Host header; its port may differ (a forwarded port). */
function hostIn(header: string): string | undefined {
  const match = /^(?:\[([^\]]*)\]|([^:\[\]]*))(?::\d{1,5})?$/.exec(header.trim());
  const host = canonicalHost(match?.[1] ?? match?.[2] ?? "");
  return host === undefined ? undefined : unmapped(host);
}

const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::";

/** No Origin is a tool or a plain navigation; a browser sends one with every POST. */
function isOurOrigin(request: Request, host: string): boolean {
  const origin = request.headers.get("origin");
  if (origin === null) return request.method !== "POST" || !isCrossSite(request);
  return URL.canParse(origin) && new URL(origin).host === URL.parse(`http://${host}`)?.host;
}

const isCrossSite = (request: Request): boolean => request.headers.get("sec-fetch-site") === "cross-site";
