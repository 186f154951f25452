import assert from "node:assert/strict";
import fc from "fast-check";
import { decode, type Decoded } from "../../../src/config/decode.ts";
import { jsonSchema } from "../../../src/config/json_schema.ts";
import { STARTER } from "../../../src/config/starter.ts";
import { nearest } from "../../../src/config/suggest.ts";
import { memoryFiles } from "../../support/memory_config_files.ts";
import { configOf } from "../../support/config_text.ts";

const read = (path: string) => Deno.readTextFileSync(new URL(`../../../${path}`, import.meta.url));
const certs = {
  "ca.pem": read("tests/cases/certs/ca.pem"),
  "cert.pem": read("tests/cases/certs/good.pem"),
  "key.pem": read("tests/cases/certs/good.key"),
  "token.txt": "t",
};
const valid = [
  ...["tcp", "http", "discovery", "probes", "full"].map((name) => read(`config/${name}.yaml`)),
  STARTER,
];

function decodeText(text: string): Decoded {
  return decode(["hale.yaml"], memoryFiles({ ...certs, "hale.yaml": text }));
}

/** Whatever the text: a config, or problems with places inside the file and whole sentences. */
function assertSane(text: string): void {
  const decoded = decodeText(text);
  if (!("problems" in decoded)) return assert.ok(decoded.config.listeners.length > 0);
  assert.ok(decoded.problems.length > 0);
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  for (const { file, line, column, message } of decoded.problems) {
    assert.equal(file, "hale.yaml");
    assert.ok(
      Number.isInteger(line) && line >= 1 && line <= lines.length,
      `line ${line} of ${lines.length}: ${message}`,
    );
    assert.ok(
      Number.isInteger(column) && column >= 1 && column <= lines[line - 1]!.length + 1,
      `${line}:${column} ${message}`,
    );
    assert.match(message, /^["A-Z0-9]/, message);
    assert.ok(!/[\n\r]/.test(message) && message.length < 1000, message);
    assert.ok(!/undefined|\[object|Symbol\(|NaN|Invalid input/.test(message), message);
  }
}

Deno.test("any text at all is met with problems in place, or a config", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ maxLength: 200 })),
      assertSane,
    ),
    { numRuns: 500 },
  );
});

const pieces = [
  "listeners:",
  "upstreams:",
  "- ",
  "  ",
  "\n",
  "name: ",
  "app",
  "{",
  "}",
  "[",
  "]",
  ",",
  ": ",
  "&a ",
  "*a",
  "<<: ",
  "!!str ",
  "#",
  "'",
  '"',
  "|\n",
  ">-\n",
  "? ",
  "~",
  "0x1",
  "1e3",
  "true",
  "---\n",
  "...\n",
  "%YAML 1.1\n",
  "\t",
  "\r\n",
  "__proto__: ",
  "health: ",
  "127.0.0.1:80",
  "http",
  "address: ",
  "protocol: ",
  "\\",
  "\uFEFF",
];

Deno.test("any soup of YAML is met with problems in place, or a config", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 60 }), (some) => assertSane(some.join(""))),
    { numRuns: 1000 },
  );
});

