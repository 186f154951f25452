// TCP from the outside: balancing, a dead endpoint that no client notices, half-close, and what the log says.

import assert from "node:assert/strict";
import { HaleProcess, startHale } from "../support/hale_process.ts";
import { askTcp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

/** Asks `count` times and counts the answers by endpoint. Every answer must be whole. */
async function askMany(port: number, count: number): Promise<Map<string, number>> {
  const tally = new Map<string, number>();
  for (let i = 0; i < count; i++) {
    const answer = await askTcp(port, `ping ${i}`);
    assert.match(answer, new RegExp(`^\\w+: ping ${i}$`), `answer ${i}`);
    const name = answer.slice(0, answer.indexOf(":"));
    tally.set(name, (tally.get(name) ?? 0) + 1);
  }
  return tally;
}

Deno.test("tcp: one command balances over two endpoints and ends with 0 on SIGTERM", async () => {
  await using one = NamedEndpoint.tcp("one");
  await using two = NamedEndpoint.tcp("two");
  const port = freePort();
  await using hale = HaleProcess.start(["tcp", `127.0.0.1:${port}`, one.address, two.address]);
  await hale.ready();
  const tally = await askMany(port, 40);
  assert.equal([...tally.values()].reduce((a, b) => a + b), 40);
  for (const name of ["one", "two"]) {
    assert.ok((tally.get(name) ?? 0) >= 10, `${name} had ${tally.get(name)} of 40`);
  }
  assert.equal(await hale.stop(), 0);
});

Deno.test("tcp: a dead endpoint leaves with a sentence, no client fails, and it returns", async () => {
  await using stays = NamedEndpoint.tcp("stays");
  const dies = NamedEndpoint.tcp("dies");
  const port = freePort();
  await using running = await startHale(`
listeners: [{ name: lines, address: "127.0.0.1:${port}", protocol: tcp, upstream: lines }]
upstreams:
  - name: lines
    protocol: tcp
    endpoints: [{ address: "${stays.address}" }, { address: "${dies.address}" }]
    health: { consecutive_failures: 3, eject_ms: 60000 }
    active_health: { kind: tcp, interval_ms: 200, timeout_ms: 200, jitter_ms: 0 }
`);
  assert.equal((await askMany(port, 20)).size, 2);
  await dies[Symbol.asyncDispose]();
  assert.deepEqual([...(await askMany(port, 30)).keys()], ["stays"]);
  const sentence = await running.hale.waitForLog(
    new RegExp(`${dies.address}.*eject|eject.*${dies.address}`, "i"),
  );
  assert.match(sentence, /lines/, "the sentence names the upstream");
  assert.match(sentence, /refused/i, "the sentence says what was seen");
  await using back = NamedEndpoint.tcp("back", dies.port);
  await until("the endpoint to return", async () => (await askMany(port, 4)).has("back"));
  assert.equal(back.address, dies.address);
  assert.equal(await running.hale.stop(), 0);
});

Deno.test("tcp: with no endpoint left the client is closed at once and hale goes on", async () => {
  const port = freePort();
  await using hale = HaleProcess.start(["tcp", `127.0.0.1:${port}`, `127.0.0.1:${freePort()}`]);
  await hale.ready();
  for (let i = 0; i < 10; i++) {
    const answer = await askTcp(port, "anybody?").catch((error: Error) => error.name);
    assert.ok(answer === "" || answer === "ConnectionReset" || answer === "BrokenPipe", answer);
  }
  assert.equal(await hale.stop(), 0);
});

Deno.test("tcp: an endpoint whose name does not resolve is charged with nothing and said", async () => {
  await using one = NamedEndpoint.tcp("one");
  const port = freePort();
  await using hale = HaleProcess.start(["tcp", `127.0.0.1:${port}`, one.address, "no-such-host.invalid:80"]);
  await hale.ready();
  assert.deepEqual([...(await askMany(port, 10)).keys()], ["one"]);
  assert.equal(await hale.stop(), 0);
});

Deno.test("tcp: two megabytes go through whole in both directions, and half-close with them", async () => {
  await using echo = NamedEndpoint.tcp("");
  const port = freePort();
  await using hale = HaleProcess.start(["tcp", `127.0.0.1:${port}`, echo.address]);
  await hale.ready();
  const text = "0123456789abcdef".repeat(131_072);
  const answer = await askTcp(port, text);
  assert.equal(answer.replaceAll(": ", "").length, text.length);
  assert.equal(answer.replaceAll(": ", ""), text);
  assert.equal(await hale.stop(), 0);
});
