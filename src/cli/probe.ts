// `hale probe`: runs the configured probe once for the endpoints asked for, and shows each stage with its time. It
// asks the endpoints themselves, not a running hale.

import { renderProblem } from "../config/problem.ts";
import { readConfig } from "../control/config_source.ts";
import { discoveryResolver } from "../control/discovery.ts";
import { discover } from "../control/discovery_query.ts";
import { probeOnce, probeTargetOf } from "../control/probe.ts";
import { EXIT } from "../core/exit_code.ts";
import { verdictOf } from "../core/outcome.ts";
import type { ActiveParams, Config, EndpointConfig, UpstreamConfig } from "../core/plan.ts";
import { dial } from "../net/dial.ts";
import { HostResolver, type ResolverKind, resolverKindOf } from "../net/host_resolver.ts";
import { SystemClock } from "../net/system_clock.ts";
import { emptyRuntimeTrust, trustProblem } from "../net/trust.ts";
import { chosenPaths } from "./config_paths.ts";
import { renderProbe } from "./probe_text.ts";
import type { Io } from "./terminal.ts";
import { CONFIG_HELP, CONFIG_OPTION, readArgs, type Usage } from "./usage.ts";

const USAGE: Usage = {
  synopsis: "hale probe [-c PATH]... [UPSTREAM[/ENDPOINT]]",
  purpose:
    "Runs the configured active_health probe once and prints each stage (resolve, connect, TLS, request, answer) " +
    "with its time. Exit code 0 only when all probes pass.",
  options: [CONFIG_HELP],
  examples: ["hale probe -c hale.yaml", "hale probe app", "hale probe app/10.0.0.1:8080"],
};

type Probed = UpstreamConfig & { readonly activeHealth: ActiveParams };

/** Probes endpoints once. */
export async function probeCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = readArgs(args, CONFIG_OPTION, { usage: USAGE, io, positionals: [0, 1] });
  if ("exitCode" in parsed) return parsed.exitCode;
  const paths = chosenPaths(parsed.values.config, io);
  if (paths === undefined) return EXIT.problems;
  const { decoded } = await readConfig(paths);
  if ("problems" in decoded) {
    for (const problem of decoded.problems) io.err(`${renderProblem(problem)}\n`);
    return EXIT.problems;
  }
  const [name, key] = splitName(parsed.positionals[0]);
  const upstreams = decoded.config.upstreams.filter(isProbed).filter((each) =>
    name === undefined || each.name === name
  );
  if (upstreams.length === 0) return nothing(decoded.config, name, io);
  const problem = trustProblem(emptyRuntimeTrust(), upstreams);
  if (problem !== undefined) {
    io.err(`${problem}\n`);
    return EXIT.problems;
  }
  const prober = new Prober(resolverKindOf(decoded.config.resolver), io);
  for (const upstream of upstreams) await prober.probeUpstream(upstream, key);
  return prober.exitCode();
}

function splitName(text: string | undefined): [upstream: string | undefined, endpoint: string | undefined] {
  if (text === undefined) return [undefined, undefined];
  const slash = text.lastIndexOf("/");
  return slash < 0 ? [text, undefined] : [text.slice(0, slash), text.slice(slash + 1)];
}

function isProbed(upstream: UpstreamConfig): upstream is Probed {
  return upstream.activeHealth !== undefined;
}

function nothing(config: Config, name: string | undefined, io: Io): number {
  if (name === undefined) io.err("No upstream has active_health\n");
  else if (config.upstreams.some((each) => each.name === name)) {
    io.err(`Upstream "${name}" has no active_health\n`);
  } else io.err(`There is no upstream "${name}"\n`);
  return EXIT.problems;
}

/** Probes and keeps the score. */
class Prober {
  readonly #clock = new SystemClock();
  readonly #hosts = new HostResolver(this.#clock);
  readonly #kind: ResolverKind;
  readonly #io: Io;
  #passed = 0;
  #failed = 0;

  constructor(kind: ResolverKind, io: Io) {
    this.#kind = kind;
    this.#io = io;
    this.#hosts.use(kind);
  }

  /** Probes all endpoints of an upstream, or the one with this key. */
  async probeUpstream(upstream: Probed, key: string | undefined): Promise<void> {
    const endpoints = (await this.#endpointsOf(upstream)).filter((each) =>
      key === undefined || each.key === key
    );
    if (endpoints.length === 0) {
      this.#fail(`Upstream "${upstream.name}" has no endpoint${key === undefined ? "" : ` "${key}"`}`);
    }
    for (const endpoint of endpoints) await this.#probe(upstream, endpoint);
  }

  async #endpointsOf(upstream: Probed): Promise<readonly EndpointConfig[]> {
    if (upstream.discovery === undefined) return upstream.endpoints;
    const resolver = discoveryResolver(upstream.discovery, this.#kind, {
      clock: this.#clock,
      random: Math.random,
    });
    const found = await discover(upstream.discovery, resolver, new AbortController().signal);
    if ("endpoints" in found) return found.endpoints;
    this.#fail(`${upstream.discovery.hostname}: ${found.detail}`);
    return upstream.endpoints;
  }

  async #probe(upstream: Probed, endpoint: EndpointConfig): Promise<void> {
    const target = probeTargetOf(upstream, endpoint);
    const result = await probeOnce(target, {
      clock: this.#clock,
      signal: new AbortController().signal,
      dial: (where, options) => {
        const resolveHost = (host: string) => this.#hosts.resolve(host);
        return dial(where, { ...options, clock: this.#clock, resolveHost });
      },
    });
    if (verdictOf(result.outcome) === "success") this.#passed++;
    else this.#failed++;
    this.#io.out(`${renderProbe(`${upstream.name}/${endpoint.key}`, target, result)}\n\n`);
  }

  #fail(sentence: string): void {
    this.#failed++;
    this.#io.err(`${sentence}\n`);
  }

  /** 0 only when all passed, and there was one. */
  exitCode(): number {
    this.#io.out(`${this.#passed} passed, ${this.#failed} failed\n`);
    return this.#failed === 0 && this.#passed > 0 ? EXIT.ok : EXIT.problems;
  }
}
