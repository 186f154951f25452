// The state as text for a terminal.

import assert from "node:assert/strict";
import { viewOf } from "../../../src/admin/view_of.ts";
import type { View } from "../../../src/admin/view.ts";
import { statusText } from "../../../src/cli/status_text.ts";
import { healthyState, refusedState, sickState, startingState } from "../../support/admin_states.ts";

const plain = (view: View, onlyTrouble = false) => statusText(view, { colors: false, onlyTrouble });
const lineWith = (text: string, part: string) => text.split("\n").find((line) => line.includes(part)) ?? "";

Deno.test("the second line says what is out", () => {
  const second = (view: View) => plain(view).split("\n")[1];
  assert.equal(second(viewOf(healthyState())), "All 9 endpoints are in rotation");
  assert.equal(second(viewOf(sickState())), "3 of 9 endpoints are out, no usable one in pg");
  assert.equal(second(viewOf(startingState())), "No plan is in force yet");
});

Deno.test("an endpoint's line has state, numbers, since when, why, and what brings it back", () => {
  const line = lineWith(plain(viewOf(sickState())), "10.0.0.3:8080");
  assert.match(
    line,
    /^ {2}ejected +10\.0\.0\.3:8080 +0 +0 +- +2 min 41 s {2}5 connect failures in a row, last: refused/,
  );
  assert.match(
    line,
    /returns on trial when its time is over, or sooner after 2 good probes in a row \(12 s\)$/,
  );
  assert.match(lineWith(plain(viewOf(sickState())), "10.0.2.1:5432"), /^ {2}ejected\+maintenance /);
});

Deno.test("columns stand under their heads", () => {
  const lines = plain(viewOf(healthyState())).split("\n");
  const head = lines.find((line) => line.includes("STATE"))!;
  const row = lineWith(plain(viewOf(healthyState())), "10.0.0.1:8080");
  assert.equal(row.indexOf("10.0.0.1:8080"), head.indexOf("ENDPOINT"));
});

Deno.test("a refused edit shows every problem as file:line:column", () => {
  const text = plain(viewOf(refusedState()));
  assert.match(text, /The last config edit was refused 42 s ago, generation 7 goes on:/);
  assert.match(text, /^ {2}\/etc\/hale\/hale\.yaml:31:19 {2}upstreams\[0\]\.health\.eject_ms {2}Wanted/m);
  assert.match(text, /^ {2}Cannot bind 0\.0\.0\.0:443: permission denied$/m);
});

Deno.test("failing discovery is told with its kind and the next try", () => {
  const line = lineWith(plain(viewOf(sickState())), "DNS");
  assert.equal(
    line,
    "  DNS catalogue.service.internal A+AAAA: failing: servfail, kept 3 endpoints, asks again in 7.9 s",
  );
});

Deno.test("with only trouble the well ones are counted", () => {
  const text = plain(viewOf(sickState()), true);
  assert.ok(!text.includes("10.0.0.1:8080"));
  assert.ok(text.includes("10.0.0.4:8080"), "one on trial is trouble");
  assert.ok(text.includes("  2 more, all well"));
});

Deno.test("colours only when wanted, and they change no other character", () => {
  const view = viewOf(sickState());
  const coloured = statusText(view, { colors: true });
  assert.ok(coloured.includes("\u001b[31m"));
  // deno-lint-ignore no-control-regex
  assert.equal(coloured.replace(/\u001b\[\d+m/g, "").replace(/ +$/gm, ""), plain(view));
  assert.ok(!plain(view).includes("\u001b"));
});

Deno.test("what an endpoint sent can not steer the terminal", () => {
  const state = sickState();
  const endpoints = new Map(state.endpoints);
  endpoints.set(2, { ...endpoints.get(2)!, cause: "last: \u001b[2J\u0007\u009b1m bad" });
  for (const colors of [false, true]) {
    const text = statusText(viewOf({ ...state, endpoints }), { colors });
    assert.ok(text.includes("last: ?[2J??1m bad"));
  }
});
