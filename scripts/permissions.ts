// The least permissions that hale runs with, once for everybody who starts it: the executable, `dev`, the tests.

/** Sockets; reading files; two names that the YAML parser looks at, and the one that names the runtime's own CA store. */
const BASE = [
  "--no-prompt",
  "--allow-net",
  "--allow-read",
  "--allow-env=LOG_TOKENS,LOG_STREAM,DENO_TLS_CA_STORE",
] as const;

/** As command line options for the Deno of this version. From 2.9 on reading the public roots counts as system information. */
export function permissionsFor(version: string): readonly string[] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || minor >= 9 ? [...BASE, "--allow-sys"] : BASE;
}
