// Each structure rule is tried with a sample that breaks it and one that keeps it. The repository itself is judged by
// `deno task arrows`, not here.

import assert from "node:assert/strict";
import { judge } from "../../../scripts/arrows.ts";

const HEADER = "// What this file promises.\n";

/** The rules that a set of files breaks, as "path rule". */
function broken(files: Readonly<Record<string, string>>): string[] {
  const texts = Object.entries(files).map(([path, text]) => [path, HEADER + text] as const);
  return judge(new Map(texts)).map((finding) => `${finding.path} ${finding.rule}`);
}

/** The messages about one file. */
function messages(path: string, text: string): string[] {
  return judge(new Map([[path, HEADER + text]])).map((finding) => finding.message);
}

Deno.test("every arrow that the design does not draw is reported, every other passes", () => {
  const drawn: Record<string, string[]> = {
    core: ["core"],
    config: ["config", "core"],
    http: ["http", "core"],
    net: ["net", "core"],
    admin: ["admin", "core"],
    data: ["data", "http", "net", "core"],
    control: ["control", "admin", "config", "net", "http", "core"],
    cli: ["cli", "control", "config", "admin", "net", "core"],
  };
  for (const from of Object.keys(drawn)) {
    for (const to of Object.keys(drawn)) {
      const path = `src/${from}/a.ts`;
      const expected = drawn[from]?.includes(to) ? [] : [`${path} arrow`];
      assert.deepEqual(
        broken({ [path]: `import { b } from "../${to}/b.ts";\n` }),
        expected,
        `${from} to ${to}`,
      );
    }
  }
});

Deno.test("an arrow is seen in type imports, re-exports, dynamic imports and type queries", () => {
  const target = `"../net/b.ts"`;
  for (
    const text of [
      `import type { B } from ${target};`,
      `import ${target};`,
      `export { b } from ${target};\nconst a = 1;`,
      `const b = import(${target});`,
      `type B = import(${target}).B;`,
    ]
  ) assert.deepEqual(broken({ "src/core/a.ts": text }), ["src/core/a.ts arrow"], text);
});

Deno.test("an arrow out of all rooms or from a folder that is no room is reported", () => {
  assert.deepEqual(broken({ "src/core/a.ts": `import "../../scripts/b.ts";` }), ["src/core/a.ts arrow"]);
  assert.deepEqual(broken({ "src/extra/a.ts": `import "../core/b.ts";` }), ["src/extra/a.ts arrow"]);
});

Deno.test("main.ts imports only cli", () => {
  assert.deepEqual(broken({ "main.ts": `import "./src/cli/main.ts";` }), []);
  assert.deepEqual(broken({ "main.ts": `import "./src/core/board.ts";` }), ["main.ts arrow"]);
});

Deno.test("a worker that is named only by a URL is no import", () => {
  const text = `const url = new URL("../data/worker.ts", import.meta.url);\n`;
  assert.deepEqual(broken({ "src/control/workers.ts": text }), []);
});

Deno.test("packages belong to their rooms", () => {
  assert.deepEqual(broken({ "src/config/a.ts": `import "yaml";\nimport * as z from "zod/v4";` }), []);
  assert.deepEqual(broken({ "src/net/a.ts": `import "dns-packet";\nimport "node:dgram";` }), []);
  for (const name of ["yaml", "zod", "hono", "node:fs", "fast-check", "left-pad"]) {
    assert.deepEqual(broken({ "src/http/a.ts": `import "${name}";` }), ["src/http/a.ts packages"], name);
  }
});

Deno.test("a package is imported by its name in deno.json only", () => {
  for (const specifier of ["npm:yaml@2", "jsr:@std/assert", "https://example.test/a.ts"]) {
    assert.deepEqual(broken({ "src/config/a.ts": `import "${specifier}";` }), ["src/config/a.ts imports"]);
  }
});

