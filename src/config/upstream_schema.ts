// What an upstream may say in a file. Its health and discovery blocks are in health_schema.ts; rules between fields
// are in upstream_checks.ts.

import * as z from "zod";
import { activeHealthSchema, discoverySchema, healthSchema } from "./health_schema.ts";
import { block, choice, integer, list, switchBlock, text } from "./leaves.ts";
import { isBlock } from "./raw.ts";
import {
  readEndpointAddress,
  readFilePath,
  readHostHeader,
  readName,
  readServerName,
  type TextProblem,
} from "./texts.ts";

const HOUR_MS = 3_600_000;

const endpointSchema = z.preprocess(
  (value) => (value === null || isBlock(value) || Array.isArray(value) ? value : { address: value }),
  block({
    address: text("host:port, as 10.0.0.1:8080 or [::1]:8080", readEndpointAddress).describe(
      "host:port or [ipv6]:port",
    ),
    weight: integer(0, 1_000_000).default(1)
      .describe("Share of the traffic beside the other weights; 0: the smallest share"),
  }, `an endpoint, as "10.0.0.1:8080" or { address: "10.0.0.1:8080", weight: 2 }`),
).meta({ shorthand: "string" });

const timeoutsSchema = block({
  connect_ms: integer(1, HOUR_MS, "milliseconds").default(5000)
    .describe("Limit for resolving, connecting and TLS together, milliseconds"),
  read_ms: integer(1, 24 * HOUR_MS, "milliseconds").default(60_000)
    .describe("http: limit for the response head, milliseconds"),
  happy_eyeballs_ms: integer(0, HOUR_MS, "milliseconds").default(250)
    .describe(
      "Pause before the next address of a name is tried beside, milliseconds; 0: one address at a time",
    ),
}, "a block of timeouts");

const upstreamTlsSchema = switchBlock({
  trusted_ca_file: text("a file of CA certificates", readFilePath).optional()
    .describe("PEM file that is trusted instead of the public roots; relative to this file"),
  server_name: text("a host name or IP address", readServerName).optional()
    .describe("Name that TLS asks for and checks; default: the endpoint's own"),
}, "a block of TLS settings, or nothing for the defaults");

const retriesSchema = block({
  statuses: list(integer(400, 599), "a list of statuses, as [502, 503]")
    .min(1, { error: "Empty (got an empty list, want a list of statuses, as [502, 503])" })
    .describe("Answer statuses after which another endpoint is tried"),
  attempts: integer(1, 9).default(1).describe("How many more endpoints may be tried"),
}, "a block with at least statuses");

/** One upstream. */
export const upstreamSchema = block({
  name: text("a name", readName).describe("Name, unique over all files"),
  protocol: choice(["http1", "https", "tcp"]).describe(
    "What is spoken to the endpoints; tcp is for tcp listeners",
  ),
  load_balancer: choice(["round_robin", "least_requests", "random", "ip_hash", "peak_ewma"]).default(
    "round_robin",
  )
    .describe("How an endpoint is chosen; ip_hash: by the address that connects"),
  endpoints: list(endpointSchema, "a list of endpoints").default([])
    .describe("The endpoints; with dns_discovery the ones used until the first answer"),
  connect_attempts: integer(1, 10).default(3)
    .describe("How many different endpoints one session or exchange may try"),
  max_connections: integer(1, 1_000_000).optional()
    .describe(
      "Sessions and exchanges at a time per endpoint, over all workers; nothing queues. Default: no limit",
    ),
  timeouts: timeoutsSchema.prefault({}).describe("Time limits toward the endpoints"),
  host: text(`keep, endpoint or a Host header`, readHostChoice).default("keep")
    .describe(
      "Host header toward the endpoints: keep the client's, the endpoint's address, or this text; default: keep",
    ),
  retries: retriesSchema.optional().describe(
    "Retries after answer statuses, never for POST, PATCH or a request with a body; absent: off",
  ),
  tls: upstreamTlsSchema.optional().describe("tcp: speak TLS to the endpoints. https has it anyway"),
  trusted_ca_file: text("a file of CA certificates", readFilePath).optional()
    .describe("PEM file that is trusted instead of the public roots; relative to this file"),
  server_name: text("a host name or IP address", readServerName).optional()
    .describe("Name that TLS asks for and checks; default: the endpoint's own"),
  health: healthSchema.optional(),
  active_health: activeHealthSchema.optional(),
  dns_discovery: discoverySchema.optional(),
}, "an upstream with name and protocol");

function readHostChoice(text: string): "keep" | "endpoint" | { readonly name: string } | TextProblem {
  if (text === "keep" || text === "endpoint") return text;
  const name = readHostHeader(text);
  return typeof name === "string" ? { name } : name;
}
