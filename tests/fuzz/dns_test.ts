// Bytes and texts from anywhere: mutated answers, random records, random resolver files. Reading them always ends, soon,
// with an answer or a refusal, and what is read is what was written.

import assert from "node:assert/strict";
import packet from "dns-packet";
import fc from "fast-check";
import { canonicalHost, isIpLiteral } from "../../src/core/address.ts";
import { decodeAnswer, type DnsRecord, encodeQuery } from "../../src/net/dns_message.ts";
import { parseHosts } from "../../src/net/hosts_file.ts";
import { parseResolvConf } from "../../src/net/resolv_conf.ts";

const FACTOR = Number(Deno.env.get("HALE_FUZZ_FACTOR") ?? 1);
const QUESTION = { name: "app.example.test", type: "A" } as const;
const QUERY = encodeQuery(QUESTION, { id: 7, edns: true })!;

/** Far above what any message may cost, far below what a hang would. */
const SLOW_MS = 1000;

const label = fc.stringMatching(/^[a-z0-9_]([a-z0-9-]{0,20}[a-z0-9])?$/);
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
const ttl = fc.nat(0xffffffff);
const v4 = fc.ipV4().map((text) => canonicalHost(text)!).filter((text) => text !== undefined);
const v6 = fc.ipV6().map((text) => canonicalHost(text)!).filter((text) =>
  text !== undefined && !text.includes(".")
);
const port = fc.nat(65535);

const record = fc.oneof(
  fc.record({ name, type: fc.constant("A"), ttl, data: v4 }),
  fc.record({ name, type: fc.constant("AAAA"), ttl, data: v6 }),
  fc.record({ name, type: fc.constant("CNAME"), ttl, data: name }),
  fc.record({
    name,
    type: fc.constant("SRV"),
    ttl,
    data: fc.record({ priority: port, weight: port, port, target: name }),
  }),
);

interface Written {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  // deno-lint-ignore no-explicit-any
  readonly data: any;
}

function encode(answers: readonly Written[]): Uint8Array {
  return packet.encode({ id: 7, type: "response", questions: [QUESTION], answers });
}

function asWritten(written: Written): DnsRecord {
  const head = { name: written.name, ttlS: written.ttl > 0x7fffffff ? 0 : written.ttl };
  if (written.type === "CNAME") return { ...head, type: "CNAME", target: written.data };
  if (written.type === "SRV") return { ...head, type: "SRV", ...written.data };
  return { ...head, type: written.type as "A" | "AAAA", address: written.data };
}

Deno.test("records are read as another implementation wrote them", () => {
  const property = fc.property(fc.array(record, { maxLength: 20 }), (answers) => {
    const answer = decodeAnswer(encode(answers), QUERY);
    assert.ok(answer !== "not ours" && "answers" in answer);
    assert.deepEqual(answer.answers, answers.map(asWritten));
  });
  fc.assert(property, { numRuns: 1000 * FACTOR });
});

const change = fc.record({ at: fc.nat(), byte: fc.nat(255), kind: fc.constantFrom("set", "flip", "point") });
const mutation = fc.record({
  answers: fc.array(record, { minLength: 1, maxLength: 10 }),
  changes: fc.array(change, { minLength: 1, maxLength: 8 }),
  cut: fc.option(fc.nat()),
});

/** Bytes after the question are changed, so that the answer stays ours; pointers are made on purpose. */
function mutate(bytes: Uint8Array, changes: readonly { at: number; byte: number; kind: string }[]): void {
  for (const { at, byte, kind } of changes) {
    const place = 6 + at % (bytes.length - 6);
    if (kind === "flip") bytes[place]! ^= 1 << (byte & 7);
    else if (kind === "set") bytes[place] = byte;
    else bytes.set([0xc0 | (byte & 1), byte], Math.min(place, bytes.length - 2));
  }
}

Deno.test("mutated answers end soon, in an answer or a refusal, and never in an odd address", () => {
  const property = fc.property(mutation, ({ answers, changes, cut }) => {
    const bytes = Uint8Array.from(encode(answers));
    mutate(bytes, changes);
    const startedAt = performance.now();
    const end = decodeAnswer(cut === null ? bytes : bytes.subarray(0, cut % bytes.length), QUERY);
    assert.ok(performance.now() - startedAt < SLOW_MS);
    if (end === "not ours" || "malformed" in end) return;
    for (const one of [...end.answers, ...end.authority, ...end.additional]) {
      assert.ok(one.name.length <= 4 * 255);
      if (one.type === "A" || one.type === "AAAA") assert.equal(canonicalHost(one.address), one.address);
    }
  });
  fc.assert(property, { numRuns: 10_000 * FACTOR });
});

