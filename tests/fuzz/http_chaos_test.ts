// The HTTP data plane under clients, endpoints and plans that do what they like, wholly in memory: sessions, attempts,
// exchanges, pools and timers leave nothing behind, every client gets its own answers and no others, and endpoints are
// charged with nothing but what they did.

import assert from "node:assert/strict";
import { chaosRun } from "../support/chaos_run.ts";
import { FUZZ_FACTOR, fuzzSeed, seeded } from "../support/http_mutations.ts";
import { Llhttp } from "../support/llhttp.ts";

const RUNS = 1000 * FUZZ_FACTOR;
const llhttp = new Llhttp();

/** What comes to pass in any few hundred runs; without it the runs would not say much. */
const EXPECTED = [
  ...[101, 200, 204, 304, 404, 408, 413, 500, 502, 503, 504].map((status) => `answer ${status}`),
  "another plan",
  "charge",
  "cut",
  "dial given up",
  "drain",
  "half-closed",
  "left in the middle",
  "reset by the client",
  "sent again",
  "silent in the middle",
  "trial decided",
];

Deno.test("whatever clients, endpoints and plans do, answers are right, blame is just and nothing is left", async () => {
  const first = fuzzSeed();
  const total = new Map<string, number>();
  for (let seed = first; seed < first + RUNS; seed++) {
    const { faults, seen } = await chaosRun(seeded(seed), llhttp);
    assert.deepEqual(faults, [], `HALE_FUZZ_SEED=${seed}`);
    for (const [what, count] of seen) total.set(what, (total.get(what) ?? 0) + count);
  }
  console.log(JSON.stringify(Object.fromEntries([...total].sort())));
  assert.deepEqual(EXPECTED.filter((what) => !total.has(what)), []);
});
