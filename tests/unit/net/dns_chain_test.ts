// CNAMEs within one answer.

import assert from "node:assert/strict";
import { followChain, MAX_CHAIN } from "../../../src/net/dns_chain.ts";
import type { DnsRecord } from "../../../src/net/dns_message.ts";

const a = (name: string, ttlS: number): DnsRecord => ({ name, ttlS, type: "A", address: "127.0.0.1" });
const alias = (name: string, target: string, ttlS = 60): DnsRecord => ({ name, ttlS, type: "CNAME", target });
const from = (name: string) => ({ chain: [name], ttlS: Infinity });

Deno.test("the least lifetime on the way counts, in whatever order the records come", () => {
  const answers = [a("c", 86400), alias("b", "c", 9), a("stranger", 1), alias("a", "b", 30)];
  const end = followChain(answers, "A", from("a"));
  assert.deepEqual([end.kind, end.chain, end.ttlS], ["records", ["a", "b", "c"], 9]);
  assert.deepEqual(end.records, [answers[0]]);
});

Deno.test("a chain without records at its end is open there", () => {
  const end = followChain([alias("a", "b", 5)], "A", from("a"));
  assert.deepEqual([end.kind, end.chain, end.ttlS], ["open", ["a", "b"], 5]);
});

Deno.test("a circle is seen, also one over two answers", () => {
  assert.equal(followChain([alias("a", "a")], "A", from("a")).kind, "loop");
  assert.equal(followChain([alias("b", "a")], "A", { chain: ["a", "b"], ttlS: 1 }).kind, "loop");
});

Deno.test("a chain has an end", () => {
  const answers = Array.from({ length: 100 }, (_, i) => alias(`n${i}`, `n${i + 1}`));
  const end = followChain(answers, "A", from("n0"));
  assert.equal(end.kind, "long");
  assert.equal(end.chain.length, MAX_CHAIN + 1);
});