Deno.test("a circle of imports is reported once, also through types and over three files", () => {
  const files = {
    "src/core/a.ts": `import type { B } from "./b.ts";`,
    "src/core/b.ts": `import { c } from "./c.ts";`,
    "src/core/c.ts": `import { a } from "./a.ts";`,
    "src/core/d.ts": `import { a } from "./a.ts";`,
  };
  assert.deepEqual(broken(files), ["src/core/a.ts circle"]);
  assert.deepEqual(broken({ "src/core/a.ts": `import "./a.ts";` }), ["src/core/a.ts circle"]);
});

Deno.test("two files that share a third make no circle", () => {
  const files = {
    "src/core/a.ts": `import "./b.ts";\nimport "./c.ts";`,
    "src/core/b.ts": `import "./c.ts";`,
    "src/core/c.ts": `const c = 1;`,
  };
  assert.deepEqual(broken(files), []);
});

Deno.test("barrel files are reported by name and by content", () => {
  assert.deepEqual(broken({ "src/net/index.ts": `const a = 1;` }), ["src/net/index.ts barrel"]);
  assert.deepEqual(broken({ "src/net/mod.ts": `const a = 1;` }), ["src/net/mod.ts barrel"]);
  assert.deepEqual(broken({ "src/net/all.ts": `export * from "./a.ts";\nexport { b } from "./b.ts";` }), [
    "src/net/all.ts barrel",
  ]);
  assert.deepEqual(broken({ "src/net/a.ts": `export { b } from "./b.ts";\nconst a = 1;` }), []);
});

Deno.test("platform-free rooms never name Deno in code", () => {
  for (
    const text of [
      `const a = Deno.pid;`,
      `type A = Deno.Conn;`,
      `const a = globalThis["Deno"];`,
      `globalThis.Deno;`,
    ]
  ) {
    for (const room of ["core", "config", "http"]) {
      assert.deepEqual(broken({ [`src/${room}/a.ts`]: text }), [`src/${room}/a.ts platform`], text);
    }
    assert.deepEqual(broken({ "src/net/a.ts": text }), [], text);
  }
  assert.deepEqual(broken({ "src/http/a.ts": `// Deno here\nconst a = "Deno is fine in a text";` }), []);
});

Deno.test("core uses no time, chance, console or network", () => {
  const uses = [
    `Date.now()`,
    `new Date()`,
    `new Date`,
    `Date.parse("x")`,
    `setTimeout(f, 1)`,
    `setInterval(f, 1)`,
    `queueMicrotask(f)`,
    `performance.now()`,
    `crypto.randomUUID()`,
    `console.log(1)`,
    `fetch("x")`,
    `Math.random()`,
    `globalThis.fetch("x")`,
  ];
  for (const use of uses) {
    assert.deepEqual(broken({ "src/core/a.ts": `const a = () => ${use};` }), ["src/core/a.ts pure"], use);
    assert.deepEqual(broken({ "src/net/a.ts": `const a = () => ${use};` }), [], use);
  }
});

Deno.test("members that only share a name with something impure pass in core", () => {
  const text = `
    interface A { readonly performance: number; fetch(): void }
    const f = (a: A) => a.performance + Math.max(1, 2);
    const g = { console: 1 };
    const h = (ms: number) => new Date(ms).toISOString();`;
  assert.deepEqual(broken({ "src/core/a.ts": text }), []);
});

Deno.test("core is synchronous but for the one file that says how bytes flow", () => {
  const text = `async function f() { await g(); }`;
  assert.deepEqual(broken({ "src/core/a.ts": text }), ["src/core/a.ts pure", "src/core/a.ts pure"]);
  assert.deepEqual(broken({ "src/core/duplex.ts": text }), []);
});

Deno.test("state at module level that can change is reported", () => {
  const bad = [
    `let count = 0;`,
    `var count = 0;`,
    `export let count = 0;`.replace("export", "/** Counts. */ export"),
    `const seen = new Map<string, number>();`,
    `const seen = new Set(["a"]);`,
    `const seen: Map<string, number> = new Map();`,
    `const list: number[] = [];`,
    `const list: Array<number> = [];`,
    `const pairs: [string, number][] = [["a", 1]];`,
    `const list = [1, 2];`,
    `const table = {};`,
    `const table: Record<string, number> = {};`,
    `class A { static count = 0; }`,
  ];
  for (const text of bad) assert.deepEqual(broken({ "src/net/a.ts": text }), ["src/net/a.ts state"], text);
});

