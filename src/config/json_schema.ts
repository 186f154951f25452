// The JSON Schema for editors, made from the same definitions that decode the files, so that the two can not differ.

import * as z from "zod";
import { fileSchema } from "./file_schema.ts";

/** A JSON Schema (draft 7, which YAML editors know best) of one config file. */
export function jsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(fileSchema, {
    target: "draft-7",
    // What people write, not what comes out.
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => refine(jsonSchema as Record<string, unknown>),
  });
  return { ...schema, title: "hale config" };
}

/** Turns the marks left in the definitions into what they mean to an editor. */
function refine(schema: Record<string, unknown>): void {
  const { nullable, shorthand, map } = schema;
  delete schema["nullable"];
  delete schema["shorthand"];
  delete schema["map"];
  if (nullable === true) schema["type"] = ["object", "null"];
  if (map === true) Object.assign(schema, { type: "object", additionalProperties: { type: "string" } });
  if (shorthand !== undefined && schema["anyOf"] === undefined) {
    const { description: _description, ...rest } = schema;
    for (const key of Object.keys(rest)) delete schema[key];
    schema["anyOf"] = [{ type: shorthand }, rest];
  }
}
