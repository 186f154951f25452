import assert from "node:assert/strict";
import fc from "fast-check";
import { type Timed, TimerWheel } from "../../../src/core/wheel.ts";

function item(deadline: number): Timed & { expired: number } {
  return {
    deadline,
    bucket: -1,
    place: -1,
    expired: 0,
    expire() {
      this.expired++;
    },
  };
}

Deno.test("an item expires once, at the first tick on or after its deadline", () => {
  const wheel = new TimerWheel(1000);
  const a = item(1250);
  wheel.add(a);
  wheel.advance(1200);
  assert.equal(a.expired, 0);
  wheel.advance(1300);
  assert.equal(a.expired, 1);
  wheel.advance(60_000);
  assert.equal(a.expired, 1);
});

Deno.test("a deadline that moved on is honoured without a call", () => {
  const wheel = new TimerWheel(0);
  const a = item(500);
  wheel.add(a);
  wheel.advance(400);
  a.deadline = 900;
  wheel.advance(800);
  assert.equal(a.expired, 0);
  wheel.advance(1000);
  assert.equal(a.expired, 1);
});

Deno.test("a deadline can be brought forward by reschedule", () => {
  const wheel = new TimerWheel(0);
  const a = item(3_600_000);
  wheel.add(a);
  wheel.reschedule(a, 200);
  wheel.advance(300);
  assert.equal(a.expired, 1);
});

Deno.test("a removed item never expires, even when another one removes it while expiring", () => {
  const wheel = new TimerWheel(0);
  const second = item(100);
  const first: Timed = { deadline: 100, bucket: -1, place: -1, expire: () => wheel.remove(second) };
  wheel.add(first);
  wheel.add(second);
  wheel.advance(1000);
  assert.equal(second.expired, 0);
});

Deno.test("random deadlines, renewals and steps: nobody expires early, nobody is more than a tick late", () => {
  const action = fc.record({
    step: fc.integer({ min: 1, max: 90_000 }),
    delay: fc.integer({ min: 0, max: 200_000 }),
    renew: fc.option(fc.integer({ min: 0, max: 100_000 })),
  });
  fc.assert(fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
    let now = 0;
    const wheel = new TimerWheel(now, { tickMs: 100, buckets: 64 });
    const items: (Timed & { expired: number })[] = [];
    for (const { step, delay, renew } of actions) {
      const added = item(now + delay);
      items.push(added);
      wheel.add(added);
      const oldest = items.find((other) => other.expired === 0);
      if (renew !== null && oldest) oldest.deadline = Math.max(oldest.deadline, now + renew);
      now += step;
      wheel.advance(now);
      for (const each of items) {
        assert.ok(each.expired <= 1);
        if (each.expired === 0) assert.ok(each.deadline > now - 100, `late: ${each.deadline} at ${now}`);
        else assert.ok(each.deadline <= now);
      }
    }
  }));
});

Deno.test("items that come, go and move, also while others expire: each expires once for each time it was due, in time", () => {
  fc.assert(fc.property(fc.infiniteStream(fc.nat({ max: 9999 })), (choices) => {
    const choose = (below: number) => (choices.next().value as number) % below;
    const wheel = new TimerWheel(0, { tickMs: 10, buckets: 16 });
    /** What should be on the wheel. */
    const waiting = new Set<Timed>();
    const items: Timed[] = Array.from({ length: 12 }, () => ({
      deadline: 0,
      bucket: -1,
      place: -1,
      expire() {
        assert.ok(waiting.delete(this), "it was not on the wheel");
        assert.ok(this.deadline <= wheel.now, "early");
        for (let acts = choose(3); acts > 0; acts--) act();
      },
    }));
    function act(): void {
      const one = items[choose(items.length)]!;
      if (choose(2) === 0) {
        wheel.remove(one);
        waiting.delete(one);
      } else {
        wheel.reschedule(one, wheel.now + choose(400));
        waiting.add(one);
      }
    }
    for (let now = 0; now < 1500; now += 1 + choose(50)) {
      for (let acts = choose(5); acts > 0; acts--) act();
      wheel.advance(now);
      for (const one of items) {
        assert.equal(one.bucket >= 0, waiting.has(one));
        if (waiting.has(one)) assert.ok(one.deadline > now - 20, `late: ${one.deadline} at ${now}`);
      }
    }
  }));
});
