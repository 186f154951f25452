// A resolver that asks a scripted name server without sockets: everything but the sending is real. Dropped questions
// fail at once as a timeout, unless the test gives a clock that it moves itself.

import type { Clock } from "../../src/core/clock.ts";
import { decodeAnswer, encodeQuery } from "../../src/net/dns_message.ts";
import type { Ask, AskFailure, Reply } from "../../src/net/dns_query.ts";
import { DnsResolver } from "../../src/net/dns_resolver.ts";
import { DnsScript, type ScriptRule } from "./dns_script.ts";

/** Asks the script, first by UDP, then by TCP when the answer is truncated. */
export function scriptedAsk(script: DnsScript, clock?: Clock): Ask {
  const ask = async (
    question: { name: string; type: "A" | "AAAA" | "SRV" },
    transport: "udp" | "tcp",
    { timeoutMs, signal }: Parameters<Ask>[2],
  ): Promise<Reply | AskFailure> => {
    const query = encodeQuery(question, { id: 7, edns: true })!;
    if (transport === "tcp" && script.refusesTcp) return { failure: "unreachable", detail: "ECONNREFUSED" };
    const bytes = script.answer(query, transport);
    if (bytes === undefined) {
      await clock?.sleep(timeoutMs, signal).catch(() => {}); // aborted: an end as any other
      return { failure: "timeout", detail: `no answer within ${timeoutMs} ms` };
    }
    const answer = decodeAnswer(bytes, query);
    if (answer === "not ours") throw new Error("The script answered something else");
    if ("malformed" in answer) return { failure: "malformed", detail: answer.malformed };
    return answer.isTruncated
      ? await ask(question, "tcp", { timeoutMs, useTcp: true })
      : { answer, transport };
  };
  return (_server, question, options) => ask(question, options.useTcp ? "tcp" : "udp", options);
}

const NO_FILE = { path: "no file", read: () => Promise.resolve(undefined) };

/** Options of a `DnsResolver` that knows no files of the system. */
export const NO_FILES = { resolvConf: NO_FILE, hosts: NO_FILE } as const;

/** A resolver with that script as its only name server, and no files of the system. */
export function scriptedResolver(
  rules: readonly ScriptRule[] | DnsScript,
  options: { readonly clock: Clock; readonly waits?: boolean; readonly deadlineMs?: number },
): { readonly resolver: DnsResolver; readonly script: DnsScript } {
  const script = rules instanceof DnsScript ? rules : new DnsScript(rules);
  const resolver = new DnsResolver({
    clock: options.clock,
    nameservers: [{ host: "127.0.0.53", port: 53 }],
    ask: scriptedAsk(script, options.waits ? options.clock : undefined),
    ...NO_FILES,
    ...(options.deadlineMs !== undefined && { deadlineMs: options.deadlineMs }),
  });
  return { resolver, script };
}
