// Endpoints that send a body which they announce where there must be none: what comes late never reaches a client as the next answer.

import assert from "node:assert/strict";
import { REST_MS } from "../../../src/http/pool.ts";
import { settled } from "../../support/fake_clock.ts";
import type { MemoryDuplex } from "../../support/memory_duplex.ts";
import { hear, MemoryStage, tell } from "../../support/memory_stage.ts";

const HEADS: Readonly<Record<string, string>> = {
  "GET /304": "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
  "GET /204-with-length": "HTTP/1.1 204 No Content\r\nContent-Length: 99\r\n\r\n",
  "HEAD /": "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n",
};
const FOOLED = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nfooled";
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** Answers `first` with its head, and a little later with `rest`; everything else with 200, one after the other. */
function endpoint(first: string, rest: string) {
  const conns: MemoryDuplex[] = [];
  const take = (conn: MemoryDuplex) => {
    conns.push(conn);
    let answering = Promise.resolve();
    void hear(conn, (text) => answering = answering.then(() => answer(conn, text)));
  };
  const answer = async (conn: MemoryDuplex, text: string) => {
    if (!text.startsWith(`${first} `)) return await tell(conn, OK);
    await tell(conn, HEADS[first]!);
    for (let turn = 0; turn < 3; turn++) await settled();
    await tell(conn, rest);
  };
  return { conns, take };
}

const requests = (first: string) =>
  `${first} HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;

for (const first of Object.keys(HEADS)) {
  Deno.test(`a body that follows the answer to ${first} is not taken for the next answer`, async () => {
    const { conns, take } = endpoint(first, FOOLED);
    const stage = new MemoryStage(take);
    let toClient = "";
    const client = stage.connect();
    void hear(client, (text) => toClient += text);
    await tell(client, requests(first));
    for (let turn = 0; turn < 10; turn++) await settled();
    assert.match(toClient, /\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nok$/);
    assert.doesNotMatch(toClient, /fooled/);
    assert.equal(conns.length, 2);
    // Nor by whoever comes after the connection has rested.
    await stage.clock.advance(2 * REST_MS);
    let toOther = "";
    const other = stage.connect();
    void hear(other, (text) => toOther += text);
    await tell(other, requests("GET /other"));
    for (let turn = 0; turn < 5; turn++) await settled();
    assert.equal(toOther.match(/\r\n\r\nok/g)?.length, 2);
    assert.doesNotMatch(toOther, /fooled/);
    await stage.end();
  });
}

Deno.test("an answer that announces no body costs its connection no rest", async () => {
  const take = (conn: MemoryDuplex) => {
    conns.push(conn);
    void hear(conn, () => tell(conn, "HTTP/1.1 304 Not Modified\r\n\r\n"));
  };
  const conns: MemoryDuplex[] = [];
  const stage = new MemoryStage(take);
  const client = stage.connect();
  void hear(client, () => {});
  await tell(client, requests("GET /304"));
  for (let round = 0; round < 5; round++) await settled();
  assert.equal(conns.length, 1);
  await stage.end();
});

Deno.test("a connection that stays silent is used again after its rest", async () => {
  const { conns, take } = endpoint("GET /304", "");
  const stage = new MemoryStage(take);
  for (let turn = 0; turn < 3; turn++) {
    const client = stage.connect();
    void hear(client, () => {});
    await tell(client, "GET /304 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    for (let round = 0; round < 3; round++) await settled();
    await stage.clock.advance(REST_MS);
  }
  assert.equal(conns.length, 1);
  await stage.end();
});
