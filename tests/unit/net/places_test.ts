import assert from "node:assert/strict";
import { Places } from "../../../src/net/places.ts";
import { settled } from "../../support/fake_clock.ts";

const { signal } = new AbortController();

Deno.test("no more places are given than there are, in the order of asking", async () => {
  const places = new Places(2);
  const got: number[] = [];
  for (let asker = 0; asker < 4; asker++) void places.take(signal).then(() => got.push(asker));
  await settled();
  assert.deepEqual(got, [0, 1]);
  assert.equal(places.waiting, 2);
  places.give();
  await settled();
  assert.deepEqual(got, [0, 1, 2]);
  places.give();
  places.give();
  places.give();
  await settled();
  assert.deepEqual(got, [0, 1, 2, 3]);
  await places.take(signal);
  await places.take(signal);
  assert.equal(places.waiting, 0);
});

Deno.test("who gives up waiting takes no place with it", async () => {
  const places = new Places(1);
  await places.take(signal);
  const impatient = new AbortController();
  const waiting = places.take(impatient.signal);
  const patient = places.take(signal);
  impatient.abort("enough");
  await assert.rejects(waiting, (reason) => reason === "enough");
  places.give();
  await patient;
  await assert.rejects(places.take(impatient.signal));
});
