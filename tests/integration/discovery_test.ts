// Discovery in real time, by real questions to a scripted name server. What it decides is tested without sockets in
// tests/unit/control/discovery*_test.ts.

import assert from "node:assert/strict";
import { DiscoveryTasks } from "../../src/control/discovery.ts";
import type { HaleEvent } from "../../src/core/event.ts";
import type { EndpointConfig } from "../../src/core/plan.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { APP, discoveringUpstream, discoveryParams } from "../support/discovery_desk.ts";
import { NameServer } from "../support/name_server.ts";
import { until } from "../support/until.ts";

Deno.test("a set follows DNS through change, silence and recovery, and all ends with abortAll", async () => {
  const server = NameServer.start();
  const events: HaleEvent[] = [];
  let set: readonly EndpointConfig[] = [];
  const keys = () => set.map((endpoint) => endpoint.key).join(" ");
  const tasks = new DiscoveryTasks({
    clock: new SystemClock(),
    random: Math.random,
    emit: (event) => void events.push(event),
    onUpdate: (_, endpoints) => void (set = endpoints),
  });
  const params = discoveryParams({ nameservers: [server.address] });
  const upstreams = [discoveringUpstream("app", params)];

  server.setA(APP, ["127.0.0.11", "127.0.0.12"]);
  await tasks.respawn({ resolver: "stub", upstreams });
  await until(() => keys() === "127.0.0.11:80 127.0.0.12:80");

  server.setA(APP, ["127.0.0.12", "127.0.0.13"]);
  await until(() => keys() === "127.0.0.12:80 127.0.0.13:80");

  server.set(APP, "A", { rcode: "SERVFAIL" });
  await until(() => tasks.stateOf("app")!.failure === "servfail");
  assert.equal(keys(), "127.0.0.12:80 127.0.0.13:80");
  await tasks.respawn({ resolver: "stub", upstreams });
  assert.equal(keys(), "127.0.0.12:80 127.0.0.13:80");

  server.setA(APP, ["127.0.0.14"]);
  tasks.hurry("app");
  await until(() => keys() === "127.0.0.14:80");
  assert.equal(tasks.stateOf("app")!.failure, undefined);

  server.set(APP, "A", { drop: true });
  const asked = server.script.count(APP, "A");
  tasks.hurry("app");
  await until(() => server.script.count(APP, "A") > asked);
  await tasks.abortAll();
  await server.close();
  assert.ok(events.every((event) => event.kind.startsWith("discovery_")), JSON.stringify(events));
});