Deno.test("any bytes at all end soon", () => {
  const property = fc.property(fc.uint8Array({ maxLength: 2000 }), (tail) => {
    const head = [0, 7, 0x80, 0, 0, 1];
    decodeAnswer(tail, QUERY);
    const startedAt = performance.now();
    decodeAnswer(Uint8Array.from([...head, ...tail]), QUERY);
    decodeAnswer(Uint8Array.from([...head, 0, 255, 0, 0, 0, 0, ...QUERY.subarray(12, 34), ...tail]), QUERY);
    assert.ok(performance.now() - startedAt < SLOW_MS);
  });
  fc.assert(property, { numRuns: 3000 * FACTOR });
});

Deno.test("the worst message of pointers costs little", () => {
  // Thousands of records whose names each lead through the longest legal chain of pointers, which stands as the data
  // of the first record: "a", then "a" and a pointer to the one before, and so on.
  const question = QUERY.subarray(12, 34);
  const dataAt = 12 + question.length + 11;
  const links = 126;
  const linkAt = (i: number) => (i === 0 ? dataAt : dataAt + 3 + 4 * (i - 1));
  const pointer = (at: number) => [0xc0 | at >> 8, at & 255];
  const chain = Array.from({ length: links }, (_, i) => [1, 97, ...(i === 0 ? [0] : pointer(linkAt(i - 1)))])
    .flat();
  const head = (
    name: number[],
    length: number,
  ) => [...name, 0, 99, 0, 1, 0, 0, 0, 0, length >> 8, length & 255];
  const count = 5000;
  const records = Array.from({ length: count }, () => head(pointer(linkAt(links - 1)), 0)).flat();
  const counts = [0, 1, (count + 1) >> 8, (count + 1) & 255, 0, 0, 0, 0];
  const bytes = Uint8Array.from([
    0,
    7,
    0x81,
    0x80,
    ...counts,
    ...question,
    ...head([0], chain.length),
    ...chain,
    ...records,
  ]);
  const startedAt = performance.now();
  const answer = decodeAnswer(bytes, QUERY);
  assert.ok(performance.now() - startedAt < SLOW_MS);
  assert.ok(answer !== "not ours" && "answers" in answer);
  assert.equal(answer.answers.length, count + 1);
  assert.equal(answer.answers[count]!.name, Array(links).fill("a").join("."));
});

const confWord = fc.oneof(
  fc.constantFrom(
    "nameserver",
    "search",
    "domain",
    "options",
    "ndots:3",
    "timeout:x",
    "attempts:999",
    "rotate",
  ),
  fc.constantFrom("10.0.0.1", "fe80::1%lo", "::1", "#", ";", "..", "\t", "--", ".", "a.test"),
  fc.string(),
);
const confText = fc.array(fc.array(confWord, { maxLength: 6 }).map((words) => words.join(" ")), {
  maxLength: 20,
})
  .chain((lines) => fc.constantFrom("\n", "\r\n", "\n\n").map((end) => lines.join(end)));

Deno.test("any resolver file gives settings within libc's limits", () => {
  const property = fc.property(confText, (text) => {
    const conf = parseResolvConf(text);
    assert.ok(conf.nameservers.length >= 1 && conf.nameservers.length <= 3);
    for (const { host } of conf.nameservers) assert.ok(isIpLiteral(host));
    for (const suffix of conf.search) assert.equal(canonicalHost(suffix), suffix);
    assert.ok(conf.ndots >= 0 && conf.ndots <= 15);
    assert.ok(conf.timeoutMs >= 1000 && conf.timeoutMs <= 30_000);
    assert.ok(conf.attempts >= 1 && conf.attempts <= 5);
  });
  fc.assert(property, { numRuns: 3000 * FACTOR });
});

Deno.test("any hosts file gives names with addresses", () => {
  const property = fc.property(confText, (text) => {
    for (const [host, { v4, v6 }] of parseHosts(text)) {
      assert.equal(canonicalHost(host), host);
      for (const address of [...v4, ...v6]) assert.ok(isIpLiteral(address));
    }
  });
  fc.assert(property, { numRuns: 1000 * FACTOR });
});
