// Following CNAMEs through the records of one answer. Only records whose owner is on the chain count; what else the
// answer holds is ignored. Asking for what the answer left out is the resolver's business.

import type { DnsRecord } from "./dns_message.ts";
import type { RecordType } from "./dns_types.ts";

/** Most CNAMEs from a name to its records. */
export const MAX_CHAIN = 16;

/** Where the chain of an answer leads. `chain` begins with the name asked for; `ttlS` is the least lifetime met. */
export interface ChainEnd {
  /** "records": found. "open": it ends at a name without records in this answer. "loop", "long": it can not be used. */
  readonly kind: "records" | "open" | "loop" | "long";
  readonly records: readonly DnsRecord[];
  readonly chain: readonly string[];
  readonly ttlS: number;
}

/** Goes on from the last name of `chain` (1 or more names, none twice). `ttlS` is the least lifetime up to there. */
export function followChain(
  answers: readonly DnsRecord[],
  type: RecordType,
  start: { readonly chain: readonly string[]; readonly ttlS: number },
): ChainEnd {
  const chain = [...start.chain];
  let { ttlS } = start;
  while (true) {
    const owner = chain[chain.length - 1]!;
    const owned = answers.filter((record) => record.name === owner);
    const records = owned.filter((record) => record.type === type);
    if (records.length > 0) {
      return {
        kind: "records",
        records,
        chain,
        ttlS: Math.min(ttlS, ...records.map((record) => record.ttlS)),
      };
    }
    const alias = owned.find((record) => record.type === "CNAME");
    if (alias?.type !== "CNAME") return { kind: "open", records, chain, ttlS };
    ttlS = Math.min(ttlS, alias.ttlS);
    const isLoop = chain.includes(alias.target);
    chain.push(alias.target);
    if (isLoop) return { kind: "loop", records, chain, ttlS };
    if (chain.length > MAX_CHAIN) return { kind: "long", records, chain, ttlS };
  }
}
