// Routing by host and path (W5).

import assert from "node:assert/strict";
import type { Route } from "../../../src/core/plan.ts";
import { Routes } from "../../../src/http/routes.ts";
import { headOf, readRequest } from "../../support/http_heads.ts";

const route = (upstream: string, host?: string, pathPrefix?: string): Route => ({
  upstream,
  ...(host === undefined ? {} : { host }),
  ...(pathPrefix === undefined ? {} : { pathPrefix }),
});

function find(routes: Routes, host: string, target = "/"): string | undefined {
  const { head, progress } = readRequest(headOf(`GET ${target} HTTP/1.1`, `Host: ${host}`));
  assert.equal(progress, "done");
  return routes.find(head);
}

const ROUTES = new Routes([
  route("any-v1", undefined, "/v1"),
  route("suffix", "*.example.test"),
  route("deep", "*.b.example.test"),
  route("exact-api", "a.example.test", "/api/"),
  route("exact-api-v2", "a.example.test", "/api/v2"),
  route("deep-admin", "*.c.example.test", "/admin"),
], "fallback");

Deno.test("an exact host comes before suffixes, the longest suffix before shorter ones", () => {
  assert.equal(find(ROUTES, "a.example.test", "/api/x"), "exact-api");
  assert.equal(find(ROUTES, "x.example.test"), "suffix");
  assert.equal(find(ROUTES, "x.b.example.test"), "deep");
  assert.equal(find(ROUTES, "y.x.b.example.test"), "deep");
  assert.equal(find(ROUTES, "b.example.test"), "suffix");
});

Deno.test("a suffix is not the bare name, nor half a label", () => {
  assert.equal(find(ROUTES, "example.test"), "fallback");
  assert.equal(find(ROUTES, "notexample.test"), "fallback");
});

Deno.test("when no path of a group fits, the next group is asked", () => {
  assert.equal(find(ROUTES, "a.example.test", "/other"), "suffix");
  assert.equal(find(ROUTES, "x.c.example.test", "/admin"), "deep-admin");
  assert.equal(find(ROUTES, "x.c.example.test", "/"), "suffix");
  assert.equal(find(ROUTES, "elsewhere.test", "/v1/x"), "any-v1");
  assert.equal(find(ROUTES, "elsewhere.test", "/"), "fallback");
});

Deno.test("prefixes fit whole segments, the longest first", () => {
  assert.equal(find(ROUTES, "a.example.test", "/api"), "exact-api");
  assert.equal(find(ROUTES, "a.example.test", "/api?x"), "exact-api");
  assert.equal(find(ROUTES, "a.example.test", "/apix"), "suffix");
  assert.equal(find(ROUTES, "a.example.test", "/api/v2"), "exact-api-v2");
  assert.equal(find(ROUTES, "a.example.test", "/api/v2/x"), "exact-api-v2");
  assert.equal(find(ROUTES, "a.example.test", "/api/v20"), "exact-api");
  assert.equal(find(ROUTES, "a.example.test", "/API/v2"), "suffix");
});

Deno.test("case, port and final dot of Host make no difference", () => {
  assert.equal(find(ROUTES, "A.Example.TEST:8080", "/api"), "exact-api");
  assert.equal(find(ROUTES, "a.example.test.", "/api"), "exact-api");
});

Deno.test("a URL as target is routed by its own authority and path", () => {
  assert.equal(find(ROUTES, "elsewhere.test", "http://a.example.test/api/v2"), "exact-api-v2");
  assert.equal(find(ROUTES, "elsewhere.test", "http://x.b.example.test"), "deep");
});

Deno.test("without a route and without a default there is no upstream", () => {
  assert.equal(find(new Routes([], undefined), "a"), undefined);
  assert.equal(find(new Routes([route("x", "b")], undefined), "a"), undefined);
  assert.equal(find(new Routes([], "d"), "a"), "d");
});

Deno.test("a request without Host is routed by path only", () => {
  const { head } = readRequest(headOf("GET /v1 HTTP/1.0"));
  assert.equal(ROUTES.find(head), "any-v1");
});

Deno.test("of two equal routes the first counts", () => {
  assert.equal(
    find(new Routes([route("one", "a", "/x"), route("two", "a", "/x/")], undefined), "a", "/x"),
    "one",
  );
});
