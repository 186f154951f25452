import assert from "node:assert/strict";
import { oddSource, UNREADABLE } from "../../../src/config/raw.ts";
import { formatPath, type Path } from "../../../src/config/problem.ts";
import { readTree } from "../../../src/config/yaml_tree.ts";

function faults(text: string): string[] {
  return readTree(text).faults.map(({ place, path, message }) =>
    `${place.line}:${place.column} ${formatPath(path)} ${message}`
  );
}

/** The value as plain objects, odd numbers as `#source`. */
function plain(value: unknown): unknown {
  if (value === UNREADABLE) return "UNREADABLE";
  if (oddSource(value) !== undefined) return `#${oddSource(value)}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

const valueOf = (text: string) => plain(readTree(text).value);

function at(text: string, path: Path, part?: "key" | "value"): string {
  const { line, column } = readTree(text).locate(path, part);
  return `${line}:${column}`;
}

Deno.test("words of YAML 1.1 are texts: yes, no, on, off, y, n", () => {
  for (const word of ["yes", "no", "on", "off", "y", "n", "Yes", "NO", "On", "OFF"]) {
    assert.equal(valueOf(`a: ${word}`)?.["a" as never], word);
  }
  assert.deepEqual(valueOf("{a: true, b: False, c: ~, d: null, e: , f: NULL}"), {
    a: true,
    b: false,
    c: null,
    d: null,
    e: null,
    f: null,
  });
});

Deno.test("numbers pass as numbers only in plain decimal digits", () => {
  assert.deepEqual(valueOf("[0, 1, 9001, -5, 9007199254740991]"), [0, 1, 9001, -5, 9007199254740991]);
  const odd = [
    "010",
    "00",
    "-0",
    "+5",
    "0x2329",
    "0o17",
    "9e3",
    "9001.0",
    "0.5",
    ".5",
    "5.",
    "1e-3",
    ".inf",
    "-.INF",
    ".nan",
    "9007199254740993",
    "1e400",
  ];
  for (const source of odd) assert.equal(valueOf(source), `#${source}`);
});

Deno.test("base 60, underscores, dates and versions are texts", () => {
  for (
    const source of [
      "22:22",
      "1:30",
      "190:20:30",
      "9_001",
      "0b11",
      "2001-12-14",
      "1.2.3",
      "0x",
      "1e",
      "--5",
      "1 2",
    ]
  ) {
    assert.equal(valueOf(source), source);
  }
});

Deno.test("quoted numbers are texts", () => {
  assert.deepEqual(valueOf(`["9001", '010', "true", "~"]`), ["9001", "010", "true", "~"]);
  assert.deepEqual(valueOf("a: |\n  5\nb: >-\n  true\n"), { a: "5\n", b: "true" });
});

Deno.test("nothing but comments is nothing", () => {
  for (const text of ["", "\n", "# x\n", "---\n", "---\n# x\n...\n", "   \n\n"]) {
    assert.equal(readTree(text).value, null, JSON.stringify(text));
    assert.deepEqual(faults(text), []);
  }
});

Deno.test("a key that stands twice is a fault at the second, the first is kept", () => {
  assert.deepEqual(faults("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n"), [
    `5:3 b.c The key "c" stands twice, first on line 3`,
  ]);
  assert.deepEqual(faults(`{a: 1, "a": 2, 'a': 3}`).length, 2);
  assert.deepEqual(valueOf("a: 1\na: 2"), { a: 1 });
});

Deno.test("keys must be text", () => {
  for (
    const [text, got] of [
      ["1: x", "1"],
      ["true: x", "true"],
      ["~: x", "nothing"],
      ["? {a: b}\n: x", "no plain text"],
      [": x", "nothing"],
      ["0x1: x", "0x1"],
    ]
  ) {
    assert.deepEqual(faults(text!), [
      `1:${
        text!.startsWith("?") ? 3 : 1
      }  A key must be text (got ${got}, want a name, in quotes if need be)`,
    ]);
  }
  assert.deepEqual(faults("k: &k a\n? *k\n: x"), [
    "2:3  A key must be text (got no plain text, want a name, in quotes if need be)",
  ]);
  assert.deepEqual(valueOf(`"1": x`), { 1: "x" });
});

