// Messages on the wire, against another implementation (`dns-packet`) and against hostile bytes.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import packet from "dns-packet";
import { decodeAnswer, type DnsAnswer, encodeQuery, rcodeName } from "../../../src/net/dns_message.ts";
import { decodeName, encodeName } from "../../../src/net/dns_name.ts";
import type { Question } from "../../../src/net/dns_types.ts";

const QUESTION: Question = { name: "app.example.test", type: "A" };

function queryOf(question: Question = QUESTION, edns = true): Uint8Array {
  return encodeQuery(question, { id: 0x1234, edns })!;
}

// deno-lint-ignore no-explicit-any
function answerOf(fields: any, question: Question = QUESTION) {
  const bytes = packet.encode({
    id: 0x1234,
    type: "response",
    questions: [{ name: question.name, type: question.type }],
    ...fields,
  });
  return decodeAnswer(bytes, queryOf(question));
}

function read(end: ReturnType<typeof decodeAnswer>): DnsAnswer {
  if (end === "not ours" || "malformed" in end) throw new Error(JSON.stringify(end));
  return end;
}

Deno.test("a query is what another implementation reads it as", () => {
  const decoded = packet.decode(Buffer.from(queryOf({ name: "App.example.test.", type: "SRV" })));
  assert.equal(decoded.id, 0x1234);
  assert.equal(decoded.type, "query");
  assert.equal(decoded.flag_rd, true);
  assert.deepEqual(decoded.questions, [{ name: "App.example.test", type: "SRV", class: "IN" }]);
  assert.equal(decoded.additionals[0].type, "OPT");
  assert.equal(decoded.additionals[0].udpPayloadSize, 1232);
  assert.deepEqual(packet.decode(Buffer.from(queryOf(QUESTION, false))).additionals, []);
});

Deno.test("records of every kind are read, names in lower case and without a final dot", () => {
  const name = "App.Example.test";
  const answer = read(answerOf({
    answers: [
      { name, type: "CNAME", ttl: 5, data: "B.example.test." },
      { name: "b.example.test", type: "A", ttl: 7, data: "127.0.0.11" },
      { name: "b.example.test", type: "AAAA", ttl: 8, data: "2001:db8::11" },
      {
        name: "b.example.test",
        type: "SRV",
        ttl: 9,
        data: { priority: 1, weight: 2, port: 3, target: "N1.test" },
      },
      { name: "b.example.test", type: "TXT", ttl: 9, data: "anything" },
    ],
    authorities: [{
      name: "example.test",
      type: "SOA",
      ttl: 60,
      data: { mname: "ns.test", rname: "me.test", serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 30 },
    }],
    additionals: [{ name: "n1.test", type: "A", ttl: 4, data: "127.0.0.1" }],
  }));
  assert.deepEqual(answer, {
    rcode: 0,
    isTruncated: false,
    answers: [
      { name: "app.example.test", ttlS: 5, type: "CNAME", target: "b.example.test" },
      { name: "b.example.test", ttlS: 7, type: "A", address: "127.0.0.11" },
      { name: "b.example.test", ttlS: 8, type: "AAAA", address: "2001:db8::11" },
      { name: "b.example.test", ttlS: 9, type: "SRV", priority: 1, weight: 2, port: 3, target: "n1.test" },
      { name: "b.example.test", ttlS: 9, type: "other" },
    ],
    authority: [{ name: "example.test", ttlS: 60, type: "SOA", minimumS: 30 }],
    additional: [{ name: "n1.test", ttlS: 4, type: "A", address: "127.0.0.1" }],
  });
});

Deno.test("a lifetime with the top bit set counts as 0", () => {
  const ttls = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff];
  const answers = ttls.map((ttl) => ({ name: QUESTION.name, type: "A", ttl, data: "127.0.0.1" }));
  assert.deepEqual(read(answerOf({ answers })).answers.map((record) => record.ttlS), [
    0,
    1,
    0x7fffffff,
    0,
    0,
  ]);
});

