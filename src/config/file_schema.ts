// What a config file may say at its top: process-wide settings, listeners, upstreams. The same schema decodes files,
// fills in defaults and becomes the JSON Schema for editors. Rules between fields are in the *_checks.ts files.

import * as z from "zod";
import { block, choice, integer, list, text } from "./leaves.ts";
import { complaint, isBlock, oddSource, wrongKind } from "./raw.ts";
import {
  readFilePath,
  readListenAddress,
  readName,
  readNetwork,
  readPathPrefix,
  readRouteHost,
} from "./texts.ts";
import { upstreamSchema } from "./upstream_schema.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WANT_ADDRESS = "host:port, as 0.0.0.0:8080 or [::1]:8080";

const adminSchema = block({
  address: text(WANT_ADDRESS, readListenAddress).describe("Where the admin endpoint listens"),
  token_file: text("a file", readFilePath).optional()
    .describe("File with the token that requests must carry; needed unless the address is loopback"),
}, "a block with at least address");

const logSchema = block({
  level: choice(["debug", "info", "warning", "error"]).default("info").describe("What is logged at all"),
  format: choice(["text", "json"]).default("text").describe("How lines are written"),
  access: choice(["off", "errors", "all"]).default("errors")
    .describe("Which sessions and exchanges are logged: none, those that ended badly, all"),
}, "a block of log settings");

const limitsSchema = block({
  max_connections: integer(1, 1_000_000).default(10_000).describe(
    "Client connections at a time, over all listeners",
  ),
}, "a block of limits");

const drainSchema = block({
  accept_ms: integer(0, HOUR_MS, "milliseconds").default(0)
    .describe("How long to keep accepting after a stop signal, milliseconds"),
  timeout_ms: integer(0, DAY_MS, "milliseconds").default(30_000)
    .describe("How long live sessions may go on after that, milliseconds"),
}, "a block of drain times");

const routeSchema = block({
  host: text(`a host name or "*.example.com"`, readRouteHost).optional()
    .describe("Exact host, or *.suffix for every name below it; default: any host"),
  path_prefix: text(`a path, as "/api/"`, readPathPrefix).optional()
    .describe("Beginning of the path, on whole segments; default: any path"),
  upstream: text("the name of an upstream", readName).describe("Where the route leads"),
}, "a route, as { host: api.example.com, path_prefix: /v1/, upstream: api }");

const listenerTlsSchema = block({
  cert_file: text("a file", readFilePath).describe(
    "PEM file: the certificate, then its chain; relative to this file",
  ),
  key_file: text("a file", readFilePath).describe("PEM file: the private key; relative to this file"),
}, "a block with cert_file and key_file");

const listenerSchema = block({
  name: text("a name", readName).describe("Name, unique over all files"),
  address: text(WANT_ADDRESS, readListenAddress).describe(
    "host:port or [ipv6]:port; [::] takes IPv4 as well; port 0: any free one",
  ),
  protocol: choice(["http", "tcp"]).describe("What clients speak"),
  upstream: text("the name of an upstream", readName).optional().describe(
    "Where everything goes that no route takes",
  ),
  routes: list(routeSchema, "a list of routes").default([])
    .describe(
      "http: exact hosts first, then the longest *.suffix, then routes without host; the longest path wins",
    ),
  idle_timeout_ms: integer(1, 7 * DAY_MS, "milliseconds").default(HOUR_MS)
    .describe("A session without a byte for this long ends, milliseconds; http: upgraded connections only"),
  half_close_timeout_ms: integer(1000, DAY_MS, "milliseconds").default(30_000)
    .describe("How long a session may be silent after one side ended, milliseconds"),
  trusted_proxies: list(
    text("an IP address or network, as 10.0.0.0/8", readNetwork),
    "a list of addresses and networks",
  )
    .default([]).describe("http: peers whose X-Forwarded-* headers are believed"),
  tls: listenerTlsSchema.optional().describe("Speak TLS with the clients"),
}, "a listener with name, address and protocol");

/** A list whose items have names; people who write a block instead are told how. */
function namedList<S extends z.ZodType>(item: S, what: string) {
  const error = ({ input }: { input?: unknown }) => {
    if (!isBlock(input)) return wrongKind(input, `a list of ${what}s`);
    const example = Object.keys(input).find((key) => /^[\w-]+$/.test(key)) ?? "app";
    return `A list is wanted here: begin each ${what} with "- name: ${example}" (got a block, want a list of ${what}s)`;
  };
  return z.array(item, { error });
}

/** One config file. */
export const fileSchema = block({
  include: z.preprocess(
    (value) => (typeof value === "string" ? [value] : value),
    list(text("a file or folder", readFilePath), "a file or folder, or a list of them"),
  ).meta({ shorthand: "string" }).optional().describe("Further files or folders, relative to this file"),
  workers: z.union([z.literal("auto"), integer(1, 256)], { error: ({ input }) => workersComplaint(input) })
    .optional().describe("Worker threads, 1 to 256; auto: one per core"),
  admin: adminSchema.optional().describe("The admin endpoint: status page, API, metrics; absent: off"),
  log: logSchema.optional().describe("What is logged, and how"),
  limits: limitsSchema.optional().describe("Limits of the whole process"),
  drain: drainSchema.optional().describe("What happens at a stop signal"),
  resolver: choice(["auto", "stub", "system"]).optional()
    .describe("Who asks DNS: hale itself (stub) or the system; auto: stub where /etc/resolv.conf exists"),
  listeners: namedList(listenerSchema, "listener").default([]).describe("The addresses to accept on"),
  upstreams: namedList(upstreamSchema, "upstream").default([]).describe("Named sets of endpoints"),
}, `keys such as "listeners:" and "upstreams:"`);

function workersComplaint(input: unknown): string {
  const want = "auto or a whole number, 1 to 256";
  return oddSource(input) === undefined
    ? wrongKind(input, want)
    : complaint("Not a plain whole number", input, want);
}

/** What one file says, decoded, with defaults filled in. */
export type FileValue = z.output<typeof fileSchema>;
/** One listener of a file. */
export type ListenerValue = FileValue["listeners"][number];
/** One upstream of a file. */
export type UpstreamValue = FileValue["upstreams"][number];
