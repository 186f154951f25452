// Short ways to decode one file of text in tests, and to build a clean one with a small difference.

import assert from "node:assert/strict";
import { decode } from "../../src/config/decode.ts";
import { renderProblem } from "../../src/config/problem.ts";
import type { Config, UpstreamConfig } from "../../src/core/plan.ts";
import { memoryFiles } from "./memory_config_files.ts";

/** The problems of one file `hale.yaml`, as lines without the file name. Empty when it is clean. */
export function problemsOf(text: string, others: Record<string, string> = {}): string[] {
  const decoded = decode(["hale.yaml"], memoryFiles({ "hale.yaml": text, ...others }));
  return "problems" in decoded
    ? decoded.problems.map((p) => renderProblem(p).replace(/^hale\.yaml:/, ""))
    : [];
}

/** The config of one file that must be clean. */
export function configOf(text: string, others: Record<string, string> = {}): Config {
  const decoded = decode(["hale.yaml"], memoryFiles({ "hale.yaml": text, ...others }));
  if ("problems" in decoded) assert.fail(decoded.problems.map(renderProblem).join("\n"));
  return decoded.config;
}

/** A clean http config whose only upstream begins `name: app, protocol: http1`; `lines` are its further lines. */
export function withUpstream(...lines: string[]): string {
  return withProtocol("http1", lines);
}

/** The same with another protocol. An endpoint is added unless the lines say where endpoints come from. */
export function withProtocol(protocol: string, lines: readonly string[]): string {
  const hasEndpoints = lines.some((line) => /^(endpoints|dns_discovery):/.test(line));
  const listener = protocol === "tcp" ? "tcp" : "http";
  return [
    "listeners:",
    `  - { name: web, address: "127.0.0.1:8080", protocol: ${listener}, upstream: app }`,
    "upstreams:",
    "  - name: app",
    ...[`protocol: ${protocol}`, ...(hasEndpoints ? [] : [`endpoints: ["127.0.0.1:9001"]`]), ...lines]
      .map((line) => `    ${line}`),
    "",
  ].join("\n");
}

/** A clean config with these lines for its only listener, besides its name, and an http1 upstream `app`. */
export function withListener(...lines: string[]): string {
  return [
    "listeners:",
    "  - name: web",
    ...lines.map((line) => `    ${line}`),
    "upstreams:",
    `  - { name: app, protocol: http1, endpoints: ["127.0.0.1:9001"] }`,
    `  - { name: db, protocol: tcp, endpoints: ["127.0.0.1:9002"] }`,
    "",
  ].join("\n");
}

/** The only upstream of a clean file. */
export function upstreamOf(text: string, others: Record<string, string> = {}): UpstreamConfig {
  const [upstream] = configOf(text, others).upstreams;
  assert.ok(upstream);
  return upstream;
}
