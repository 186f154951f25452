import assert from "node:assert/strict";
import { usesTls } from "../../../src/core/plan.ts";
import type { Config } from "../../../src/core/plan.ts";
import { quickConfig } from "../../../src/config/quick.ts";
import { configOf } from "../../support/config_text.ts";

function quick(protocol: "tcp" | "http", listen: string, ...endpoints: string[]): Config {
  const result = quickConfig({ protocol, listen, endpoints });
  if ("problems" in result) assert.fail(result.problems.join("\n"));
  return result.config;
}

function problems(protocol: "tcp" | "http", listen: string, ...endpoints: string[]): readonly string[] {
  const result = quickConfig({ protocol, listen, endpoints });
  return "problems" in result ? result.problems : [];
}

Deno.test("a quick config is what a file of the same content gives", () => {
  const text = `
listeners: [{ name: http, address: "127.0.0.1:8080", protocol: http, upstream: endpoints }]
upstreams: [{ name: endpoints, protocol: http1, endpoints: ["a:1", "[::1]:2"], health: {} }]
`;
  assert.deepEqual(quick("http", "127.0.0.1:8080", "a:1", "[::1]:2"), configOf(text));
  const tcp = text.replaceAll("protocol: http,", "protocol: tcp,").replace("http1", "tcp").replace(
    "name: http",
    "name: tcp",
  );
  assert.deepEqual(quick("tcp", "127.0.0.1:8080", "a:1", "[::1]:2"), configOf(tcp));
});

Deno.test("a port alone, with or without colon, means all interfaces", () => {
  const address = (listen: string) => quick("tcp", listen, "a:1").listeners[0]?.address;
  assert.deepEqual(address(":5432"), { host: "0.0.0.0", port: 5432 });
  assert.deepEqual(address("5432"), { host: "0.0.0.0", port: 5432 });
  assert.deepEqual(address("127.0.0.1:5432"), { host: "127.0.0.1", port: 5432 });
  assert.deepEqual(address("[::]:5432"), { host: "::", port: 5432 });
  assert.deepEqual(address("localhost:0"), { host: "localhost", port: 0 });
});

Deno.test("passive health is on, probes are not", () => {
  const [upstream] = quick("tcp", ":1", "a:1").upstreams;
  assert.equal(upstream?.health?.streak, "separate");
  assert.equal(upstream?.health?.recovery, "timer");
  assert.equal(upstream?.activeHealth, undefined);
});

Deno.test("URLs name the scheme and may leave the port out", () => {
  const [upstream] = quick("http", ":1", "http://a", "http://b:8080/", "[::1]:80", "HTTP://[::2]").upstreams;
  assert.deepEqual(upstream?.endpoints.map(({ key }) => key), ["a:80", "b:8080", "[::1]:80", "[::2]:80"]);
  assert.equal(upstream?.protocol, "http1");
  assert.equal(upstream?.tls, undefined);
});

Deno.test("https endpoints speak TLS, all of them or some", () => {
  const [all] = quick("http", ":1", "https://a", "https://[::1]:8443").upstreams;
  assert.deepEqual(all?.endpoints.map((endpoint) => [endpoint.key, usesTls(all, endpoint)]), [
    ["a:443", true],
    ["[::1]:8443", true],
  ]);
  const [some] = quick("http", ":8080", "http://10.0.0.1:8080", "https://10.0.0.2", "b:1").upstreams;
  assert.deepEqual(some?.endpoints.map((endpoint) => [endpoint.key, usesTls(some, endpoint)]), [
    ["10.0.0.1:8080", false],
    ["10.0.0.2:443", true],
    ["b:1", false],
  ]);
});

Deno.test("every wrong argument is named", () => {
  assert.deepEqual(problems("tcp", "x", "http://10.0.0.1:1", "1.2.3.4", "ok:1"), [
    `The port is missing (got "x", want a port, :port or host:port to listen on)`,
    `A URL is no address, leave the scheme and the path out (got "http://10.0.0.1:1", want host:port)`,
    `The port is missing (got "1.2.3.4", want host:port)`,
  ]);
  assert.deepEqual(problems("http", ":1"), [
    "No endpoint (got nothing, want host:port, http://host or https://host)",
  ]);
  assert.deepEqual(problems("http", ":1", "a:1", "A.:1"), ["The endpoint a:1 stands twice"]);
  assert.deepEqual(problems("http", "127.0.0.1:1", "127.0.0.1:1"), [
    "The endpoint 127.0.0.1:1 is the listener itself",
  ]);
});

Deno.test("URLs with a path, a user or another scheme are refused, and so are odd ports", () => {
  const bad = [
    "http://a/x",
    "http://a?x",
    "http://u@a",
    "http://u:p@a:1",
    "ftp://a",
    "http://",
    "http://a:0",
    "http://a:99999",
    "https://a:x",
    "http://[::1",
    "http://::1",
    "//a",
    "http:/a",
    "a",
    "",
  ];
  for (const endpoint of bad) assert.equal(problems("http", ":1", endpoint).length, 1, endpoint);
  for (const listen of ["", ":", "::", ":70000", "0x50", "080", "-1", "*:80", "127.1:80"]) {
    assert.equal(problems("http", listen, "a:1").length, 1, listen);
  }
});