Deno.test("aliases stand for the anchor before them", () => {
  assert.deepEqual(valueOf("a: &x {b: [1, two]}\nc: *x\nd: [*x, *x]"), {
    a: { b: [1, "two"] },
    c: { b: [1, "two"] },
    d: [{ b: [1, "two"] }, { b: [1, "two"] }],
  });
  assert.deepEqual(valueOf("&k a: 1\nb: *k"), { a: 1, b: "a" });
});

Deno.test("an anchor defined anew does not change what earlier aliases stand for", () => {
  assert.deepEqual(valueOf("a: &x 1\nb: &o [*x]\nc: &x 2\nd: *x\ne: *o"), {
    a: 1,
    b: [1],
    c: 2,
    d: 2,
    e: [1],
  });
  assert.deepEqual(valueOf("a: &o [&y 1]\nb: &y 2\nc: *o\nd: *y"), { a: [1], b: 2, c: [1], d: 2 });
});

Deno.test("an alias without anchor before it is a fault", () => {
  assert.deepEqual(faults("a: *x\nb: &x 1"), [`1:4 a No anchor "&x" stands before this alias`]);
  assert.deepEqual(valueOf("a: [*x, 1]"), { a: ["UNREADABLE", 1] });
});

Deno.test("an alias inside its own anchor is a fault", () => {
  assert.deepEqual(faults("a: &a [1, *a]"), [`1:11 a[1] The alias "*a" contains itself`]);
  assert.deepEqual(faults("&a {b: {c: *a}}"), [`1:12 b.c The alias "*a" contains itself`]);
  assert.deepEqual(faults("a: &a {b: &b [*a, *b]}").length, 2);
});

Deno.test("aliases that stand for too much are a fault, found at once", () => {
  const layers = Array.from(
    { length: 30 },
    (_, i) => `w${i}: &w${i} [${i === 0 ? "x, y" : `*w${i - 1}, *w${i - 1}`}]`,
  );
  const tree = readTree(layers.join("\n"));
  assert.equal(tree.value, undefined);
  assert.equal(tree.faults.length, 1);
  assert.match(tree.faults[0]!.message, /^Aliases stand for too many values/);
});

Deno.test("a bomb through mappings and one through long texts are no danger either", () => {
  const layers = Array.from(
    { length: 30 },
    (_, i) => `w${i}: &w${i} {a: ${i === 0 ? "x" : `*w${i - 1}, b: *w${i - 1}`}}`,
  );
  assert.equal(readTree(layers.join("\n")).value, undefined);
  const texts = `a: &a ${"x".repeat(100_000)}\nb: [${"*a,".repeat(9_000)}]`;
  assert.equal((readTree(texts).value as { b: string[] }).b.length, 9_000);
});

Deno.test("a long chain of aliases ends at the depth limit, not at the end of the stack", () => {
  const chain = Array.from({ length: 5_000 }, (_, i) => `w${i}: &w${i} [${i === 0 ? "x" : `*w${i - 1}`}]`)
    .join("\n");
  const tree = readTree(chain);
  assert.ok(tree.faults.length > 0);
  assert.match(tree.faults[0]!.message, /nested too deep|too many values/);
});

Deno.test("merge keys are refused, and their values taken so that nothing else is reported", () => {
  const text = "d: &d {x: 1, y: 2}\na:\n  <<: *d\n  y: 3\nb: {<<: [*d, {z: 5, x: 6}]}\n";
  assert.deepEqual(faults(text).map((fault) => fault.slice(0, 20)), [
    `3:3 a["<<"] Merge ke`,
    `5:5 b["<<"] Merge ke`,
  ]);
  assert.deepEqual(valueOf(text), { d: { x: 1, y: 2 }, a: { x: 1, y: 3 }, b: { x: 1, y: 2, z: 5 } });
  assert.deepEqual(faults(`"<<": 1`), []);
});

