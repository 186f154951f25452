// Resolving by the runtime's own resolver, for systems without /etc/resolv.conf and for those who ask for it (D6). It
// gives no lifetimes and can not tell "no such name" from "no data" or from a server's failure; hale says so.

import { canonicalHost } from "../core/address.ts";
import type { AddressRecord, Question, Resolved, Resolver, ServiceRecord, Unresolved } from "./dns_types.ts";
import { Deadline } from "./deadline.ts";
import { messageOf, ownShortage } from "./socket_errors.ts";

/** The runtime's call, so that tests can stand in for it. */
export type ResolveDns = (
  name: string,
  type: Question["type"],
  options: { signal: AbortSignal },
) => Promise<readonly string[] | readonly Deno.SrvRecord[]>;

/** What a system resolver stands on. */
export interface SystemResolverOptions {
  /** For one question, milliseconds; default 10000. */
  readonly deadlineMs?: number;
  readonly resolveDns?: ResolveDns;
  /** Asked when the system has no name server at all. */
  readonly lastResort?: Resolver;
}

/** Resolves by asking the system. `ttlMs` is always Infinity: not known. */
export class SystemResolver implements Resolver {
  readonly #options: SystemResolverOptions;
  readonly #resolveDns: ResolveDns;

  constructor(options: SystemResolverOptions = {}) {
    this.#options = options;
    this.#resolveDns = options.resolveDns ?? Deno.resolveDns as ResolveDns;
  }

  /** Answers a question. */
  async resolve(question: Question, signal?: AbortSignal): Promise<Resolved | Unresolved> {
    const deadlineMs = this.#options.deadlineMs ?? 10_000;
    const deadline = new Deadline(deadlineMs, signal);
    try {
      const found = await this.#resolveDns(question.name, question.type, { signal: deadline.signal });
      return recordsOf(question, found);
    } catch (error) {
      signal?.throwIfAborted();
      if (deadline.struck === "timeout") return silence(deadlineMs);
      const hasNoServer = NO_SERVER.test(messageOf(error));
      if (hasNoServer && this.#options.lastResort !== undefined) {
        return await this.#options.lastResort.resolve(question, signal);
      }
      return failureOf(error, deadlineMs);
    } finally {
      deadline.end();
    }
  }
}

/** What the runtime says where no name server is configured, or no file says so. */
const NO_SERVER = /no nameservers? found|no such file/i;

/** The runtime's resolver wraps the error of the socket, and gives no code. */
const OUT_OF_DESCRIPTORS = /too many open files|os error 2[34]\b/i;

function recordsOf(
  question: Question,
  found: readonly string[] | readonly Deno.SrvRecord[],
): Resolved | Unresolved {
  const name = question.name.replace(/\.$/, "");
  const addresses = found.flatMap((one) => (typeof one === "string" ? addressOf(name, one) : []));
  const services = found.flatMap((one) => (typeof one === "string" ? [] : serviceOf(one)));
  if (addresses.length + services.length === 0) {
    return { failure: "nodata", detail: "the system's resolver gave no records" };
  }
  return { addresses, services, additional: [], ttlMs: Infinity, chain: [name], source: "the system" };
}

/** The lifetime is not known; nobody reads this one, since `ttlMs` says so. */
const UNKNOWN_TTL_S = 0;

function addressOf(name: string, text: string): AddressRecord[] {
  const address = canonicalHost(text);
  return address === undefined ? [] : [{ name, address, ttlS: UNKNOWN_TTL_S }];
}

function serviceOf({ priority, weight, port, target }: Deno.SrvRecord): ServiceRecord[] {
  const name = target === "." ? "." : target.toLowerCase().replace(/\.$/, "");
  return [{ priority, weight, port, target: name, ttlS: UNKNOWN_TTL_S }];
}

function failureOf(error: unknown, deadlineMs: number): Unresolved {
  if (error instanceof Deno.errors.TimedOut) return silence(deadlineMs);
  if (error instanceof Deno.errors.NotFound) {
    return { failure: "nxdomain", detail: "the system's resolver found no such name or no such records" };
  }
  if (ownShortage(error) !== undefined || OUT_OF_DESCRIPTORS.test(messageOf(error))) {
    return { failure: "own_limit", detail: `the system's resolver could not ask: ${messageOf(error)}` };
  }
  return { failure: "unreachable", detail: `the system's resolver failed: ${messageOf(error)}` };
}

function silence(deadlineMs: number): Unresolved {
  return { failure: "timeout", detail: `the system's resolver gave no answer within ${deadlineMs} ms` };
}