Deno.test("a valid file that was damaged is met with problems in place, or still is a config", () => {
  const edit = fc.record({
    at: fc.nat(10_000),
    remove: fc.nat(20),
    insert: fc.oneof(fc.constant(""), fc.constantFrom(...pieces), fc.string({ maxLength: 5 })),
  });
  fc.assert(
    fc.property(fc.constantFrom(...valid), fc.array(edit, { minLength: 1, maxLength: 4 }), (text, edits) => {
      const damaged = edits.reduce((before, { at, remove, insert }) => {
        const place = at % before.length;
        return before.slice(0, place) + insert + before.slice(place + remove);
      }, text);
      assertSane(damaged);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("a file that ends anywhere, as while it is being written, is met with problems or a config", () => {
  for (const text of valid) {
    for (let end = 0; end < text.length; end += 7) assertSane(text.slice(0, end));
  }
});

Deno.test("lines in another order are met with problems in place, or a config", () => {
  const shuffled = fc.constantFrom(...valid).chain((text) => {
    const lines = text.split("\n");
    return fc.shuffledSubarray(lines, { minLength: 1 });
  });
  fc.assert(fc.property(shuffled, (lines) => assertSane(lines.join("\n"))), { numRuns: 300 });
});

const keys: readonly string[] = [
  ...new Set(Array.from(JSON.stringify(jsonSchema()).matchAll(/"([a-z_]+)":\{"/g), (match) => match[1]!)),
].filter((key) => key !== "properties" && key !== "items");

function slipped(key: string, at: number, kind: "drop" | "double" | "swap"): string {
  const [first, second] = [key[at]!, key[at + 1]!];
  const middle = { drop: second, double: first + first + second, swap: second + first }[kind];
  return key.slice(0, at) + middle + key.slice(at + 2);
}

Deno.test("a key with one slip is never taken for nothing", () => {
  const withoutComments = valid.map((text) => text.replace(/(^| )#.*$/gm, ""));
  const tried = fc.record({
    text: fc.constantFrom(...withoutComments),
    key: fc.constantFrom(...keys),
    at: fc.nat(),
    kind: fc.constantFrom("drop" as const, "double" as const, "swap" as const),
  });
  fc.assert(
    fc.property(tried, ({ text, key, at, kind }) => {
      const wrong = slipped(key, at % (key.length - 1), kind);
      const damaged = text.replace(new RegExp(`(^|[ {])${key}: ?`, "m"), `$1${wrong}: `);
      fc.pre(!keys.includes(wrong) && damaged !== text);
      const decoded = decodeText(damaged);
      assert.ok("problems" in decoded, `${wrong} was taken in silence`);
      assert.ok(decoded.problems.some(({ message }) => message.includes(`"${wrong}"`)), wrong);
    }),
    { numRuns: 500 },
  );
});

Deno.test("every value of every field that is no plain text is judged, never misread", () => {
  const odd = [
    "~",
    "010",
    "0x10",
    "1e3",
    "9.0",
    ".inf",
    ".nan",
    "-1",
    "true",
    "[]",
    "{}",
    "[~]",
    "{ a: 1 }",
    "''",
    "*none",
    "!!int 5",
    '"\\u0000"',
    "99999999999999999999",
    "&a [*a]",
  ];
  for (const text of [read("config/full.yaml")]) {
    for (const match of text.matchAll(/^( *(?:- )?[a-z_]+:) [^\n{[]+$/gm)) {
      for (const value of odd) {
        assertSane(
          text.slice(0, match.index) + `${match[1]} ${value}` + text.slice(match.index + match[0].length),
        );
      }
    }
  }
});

Deno.test("the same text gives the same config, whatever stands in comments, quotes and flow style", () => {
  const styles = [
    `listeners: [{ name: web, address: "127.0.0.1:1", protocol: http, upstream: app }]\nupstreams: [{ name: app, protocol: http1, endpoints: [a:1], health: {} }]`,
    `# c\nlisteners:\n  - name: 'web' # c\n    "address": 127.0.0.1:1\n    protocol: "http"\n    upstream: >-\n      app\nupstreams:\n- endpoints:\n  - "a:1"\n  name: app\n  health:\n  protocol: http1\n`,
    `{"upstreams":[{"name":"app","protocol":"http1","endpoints":[{"address":"a:1"}],"health":null}],"listeners":[{"name":"web","address":"127.0.0.1:1","protocol":"http","upstream":"app"}]}`,
  ];
  const [first, ...others] = styles.map((text) => configOf(text));
  for (const other of others) assert.deepEqual(other, first);
});

Deno.test("a suggestion is always one of the candidates", () => {
  fc.assert(fc.property(fc.string(), fc.array(fc.string()), (text, candidates) => {
    const found = nearest(text, candidates);
    assert.ok(found === undefined || candidates.includes(found));
  }));
});