Deno.test("tags are refused", () => {
  for (
    const text of [
      "a: !!str 5",
      "a: !!int 5",
      "a: !x 5",
      "a: !!set {b}",
      "a: !<tag:x> 5",
      "a: !!js/function x",
    ]
  ) {
    assert.match(faults(text)[0]!, /^1:\d+ a A tag is not understood here/, text);
  }
});

Deno.test("keys named after parts of a prototype are only keys", () => {
  const tree = readTree(
    "__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}\ntoString: 5\nhasOwnProperty: 6",
  );
  assert.deepEqual(Object.keys(tree.value as object), [
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
  ]);
  assert.equal(Object.getPrototypeOf(tree.value), null);
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.deepEqual(faults("__proto__: 1\n__proto__: 2"), [
    `2:1 __proto__ The key "__proto__" stands twice, first on line 1`,
  ]);
});

Deno.test("a merge of __proto__ touches no prototype", () => {
  readTree("d: &d {__proto__: {polluted: 1}}\na: {<<: *d}");
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
});

Deno.test("tabs are named for what they are", () => {
  assert.deepEqual(faults("a:\n\tb: 1\n"), ["2:1  A tab is used for indentation (got a tab, want spaces)"]);
  assert.deepEqual(faults("a:\tb # a tab between is fine\n"), []);
});

Deno.test("one file holds one document", () => {
  assert.deepEqual(faults("a: 1\n---\nb: 2\n"), [
    "2:1  A second document begins here, a file holds only one",
  ]);
  assert.deepEqual(faults("a: 1\n...\n---\nb: 2\n---\nc: 3\n"), [
    "3:1  A second document begins here, a file holds only one",
  ]);
  assert.deepEqual(faults("a: 1\n---\n"), ["2:1  A second document begins here, a file holds only one"]);
  assert.deepEqual(faults("---\na: 1\n...\n"), []);
});

Deno.test("another version of YAML is not read by its rules", () => {
  assert.deepEqual(faults("%YAML 1.1\n---\na: on\n"), [
    "1:1  The file asks for another YAML version (got 1.1, want 1.2)",
  ]);
  assert.deepEqual(faults("%YAML 1.2\n---\na: on\n"), []);
  assert.ok(faults("%YAML 1.3\n---\na: on\n").length > 0);
  assert.ok(faults("%YAML 3\n---\na: on\n").length > 0);
});

Deno.test("line ends of Windows count as one line end", () => {
  assert.deepEqual(faults("a: 1\r\nb: 2\r\nb: 3\r\n"), [`3:1 b The key "b" stands twice, first on line 2`]);
  assert.deepEqual(valueOf("a: x\r\nb: y\r\n"), { a: "x", b: "y" });
});

Deno.test("characters that no editor shows are refused", () => {
  assert.deepEqual(faults("a: b\0"), ["1:5  The control character U+0000 does not belong in a text file"]);
  assert.deepEqual(faults("a: 1\n# \u001b[31m\n"), [
    "2:3  The control character U+001B does not belong in a text file",
  ]);
  assert.deepEqual(faults("a: 1\n\ufeffb: 2\n"), [
    "2:1  The control character U+FEFF does not belong in a text file",
  ]);
  assert.deepEqual(faults("a: 1\rb: 2"), ["1:5  A carriage return without a line feed is no line end here"]);
});

Deno.test("an IPv6 address without quotes is met with advice", () => {
  for (const text of ["address: [::1]:80", "a: {address: [::1]:80}"]) {
    assert.match(
      faults(text)[0]!,
      /An IPv6 address in brackets needs quotes, as "\[(::1|2001:db8::1)\]:80"/,
      text,
    );
  }
});

Deno.test("an IPv6 address without quotes in a list is met with advice, and nothing follows from it", () => {
  const text = "a: [[2001:db8::1]:80, x]";
  assert.deepEqual(faults(text), [
    `1:5 a[0] A key must be text (got a list, want text; an IPv6 address needs quotes, as "[::1]:80")`,
  ]);
  assert.deepEqual(valueOf(text), { a: ["UNREADABLE", "x"] });
});

