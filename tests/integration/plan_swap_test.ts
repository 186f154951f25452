// Swapping plans under traffic: what stays is not touched, what goes finishes, health and counts carry over.

import assert from "node:assert/strict";
import { InlineHale } from "../support/inline_hale.ts";
import { askTcp, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";

interface Shape {
  readonly endpoints: readonly string[];
  readonly health?: string;
  readonly more?: string;
}

function config(port: number, { endpoints, health = "{}", more = "" }: Shape): string {
  return `
listeners:
  - { name: in, address: "127.0.0.1:${port}", protocol: tcp, upstream: up }
${more}
upstreams:
  - { name: up, protocol: tcp, endpoints: [${endpoints.join(", ")}], health: ${health} }
`;
}

const quoted = (address: string): string => `{ address: "${address}" }`;

/** Keeps asking until stopped; every failure is kept. */
class Load {
  asked = 0;
  readonly failures: string[] = [];
  readonly #stop = new AbortController();
  readonly #clients: Promise<void>[];

  constructor(port: number, clients = 4) {
    this.#clients = Array.from({ length: clients }, () => this.#client(port));
  }

  async #client(port: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const text = `message ${this.asked++}`;
      const answer = await askTcp(port, text).catch((error: Error) => error.message);
      if (answer !== text) this.failures.push(answer);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#clients);
  }
}

