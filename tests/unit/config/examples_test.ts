import assert from "node:assert/strict";
import { decode } from "../../../src/config/decode.ts";
import { jsonSchema } from "../../../src/config/json_schema.ts";
import { renderProblem } from "../../../src/config/problem.ts";
import { STARTER } from "../../../src/config/starter.ts";
import { memoryFiles } from "../../support/memory_config_files.ts";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => Deno.readTextFileSync(new URL(path, root));
const examples = [...Deno.readDirSync(new URL("config/", root))].map(({ name }) => name).filter((name) =>
  name.endsWith(".yaml")
);

function assertClean(name: string, text: string) {
  const decoded = decode(
    [name],
    memoryFiles({
      [name]: text,
      "ca.pem": read("tests/cases/certs/ca.pem"),
      "cert.pem": read("tests/cases/certs/good.pem"),
      "key.pem": read("tests/cases/certs/good.key"),
      "token.txt": "a-token\n",
    }),
  );
  if ("problems" in decoded) assert.fail(decoded.problems.map(renderProblem).join("\n"));
  return decoded.config;
}

Deno.test("every example decodes cleanly and names its schema", () => {
  assert.ok(examples.length >= 5);
  for (const name of examples) {
    const text = read(`config/${name}`);
    assertClean(name, text);
    assert.match(text, /^# yaml-language-server: \$schema=\.\/hale\.schema\.json\n/, name);
  }
});

Deno.test("the file of hale init decodes cleanly, with its commented lines too", () => {
  assertClean("hale.yaml", STARTER);
  const uncommented = STARTER.replace(/^( +)# (\S+:| )/gm, "$1$2");
  assert.notEqual(uncommented, STARTER);
  const [upstream] = assertClean("hale.yaml", uncommented).upstreams;
  assert.ok(upstream?.activeHealth);
  assert.ok(upstream.discovery);
});

Deno.test("the schema file beside the examples is the one that hale schema prints", () => {
  const [kept, made] = [
    JSON.parse(read("config/hale.schema.json")),
    JSON.parse(JSON.stringify(jsonSchema())),
  ];
  assert.deepEqual(kept, made, "Out of date, run: deno task hale schema > config/hale.schema.json");
});

type Json = Record<string, unknown>;

/** All paths of fields in the schema, such as `upstreams.health.eject_ms`. */
function fieldsOf(schema: Json, path = ""): string[] {
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, Json>);
  const nested = [schema["items"], ...((schema["anyOf"] ?? []) as Json[])].flatMap((inner) =>
    inner === undefined ? [] : fieldsOf(inner as Json, path)
  );
  return [
    ...nested,
    ...properties.flatMap(([key, inner]) => [`${path}${key}`, ...fieldsOf(inner, `${path}${key}.`)]),
  ];
}

Deno.test("the full example mentions every field there is", () => {
  const text = read("config/full.yaml");
  for (const field of new Set(fieldsOf(jsonSchema()))) {
    const key = field.split(".").at(-1)!;
    assert.match(text, new RegExp(`(^|[ {#-])${key}:`, "m"), field);
  }
});

Deno.test("every field of the schema has a description, and no block takes unknown keys", () => {
  const visit = (schema: Json, path: string): void => {
    if (schema["properties"] !== undefined) assert.equal(schema["additionalProperties"], false, path);
    for (const [key, inner] of Object.entries((schema["properties"] ?? {}) as Record<string, Json>)) {
      assert.equal(typeof inner["description"], "string", `${path}.${key}`);
      visit(inner, `${path}.${key}`);
    }
    for (const inner of [schema["items"], ...((schema["anyOf"] ?? []) as Json[])]) {
      if (inner !== undefined) visit(inner as Json, path);
    }
  };
  visit(jsonSchema(), "");
});

Deno.test("the schema knows short forms, empty switches and ranges", () => {
  const schema = jsonSchema();
  const at = (path: string): Json =>
    path.split(".").reduce<Json>((inner, step) => inner[step] as Json, schema);
  const upstream = "properties.upstreams.items.properties";
  assert.deepEqual((at(`${upstream}.endpoints.items`)["anyOf"] as Json[]).map(({ type }) => type), [
    "string",
    "object",
  ]);
  assert.deepEqual(at(`${upstream}.health`)["type"], ["object", "null"]);
  assert.deepEqual(at(`${upstream}.tls`)["type"], ["object", "null"]);
  assert.equal(at("properties.listeners.items.properties.tls")["type"], "object");
  const window = at(`${upstream}.health.properties.window_ms`);
  assert.deepEqual([window["type"], window["minimum"], window["maximum"], window["default"]], [
    "integer",
    1000,
    3600000,
    60000,
  ]);
  assert.deepEqual(at("properties.listeners.items")["required"], ["name", "address", "protocol"]);
  assert.deepEqual(at(`${upstream}.active_health.properties.headers`)["additionalProperties"], {
    type: "string",
  });
  assert.equal(schema["$schema"], "http://json-schema.org/draft-07/schema#");
  assert.ok(!JSON.stringify(schema).includes("nullable"));
});
