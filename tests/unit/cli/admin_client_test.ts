// Where commands look for a running hale.

import assert from "node:assert/strict";
import { type AdminValues, findTarget, parseEndpointName, printable } from "../../../src/cli/admin_client.ts";
import type { ConfigFiles } from "../../../src/config/files.ts";

function filesOf(texts: Readonly<Record<string, string>>): ConfigFiles {
  return {
    read: (path) => texts[path] ?? { error: "no such file", isMissing: true },
    list: () => ({ error: "no such folder", isMissing: true }),
    isFolder: () => false,
    resolve: (base, relative) =>
      base.includes("/") && !relative.startsWith("/") ? base.replace(/[^/]*$/, relative) : relative,
  };
}

const find = (values: AdminValues, texts: Readonly<Record<string, string>> = {}) =>
  findTarget(values, filesOf(texts));

Deno.test("an address or URL that is given wins", () => {
  const texts = { "hale.yaml": "admin: { address: 127.0.0.1:1 }" };
  assert.deepEqual(find({ admin: "10.0.0.5:9900" }, texts), { url: "http://10.0.0.5:9900" });
  assert.deepEqual(find({ admin: "[::1]:9900" }), { url: "http://[::1]:9900" });
  assert.deepEqual(find({ admin: "https://hale.internal/x" }), { url: "https://hale.internal" });
});

Deno.test("a bad address is a sentence", () => {
  for (const admin of ["9900", "host:port", "::1:9900", "http://"]) {
    const found = find({ admin });
    assert.ok("failure" in found && found.failure.includes(admin), admin);
  }
});

Deno.test("without one the config's counts, then the usual one", () => {
  assert.deepEqual(find({}, { "hale.yaml": "admin: { address: 127.0.0.1:7 }" }), {
    url: "http://127.0.0.1:7",
  });
  assert.deepEqual(find({}), { url: "http://127.0.0.1:9900" });
  assert.deepEqual(find({ config: ["x.yaml"] }, { "x.yaml": "admin: { address: 10.0.0.1:8 }" }), {
    url: "http://10.0.0.1:8",
  });
});

Deno.test("a config with problems still tells its admin address: it may be the refused edit", () => {
  const text = "admin: { address: 127.0.0.1:7 }\nlisteners: 5\nnonsense: true\n";
  assert.deepEqual(find({ config: ["x.yaml"] }, { "x.yaml": text }), { url: "http://127.0.0.1:7" });
  assert.deepEqual(find({ config: ["x.yaml"] }, { "x.yaml": "a: [" }), { url: "http://127.0.0.1:9900" });
});

Deno.test("a config without admin address says so", () => {
  const found = find({ config: ["x.yaml"] }, { "x.yaml": "workers: 1" });
  assert.ok("failure" in found && found.failure.includes("no admin address"));
});

Deno.test("a wildcard address means this machine", () => {
  const of = (address: string) => find({ config: ["x"] }, { x: `admin: { address: "${address}" }` });
  assert.deepEqual(of("0.0.0.0:9900"), { url: "http://127.0.0.1:9900" });
  assert.deepEqual(of("[::]:9900"), { url: "http://[::1]:9900" });
});

Deno.test("the token comes from the config's file, or from the one that is named, trimmed", () => {
  const texts = {
    "etc/hale.yaml": "admin: { address: 10.0.0.1:8, token_file: token }",
    "etc/token": "sesame\n",
    "other": " other \n",
  };
  assert.deepEqual(find({ config: ["etc/hale.yaml"] }, texts), { url: "http://10.0.0.1:8", token: "sesame" });
  assert.deepEqual(find({ admin: "h:1", "token-file": "other" }, texts), {
    url: "http://h:1",
    token: "other",
  });
  const missing = find({ admin: "h:1", "token-file": "nowhere" }, texts);
  assert.ok("failure" in missing && missing.failure.includes("nowhere"));
});

Deno.test("UPSTREAM/ENDPOINT is split at the last slash", () => {
  assert.deepEqual(parseEndpointName("app/10.0.0.1:80"), { upstream: "app", endpoint: "10.0.0.1:80" });
  assert.deepEqual(parseEndpointName("a/b/[::1]:80"), { upstream: "a/b", endpoint: "[::1]:80" });
  for (const text of ["app", "/x:1", "app/", ""]) assert.equal(parseEndpointName(text), undefined, text);
});

Deno.test("control characters become question marks, line feeds stay", () => {
  assert.equal(printable("a\u001b[31m\tb\u0085\nc"), "a?[31m?b?\nc");
});