Deno.test("common slips have a sentence of their own", () => {
  assert.match(faults("a: b: c")[0]!, /^1:4 {2}A second ": " on one line; put the value in quotes/);
  assert.match(faults("a: [1, 2\nb: 3\n")[0]!, /A "\[" is not closed/);
  assert.match(faults("a: {b: 1\nc: 3\n")[0]!, /A "{" is not closed/);
  assert.match(faults("a: 'x\nb: 1\n")[0]!, /quote/);
  assert.match(faults("a: @x")[0]!, /^1:4 .*@/);
});

Deno.test("one mistake is not told over and over", () => {
  assert.ok(faults(Array.from({ length: 500 }, () => "\ta: 1").join("\n")).length <= 20);
  assert.ok(faults(",".repeat(5000)).length <= 1);
});

Deno.test("nesting of any kind is refused before it can hurt", () => {
  const n = 20_000;
  const deep = [
    "[".repeat(n),
    "[".repeat(n) + "]".repeat(n),
    "{a: ".repeat(n),
    "- ".repeat(n),
    "? ".repeat(n),
    "[{".repeat(n),
    ": ".repeat(n),
    Array.from({ length: 500 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
  ];
  for (const text of deep) assert.match(faults(text)[0]!, /nested too deep/, text.slice(0, 20));
  assert.equal(faults("[".repeat(20) + "]".repeat(20)).length, 0);
  assert.match(faults("[".repeat(40) + "]".repeat(40))[0]!, /nested too deep/);
});

Deno.test("floods of tokens are refused", () => {
  for (const unit of ["\n", "- \n", "a ", "[],", "&a ", "!a ", "#\n", "? \n", '""\n']) {
    const text = unit.repeat(Math.floor(1_000_000 / unit.length));
    const started = performance.now();
    readTree(text);
    assert.ok(performance.now() - started < 10_000, JSON.stringify(unit));
  }
});

const PLACES = `# comment
listeners:
  - name: web
    address: "127.0.0.1:80"
  -
    name: two
upstreams: &u
  - { name: app, endpoints: [ a:1,  b:2 ], health: }
copy: *u
empty:
`;

Deno.test("places lead to the value, of blocks and empty values to the key", () => {
  assert.equal(at(PLACES, []), "2:1");
  assert.equal(at(PLACES, ["listeners"]), "2:1");
  assert.equal(at(PLACES, ["listeners", 0]), "3:5");
  assert.equal(at(PLACES, ["listeners", 0, "name"]), "3:11");
  assert.equal(at(PLACES, ["listeners", 0, "name"], "key"), "3:5");
  assert.equal(at(PLACES, ["listeners", 0, "address"]), "4:14");
  assert.equal(at(PLACES, ["listeners", 1, "name"]), "6:11");
  assert.equal(at(PLACES, ["upstreams", 0, "endpoints"]), "8:18");
  assert.equal(at(PLACES, ["upstreams", 0, "endpoints", 1]), "8:37");
  assert.equal(at(PLACES, ["upstreams", 0, "health"]), "8:44");
  assert.equal(at(PLACES, ["empty"]), "10:1");
});

Deno.test("places of what is not there are those of what is around", () => {
  assert.equal(at(PLACES, ["nothing"]), "2:1");
  assert.equal(at(PLACES, ["listeners", 0, "upstream"]), "3:5");
  assert.equal(at(PLACES, ["listeners", 9]), "2:1");
  assert.equal(at(PLACES, ["upstreams", 0, "endpoints", 1, "address"]), "8:37");
  assert.equal(at("", ["listeners"]), "1:1");
});

Deno.test("places inside an alias are those of the text that it stands for", () => {
  assert.equal(at(PLACES, ["copy"]), "9:7");
  assert.equal(at(PLACES, ["copy", 0, "endpoints", 0]), "8:31");
});

Deno.test("a fault does not quote the rest of the file", () => {
  const messages = faults(` x\na: 1\nb:\n  c: 1\n\n|\n${"log: text\n".repeat(300)}`);
  assert.ok(messages.some((message) => message.endsWith("...")), messages.join("\n"));
  for (const message of messages) assert.ok(message.length < 250 && !message.includes("\n"), message);
});
