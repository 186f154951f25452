// Which room may import which, and which packages belong to which room: the table of the design as data.
// The rules that use it are in imports.ts and names.ts.

/** Rooms and the rooms they may import; every room may also import itself. */
export const ARROWS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: ["core"],
  http: ["core"],
  admin: ["core"],
  net: ["core"],
  data: ["http", "net", "core"],
  control: ["admin", "config", "net", "http", "core"],
  cli: ["control", "config", "admin", "net", "core"],
};

/** Packages that only some rooms may import; all others need no entry. "node:" stands for every built-in module. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  yaml: ["config"],
  zod: ["config"],
  "dns-packet": ["net"],
  hono: ["admin"],
  "fast-check": [],
  "playwright-core": [],
  typescript: [],
  "node:": ["net", "data", "admin", "control", "cli"],
};

/** Rooms that must run on any platform: they never name `Deno`. */
export const PLATFORM_FREE: readonly string[] = ["core", "config", "http"];

/** Names that would make `core` depend on time, chance, the outside or the event loop. */
export const IMPURE_NAMES: readonly string[] = [
  "Date",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "performance",
  "crypto",
  "console",
  "fetch",
];

/** The one file of `core` whose functions may be asynchronous: it says how bytes flow. */
export const ASYNC_IN_CORE: readonly string[] = ["src/core/duplex.ts"];
