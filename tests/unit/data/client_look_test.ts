// Clients that leave while their endpoint is still dialed: the dial is given up and nobody is charged; whoever may still
// be waiting gets an answer.

import assert from "node:assert/strict";
import type { Dialed, DialFailure, DialOptions, DialTarget } from "../../../src/net/dial.ts";
import { settled } from "../../support/fake_clock.ts";
import { type MemoryDuplex, memoryPair } from "../../support/memory_duplex.ts";
import { hear, MemoryStage, tell } from "../../support/memory_stage.ts";

/** Dials that end only when they are told to. */
class HeldDial {
  readonly targets: string[] = [];
  cancelled = 0;
  /** Whether the dial under way can be given up. */
  isFixed = false;
  #end: ((result: Dialed | DialFailure) => void) | undefined;

  readonly dial = (target: DialTarget, { begun }: DialOptions): Promise<Dialed | DialFailure> => {
    this.targets.push(target.host);
    const { promise, resolve } = Promise.withResolvers<Dialed | DialFailure>();
    this.#end = resolve;
    begun?.({
      cancel: () => {
        this.cancelled++;
        resolve({ outcome: "cancelled", detail: "" });
      },
    });
    if (this.isFixed) begun?.(undefined);
    return promise;
  };

  /** The dial under way succeeds; gives the endpoint's end. */
  async connect(): Promise<MemoryDuplex> {
    const [near, far] = memoryPair();
    const remote = { host: "10.0.0.1", port: 80 };
    this.#end!({ conn: near, remote, resolveMs: 0, connectMs: 1, tlsMs: 0 });
    await settled();
    return far;
  }
}

const KEPT = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
const NOT_KEPT = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class Scene {
  readonly dialing = new HeldDial();
  readonly stage: MemoryStage;
  readonly client: MemoryDuplex;
  toClient = "";
  toEndpoint = "";

  constructor(keys?: string[]) {
    this.stage = new MemoryStage(this.dialing, keys);
    this.client = this.stage.connect();
    void hear(this.client, (text) => this.toClient += text);
  }

  async say(text: string): Promise<void> {
    await tell(this.client, text);
    await settled();
  }

  /** The dial succeeds, and the endpoint answers every request that comes. */
  async answer(): Promise<void> {
    const endpoint = await this.dialing.connect();
    void hear(endpoint, (text) => {
      this.toEndpoint += text;
      for (const _ of text.matchAll(/ HTTP\/1\.1\r\n/g)) void tell(endpoint, OK);
    });
    for (let turn = 0; turn < 5; turn++) await settled();
  }

  /** The session has ended for the client's sake, and has cost nobody anything. */
  assertGivenUp(outcome: string): void {
    assert.equal(this.stage.plane.sessionCount, 0);
    assert.equal(this.stage.permits.taken, 0);
    assert.equal(this.stage.board.cells(0).inFlight, 0);
    assert.deepEqual(this.stage.evidence, []);
    assert.deepEqual(this.stage.records.map((record) => record.outcome), [outcome]);
    assert.equal(this.stage.plane.stats().notCharged[outcome], 1);
    assert.deepEqual(this.stage.troubles, []);
    assert.equal(this.toClient, "");
  }
}

