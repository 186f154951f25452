// Case 26: resolver files as they are found, read as libc reads them.

import assert from "node:assert/strict";
import { parseResolvConf } from "../../../src/net/resolv_conf.ts";

function parseCase(name: string) {
  const url = new URL(`../../cases/26-${name}.resolv.conf`, import.meta.url);
  return parseResolvConf(Deno.readTextFileSync(url));
}

const at = (...hosts: string[]) => hosts.map((host) => ({ host, port: 53 }));

Deno.test("an empty text has libc's defaults and asks this machine", () => {
  const conf = parseResolvConf("");
  assert.deepEqual({ ...conf, warnings: [] }, {
    nameservers: at("127.0.0.1"),
    search: [],
    ndots: 1,
    timeoutMs: 5000,
    attempts: 2,
    rotate: false,
    useTcp: false,
    warnings: [],
  });
  assert.equal(conf.warnings.length, 1);
});

Deno.test("case 26: an empty file never means strangers", () => {
  assert.deepEqual(parseCase("empty").nameservers, at("127.0.0.1"));
});

Deno.test("case 26: junk lines hide no good one, and the last search or domain wins", () => {
  const conf = parseCase("bad-lines-good-last");
  assert.deepEqual(conf.nameservers, at("127.0.0.54"));
  assert.deepEqual(conf.search, ["new.example.test"]);
  assert.deepEqual(conf.warnings, [
    'nameserver "" is no IP address',
    'nameserver "not-an-ip" is no IP address',
    'nameserver "999.1.1.1" is no IP address',
    '"NAMESERVER 127.0.0.9" is skipped, as libc does: wanted "nameserver" at the line\'s start',
    '"   nameserver 127.0.0.53" is skipped, as libc does: wanted "nameserver" at the line\'s start',
  ]);
});

Deno.test("case 26: CRLF and a missing final newline change nothing", () => {
  const conf = parseCase("crlf-no-final-newline");
  assert.deepEqual(conf.nameservers, at("127.0.0.53"));
  assert.deepEqual(conf.search, ["example.test"]);
  assert.equal(conf.ndots, 2);
});

Deno.test("case 26: a scoped address keeps its scope", () => {
  assert.deepEqual(parseCase("scope-id").nameservers, at("fe80::1%lo", "::1", "127.0.0.53"));
});

Deno.test("case 26: odd search entries are skipped, good ones stay", () => {
  const conf = parseCase("search-dashes");
  assert.deepEqual(conf.search, ["_srv.example.test", "xn--bcher-kva.example.test"]);
  assert.deepEqual(conf.nameservers, at("127.0.0.53"));
  assert.deepEqual(conf.warnings, ['search "--" is no name']);
});

Deno.test("case 26: comments after values are no values", () => {
  const conf = parseCase("trailing-comment");
  assert.deepEqual(conf.nameservers, at("127.0.0.53", "127.0.0.54"));
  assert.equal(conf.timeoutMs, 1000);
  assert.equal(conf.attempts, 1);
});

Deno.test("case 26: unknown options and lines are skipped, numbers are kept within libc's limits", () => {
  const conf = parseCase("unknown-options");
  assert.deepEqual(conf.nameservers, at("127.0.0.53"));
  assert.deepEqual(conf.search, ["corp.example.test", "lab.example.test", "example.test"]);
  assert.equal(conf.ndots, 15);
  assert.equal(conf.timeoutMs, 5000);
  assert.deepEqual(conf.warnings, []);
});

Deno.test("options of all lines count, the last of one name wins, and impossible numbers are skipped", () => {
  const conf = parseResolvConf(
    "options ndots:3 timeout:9\noptions timeout:0 attempts:99 rotate use-vc\noptions timeout:60 attempts:0\n",
  );
  assert.deepEqual([conf.ndots, conf.timeoutMs, conf.attempts], [3, 30_000, 5]);
  assert.deepEqual([conf.rotate, conf.useTcp], [true, true]);
});

Deno.test("no more than three name servers count, as in libc", () => {
  const text = ["::1", "10.0.0.1", "10.0.0.2", "10.0.0.3"].map((host) => `nameserver ${host}\n`).join("");
  assert.deepEqual(parseResolvConf(text).nameservers, at("::1", "10.0.0.1", "10.0.0.2"));
});

Deno.test("domain takes one name", () => {
  assert.deepEqual(parseResolvConf("domain a.test b.test\n").search, ["a.test"]);
});
