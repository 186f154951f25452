// Rules between the fields of one upstream: combinations that can not work are problems at load, not surprises at run
// time (C4, C6). Rules that involve listeners are in listener_checks.ts, those about named files in file_checks.ts.

import { formatAddress } from "../core/address.ts";
import type { UpstreamValue } from "./file_schema.ts";
import { complaint } from "./raw.ts";
import { below, type Item, rawAt, type Report } from "./report.ts";

/** Checks one upstream. */
export function checkUpstream(upstream: Item<UpstreamValue>, report: Report): void {
  checkEndpoints(upstream, report);
  checkProtocol(upstream, report);
  checkTlsFields(upstream, report);
  checkHealth(upstream, report);
  checkProbes(upstream, report);
  checkDiscovery(upstream, report);
}

function has(upstream: Item<UpstreamValue>, ...path: string[]): boolean {
  return rawAt(below(upstream, ...path)) !== undefined;
}

function checkEndpoints(upstream: Item<UpstreamValue>, report: Report): void {
  const endpoints = upstream.value.endpoints ?? [undefined];
  if (endpoints.length === 0 && !has(upstream, "dns_discovery")) {
    const message = complaint("No endpoint", undefined, "at least one endpoint, or dns_discovery");
    report.add(below(upstream, "endpoints"), message);
  }
  const firsts = new Map<string, number>();
  for (const [index, endpoint] of endpoints.entries()) {
    if (endpoint?.address === undefined) continue;
    const key = formatAddress(endpoint.address);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, index);
    else {
      const { line } = upstream.source.locate([...upstream.path, "endpoints", first]);
      report.add(
        below(upstream, "endpoints", index),
        `The endpoint ${key} stands twice, first on line ${line}`,
      );
    }
  }
}

function checkProtocol(upstream: Item<UpstreamValue>, report: Report): void {
  if (upstream.value.protocol !== "tcp") return;
  for (const field of ["host", "retries"]) {
    if (has(upstream, field)) {
      report.add(
        below(upstream, field),
        `"${field}" is for HTTP, a tcp upstream does not look inside`,
        "key",
      );
    }
  }
}

function checkTlsFields(upstream: Item<UpstreamValue>, report: Report): void {
  const { protocol } = upstream.value;
  if (protocol === "http1" && has(upstream, "tls")) {
    report.add(
      below(upstream, "tls"),
      "An http1 upstream speaks plain text, write protocol: https for TLS",
      "key",
    );
  }
  for (const field of ["trusted_ca_file", "server_name"]) {
    if (!has(upstream, field)) continue;
    const spot = below(upstream, field);
    if (protocol === "http1") {
      report.add(spot, `An http1 upstream speaks plain text, "${field}" needs protocol: https`, "key");
    } else if (protocol === "tcp" && !has(upstream, "tls")) {
      report.add(spot, `"${field}" is for TLS, which a tcp upstream speaks only with the block tls`, "key");
    } else if (has(upstream, "tls", field)) {
      report.add(spot, `"${field}" stands twice, here and under tls`, "key");
    }
  }
}

function checkHealth(upstream: Item<UpstreamValue>, report: Report): void {
  const { health } = upstream.value;
  if (health === undefined) return;
  const { eject_ms, eject_max_ms, recovery } = health;
  if (eject_ms !== undefined && eject_max_ms !== undefined && eject_max_ms < eject_ms) {
    report.add(
      below(upstream, "health", "eject_max_ms"),
      complaint(
        "The longest ejection is shorter than the first",
        eject_max_ms,
        `at least eject_ms, ${eject_ms}`,
      ),
    );
  }
  if (recovery === "probes" && !has(upstream, "active_health")) {
    const message = complaint("Nothing would ever readmit an endpoint", recovery, "active_health beside it");
    report.add(below(upstream, "health", "recovery"), message);
  }
}

function checkProbes(upstream: Item<UpstreamValue>, report: Report): void {
  if (!has(upstream, "active_health")) return;
  if (!has(upstream, "health")) {
    const message = "Probes need the ejection rules of health, add the line health: {}";
    report.add(below(upstream, "active_health"), message, "key");
  }
  const probes = upstream.value.active_health;
  if (probes === undefined) return;
  for (const field of ["timeout_ms", "jitter_ms"] as const) {
    const [value, limit] = [probes[field], probes.interval_ms];
    if (value === undefined || limit === undefined || value <= limit) continue;
    const message = complaint("Longer than the interval", value, `at most interval_ms, ${limit}`);
    report.add(below(upstream, "active_health", field), message);
  }
  if (probes.kind === "tcp") checkTcpProbe(upstream, report);
  else checkProbeName(upstream, report);
}

function checkTcpProbe(upstream: Item<UpstreamValue>, report: Report): void {
  for (const field of ["path", "expect_status", "host", "server_name", "method", "headers"]) {
    if (!has(upstream, "active_health", field)) continue;
    const message = `"${field}" is for kind: http, a tcp probe only connects`;
    report.add(below(upstream, "active_health", field), message, "key");
  }
}

function checkProbeName(upstream: Item<UpstreamValue>, report: Report): void {
  const { protocol } = upstream.value;
  const isPlain = protocol === "http1" || (protocol === "tcp" && !has(upstream, "tls"));
  if (!isPlain || !has(upstream, "active_health", "server_name")) return;
  const spot = below(upstream, "active_health", "server_name");
  report.add(spot, `"server_name" is for TLS, which this upstream does not speak`, "key");
}

function checkDiscovery(upstream: Item<UpstreamValue>, report: Report): void {
  const discovery = upstream.value.dns_discovery;
  const type = discovery?.record_type;
  if (type === undefined || type === "SRV" || has(upstream, "dns_discovery", "port")) return;
  const message = complaint("Missing", undefined, `the port of the endpoints, ${type} records carry none`);
  report.add(below(upstream, "dns_discovery", "port"), message);
}
