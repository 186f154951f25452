import assert from "node:assert/strict";
import { editDistance, nearest } from "../../../src/config/suggest.ts";

const KEYS = [
  "name",
  "address",
  "protocol",
  "upstream",
  "routes",
  "health",
  "active_health",
  "dns_discovery",
  "tls",
  "eject_ms",
];

Deno.test("slips of the keyboard find the key that was meant", () => {
  const slips: Record<string, string> = {
    nmae: "name",
    adress: "address",
    addres: "address",
    protocoll: "protocol",
    upsteam: "upstream",
    active_heath: "active_health",
    activehealth: "active_health",
    "active-health": "active_health",
    ACTIVE_HEALTH: "active_health",
    dns_dicsovery: "dns_discovery",
    tsl: "tls",
    eject: "eject_ms",
    route: "routes",
  };
  for (const [text, wanted] of Object.entries(slips)) assert.equal(nearest(text, KEYS), wanted, text);
});

Deno.test("words that mean something else find nothing", () => {
  for (const text of ["backend", "x", "", "foo", "weight", "__proto__", "constructor", "z".repeat(10_000)]) {
    assert.equal(nearest(text, KEYS), undefined, text.slice(0, 20));
  }
  assert.equal(nearest("name", []), undefined);
});

Deno.test("a swap of neighbours costs as much as one wrong letter", () => {
  assert.equal(editDistance("", ""), 0);
  assert.equal(editDistance("abc", "abc"), 0);
  assert.equal(editDistance("abc", "acb"), 1);
  assert.equal(editDistance("abc", "abd"), 1);
  assert.equal(editDistance("abc", "ab"), 1);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("kitten", "sitting"), 3);
});
