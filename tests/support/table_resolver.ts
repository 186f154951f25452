// A resolver that answers from a table which the test changes, and notes what it was asked. Ends may be held back.

import type { Question, Resolved, Resolver, Unresolved } from "../../src/net/dns_types.ts";

/** Records of one name and type. */
export function addressesResolved(name: string, addresses: readonly string[], ttlS = 60): Resolved {
  return {
    addresses: addresses.map((address) => ({ name, address, ttlS })),
    services: [],
    additional: [],
    ttlMs: ttlS * 1000,
    chain: [name],
    source: "the table",
  };
}

/** Answers from `ends`; what is not in it is "nodata". */
export class TableResolver implements Resolver {
  readonly ends = new Map<string, Resolved | Unresolved>();
  readonly asked: string[] = [];
  /** While set, nobody is answered before it resolves. */
  hold: Promise<void> | undefined;

  /** "app.example.test A" has these addresses now. */
  set(name: string, type: "A" | "AAAA", addresses: readonly string[], ttlS = 60): void {
    this.ends.set(`${name} ${type}`, addressesResolved(name, addresses, ttlS));
  }

  /** Both families of the name fail now. */
  fail(name: string, failure: Unresolved["failure"]): void {
    for (const type of ["A", "AAAA"]) {
      this.ends.set(`${name} ${type}`, { failure, detail: `it is ${failure}` });
    }
  }

  async resolve(question: Question, signal?: AbortSignal): Promise<Resolved | Unresolved> {
    const key = `${question.name} ${question.type}`;
    this.asked.push(key);
    await this.hold;
    signal?.throwIfAborted();
    return this.ends.get(key) ?? { failure: "nodata", detail: "not in the table" };
  }
}
