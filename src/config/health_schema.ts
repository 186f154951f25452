// The blocks of an upstream that say how its endpoints are judged and found: health, active_health, dns_discovery.
// Defaults and ranges as in the README's table; rules between fields are in upstream_checks.ts.

import * as z from "zod";
import { block, choice, flag, integer, list, ratio, switchBlock, text, textMap } from "./leaves.ts";
import {
  headerProblem,
  readDiscoveryName,
  readHostHeader,
  readMethod,
  readNameserver,
  readPath,
  readServerName,
  readStatusRange,
} from "./texts.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Rules of passive health and ejection. */
export const healthSchema = switchBlock({
  window_ms: integer(1000, HOUR_MS, "milliseconds").default(60_000)
    .describe("How far back traffic counts for the failure ratio, milliseconds"),
  consecutive_failures: integer(1, 1000).default(5).describe("Failures in a row that eject an endpoint"),
  failure_ratio: ratio().default(0.5).describe(
    "Share of failures in the window that ejects, above 0 and up to 1; default: 0.5",
  ),
  failure_min_volume: integer(1, 1_000_000).default(20)
    .describe("How many outcomes the window must hold before failure_ratio is looked at"),
  eject_ms: integer(1, DAY_MS, "milliseconds").default(30_000)
    .describe("How long an ejection lasts before the endpoint is tried again, milliseconds"),
  eject_max_ms: integer(1, 7 * DAY_MS, "milliseconds").optional()
    .describe("Each further ejection doubles eject_ms up to here, milliseconds; default: no doubling"),
  half_open_probes: integer(1, 100).default(1)
    .describe("How many sessions or exchanges at a time may try an endpoint after its ejection"),
  max_ejected_percent: integer(1, 100, "percent").default(100)
    .describe(
      "Largest share of the endpoints that may be ejected at a time; with two or more, one always may",
    ),
  recovery: choice(["either", "probes", "timer"]).optional()
    .describe("What readmits an endpoint; default: either with active_health, else timer"),
  streak: choice(["shared", "separate"]).optional()
    .describe(
      "Whether traffic and probes share one streak of failures; default: shared, on tcp upstreams separate",
    ),
  all_down: choice(["fail_open", "fail_closed"]).default("fail_open")
    .describe("When every endpoint is ejected: use them all nevertheless, or none"),
  mode: choice(["enforce", "observe"]).default("enforce").describe(
    "observe: report what would be ejected, eject nothing",
  ),
}, "a block of health rules, or nothing for the defaults")
  .describe("Passive health: endpoints that fail are ejected for a while. Present (even empty): on");

const statusRange = z.preprocess(
  (value) => (typeof value === "number" ? String(value) : value),
  text(`statuses of 200 to 599, as 204 or "200-299"`, readStatusRange),
);

const STATUS_LIST = `a list of statuses, as [204, "200-299"]`;

/** Active probes. */
export const activeHealthSchema = switchBlock({
  kind: choice(["http", "tcp"]).default("http").describe(
    "http: a request is answered as expected; tcp: a connect succeeds",
  ),
  path: text(`a path, as "/healthz"`, readPath).optional().describe(
    "http: what is asked for; default: /healthz",
  ),
  interval_ms: integer(1, DAY_MS, "milliseconds").default(5000).describe(
    "Pause between two probes, milliseconds",
  ),
  timeout_ms: integer(1, DAY_MS, "milliseconds").optional()
    .describe(
      "Limit of one probe: connect, TLS and answer, milliseconds; default: 2000, or interval_ms if that is less",
    ),
  jitter_ms: integer(0, DAY_MS, "milliseconds").optional()
    .describe("Random addition to each pause, milliseconds; default: 500, or interval_ms if that is less"),
  success_threshold: integer(1, 1000).default(2).describe("Good probes in a row that readmit an endpoint"),
  failure_threshold: integer(1, 1000).default(3).describe("Bad probes in a row that eject an endpoint"),
  expect_status: list(statusRange, STATUS_LIST).min(1, {
    error: `Empty (got an empty list, want ${STATUS_LIST})`,
  })
    .optional().describe("http: statuses that count as good; default: 200-299"),
  host: text(`a Host header, as "www.example.com"`, readHostHeader).optional()
    .describe("http: Host header of the probe; default: the endpoint's address and port"),
  port: integer(1, 65535).optional().describe("Port to probe; default: the endpoint's own"),
  server_name: text("a host name or IP address", readServerName).optional()
    .describe("Name that TLS asks for and checks in the probe; default: as traffic"),
  method: text("a method, as GET or HEAD", readMethod).optional().describe(
    "http: method of the probe; default: GET",
  ),
  headers: textMap("a block of header names and values", headerEntryProblem).optional()
    .describe("http: further headers of the probe").meta({ map: true }),
}, "a block of probe settings, or nothing for the defaults")
  .describe("Active probes of every endpoint; needs the block health. Present (even empty): on");

function headerEntryProblem(name: string, value: string): string | undefined {
  return headerProblem(name, value);
}

/** DNS discovery. */
export const discoverySchema = block({
  hostname: text("a name to look up, as app.service.internal", readDiscoveryName)
    .describe("Name to look up; with a final dot no search domain is tried"),
  port: integer(1, 65535).optional().describe(
    "Port of the endpoints; not needed for SRV, whose records carry it",
  ),
  record_type: choice(["A", "AAAA", "A+AAAA", "SRV"]).default("A").describe("Which records are asked for"),
  refresh_interval_s: integer(1, 3600, "seconds").default(30)
    .describe("Longest pause between two look-ups, seconds; a shorter TTL shortens it"),
  fail_open: flag().default(true).describe(
    "While DNS fails: keep the last endpoints (true) or have none (false)",
  ),
  min_endpoints: integer(0, 10_000).default(1).describe(
    "A smaller answer leaves the previous endpoints in place",
  ),
  nameservers: list(
    text("an IP address with or without port, as 10.0.0.53:53", readNameserver),
    "a list of name servers",
  )
    .default([]).describe("Name servers to ask; default: those of the system"),
  drain_removed_ms: integer(0, DAY_MS, "milliseconds").optional()
    .describe("Close connections to an endpoint this long after it left DNS, milliseconds; default: never"),
}, "a block with at least hostname").describe("Endpoints by DNS");
