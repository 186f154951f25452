// One suite for every balancing policy: bounded passes, gates, priorities, weights, carried-over cursors. What only one
// policy promises is at the end.

import assert from "node:assert/strict";
import { createBalancer } from "../../src/core/balance.ts";
import { type BalanceEndpoint, type Balancer, hashText } from "../../src/core/balance_policy.ts";
import type { Random } from "../../src/core/clock.ts";
import { PEAK_DECAY_MS, PeakLatency } from "../../src/core/peak_latency.ts";
import type { LoadBalancer } from "../../src/core/plan.ts";

const POLICIES: readonly LoadBalancer[] = ["round_robin", "least_requests", "random", "ip_hash", "peak_ewma"];

interface Load {
  inFlight: number;
  latencyMs: number;
}

interface TestEndpoint extends BalanceEndpoint {
  readonly load: Load;
}

function endpointsOf(weights: readonly number[], changes: Partial<BalanceEndpoint> = {}): TestEndpoint[] {
  return weights.map((weight, at) => ({
    key: `10.0.0.${at}:80`,
    weight,
    priority: 0,
    ...changes,
    load: { inFlight: 0, latencyMs: 0 },
  }));
}

/** The same numbers in every run. */
function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mix = Math.imul(state ^ (state >>> 15), state | 1);
    mix ^= mix + Math.imul(mix ^ (mix >>> 7), mix | 61);
    return ((mix ^ (mix >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Picks and remembers what it was asked. */
class Picker {
  asked: number[] = [];
  client = 0;

  constructor(readonly balancer: Balancer, public usable: (index: number) => boolean = () => true) {}

  pick(clientHash?: number): number {
    this.asked = [];
    const hash = clientHash ?? hashText(`client ${this.client++}`);
    return this.balancer.pick({
      clientHash: hash,
      isUsable: (index) => {
        this.asked.push(index);
        return this.usable(index);
      },
    });
  }

  counts(picks: number, size: number): number[] {
    const counts = new Array<number>(size).fill(0);
    for (let pick = 0; pick < picks; pick++) counts[this.pick()]!++;
    return counts;
  }
}

function pickerOf(policy: LoadBalancer, endpoints: readonly BalanceEndpoint[], seed = 1): Picker {
  return new Picker(createBalancer(policy, endpoints, { random: seeded(seed) }));
}

function assertShares(counts: readonly number[], weights: readonly number[], tolerance: number): void {
  const picks = counts.reduce((sum, count) => sum + count, 0);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  counts.forEach((count, at) => {
    const [got, wanted] = [count / picks, weights[at]! / total];
    assert.ok(Math.abs(got - wanted) <= tolerance, `endpoint ${at} got ${got}, wanted ${wanted}`);
  });
}

for (const policy of POLICIES) {
  Deno.test(`${policy}: without endpoints there is nothing to pick`, () => {
    assert.equal(pickerOf(policy, []).pick(), -1);
  });

  Deno.test(`${policy}: one endpoint is picked always, and never when it is out`, () => {
    const picker = pickerOf(policy, endpointsOf([3]));
    for (let pick = 0; pick < 10; pick++) assert.equal(picker.pick(), 0);
    picker.usable = () => false;
    assert.equal(picker.pick(), -1);
    assert.deepEqual(picker.asked, [0]);
  });

  for (const weights of [[1, 1, 1, 1, 1], [5, 1, 0, 2, 9]]) {
    Deno.test(`${policy}: a pick asks each endpoint at most once and gives a usable one (weights ${weights})`, () => {
      const random = seeded(7);
      const picker = pickerOf(policy, endpointsOf(weights));
      for (let pick = 0; pick < 2000; pick++) {
        const mask = Math.floor(random() * 32);
        picker.usable = (index) => (mask >> index & 1) === 1;
        const index = picker.pick();
        assert.equal(new Set(picker.asked).size, picker.asked.length, "asked twice");
        assert.equal(index >= 0, mask !== 0, `mask ${mask} gave ${index}`);
        if (index >= 0) assert.ok(picker.usable(index) && picker.asked.includes(index));
      }
    });
  }

  Deno.test(`${policy}: with all out, every endpoint was asked`, () => {
    const picker = pickerOf(policy, endpointsOf([1, 2, 3]));
    picker.usable = () => false;
    assert.equal(picker.pick(), -1);
    assert.deepEqual(picker.asked.toSorted(), [0, 1, 2]);
  });

  Deno.test(`${policy}: of 1000 endpoints the only usable one is found, from any start`, () => {
    const picker = pickerOf(policy, endpointsOf(new Array(1000).fill(1)));
    for (const only of [0, 1, 499, 998, 999]) {
      picker.usable = (index) => index === only;
      assert.equal(picker.pick(), only);
      assert.ok(picker.asked.length <= 1000);
    }
  });

  Deno.test(`${policy}: equal weights get equal shares within 2 % over 100,000 picks`, () => {
    const counts = pickerOf(policy, endpointsOf([7, 7, 7, 7])).counts(100_000, 4);
    assertShares(counts, [1, 1, 1, 1], 0.02 / 4);
  });

  Deno.test(`${policy}: shares follow weights within 2 % over 100,000 picks`, () => {
    const weights = [5, 1, 3, 1];
    assertShares(pickerOf(policy, endpointsOf(weights)).counts(100_000, 4), weights, 0.02 / 4);
  });

  Deno.test(`${policy}: the others take over an endpoint's share by their weights`, () => {
    const picker = pickerOf(policy, endpointsOf([5, 2, 1]));
    picker.usable = (index) => index !== 0;
    assertShares(picker.counts(100_000, 3), [0, 2, 1], 0.02 / 2);
  });

  Deno.test(`${policy}: all weights 0 are equal`, () => {
    assertShares(pickerOf(policy, endpointsOf([0, 0, 0])).counts(30_000, 3), [1, 1, 1], 0.01);
  });

  Deno.test(`${policy}: weight 0 beside others is the smallest share, but one`, () => {
    const counts = pickerOf(policy, endpointsOf([0, 1, 4])).counts(100_000, 3);
    assertShares(counts, [0.1, 1, 4], 0.01);
    assert.ok(counts[0]! > 0 && counts[0]! < counts[1]! / 4);
  });

  Deno.test(`${policy}: a lower priority number first, the next group only when none of it is usable, and back`, () => {
    const endpoints = [
      ...endpointsOf([1, 1], { priority: 20 }),
      ...endpointsOf([1, 1], { priority: 10 }).map((each) => ({ ...each, key: `b${each.key}` })),
    ];
    const picker = pickerOf(policy, endpoints);
    const seen = () => new Set(Array.from({ length: 200 }, () => picker.pick()));
    assert.deepEqual(seen(), new Set([2, 3]));
    picker.usable = (index) => index !== 2;
    assert.deepEqual(seen(), new Set([3]));
    picker.usable = (index) => index < 2;
    assert.deepEqual(seen(), new Set([0, 1]));
    picker.usable = () => true;
    assert.deepEqual(seen(), new Set([2, 3]));
  });

  Deno.test(`${policy}: a set that changes under way keeps giving usable endpoints and fair shares`, () => {
    const random = seeded(3);
    let balancer: Balancer | undefined;
    for (let change = 0; change < 200; change++) {
      const size = 1 + Math.floor(random() * 6);
      const weights = Array.from({ length: size }, () => Math.floor(random() * 4));
      const endpoints = endpointsOf(weights).toSorted(() => random() - 0.5);
      balancer = createBalancer(policy, endpoints, { random, previous: balancer });
      const picker = new Picker(balancer);
      const picks = picker.counts(20, size);
      assert.equal(picks.reduce((sum, count) => sum + count, 0), 20);
    }
  });

  Deno.test(`${policy}: a change of policy takes the old balancer as it is`, () => {
    for (const before of POLICIES) {
      const previous = createBalancer(before, endpointsOf([1, 2, 3]), { random: seeded(1) });
      const balancer = createBalancer(policy, endpointsOf([2, 1, 1]), { random: seeded(1), previous });
      assert.ok(new Picker(balancer).pick() >= 0);
    }
  });
}

/** The picks as letters. */
function sequence(picker: Picker, picks: number): string {
  return Array.from({ length: picks }, () => "abcdefgh"[picker.pick()]).join("");
}

Deno.test("round_robin: (5,1,1) gives a a b a c a a from wherever it starts", () => {
  const cycle = "aabacaa";
  const starts = new Set<string>();
  for (let seed = 0; seed < 40; seed++) {
    const got = sequence(pickerOf("round_robin", endpointsOf([5, 1, 1]), seed), 14);
    assert.ok(`${cycle}${cycle}${cycle}`.includes(got), got);
    starts.add(got.slice(0, 7));
  }
  assert.ok(starts.size > 3, "starts are random");
});

Deno.test("round_robin: weights are exact in every cycle", () => {
  for (const weights of [[1, 1, 1], [3, 2, 1], [1000, 1], [7, 5, 3, 2, 1]]) {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const picker = pickerOf("round_robin", endpointsOf(weights), 5);
    for (let cycle = 0; cycle < 3; cycle++) assert.deepEqual(picker.counts(total, weights.length), weights);
  }
});

Deno.test("round_robin: weights stay exact among the rest while one is out and after it is back", () => {
  const picker = pickerOf("round_robin", endpointsOf([5, 3, 2]), 9);
  picker.counts(137, 3);
  picker.usable = (index) => index !== 0;
  const out = picker.counts(500, 3);
  assert.ok(Math.abs(out[1]! - 300) <= 2, String(out));
  picker.usable = () => true;
  const back = picker.counts(1000, 3);
  assert.ok(Math.abs(back[0]! - 500) <= 4, String(back));
});

Deno.test("round_robin: equal weights go round in order and skip what is out", () => {
  const picker = pickerOf("round_robin", endpointsOf([1, 1, 1, 1]));
  const start = picker.pick();
  assert.deepEqual([picker.pick(), picker.pick(), picker.pick(), picker.pick()], [
    (start + 1) % 4,
    (start + 2) % 4,
    (start + 3) % 4,
    start,
  ]);
  assert.equal(picker.asked.length, 1);
  picker.usable = (index) => index !== (start + 1) % 4;
  assert.equal(picker.pick(), (start + 2) % 4);
});

Deno.test("round_robin: adding, removing and reordering endpoints do not reset the turn", () => {
  const random = () => 0;
  const [a, b, c, d] = endpointsOf([1, 1, 1, 1]) as [TestEndpoint, TestEndpoint, TestEndpoint, TestEndpoint];
  const first = createBalancer("round_robin", [a, b, c], { random });
  assert.equal(sequence(new Picker(first), 2), "ab");
  const reordered = createBalancer("round_robin", [c, a, b], { random, previous: first });
  assert.equal(sequence(new Picker(reordered), 1), "a", "c, which is first now, was next");
  const without = createBalancer("round_robin", [b, c, d], { random, previous: reordered });
  assert.equal(sequence(new Picker(without), 3), "abc", "a, which was next, is gone: b, after it, is next");
});

for (const weights of [[1, 1, 1], [5, 3, 1]]) {
  Deno.test(`round_robin: the same set again goes on where it was, from every place (weights ${weights})`, () => {
    const whole = sequence(pickerOf("round_robin", endpointsOf(weights), 4), 18);
    for (let picked = 0; picked < 9; picked++) {
      const first = createBalancer("round_robin", endpointsOf(weights), { random: seeded(4) });
      new Picker(first).counts(picked, 3);
      const options = { random: seeded(picked + 5), previous: first };
      const second = new Picker(createBalancer("round_robin", endpointsOf(weights), options));
      assert.equal(sequence(second, 9), whole.slice(picked, picked + 9));
    }
  });
}

Deno.test("round_robin: a weight edit makes no burst for anybody", () => {
  const random = seeded(11);
  for (let trial = 0; trial < 300; trial++) {
    const before = [1000, 900, 50].map((weight) => Math.ceil(weight * random()));
    const first = createBalancer("round_robin", endpointsOf(before), { random });
    new Picker(first).counts(Math.floor(random() * 2000), 3);
    const second = createBalancer("round_robin", endpointsOf([2, 1, 1]), { random, previous: first });
    const counts = new Picker(second).counts(40, 3);
    assert.ok(Math.abs(counts[0]! - 20) <= 2 && Math.abs(counts[1]! - 10) <= 2, String(counts));
  }
});

Deno.test("least_requests: the fewest in flight over weight", () => {
  const endpoints = endpointsOf([1, 2, 4]);
  const picker = pickerOf("least_requests", endpoints);
  const inFlight = [0, 0, 0];
  for (let pick = 0; pick < 70; pick++) {
    const index = picker.pick();
    endpoints[index]!.load.inFlight = ++inFlight[index]!;
  }
  assert.deepEqual(inFlight, [10, 20, 40]);
  endpoints[0]!.load.inFlight = 9;
  assert.equal(picker.pick(), 0);
  picker.usable = (index) => index !== 0;
  endpoints[2]!.load.inFlight = 39;
  assert.equal(picker.pick(), 2);
});

Deno.test("least_requests: equals take turns, so 100 picks of a quiet upstream are even", () => {
  const counts = pickerOf("least_requests", endpointsOf([1, 1, 1, 1])).counts(100, 4);
  assert.deepEqual(counts, [25, 25, 25, 25]);
});

Deno.test("least_requests: a count below 0 gives no advantage", () => {
  const endpoints = endpointsOf([1, 1]);
  endpoints[0]!.load.inFlight = -50;
  assert.deepEqual(pickerOf("least_requests", endpoints).counts(10, 2), [5, 5]);
});

Deno.test("random: of two drawn the less busy one, so a busy endpoint of two is never picked", () => {
  const endpoints = endpointsOf([1, 1]);
  endpoints[0]!.load.inFlight = 1;
  assert.deepEqual(pickerOf("random", endpoints).counts(1000, 2), [0, 1000]);
});

Deno.test("random: of many, the busiest is never picked and the least busy most often", () => {
  const endpoints = endpointsOf([1, 1, 1, 1]);
  endpoints.forEach((endpoint, at) => endpoint.load.inFlight = at);
  const counts = pickerOf("random", endpoints).counts(60_000, 4);
  assertShares(counts, [3, 2, 1, 0], 0.01);
});

Deno.test("random: the less busy of two usable ones also while another is out", () => {
  const endpoints = endpointsOf([1, 1, 1]);
  endpoints[1]!.load.inFlight = 5;
  const picker = pickerOf("random", endpoints);
  picker.usable = (index) => index !== 0;
  assert.deepEqual(picker.counts(1000, 3), [0, 0, 1000]);
});

Deno.test("random: the very ends of the range of chance are fine", () => {
  for (const chance of [0, 1 - 2 ** -53]) {
    const picker = new Picker(createBalancer("random", endpointsOf([3, 1, 2]), { random: () => chance }));
    for (const out of [-1, 0, 1, 2]) {
      picker.usable = (index) => index !== out;
      const index = picker.pick();
      assert.ok(index >= 0 && index !== out);
    }
  }
});

Deno.test("ip_hash: a client keeps its endpoint, in every worker and whatever the order", () => {
  const endpoints = endpointsOf([1, 1, 1, 1, 1]);
  const [one, other] = [pickerOf("ip_hash", endpoints, 1), pickerOf("ip_hash", endpoints.toReversed(), 2)];
  for (let client = 0; client < 500; client++) {
    const hash = hashText(`192.0.2.${client}`);
    const index = one.pick(hash);
    assert.equal(one.pick(hash), index);
    assert.equal(other.pick(hash), 4 - index);
  }
});

for (const weights of [[1, 1, 1, 1], [5, 1, 3, 1]]) {
  Deno.test(`ip_hash: only the clients of an endpoint that is out move, evenly, and they return (weights ${weights})`, () => {
    const picker = pickerOf("ip_hash", endpointsOf(weights));
    const moved = [0, 0, 0, 0];
    for (let client = 0; client < 20_000; client++) {
      const hash = hashText(`2001:db8::${client}`);
      picker.usable = () => true;
      const owner = picker.pick(hash);
      picker.usable = (index) => index !== 1;
      const next = picker.pick(hash);
      if (owner === 1) moved[next]!++;
      else assert.equal(next, owner);
      picker.usable = () => true;
      assert.equal(picker.pick(hash), owner);
    }
    assertShares(moved, weights.with(1, 0), 0.04);
  });

  Deno.test(`ip_hash: an added endpoint takes clients from all and moves nobody else (weights ${weights})`, () => {
    const endpoints = endpointsOf([...weights, 2]);
    const few = pickerOf("ip_hash", endpoints.slice(0, 4));
    const more = pickerOf("ip_hash", endpoints);
    for (let client = 0; client < 2000; client++) {
      const hash = hashText(`198.51.100.${client}`);
      const now = more.pick(hash);
      assert.ok(now === 4 || now === few.pick(hash));
    }
  });
}

Deno.test("peak_ewma: the least latency times in flight + 1", () => {
  const endpoints = endpointsOf([1, 1]);
  endpoints[0]!.load.latencyMs = 10;
  endpoints[1]!.load.latencyMs = 35;
  const picker = pickerOf("peak_ewma", endpoints);
  const order = [];
  for (let pick = 0; pick < 5; pick++) {
    const index = picker.pick();
    endpoints[index]!.load.inFlight++;
    order.push(index);
  }
  assert.deepEqual(order, [0, 0, 0, 1, 0]);
});

Deno.test("peak_ewma: with equal latencies what is in flight follows the weights", () => {
  const endpoints = endpointsOf([1, 4]);
  for (const endpoint of endpoints) endpoint.load.latencyMs = 10;
  const picker = pickerOf("peak_ewma", endpoints);
  for (let pick = 0; pick < 100; pick++) endpoints[picker.pick()]!.load.inFlight++;
  assert.ok(Math.abs(endpoints[1]!.load.inFlight - 80) <= 2, String(endpoints[1]!.load.inFlight));
});

Deno.test("peak_ewma: an unknown endpoint is tried at once, by one exchange", () => {
  const endpoints = endpointsOf([1, 1, 1]);
  endpoints[0]!.load.latencyMs = 5;
  endpoints[2]!.load.latencyMs = 5;
  const picker = pickerOf("peak_ewma", endpoints);
  assert.equal(picker.pick(), 1);
  endpoints[1]!.load.inFlight = 1;
  for (let pick = 0; pick < 10; pick++) assert.notEqual(picker.pick(), 1);
});

Deno.test("peak_ewma: a peak counts at once, is pulled down slowly, and fades in silence", () => {
  const peak = new PeakLatency();
  assert.equal(peak.at(5), 0);
  peak.add(100, 1000);
  assert.equal(peak.at(1000), 100);
  peak.add(10, 1010);
  assert.ok(peak.at(1010) > 99 && peak.at(1010) < 100);
  peak.add(200, 1020);
  assert.equal(peak.at(1020), 200);
  const later = peak.at(1020 + PEAK_DECAY_MS);
  assert.ok(Math.abs(later - 200 / Math.E) < 0.001);
  peak.add(10, 1020 + 100 * PEAK_DECAY_MS);
  assert.ok(Math.abs(peak.at(1020 + 100 * PEAK_DECAY_MS) - 10) < 0.001);
});
