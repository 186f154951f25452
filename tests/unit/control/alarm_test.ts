import assert from "node:assert/strict";
import { Alarm } from "../../../src/control/alarm.ts";
import { FakeClock, settled } from "../../support/fake_clock.ts";

function setup() {
  const clock = new FakeClock();
  const rings: number[] = [];
  const alarm = new Alarm(clock, () => rings.push(clock.now()));
  return { clock, rings, alarm };
}

Deno.test("it rings once at the earliest wish, with one timer", async () => {
  const { clock, rings, alarm } = setup();
  alarm.ringBy(500);
  alarm.ringBy(300);
  alarm.ringBy(400);
  alarm.ringBy(Infinity);
  await settled();
  assert.equal(clock.sleeping, 1);
  await clock.advance(1000);
  assert.deepEqual(rings, [300]);
  assert.equal(clock.sleeping, 0);
});

Deno.test("a time that has passed rings soon, and what hears it may ask again", async () => {
  const clock = new FakeClock();
  const rings: number[] = [];
  const alarm: Alarm = new Alarm(clock, () => {
    rings.push(clock.now());
    if (rings.length < 3) alarm.ringBy(clock.now() + 100);
  });
  await clock.advance(50);
  alarm.ringBy(10);
  await clock.advance(1000);
  assert.deepEqual(rings, [51, 151, 251]);
});

Deno.test("far times are slept in steps that timers can count", async () => {
  const { clock, rings, alarm } = setup();
  alarm.ringBy(86_400_000);
  await clock.advance(3_600_000);
  assert.deepEqual(rings, [3_600_000], "early, as announced");
});

Deno.test("stop is for good", async () => {
  const { clock, rings, alarm } = setup();
  alarm.ringBy(100);
  alarm.stop();
  alarm.ringBy(50);
  await settled();
  assert.equal(clock.sleeping, 0);
  await clock.advance(1000);
  assert.deepEqual(rings, []);
});