Deno.test("the answer code is told, the extended one too", () => {
  assert.equal(read(answerOf({ flags: 3 })).rcode, 3);
  const opt = { name: ".", type: "OPT", udpPayloadSize: 1232, extendedRcode: 1, flags: 0, options: [] };
  assert.equal(read(answerOf({ flags: 0, additionals: [opt] })).rcode, 16);
  assert.equal(rcodeName(2), "SERVFAIL");
  assert.equal(rcodeName(16), "code 16");
});

Deno.test("a truncated answer has no records, also where the cut goes through one", () => {
  const answers = [{ name: QUESTION.name, type: "A", ttl: 1, data: "127.0.0.1" }];
  const bytes = packet.encode({
    id: 0x1234,
    type: "response",
    flags: packet.TRUNCATED_RESPONSE,
    questions: [QUESTION],
    answers,
  });
  for (const cut of [0, 3, 9]) {
    const answer = read(decodeAnswer(bytes.subarray(0, bytes.length - cut), queryOf()));
    assert.equal(answer.isTruncated, true);
    assert.deepEqual(answer.answers, []);
  }
});

Deno.test("an answer to somebody else is not ours", () => {
  const good = packet.encode({ id: 0x1234, type: "response", questions: [QUESTION], answers: [] });
  const otherId = Uint8Array.from(good);
  otherId[0] = 0x12 ^ 1;
  assert.equal(decodeAnswer(otherId, queryOf()), "not ours");
  assert.equal(decodeAnswer(good, queryOf({ name: "other.example.test", type: "A" })), "not ours");
  assert.equal(decodeAnswer(good, queryOf({ name: QUESTION.name, type: "AAAA" })), "not ours");
  assert.equal(decodeAnswer(queryOf(), queryOf()), "not ours");
  assert.equal(decodeAnswer(new Uint8Array(5), queryOf()), "not ours");
  assert.notEqual(decodeAnswer(good, queryOf({ name: "APP.example.test", type: "A" })), "not ours");
});

Deno.test("a refusal without the question is ours, success without it is not", () => {
  const bare = (flags: number) => packet.encode({ id: 0x1234, type: "response", flags, questions: [] });
  assert.equal(read(decodeAnswer(bare(1), queryOf())).rcode, 1);
  assert.equal(decodeAnswer(bare(0), queryOf()), "not ours");
});

Deno.test("a record of another class is no address", () => {
  const answers = [{ name: QUESTION.name, type: "A", ttl: 1, class: "CH", data: "127.0.0.1" }];
  assert.deepEqual(read(answerOf({ answers })).answers.map((record) => record.type), ["other"]);
});

Deno.test("record data that does not fit its length is refused", () => {
  const bytes = packet.encode({
    id: 0x1234,
    type: "response",
    questions: [QUESTION],
    answers: [
      {
        name: QUESTION.name,
        type: "SRV",
        ttl: 1,
        data: { priority: 1, weight: 1, port: 1, target: "a.test" },
      },
    ],
  });
  const dataAt = bytes.length - 14;
  for (const wrong of [-1, 1, 200]) {
    const changed = Uint8Array.from(bytes);
    changed[dataAt - 1]! += wrong;
    const end = decodeAnswer(changed, queryOf());
    assert.ok(end !== "not ours" && "malformed" in end, `length off by ${wrong}`);
  }
});

Deno.test("names go to the wire and back; what is no name does not", () => {
  for (
    const name of [
      "a",
      "app.example.test",
      "_http._tcp.app.example.test",
      "xn--bcher-kva.test",
      "a".repeat(63),
    ]
  ) {
    assert.equal(decodeName(Uint8Array.from(encodeName(name)!), 0).name, name);
  }
  assert.deepEqual(encodeName("."), [0]);
  for (const bad of ["", "a..b", ".a", "a".repeat(64), "ü.test", "a b", "a\\.b", `${"a.".repeat(127)}ab`]) {
    if (bad !== "") assert.equal(encodeName(bad), undefined, bad);
  }
});

Deno.test("a dot or odd byte inside a label can not pass for another name", () => {
  assert.equal(decodeName(Uint8Array.from([3, 0x61, 0x2e, 0x62, 0]), 0).name, "a\\046b");
  assert.equal(decodeName(Uint8Array.from([2, 0x00, 0xff, 0]), 0).name, "\\000\\255");
});
