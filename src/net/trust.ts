// Whom TLS toward endpoints believes (L1): the public roots, or a given CA bundle INSTEAD of them. `Deno.startTls`
// adds `caCerts` to the runtime's own store and has no way to leave that out, so the store itself is emptied once, at
// the start of the process, and every handshake is given its roots. Checked on 2.6 and 2.9: see dial_tls_test.ts.

import { rootCertificates } from "node:tls";
import type { UpstreamPolicy } from "../core/plan.ts";
import { messageOf } from "./socket_errors.ts";

/** The environment variable that names the runtime's own store; it is read at the first use of TLS, and only then. */
const STORE_VARIABLE = "DENO_TLS_CA_STORE";

/**
 * Whether a CA bundle stands alone. "exclusive": yes. "added": no, the runtime's own roots are believed beside it,
 * for the reason given; a config with `trusted_ca_file` must not be run then.
 */
export type Trust = { readonly state: "exclusive" } | { readonly state: "added"; readonly reason: string };

/**
 * Empties the runtime's own root store for the whole process, workers included. Call it before anything uses TLS;
 * calling it again does no harm. It needs `--allow-env=DENO_TLS_CA_STORE`, and on Deno 2.7 and later `--allow-sys` to
 * read the public roots. Says "added" when it came too late or may not.
 */
export function emptyRuntimeTrust(): Trust {
  const permission = Deno.permissions.querySync({ name: "env", variable: STORE_VARIABLE });
  if (permission.state !== "granted") {
    return { state: "added", reason: `--allow-env=${STORE_VARIABLE} is missing` };
  }
  const roots = publicRoots();
  if (!Array.isArray(roots)) return { state: "added", reason: roots.problem };
  // Already empty: the store can only have been read as such.
  if (Deno.env.get(STORE_VARIABLE) !== "" && wasStoreRead()) {
    return { state: "added", reason: "TLS was used before the store could be emptied" };
  }
  Deno.env.set(STORE_VARIABLE, "");
  // Reads the empty store now, so that no later change of the environment fills it.
  if (!canMakeHttpClient()) return { state: "added", reason: "The runtime refuses an empty root store" };
  return { state: "exclusive" };
}

/**
 * Whether it is too late. A store that is still unread refuses a name it does not know; one that was read no longer
 * looks. Under `deno run` downloads of packages may have read it. In an executable nothing runs before us, and there
 * the question may not even be asked: a refusal would be kept for good.
 */
function wasStoreRead(): boolean {
  if (Deno.build.standalone) return false;
  const before = Deno.env.get(STORE_VARIABLE);
  Deno.env.set(STORE_VARIABLE, "hale-asks-whether-this-is-read");
  const wasRead = canMakeHttpClient();
  if (before === undefined) Deno.env.delete(STORE_VARIABLE);
  else Deno.env.set(STORE_VARIABLE, before);
  return wasRead;
}

/**
 * Why upstreams with a CA bundle can not be served as they ask, as a sentence; undefined when they can. A bundle that
 * the public roots would stand beside is worse than none: it promises what does not hold (L1).
 */
export function trustProblem(trust: Trust, upstreams: readonly UpstreamPolicy[]): string | undefined {
  const upstream = upstreams.find(({ tls }) => tls?.ca !== undefined);
  if (upstream === undefined || trust.state === "exclusive") return undefined;
  return `Upstream "${upstream.name}": trusted_ca_file can not stand instead of the public roots: ${trust.reason}`;
}

/** Making an HTTP client reads the root store without using the network. */
function canMakeHttpClient(): boolean {
  try {
    Deno.createHttpClient({}).close();
    return true;
  } catch {
    return false; // The answer itself: the store was read, and its name is unknown.
  }
}

/**
 * What to give `Deno.startTls` as `caCerts`: the bundle (PEM text, any number of certificates), or the public roots
 * (those of Mozilla, as the runtime carries them) when there is none. Without the permission to read those the
 * runtime's own store is still whole (see `emptyRuntimeTrust`), and nothing needs to be added to it.
 */
export function rootsFor(ca: string | undefined): string[] {
  if (ca !== undefined) return [ca];
  const roots = publicRoots();
  return Array.isArray(roots) ? roots : [];
}

function publicRoots(): string[] | { readonly problem: string } {
  try {
    return [...rootCertificates];
  } catch (error) {
    return { problem: `The public roots can not be read: ${messageOf(error)}` };
  }
}
