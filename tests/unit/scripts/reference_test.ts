// The README and the schema file say what the definitions say, for every field and metric.

import assert from "node:assert/strict";
import { METRICS } from "../../../src/admin/metrics.ts";
import { VERSION } from "../../../src/core/version.ts";
import { configReference, renewed, replaceSection, schemaText } from "../../../scripts/reference.ts";

const ROOT = new URL("../../../", import.meta.url);
const read = (path: string) => Deno.readTextFileSync(new URL(path, ROOT));

/** Column widths and line breaks are the formatter's business. */
function unspaced(text: string): string {
  return text.replace(/-{3,}/g, "---").replace(/\s+/g, " ");
}

Deno.test("the tables of the README are those of the schema and the metrics", () => {
  const readme = read("README.md");
  assert.equal(unspaced(readme), unspaced(renewed(readme)), "renew them: deno task docs");
  for (const { name } of METRICS) assert.ok(readme.includes(`\`${name}\``), name);
});

Deno.test("a block that may be left empty is called a block", () => {
  assert.match(configReference(), /^\| `health` \|[^|]*\| block \|/m);
});

Deno.test("the schema beside the examples is the one that hale prints", () => {
  const hint = "renew it: deno task docs";
  assert.deepEqual(JSON.parse(read("config/hale.schema.json")), JSON.parse(schemaText()), hint);
});

Deno.test("deno.json, the change log and the program name one version", () => {
  assert.equal(JSON.parse(read("deno.json")).version, VERSION);
  assert.match(read("CHANGELOG.md"), new RegExp(`^## ${VERSION.replaceAll(".", "\\.")}\\b`, "m"));
});

Deno.test("a section is replaced between its markers only, and must be there", () => {
  const document = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n";
  assert.equal(replaceSection(document, "x", "new\n"), "a\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\nb\n");
  assert.throws(() => replaceSection(document, "y", "new"), /"y"/);
});
