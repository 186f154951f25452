// `deno task docs`: writes what the README and config/hale.schema.json say about config fields and metrics, from the same
// definitions that hale runs on. A unit test compares, so that neither can fall behind.

import { METRICS } from "../src/admin/metrics.ts";
import { jsonSchema } from "../src/config/json_schema.ts";

/** The part of a JSON Schema that the tables show. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** Blocks of the config by heading, each with the way to it from the top. Fields that are blocks have a table of their own. */
const BLOCKS: readonly (readonly [heading: string, path: readonly string[]])[] = [
  ["Top level", []],
  ["`admin`", ["admin"]],
  ["`log`", ["log"]],
  ["`limits`", ["limits"]],
  ["`drain`", ["drain"]],
  ["`listeners`", ["listeners"]],
  ["`routes` of a listener", ["listeners", "routes"]],
  ["`tls` of a listener", ["listeners", "tls"]],
  ["`upstreams`", ["upstreams"]],
  ["`endpoints` of an upstream", ["upstreams", "endpoints"]],
  ["`timeouts` of an upstream", ["upstreams", "timeouts"]],
  ["`retries` of an upstream", ["upstreams", "retries"]],
  ["`tls` of an upstream", ["upstreams", "tls"]],
  ["`health` of an upstream", ["upstreams", "health"]],
  ["`active_health` of an upstream", ["upstreams", "active_health"]],
  ["`dns_discovery` of an upstream", ["upstreams", "dns_discovery"]],
];

/** The config reference: one table per block. */
export function configReference(): string {
  return BLOCKS.map(([heading, path]) => blockTable(heading, blockAt(jsonSchema() as Schema, path))).join(
    "\n",
  );
}

/** The table of all metrics. */
export function metricsReference(): string {
  const rows = METRICS.map(({ name, type, labels, help }) => [`\`${name}\``, type, labels.join(", "), help]);
  return table([["metric", "type", "labels", "meaning"], ...rows]);
}

/** The JSON Schema as it is kept beside the example configs. */
export function schemaText(): string {
  return `${JSON.stringify(jsonSchema(), null, 2)}\n`;
}

/** Puts `text` between the markers of `section`. Throws when the document has no such markers. */
export function replaceSection(document: string, section: string, text: string): string {
  const [begin, end] = [`<!-- begin ${section} -->`, `<!-- end ${section} -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The document has no section "${section}"`);
  return `${document.slice(0, from)}${begin}\n\n${text}\n${document.slice(to)}`;
}

/** The README with both references renewed. */
export function renewed(readme: string): string {
  return replaceSection(replaceSection(readme, "config", configReference()), "metrics", metricsReference());
}

function blockAt(schema: Schema, path: readonly string[]): Schema {
  return path.reduce((block, name) => {
    const field = block.properties?.[name];
    const found = field === undefined ? undefined : blockOf(field);
    if (found === undefined) throw new Error(`The config schema has no block ${path.join(".")}`);
    return found;
  }, schema);
}

/** The block that a field holds: itself, its items', or one of its forms'. */
function blockOf(schema: Schema): Schema | undefined {
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return blockOf(schema.items);
  return schema.anyOf?.map(blockOf).find((one) => one !== undefined);
}

function blockTable(heading: string, block: Schema): string {
  const rows = Object.entries(block.properties ?? {}).map(([name, field]) => {
    const [meaning, fallback] = splitDefault(field.description ?? "");
    const isRequired = block.required?.includes(name) ?? false;
    return [`\`${name}\``, isRequired ? "required" : defaultText(field, fallback), typeText(field), meaning];
  });
  return `#### ${heading}\n\n${table([["field", "default", "values", "meaning"], ...rows])}`;
}

/** A description may end in "; default: ...": that belongs to the other column. */
function splitDefault(description: string): [meaning: string, fallback: string | undefined] {
  const found = /^(.*?)[;.,]? default: (.*)$/i.exec(description);
  return found === null ? [description, undefined] : [found[1] ?? "", found[2]];
}

function defaultText(field: Schema, fallback: string | undefined): string {
  if (field.default === undefined) return fallback ?? "";
  const isEmptyList = Array.isArray(field.default) && field.default.length === 0;
  if (isEmptyList || typeof field.default === "object") return fallback ?? "";
  return String(field.default);
}

function typeText(schema: Schema): string {
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeText))].join(" or ");
  if (schema.const !== undefined) return String(schema.const);
  if (schema.enum !== undefined) return schema.enum.join(", ");
  if (schema.type === "integer") return `${schema.minimum ?? ""}..${schema.maximum ?? ""}`;
  if (schema.type === "number") {
    return `over ${schema.exclusiveMinimum ?? schema.minimum} up to ${schema.maximum}`;
  }
  if (schema.type === "boolean") return "true, false";
  if (schema.type === "array") return "list";
  // A block that may also be left empty has both types.
  if ([schema.type].flat().includes("object")) return "block";
  return schema.type === "null" ? "empty" : "text";
}

function table(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  const [head = [], ...body] = rows;
  return line(head) + line(head.map(() => "---")) + body.map(line).join("");
}

if (import.meta.main) {
  const root = new URL("../", import.meta.url);
  const readme = new URL("README.md", root);
  Deno.writeTextFileSync(readme, renewed(Deno.readTextFileSync(readme)));
  Deno.writeTextFileSync(new URL("config/hale.schema.json", root), schemaText());
  const files = ["README.md", "config/hale.schema.json"];
  const { code } = new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", ...files], cwd: root })
    .outputSync();
  Deno.exit(code);
}