Deno.test("constants at module level pass", () => {
  const good = [
    `const limit = 3;`,
    `const names: ReadonlySet<string> = new Set(["a"]);`,
    `const table: ReadonlyMap<string, number> = new Map([["a", 1]]);`,
    `const list: readonly number[] = [1, 2];`,
    `const list = [1, 2] as const;`,
    `const pairs: readonly [string, number][] = [["a", 1]];`,
    `const empty: Buckets = [];`,
    `const none: Readonly<Record<string, number>> = {};`,
    `const table = { a: 1 };`,
    `const encoder = new TextEncoder();`,
    `class A { static readonly limit = 3; #count = 0; }`,
    `function f() { let count = 0; return ++count; }`,
    `declare let given: number;`,
  ];
  for (const text of good) assert.deepEqual(broken({ "src/net/a.ts": text }), [], text);
});

Deno.test("a file over 300 lines needs a reason in its header", () => {
  const text = "const a = 1;\n".repeat(300);
  assert.deepEqual(broken({ "src/net/a.ts": text }), ["src/net/a.ts size"]);
  assert.deepEqual(broken({ "src/net/a.ts": "const a = 1;\n".repeat(299) }), []);
  assert.deepEqual(
    broken({ "src/net/a.ts": `// Long because one table is easier to read whole.\n${text}` }),
    [],
  );
  assert.deepEqual(broken({ "src/net/a.ts": `// Long because\n${text}` }), ["src/net/a.ts size"]);
});

Deno.test("a function over 40 lines needs a reason, in the header or above it", () => {
  const body = "  f();\n".repeat(39);
  const long = `function f() {\n${body}}\n`;
  assert.deepEqual(broken({ "src/net/a.ts": long }), ["src/net/a.ts size"]);
  assert.deepEqual(broken({ "src/net/a.ts": `class A {\n f() {\n${body} }\n}\n` }), ["src/net/a.ts size"]);
  assert.deepEqual(broken({ "src/net/a.ts": `const f = () => {\n${body}};\n` }), ["src/net/a.ts size"]);
  assert.deepEqual(broken({ "src/net/a.ts": `function f() {\n${"  f();\n".repeat(38)}}\n` }), []);
  assert.deepEqual(broken({ "src/net/a.ts": `// Long because it is one state machine.\n${long}` }), []);
  assert.deepEqual(
    broken({ "src/net/a.ts": `const a = 1;\n// Long because it is one state machine.\n${long}` }),
    [],
  );
});

Deno.test("a file begins with a comment", () => {
  const findings = judge(new Map([["src/net/a.ts", "const a = 1;\n"]]));
  assert.deepEqual(findings.map((finding) => finding.rule), ["header"]);
});

Deno.test("every export has a doc comment", () => {
  for (
    const text of [
      `export const a = 1;`,
      `export function a() {}`,
      `export class A {}`,
      `export interface A {}`,
      `export type A = 1;`,
      `// A plain comment is none.\nexport type A = 1;`,
    ]
  ) {
    assert.deepEqual(broken({ "src/net/a.ts": `const z = 1;\n${text}` }), ["src/net/a.ts doc"], text);
    assert.deepEqual(broken({ "src/net/a.ts": `const z = 1;\n/** A sentence. */\n${text}` }), [], text);
  }
});

Deno.test("one doc comment speaks for all overloads", () => {
  const text =
    `/** Doubles. */\nexport function f(a: 1): 1;\nexport function f(a: 2): 2;\nexport function f(a: number) { return a; }`;
  assert.deepEqual(broken({ "src/net/a.ts": text }), []);
});

Deno.test("a finding says where it is and what is wanted", () => {
  const [finding] = judge(new Map([["src/core/a.ts", `${HEADER}\n  import "../net/b.ts";\n`]]));
  assert.equal(finding?.line, 3);
  assert.equal(finding?.column, 3);
  assert.deepEqual(messages("src/core/a.ts", `import "../net/b.ts";`), [
    "core may not import net (src/net/b.ts): it imports only itself",
  ]);
});