for (const [kind, request] of [["kept", KEPT], ["not kept", NOT_KEPT]] as const) {
  Deno.test(`a client that resets while its endpoint is dialed ends the dial (${kind})`, async () => {
    const scene = new Scene(["10.0.0.1:80", "10.0.0.2:80"]);
    await scene.say(request);
    await scene.stage.pass(500);
    assert.deepEqual([scene.dialing.targets, scene.dialing.cancelled], [["10.0.0.1"], 0]);
    scene.client.reset();
    await scene.stage.pass(100);
    assert.deepEqual([scene.dialing.targets, scene.dialing.cancelled], [["10.0.0.1"], 1]);
    scene.assertGivenUp("client_reset");
  });

  Deno.test(`a client that has ended its side is waited for about a second (${kind})`, async () => {
    const scene = new Scene();
    await scene.say(request);
    await scene.client.closeWrite();
    await scene.stage.pass(900);
    assert.equal(scene.dialing.cancelled, 0);
    await scene.stage.pass(600);
    assert.equal(scene.dialing.cancelled, 1);
    scene.assertGivenUp("client_aborted");
  });

  Deno.test(`a client that has ended its side gets the answer of a dial that is near (${kind})`, async () => {
    const scene = new Scene();
    await scene.say(request);
    await scene.client.closeWrite();
    await scene.stage.pass(800);
    await scene.answer();
    assert.match(scene.toClient, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nok$/);
    await scene.stage.end();
    assert.deepEqual(scene.stage.evidence, ["answered"]);
  });

  for (const [when, dialMs, answerMs] of [["during", 300, 0], ["after", 0, 100]] as const) {
    Deno.test(`a client that ends its side ${when} a slow dial is soon gone for the answer, too (${kind})`, async () => {
      const scene = new Scene();
      await scene.say(request);
      await scene.stage.pass(300);
      if (when === "during") await scene.client.closeWrite();
      await scene.stage.pass(dialMs);
      await scene.dialing.connect();
      await scene.stage.pass(answerMs);
      if (when === "after") await scene.client.closeWrite();
      await scene.stage.pass(2000);
      scene.assertGivenUp("client_aborted");
    });
  }
}

Deno.test("a client that leaves at once is noticed as well", async () => {
  const scene = new Scene();
  await scene.say(KEPT);
  scene.client.reset();
  await scene.stage.pass(300);
  scene.assertGivenUp("client_reset");
});

Deno.test("a client that ends its side in the middle of its body is not waited for", async () => {
  const scene = new Scene();
  await scene.say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123");
  await scene.stage.pass(300);
  await scene.client.closeWrite();
  await scene.stage.pass(100);
  scene.assertGivenUp("client_aborted");
});

for (const isFast of [true, false]) {
  Deno.test(`what comes during a ${isFast ? "quick" : "slow"} dial is neither lost nor mixed up`, async () => {
    const scene = new Scene();
    await scene.say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n12");
    if (!isFast) await scene.stage.pass(300);
    await scene.say("34");
    if (!isFast) await scene.stage.pass(300);
    await scene.say("56" + "GET /b HTTP/1.1\r\nHost: a\r\n\r\n");
    await scene.answer();
    const targets = [...scene.toEndpoint.matchAll(/([A-Z]+ \/.) HTTP\/1\.1\r\n[^]*?\r\n\r\n(\d*)/g)];
    assert.deepEqual(targets.map(([, line, body]) => [line, body]), [["POST /a", "123456"], ["GET /b", ""]]);
    assert.equal(scene.toClient.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
    scene.client.close();
    await scene.stage.end();
  });
}

Deno.test("a body whose rest came during a slow dial is passed on without waiting for more", async () => {
  const scene = new Scene();
  await scene.say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n12");
  await scene.stage.pass(300);
  await scene.say("3456");
  await scene.answer();
  assert.match(scene.toEndpoint, /\r\n\r\n123456$/);
  await scene.stage.pass(100);
  assert.match(scene.toClient, /\r\n\r\nok$/);
  scene.client.close();
  await scene.stage.end();
});

Deno.test("the next request that came during a slow dial is answered after the first", async () => {
  const scene = new Scene();
  await scene.say(KEPT);
  await scene.stage.pass(300);
  await scene.say(KEPT + NOT_KEPT);
  await scene.stage.pass(300);
  await scene.answer();
  assert.equal(scene.toClient.match(/HTTP\/1\.1 200 OK/g)?.length, 3);
  await scene.stage.end();
});

Deno.test("a dial that can not be given up ends by itself, and its connection is not used", async () => {
  const scene = new Scene();
  scene.dialing.isFixed = true;
  await scene.say(KEPT);
  scene.client.reset();
  await scene.stage.pass(500);
  assert.equal(scene.stage.plane.sessionCount, 1);
  await scene.answer();
  await scene.stage.pass(100);
  assert.equal(scene.toEndpoint, "");
  scene.assertGivenUp("client_reset");
});

Deno.test("a session that is cut does not wait for its dial", async () => {
  const scene = new Scene();
  await scene.say(KEPT);
  assert.equal(scene.stage.plane.cut(), 1);
  await scene.stage.pass(100);
  assert.equal(scene.dialing.cancelled, 1);
  scene.assertGivenUp("drained");
});
