import assert from "node:assert/strict";
import { formatAddress } from "../../../src/core/address.ts";
import type { HaleEvent } from "../../../src/core/event.ts";
import { textOf } from "../../../src/core/event_text.ts";
import type { Listener } from "../../../src/core/plan.ts";
import { ListenerPorts } from "../../../src/control/listener_ports.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { listener } from "../../support/plans.ts";

function world(taken: readonly number[] = []) {
  const clock = new FakeClock();
  const events: HaleEvent[] = [];
  const asked: string[] = [];
  const ports = new ListenerPorts({
    clock,
    emit: (event) => events.push(event),
    probeBind: (address) => {
      asked.push(formatAddress(address));
      if (taken.includes(address.port)) return { code: "EADDRINUSE", message: "address in use" };
      return { port: address.port === 0 ? 40_000 + asked.length : address.port };
    },
  });
  return { clock, ports, asked, texts: () => events.splice(0).map(textOf) };
}

const addressesOf = (listeners: readonly Listener[]) =>
  listeners.map(({ name, address }) => `${name} ${address.port}`);

Deno.test("only addresses that are new are asked for and bound", () => {
  const { ports, asked } = world();
  const [a, b] = [listener("a", 1), listener("b", 2)];
  const change = ports.change([{ ...a, name: "renamed" }, b], [a]);
  assert.deepEqual(addressesOf(change.listeners), ["renamed 1", "b 2"]);
  assert.deepEqual([addressesOf(change.added), asked, change.problems], [["b 2"], ["127.0.0.1:2"], []]);
});

Deno.test("every address that is not to be had is a problem", () => {
  const { ports } = world([1, 3]);
  const { problems } = ports.change([listener("a", 1), listener("b", 2), listener("c", 3)], []);
  assert.deepEqual(problems, [
    `Listener "a" can not listen on 127.0.0.1:1: address in use`,
    `Listener "c" can not listen on 127.0.0.1:3: address in use`,
  ]);
});

Deno.test("a listener on port 0 keeps the port it was given, as long as it keeps its name", () => {
  const { ports } = world();
  const wanted = [listener("a", 0), listener("b", 0)];
  const first = ports.change(wanted, []).listeners;
  assert.deepEqual(addressesOf(first), ["a 40001", "b 40002"]);
  const again = ports.change([wanted[1]!, listener("c", 0)], first);
  assert.deepEqual(addressesOf(again.listeners), ["b 40002", "c 40003"]);
  assert.deepEqual(addressesOf(again.added), ["c 40003"]);
});

Deno.test("another certificate or protocol under TLS needs another socket on the same address, which nobody has to be asked for", () => {
  const { ports, asked } = world();
  const tls = { certFile: "c", keyFile: "k", cert: "one", key: "key" };
  const running = [listener("a", 1, { tls })];
  assert.deepEqual(ports.change(running, running).added, []);
  const renewed = [listener("a", 1, { tls: { ...tls, cert: "two" } })];
  assert.deepEqual(addressesOf(ports.change(renewed, running).added), ["a 1"]);
  const spoken = [listener("a", 1, { tls, protocol: "http" })];
  assert.deepEqual(addressesOf(ports.change(spoken, running).added), ["a 1"]);
  assert.deepEqual(ports.change([listener("a", 1, { protocol: "http" })], [listener("a", 1)]).added, []);
  assert.deepEqual(asked, []);
});

Deno.test("an address that overlaps one of ours is shared, another one on the same port is asked for", () => {
  const { ports, asked } = world();
  const at = (host: string) => listener("a", 1, { address: { host, port: 1 } });
  const [all, one] = [at("0.0.0.0"), at("127.0.0.1")];
  assert.deepEqual(ports.change([all], [one]).problems, []);
  assert.deepEqual(ports.change([one], [all]).problems, []);
  assert.deepEqual(asked, []);
  assert.deepEqual(ports.change([at("127.0.0.2")], [one]).problems, []);
  assert.deepEqual(asked, ["127.0.0.2:1"]);
});

Deno.test("an address that we have just let go of is ours for a second", async () => {
  const { ports, clock, texts } = world([1]);
  const [a, b] = [listener("a", 1), listener("b", 2)];
  ports.tell([], [a]);
  ports.tell([a], [b]);
  assert.deepEqual(texts(), [
    "Listening on 127.0.0.1:1 for a",
    "Listening on 127.0.0.1:2 for b",
    "Stopped listening on 127.0.0.1:1 for a",
  ]);
  assert.deepEqual(ports.change([a], [b]).problems, []);
  await clock.advance(1000);
  assert.equal(ports.change([a], [b]).problems.length, 1);
});
