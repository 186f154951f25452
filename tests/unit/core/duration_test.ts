import assert from "node:assert/strict";
import { formatDuration } from "../../../src/core/duration.ts";

const CASES: readonly (readonly [ms: number, text: string])[] = [
  [0, "0 ms"],
  [-5, "0 ms"],
  [NaN, "0 ms"],
  [0.04, "0 ms"],
  [0.44, "0.4 ms"],
  [9.96, "10 ms"],
  [12.3, "12 ms"],
  [999.4, "999 ms"],
  [999.6, "1 s"],
  [1000, "1 s"],
  [1500, "1.5 s"],
  [9940, "9.9 s"],
  [9960, "10 s"],
  [30_000, "30 s"],
  [59_400, "59 s"],
  [59_600, "1 min"],
  [90_000, "1 min 30 s"],
  [3_600_000, "1 h"],
  [3_660_000, "1 h 1 min"],
  [3_659_000, "1 h"],
  [90_000_000, "1 d 1 h"],
  [1e12, "11574 d 1 h"],
  [Infinity, "ever"],
];

for (const [ms, text] of CASES) {
  Deno.test(`${ms} ms read as "${text}"`, () => {
    assert.equal(formatDuration(ms), text);
  });
}