Deno.test("200 edits under load fail no connection, cut no session, and count up by one each", async () => {
  await using one = new TcpEndpoint(echo);
  await using two = new TcpEndpoint(echo);
  const port = freePort();
  const shapes = [
    { endpoints: [quoted(one.address)] },
    { endpoints: [quoted(one.address), quoted(two.address)], health: "{ consecutive_failures: 2 }" },
    { endpoints: [`{ address: "${two.address}", weight: 3 }`, quoted(one.address)] },
    { endpoints: [quoted(two.address)] },
  ];
  await using hale = await InlineHale.start(config(port, shapes[0]!));
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const load = new Load(port);
  for (let edit = 1; edit <= 200; edit++) {
    assert.deepEqual(await hale.apply(config(port, shapes[edit % shapes.length]!)), []);
    await writeBytes(conn, new Uint8Array([edit & 255]));
    assert.deepEqual([...await readExactly(conn, 1)], [edit & 255], "a session of the first plan lives on");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await load.stop();
  conn.close();
  assert.deepEqual(load.failures, []);
  assert.ok(load.asked > 200);
  assert.equal(hale.supervisor.plan!.generation, 201);
  await until("all is quiet", () => hale.supervisor.workers.sessions === 0);
});

Deno.test("an ejected endpoint stays ejected over edits, and returns when its first time is over", async () => {
  await using live = new TcpEndpoint(echo);
  const dead = `127.0.0.1:${freePort()}`;
  const port = freePort();
  const health = "{ consecutive_failures: 1, eject_ms: 1500 }";
  const both = { endpoints: [quoted(live.address), quoted(dead)], health };
  await using hale = await InlineHale.start(config(port, both));
  await until("the dead one to leave", async () => {
    assert.equal(await askTcp(port, "x"), "x");
    return hale.health("up", dead).health === "ejected";
  });
  const { until: runsOut, epoch } = hale.health("up", dead);
  const slot = hale.slot("up", dead);
  for (let edit = 0; edit < 10; edit++) {
    const weighted = {
      endpoints: [`{ address: "${dead}", weight: ${edit + 1} }`, quoted(live.address)],
      health,
    };
    assert.deepEqual(await hale.apply(config(port, weighted)), []);
    assert.deepEqual([hale.health("up", dead).until, hale.health("up", dead).epoch], [runsOut, epoch]);
    assert.equal(hale.slot("up", dead), slot);
    assert.equal(await askTcp(port, "x"), "x");
  }
  assert.equal(hale.health("up", dead).failures[0]!.count, 1, "nobody was sent there");
  await until("the trial", () => hale.health("up", dead).health === "half_open");
});

Deno.test("an endpoint removed and put back starts anew, sessions on it live on meanwhile", async () => {
  await using one = new TcpEndpoint(echo);
  await using two = new TcpEndpoint(echo);
  const port = freePort();
  await using hale = await InlineHale.start(config(port, { endpoints: [quoted(one.address)] }));
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  await until("the session", () => hale.inFlight("up", one.address) === 1);
  const slot = hale.slot("up", one.address);
  assert.deepEqual(await hale.apply(config(port, { endpoints: [quoted(two.address)] })), []);
  for (let turn = 0; turn < 10; turn++) assert.equal(await askTcp(port, "x"), "x");
  assert.equal(one.accepted, 1);
  assert.equal(hale.supervisor.keeper.view(slot), undefined, "it is gone from status");
  assert.equal(hale.supervisor.board.cells(slot).inFlight, 1);
  const both = { endpoints: [quoted(one.address), quoted(two.address)] };
  assert.deepEqual(await hale.apply(config(port, both)), []);
  assert.notEqual(hale.slot("up", one.address), slot, "a slot in use is not given away");
  assert.equal(hale.inFlight("up", one.address), 0);
  await writeBytes(conn, new Uint8Array([9]));
  assert.deepEqual([...await readExactly(conn, 1)], [9]);
  conn.close();
  await until("the old session to be counted down", () => hale.allInFlight === 0);
});

Deno.test("a listener that goes refuses new clients and lets its sessions finish; one that stays is never closed", async () => {
  await using one = new TcpEndpoint(echo);
  const [port, other] = [freePort(), freePort()];
  const more = `  - { name: other, address: "127.0.0.1:${other}", protocol: tcp, upstream: up }`;
  const shape = { endpoints: [quoted(one.address)] };
  await using hale = await InlineHale.start(config(port, { ...shape, more }));
  const load = new Load(port, 2);
  const conn = await Deno.connect({ hostname: "127.0.0.1", port: other });
  await until("the session", () => hale.inFlight("up", one.address) >= 1);
  for (let round = 0; round < 5; round++) {
    assert.deepEqual(await hale.apply(config(port, shape)), []);
    await until(
      "the port to be closed",
      () =>
        Deno.connect({ hostname: "127.0.0.1", port: other }).then(
          (late) => (late.close(), false),
          () => true,
        ),
    );
    await writeBytes(conn, new Uint8Array([round]));
    assert.deepEqual([...await readExactly(conn, 1)], [round]);
    assert.deepEqual(await hale.apply(config(port, { ...shape, more })), []);
    assert.equal(await askTcp(other, "again"), "again");
  }
  conn.close();
  await load.stop();
  assert.deepEqual(load.failures, []);
});

Deno.test("a port that somebody else holds refuses the whole edit, and undoes what was bound for it", async () => {
  await using one = new TcpEndpoint(echo);
  const [port, free] = [freePort(), freePort()];
  const shape = { endpoints: [quoted(one.address)] };
  await using hale = await InlineHale.start(config(port, shape));
  const more = `  - { name: b, address: "127.0.0.1:${free}", protocol: tcp, upstream: up }
  - { name: c, address: "${one.address}", protocol: tcp, upstream: up }`;
  const problems = await hale.apply(config(port, { endpoints: [quoted("127.0.0.1:9")], more }));
  assert.deepEqual(problems, [`Listener "c" can not listen on ${one.address}: address in use`]);
  assert.equal(hale.supervisor.plan!.generation, 1);
  assert.equal(await askTcp(port, "x"), "x");
  Deno.listen({ hostname: "127.0.0.1", port: free }).close();
});

Deno.test("2,000 edits leave slots, sessions and timers where they were", async () => {
  await using one = new TcpEndpoint(echo);
  const port = freePort();
  const health = "{ consecutive_failures: 3 }";
  await using hale = await InlineHale.start(config(port, { endpoints: [quoted(one.address)], health }));
  const shape = (edit: number) => ({
    endpoints: [`{ address: "${one.address}", weight: ${edit % 7 + 1} }`],
    health,
  });
  for (let edit = 0; edit < 2000; edit++) assert.deepEqual(await hale.apply(config(port, shape(edit))), []);
  assert.equal(hale.supervisor.slots.count, 1);
  assert.equal(await askTcp(port, "x"), "x");
});
