// What HTTP sessions share over plans: pooled connections stay for endpoints that are reached as before, and only then.

import assert from "node:assert/strict";
import { Board, Tally } from "../../../src/core/board.ts";
import type { Endpoint, Upstream } from "../../../src/core/plan.ts";
import { TimerWheel } from "../../../src/core/wheel.ts";
import { HttpOffice, type Site } from "../../../src/data/http_office.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { endpoint, planOf, upstream } from "../../support/plans.ts";

class World {
  readonly office = new HttpOffice({ wheel: new TimerWheel(0), clock: new FakeClock() }, () => 0);
  readonly #board = new Board();
  readonly #tally = new Tally();

  constructor() {
    this.#board.grow(2000);
    this.#tally.grow(2000);
  }

  /** Takes a plan as it comes from main, a copy, and gives the site of its first endpoint. */
  take(plain: Upstream): Site {
    const copy = structuredClone(plain);
    this.office.take(planOf([copy]));
    return this.site(copy, copy.endpoints[0]!);
  }

  site(upstream: Upstream, endpoint: Endpoint): Site {
    const cells = this.#board.cells(endpoint.slot);
    return this.office.site({ upstream, endpoint, cells, row: this.#tally.row(endpoint.slot) });
  }
}

const https = (changes: Partial<Upstream> = {}) =>
  upstream("up", [endpoint("10.0.0.1:443", 0, { serverName: "up.test" })], {
    protocol: "https",
    tls: { ca: "BUNDLE" },
    ...changes,
  });

Deno.test("a plan that changes nothing about how an endpoint is reached keeps its pool and latency", () => {
  const world = new World();
  const before = world.take(https());
  const same: Upstream[] = [
    https(),
    https({ loadBalancer: "random", host: { name: "other.test" } }),
    https({ endpoints: [endpoint("10.0.0.1:443", 0, { serverName: "up.test", weight: 9 })] }),
  ];
  for (const next of same) {
    const site = world.take(next);
    assert.deepEqual([site.pool === before.pool, site.peak === before.peak], [true, true]);
  }
});

Deno.test("another name, trust or address, or none of TLS any more, begins with an empty pool", () => {
  const others: Upstream[] = [
    https({ tls: { ca: "ANOTHER" } }),
    https({ tls: {} }),
    https({ tls: { ca: "BUNDLE", serverName: "other.test" } }),
    https({ endpoints: [endpoint("10.0.0.1:443", 0, { serverName: "other.test" })] }),
    https({ endpoints: [endpoint("10.0.0.2:443", 0, { serverName: "up.test" })] }),
    https({ endpoints: [endpoint("10.0.0.1:443", 0, { serverName: "up.test", tls: false })] }),
    https({ name: "renamed" }),
  ];
  for (const next of others) {
    const world = new World();
    const before = world.take(https());
    assert.notEqual(world.take(next).pool, before.pool, JSON.stringify(next));
  }
});

Deno.test("a thousand endpoints and a bundle of a usual size do not make a plan expensive", () => {
  const world = new World();
  const endpoints = Array.from({ length: 1000 }, (_, slot) => endpoint(`10.0.0.1:${slot + 1}`, slot));
  const large = https({ endpoints, tls: { ca: "A".repeat(220_000) } });
  const useAll = (plan: Upstream) => plan.endpoints.forEach((each) => world.site(plan, each));
  useAll(structuredClone(large));
  let leastMs = Infinity;
  for (let turn = 0; turn < 5; turn++) {
    const next = structuredClone(large);
    const startedAt = performance.now();
    world.office.take(planOf([next]));
    useAll(next);
    leastMs = Math.min(leastMs, performance.now() - startedAt);
  }
  // Comparing the whole bundle for each endpoint takes ten times as long.
  assert.ok(leastMs < 50, `${leastMs} ms`);
});
