// WebSockets of other makes through hale: the runtime's client, and the servers of the runtime and of the `ws` package.

import assert from "node:assert/strict";
import { WebSocket as WsClient } from "ws";
import { HttpStage, type StageOptions } from "../support/http_stage.ts";
import { patterned } from "../support/patterned.ts";
import { pem } from "../support/tls_endpoint.ts";
import { until } from "../support/until.ts";
import {
  denoServer,
  type EchoOptions,
  type EchoServer,
  SocketClient,
  wsServer,
} from "../support/web_socket.ts";

const SERVERS = { "the runtime's server": denoServer, "ws": wsServer };
const TLS: StageOptions & EchoOptions = {
  isTls: true,
  listener: { tls: { certFile: "", keyFile: "", cert: pem("local.pem"), key: pem("local.key") } },
  upstream: { protocol: "https", tls: { ca: pem("ca.pem") } },
};

type Play = (stage: HttpStage, server: EchoServer) => Promise<void>;

/** One test for each server. */
function socketTest(name: string, play: Play, options: StageOptions & EchoOptions = {}): void {
  for (const [make, start] of Object.entries(SERVERS)) {
    Deno.test(`${name}: ${make}`, () => onStage(start, play, options));
  }
}

async function onStage(
  start: typeof wsServer,
  play: Play,
  options: StageOptions & EchoOptions,
): Promise<void> {
  await using server = await start(options);
  await using stage = await HttpStage.start([`127.0.0.1:${server.port}`], options);
  await play(stage, server);
  await until(() => stage.inFlight === 0 && stage.plane.sessionCount === 0);
}

const urlOf = (stage: HttpStage): string => `ws://127.0.0.1:${stage.port}/chat?room=1`;

socketTest("messages of all kinds come back unchanged", async (stage) => {
  const talk = await SocketClient.open(urlOf(stage));
  for (const text of ["", "x", "häle ✓", "x".repeat(65_536), "y".repeat(1 << 20)]) {
    assert.equal(await talk.ask(text), text);
  }
  for (const size of [0, 1, 125, 126, 65_535, 65_536, 1 << 20, 9_000_000]) {
    assert.deepEqual(await talk.ask(patterned(size)), patterned(size), `${size} bytes`);
  }
  for (let at = 0; at < 500; at++) talk.socket.send(`message ${at}`);
  for (let at = 0; at < 500; at++) assert.equal(await talk.next(), `message ${at}`);
  assert.equal((await talk.close(1000, "")).code, 1000);
  assert.deepEqual(stage.evidence, ["answered×1"]);
});

socketTest("a subprotocol is agreed upon", async (stage) => {
  const talk = await SocketClient.open(urlOf(stage), { protocols: ["other", "chat.v2"] });
  assert.equal(talk.socket.protocol, "chat.v2");
  await talk.close(1000, "");
}, { protocol: "chat.v2" });

socketTest("close codes and reasons reach the other side, whoever closes", async (stage, server) => {
  const leaving = await SocketClient.open(urlOf(stage));
  assert.deepEqual(await leaving.close(4001, "bye"), { code: 4001, reason: "bye" });
  await until(() => server.closings.length === 1);
  assert.deepEqual(server.closings[0], { code: 4001, reason: "bye" });
  const dismissed = await SocketClient.open(urlOf(stage));
  dismissed.socket.send("close 4002 enough");
  assert.deepEqual(await dismissed.closed, { code: 4002, reason: "enough" });
});

socketTest("fifty sockets at once keep their messages apart", async (stage) => {
  const talk = async (name: number) => {
    const socket = await SocketClient.open(urlOf(stage));
    for (let at = 0; at < 20; at++) {
      const text = `${name}: ${at} ${"z".repeat(at * name)}`;
      assert.equal(await socket.ask(text), text);
    }
    assert.equal((await socket.close(1000, "")).code, 1000);
  };
  await Promise.all(Array.from({ length: 50 }, (_, name) => talk(name)));
  assert.equal(stage.plane.stats().listeners.web!.accepted, 50);
});

socketTest("over TLS on both sides", async (stage) => {
  const client = Deno.createHttpClient({ caCerts: [pem("ca.pem")] });
  const talk = await SocketClient.open(`wss://localhost:${stage.port}/`, { client });
  for (const size of [1, 65_536, 1 << 20]) {
    assert.deepEqual(await talk.ask(patterned(size)), patterned(size), `${size} bytes`);
  }
  assert.deepEqual(await talk.close(4003, "done"), { code: 4003, reason: "done" });
  client.close();
}, TLS);

Deno.test("pings of the endpoint are answered by the client, also while nothing else is said", async () => {
  await onStage(wsServer, async (stage, server) => {
    const talk = await SocketClient.open(urlOf(stage));
    talk.socket.send("ping");
    await until(() => server.pongs.length === 1);
    assert.equal(server.pongs[0], "are you there");
    await talk.close(1000, "");
  }, {});
  await onStage(denoServer, async (stage) => {
    const talk = await SocketClient.open(urlOf(stage));
    // Longer than the server would wait for a pong.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    assert.equal(await talk.ask("still here"), "still here");
    await talk.close(1000, "");
  }, { idleTimeout: 2 });
});

Deno.test("an endpoint that cuts the connection ends the socket without a close frame, and is not charged", async () => {
  await onStage(wsServer, async (stage) => {
    const talk = await SocketClient.open(urlOf(stage));
    assert.equal(await talk.ask("hello"), "hello");
    talk.socket.send("die");
    assert.equal((await talk.closed).code, 1006);
    assert.equal(await talk.next(), undefined);
    assert.deepEqual(stage.evidence, ["answered×1"]);
  }, {});
});

Deno.test("a client that vanishes ends the endpoint's socket", async () => {
  await onStage(wsServer, async (stage, server) => {
    const client = new WsClient(urlOf(stage));
    await new Promise((resolve) => client.on("open", resolve));
    client.terminate();
    await until(() => server.closings.length === 1);
    assert.equal(server.closings[0]!.code, 1006);
  }, {});
});

Deno.test("compressed messages go through: ws on both sides agrees on its extension", async () => {
  await onStage(wsServer, async (stage) => {
    const client = new WsClient(urlOf(stage), { perMessageDeflate: true });
    await new Promise((resolve) => client.on("open", resolve));
    assert.match(client.extensions, /permessage-deflate/);
    const back = new Promise<Uint8Array>((resolve) => client.on("message", resolve));
    const closed = new Promise((resolve) => client.on("close", resolve));
    client.send("a".repeat(1 << 20));
    assert.equal((await back).length, 1 << 20);
    client.close(1000);
    await closed;
    const { bytesIn } = stage.plane.stats().listeners.web!;
    assert.ok(bytesIn < 100_000, `${bytesIn} bytes`);
  }, {});
});

Deno.test("an endpoint that refuses the upgrade is heard, and its connection goes on with HTTP", async () => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const isUpgrade = request.headers.get("upgrade") !== null;
    return new Response(isUpgrade ? "no" : "yes", { status: isUpgrade ? 403 : 200 });
  });
  {
    await using stage = await HttpStage.start([`127.0.0.1:${server.addr.port}`]);
    for (let turn = 0; turn < 3; turn++) {
      await assert.rejects(SocketClient.open(urlOf(stage)), /Closed instead of opened: 1006/);
      assert.equal(await (await fetch(`http://127.0.0.1:${stage.port}/`)).text(), "yes");
    }
    assert.deepEqual(stage.evidence, ["answered×6"]);
  }
  await server.shutdown();
});
