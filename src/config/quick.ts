// A config without a file: `hale tcp LISTEN ENDPOINT...` and `hale http LISTEN ENDPOINT...`. Everything that the
// command line does not say is as a file with `health: {}` would have it: passive health on, no probes.

import { type Address, formatAddress } from "../core/address.ts";
import type { Config, EndpointConfig } from "../core/plan.ts";
import { buildConfig } from "./build.ts";
import { fileSchema } from "./file_schema.ts";
import { readEndpointAddress, readListenAddress, type TextProblem } from "./texts.ts";
import { quoted } from "./problem.ts";

/** What the command line says. */
export interface QuickOptions {
  readonly protocol: "tcp" | "http";
  /** `5432` and `:5432`: that port on all IPv4 interfaces; else `host:port` or `[v6]:port`. */
  readonly listen: string;
  /** `host:port`; for http also `http://host[:port]` and `https://host[:port]`, which may be mixed. */
  readonly endpoints: readonly string[];
}

interface QuickEndpoint {
  readonly address: Address;
  readonly isTls: boolean;
}

/** A config, or a sentence for each argument that is wrong. */
export function quickConfig(options: QuickOptions): { config: Config } | { problems: readonly string[] } {
  const listen = readQuickListen(options.listen);
  const read = options.protocol === "http" ? readHttpEndpoint : readTcpEndpoint;
  const endpoints = options.endpoints.map(read);
  const problems = [listen, ...endpoints].flatMap((part, index) => {
    const argument = index === 0 ? options.listen : options.endpoints[index - 1]!;
    return "problem" in part
      ? [`${part.problem} (got ${quoted(argument)}, want ${wantOf(options.protocol, index)})`]
      : [];
  });
  if (endpoints.length === 0) problems.push(`No endpoint (got nothing, want ${wantOf(options.protocol, 1)})`);
  if (problems.length > 0 || "problem" in listen) return { problems };
  const good = endpoints.filter((endpoint): endpoint is QuickEndpoint => !("problem" in endpoint));
  const repeated = firstRepeated(good);
  if (repeated !== undefined) return { problems: [`The endpoint ${repeated} stands twice`] };
  if (good.some(({ address }) => formatAddress(address) === formatAddress(listen))) {
    return { problems: [`The endpoint ${formatAddress(listen)} is the listener itself`] };
  }
  return { config: mixed(configOf(options.protocol, listen, good), good) };
}

function wantOf(protocol: "tcp" | "http", index: number): string {
  if (index === 0) return "a port, :port or host:port to listen on";
  return protocol === "tcp" ? "host:port" : "host:port, http://host or https://host";
}

function readQuickListen(text: string): Address | TextProblem {
  return readListenAddress(/^:?[0-9]+$/.test(text) ? `0.0.0.0:${text.replace(":", "")}` : text);
}

function readTcpEndpoint(text: string): QuickEndpoint | TextProblem {
  const address = readEndpointAddress(text);
  return "problem" in address ? address : { address, isTls: false };
}

function readHttpEndpoint(text: string): QuickEndpoint | TextProblem {
  const match = /^(https?):\/\/([^/?#@]*)\/?$/i.exec(text);
  if (match === null) {
    return text.includes("://")
      ? { problem: "Only http or https, a host and a port" }
      : readTcpEndpoint(text);
  }
  const isTls = match[1]!.toLowerCase() === "https";
  const hasPort = /:[0-9]+$/.test(match[2]!.replace(/^\[.*\]/, ""));
  const address = readEndpointAddress(hasPort ? match[2]! : `${match[2]}:${isTls ? 443 : 80}`);
  return "problem" in address ? address : { address, isTls };
}

function firstRepeated(endpoints: readonly QuickEndpoint[]): string | undefined {
  const keys = endpoints.map(({ address }) => formatAddress(address));
  return keys.find((key, index) => keys.indexOf(key) !== index);
}

function configOf(protocol: "tcp" | "http", listen: Address, endpoints: readonly QuickEndpoint[]): Config {
  const spoken = protocol === "tcp" ? "tcp" : endpoints.some(({ isTls }) => isTls) ? "https" : "http1";
  const value = fileSchema.parse({
    listeners: [{ name: protocol, address: formatAddress(listen), protocol, upstream: "endpoints" }],
    upstreams: [{
      name: "endpoints",
      protocol: spoken,
      endpoints: endpoints.map(({ address }) => formatAddress(address)),
      health: {},
    }],
  });
  const none = (path: string): never => {
    throw new Error(`The command line names no file, not even ${path}`);
  };
  return buildConfig([{ value, resolve: none, read: none }]);
}

/** One upstream speaks one protocol; among https endpoints the plain ones are marked. */
function mixed(config: Config, endpoints: readonly QuickEndpoint[]): Config {
  if (endpoints.every(({ isTls }) => !isTls)) return config;
  const mark = (endpoint: EndpointConfig, index: number): EndpointConfig =>
    endpoints[index]!.isTls ? endpoint : { ...endpoint, tls: false };
  const upstreams = config.upstreams.map((upstream) => ({
    ...upstream,
    endpoints: upstream.endpoints.map(mark),
  }));
  return { ...config, upstreams };
}
