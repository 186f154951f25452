import assert from "node:assert/strict";
import fc from "fast-check";
import { type Diffable, type DiffableUpstream, diffConfig, sameValue } from "../../../src/core/diff.ts";
import type { EndpointConfig, Listener } from "../../../src/core/plan.ts";

function listener(port: number, changes: Partial<Listener> = {}): Listener {
  return {
    name: `l${port}`,
    address: { host: "127.0.0.1", port },
    protocol: "tcp",
    upstream: "app",
    routes: [],
    idleTimeoutMs: 1000,
    halfCloseTimeoutMs: 1000,
    trustedProxies: [],
    ...changes,
  };
}

function endpoint(port: number, weight = 1): EndpointConfig {
  return { key: `10.0.0.1:${port}`, host: "10.0.0.1", port, weight, priority: 0, source: "static" };
}

function upstream(
  name: string,
  endpoints: readonly EndpointConfig[],
  changes: Partial<DiffableUpstream> = {},
): DiffableUpstream {
  return {
    name,
    protocol: "tcp",
    loadBalancer: "round_robin",
    connectAttempts: 3,
    timeouts: { connectMs: 1, readMs: 2, happyEyeballsMs: 3 },
    host: "keep",
    endpoints,
    ...changes,
  };
}

const config = (
  listeners: readonly Listener[],
  upstreams: readonly DiffableUpstream[] = [],
): Diffable<DiffableUpstream> => ({
  listeners,
  upstreams,
});

const ports = (listeners: readonly Listener[]) => listeners.map(({ address }) => address.port);

Deno.test("a listener is its address: renamed it changes, moved it is another one", () => {
  const { listeners } = diffConfig(
    config([listener(1), listener(2), listener(3)]),
    config([listener(4), listener(3), listener(2, { name: "renamed" })]),
  );
  assert.deepEqual(ports(listeners.added), [4]);
  assert.deepEqual(ports(listeners.removed), [1]);
  assert.deepEqual(ports(listeners.kept), [3]);
  assert.deepEqual(listeners.changed.map(({ before, after }) => [before.name, after.name]), [[
    "l2",
    "renamed",
  ]]);
});

Deno.test("the same port on another host is another listener", () => {
  const moved = listener(1, { address: { host: "::1", port: 1 } });
  const { listeners } = diffConfig(config([listener(1)]), config([moved]));
  assert.equal(listeners.added.length, 1);
  assert.equal(listeners.removed.length, 1);
});

Deno.test("listeners on port 0 are told apart by name", () => {
  const free = (name: string) => listener(0, { name });
  const { listeners } = diffConfig(config([free("a"), free("b")]), config([free("b"), free("c")]));
  const names = (some: readonly Listener[]) => some.map(({ name }) => name);
  assert.deepEqual([names(listeners.removed), names(listeners.kept), names(listeners.added)], [["a"], ["b"], [
    "c",
  ]]);
});

Deno.test("an upstream changes by its policy, its endpoints stand on their own", () => {
  const { upstreams, endpoints } = diffConfig(
    config([], [upstream("a", [endpoint(1), endpoint(2)]), upstream("b", [endpoint(1)])]),
    config([], [
      upstream("a", [endpoint(3), endpoint(2, 5)]),
      upstream("b", [endpoint(1)], { connectAttempts: 1 }),
    ]),
  );
  assert.deepEqual(upstreams.kept.map(({ name }) => name), ["a"]);
  assert.deepEqual(upstreams.changed.map(({ after }) => after.name), ["b"]);
  const names = (members: readonly { upstream: string; endpoint: EndpointConfig }[]) =>
    members.map((member) => `${member.upstream}/${member.endpoint.port}`);
  assert.deepEqual(names(endpoints.added), ["a/3"]);
  assert.deepEqual(names(endpoints.removed), ["a/1"]);
  assert.deepEqual(names(endpoints.changed.map(({ after }) => after)), ["a/2"]);
  assert.deepEqual(names(endpoints.kept), ["b/1"]);
});

Deno.test("one address in two upstreams is two endpoints", () => {
  const { endpoints } = diffConfig(
    config([], [upstream("a", [endpoint(1)]), upstream("b", [endpoint(1)])]),
    config([], [upstream("a", [endpoint(1)])]),
  );
  assert.deepEqual(endpoints.kept.map((member) => member.upstream), ["a"]);
  assert.deepEqual(endpoints.removed.map((member) => member.upstream), ["b"]);
});

Deno.test("names with separators in them do not run together", () => {
  const { endpoints } = diffConfig(
    config([], [upstream('a","b', [endpoint(1)])]),
    config([], [upstream("a", [endpoint(1)]), upstream("__proto__", [endpoint(1)])]),
  );
  assert.equal(endpoints.added.length, 2);
  assert.equal(endpoints.removed.length, 1);
});

Deno.test("kept things are those of the new config", () => {
  const [old, next] = [listener(1), listener(1)];
  assert.equal(diffConfig(config([old]), config([next])).listeners.kept[0], next);
});

Deno.test("order makes no difference", () => {
  const some = [upstream("a", [endpoint(1), endpoint(2)]), upstream("b", [])];
  const { upstreams, endpoints } = diffConfig(
    config([], some),
    config([], [some[1]!, upstream("a", [endpoint(2), endpoint(1)])]),
  );
  assert.equal(upstreams.kept.length, 2);
  assert.equal(endpoints.kept.length, 2);
});

Deno.test("values are the same by content, absent fields like undefined ones", () => {
  assert.ok(sameValue({ a: [1, { b: Infinity }] }, { a: [1, { b: Infinity }] }));
  assert.ok(sameValue({ a: undefined }, {}));
  assert.ok(sameValue(NaN, NaN));
  for (
    const [a, b] of [[{ a: 1 }, { a: 2 }], [{ a: null }, {}], [[1], [1, 2]], [[], {}], [{}, null], [1, "1"], [
      { 0: 1 },
      [1],
    ]]
  ) {
    assert.equal(sameValue(a, b), false, JSON.stringify([a, b]));
    assert.equal(sameValue(b, a), false, JSON.stringify([b, a]));
  }
});

Deno.test("added, removed, changed and kept together are exactly the two sides", () => {
  const side = fc.uniqueArray(
    fc.record({ port: fc.integer({ min: 1, max: 9 }), idle: fc.integer({ min: 1, max: 2 }) }),
    {
      selector: ({ port }) => port,
    },
  ).map((some) => some.map(({ port, idle }) => listener(port, { idleTimeoutMs: idle })));
  fc.assert(fc.property(side, side, (old, next) => {
    const { added, removed, changed, kept } = diffConfig(config(old), config(next)).listeners;
    const sorted = (listeners: readonly Listener[]) => ports(listeners).sort();
    assert.deepEqual(sorted([...added, ...kept, ...changed.map(({ after }) => after)]), sorted(next));
    assert.deepEqual(sorted([...removed, ...kept, ...changed.map(({ before }) => before)]), sorted(old));
    for (const { before, after } of changed) assert.notEqual(before.idleTimeoutMs, after.idleTimeoutMs);
  }));
});
