// The hosts file, as people write it.

import assert from "node:assert/strict";
import { hostsEntryOf, parseHosts } from "../../../src/net/hosts_file.ts";

Deno.test("names are found in any case, with all their addresses, each once", () => {
  const hosts = parseHosts(
    "127.0.0.1 localhost\n10.0.0.1\tApp.Example.test app # web\r\n10.0.0.2 app\n::1 app\n10.0.0.1 app\n",
  );
  assert.deepEqual(hostsEntryOf(hosts, "app"), { v4: ["10.0.0.1", "10.0.0.2"], v6: ["::1"] });
  assert.deepEqual(hostsEntryOf(hosts, "app.example.test"), { v4: ["10.0.0.1"], v6: [] });
  assert.equal(hostsEntryOf(hosts, "web"), undefined);
});

Deno.test("what is no address or no name is skipped", () => {
  const hosts = parseHosts("not-an-ip app\n# 10.0.0.1 app\n\n10.0.0.999 app\n10.0.0.1 a!b app2\n10.0.0.1\n");
  assert.deepEqual([...hosts.keys()], ["app2"]);
});

Deno.test("localhost is this machine, whatever the file says or leaves out", () => {
  const loopback = { v4: ["127.0.0.1"], v6: ["::1"] };
  assert.deepEqual(hostsEntryOf(parseHosts(""), "localhost"), loopback);
  assert.deepEqual(hostsEntryOf(parseHosts(""), "app.localhost"), loopback);
  assert.deepEqual(hostsEntryOf(parseHosts("127.0.0.1 localhost\n"), "localhost"), {
    v4: ["127.0.0.1"],
    v6: [],
  });
});
