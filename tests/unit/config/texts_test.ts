import assert from "node:assert/strict";
import {
  headerProblem,
  readDiscoveryName,
  readEndpointAddress,
  readFilePath,
  readHostHeader,
  readListenAddress,
  readMethod,
  readName,
  readNameserver,
  readNetwork,
  readPath,
  readPathPrefix,
  readRouteHost,
  readServerName,
} from "../../../src/config/texts.ts";

type Reader = (text: string) => unknown;

function isProblem(value: unknown): value is { problem: string } {
  return typeof value === "object" && value !== null && "problem" in value;
}

function assertReads(read: Reader, good: Readonly<Record<string, unknown>>): void {
  for (const [text, wanted] of Object.entries(good)) {
    assert.deepEqual(read(text), wanted, JSON.stringify(text));
  }
}

function assertRefuses(read: Reader, bad: readonly string[]): void {
  for (const text of bad) {
    const value = read(text);
    assert.ok(isProblem(value), `${JSON.stringify(text)} was read as ${JSON.stringify(value)}`);
    assert.match(
      value.problem,
      /^("|[A-Z])[^\n]+[^.]$/,
      "begins with a capital or a quote, ends without a full stop",
    );
  }
}

const address = (host: string, port: number) => ({ host, port });

Deno.test("names can be shown, and addressed in a URL", () => {
  const good = ["app", "a b", "a/b", "...", ".a", "a.", "%2e", "\u00e9", "a".repeat(100)];
  assertReads(readName, Object.fromEntries(good.map((name) => [name, name])));
  for (const name of good) {
    const { pathname } = new URL(`http://a/upstreams/${encodeURIComponent(name)}/x`);
    assert.equal(decodeURIComponent(pathname), `/upstreams/${name}/x`);
  }
  assertRefuses(readName, ["", " a", "a ", "a\tb", "a".repeat(101), ".", ".."]);
  assert.deepEqual(readName(".."), {
    problem: "A name of dots alone would be lost in the URLs of the admin API",
  });
});

Deno.test("listeners accept on addresses and names, with any free port as 0", () => {
  assertReads(readListenAddress, {
    "0.0.0.0:80": address("0.0.0.0", 80),
    "[::]:80": address("::", 80),
    "127.0.0.1:0": address("127.0.0.1", 0),
    "localhost:80": address("localhost", 80),
    "[::ffff:127.0.0.1]:80": address("127.0.0.1", 80),
  });
  assertRefuses(readListenAddress, ["80", ":80", "*:80", "0.0.0.0", "::1:80", "", "http://a:80", "a:80/"]);
  const problem = "All interfaces are written [::]:80, those of IPv4 alone 0.0.0.0:80";
  assert.deepEqual(readListenAddress(":80"), { problem });
  assert.deepEqual(readListenAddress("*:80"), { problem });
});

Deno.test("endpoints are addresses that one can connect to", () => {
  assertReads(readEndpointAddress, {
    "10.0.0.1:80": address("10.0.0.1", 80),
    "[::FFFF:10.0.0.1]:80": address("10.0.0.1", 80),
    "App.Internal.:80": address("app.internal", 80),
    "[fe80::1%eth0]:80": address("fe80::1%eth0", 80),
    "223.255.255.255:1": address("223.255.255.255", 1),
  });
  assertRefuses(readEndpointAddress, [
    "10.0.0.1",
    "10.0.0.1:0",
    "0.0.0.0:80",
    "[::]:80",
    "[::ffff:0.0.0.0]:80",
    "224.0.0.1:80",
    "255.255.255.255:80",
    "[ff02::1]:80",
    "http://10.0.0.1:80",
    "https://a",
    "10.0.0.1:80/x",
    "a:http",
    "unix:/run/x.sock",
  ]);
});

Deno.test("name servers are IP addresses, port 53 unless said", () => {
  assertReads(readNameserver, {
    "10.0.0.53": address("10.0.0.53", 53),
    "10.0.0.53:5353": address("10.0.0.53", 5353),
    "::1": address("::1", 53),
    "[::1]:5353": address("::1", 5353),
    "::ffff:10.0.0.53": address("10.0.0.53", 53),
    "fe80::1%eth0": address("fe80::1%eth0", 53),
  });
  assertRefuses(readNameserver, [
    "",
    "dns.example",
    "dns.example:53",
    "10.0.0.53:0",
    "[::1]",
    "10.0.53",
    "system",
  ]);
});

Deno.test("names to look up keep their final dot", () => {
  assertReads(readDiscoveryName, {
    "App.Internal": "app.internal",
    "app.internal.": "app.internal.",
    "_http._tcp.x": "_http._tcp.x",
    app: "app",
  });
  assertRefuses(readDiscoveryName, ["", ".", "10.0.0.1", "::1", "a..b", "a b", "a:80", "*.x", "127.1"]);
});

Deno.test("server names are names or addresses", () => {
  assertReads(readServerName, { "A.Example.": "a.example", "10.0.0.1": "10.0.0.1", "::1": "::1" });
  assertRefuses(readServerName, ["", "a:80", "*.a", "[::1]", "fe80::1%eth0", "a\n"]);
});

Deno.test("a Host header is a host with or without port, in the spelling given", () => {
  assertReads(readHostHeader, {
    "WWW.Example.com": "WWW.Example.com",
    "a:80": "a:80",
    "[::1]": "[::1]",
    "[::1]:80": "[::1]:80",
    "10.0.0.1": "10.0.0.1",
  });
  assertRefuses(readHostHeader, [
    "",
    "a b",
    "a:",
    "a:0",
    "a:b",
    "::1",
    "[a]",
    "a\r\nX: y",
    "a/b",
    "user@a",
    "a,b",
    "ä.example",
    "[]",
    "[1.2.3.4]",
  ]);
});

Deno.test("routes take exact hosts and suffixes, in canonical spelling", () => {
  assertReads(readRouteHost, {
    "API.Example.com.": "api.example.com",
    "*.Example.com": "*.example.com",
    "*.com": "*.com",
    "10.0.0.1": "10.0.0.1",
    "[::1]": "[::1]",
    "::1": "[::1]",
    "[2001:DB8::0:1]": "[2001:db8::1]",
  });
  assertRefuses(readRouteHost, [
    "",
    "*",
    "*.",
    "*a.example",
    "a.*.example",
    "*.*.a",
    "a:80",
    "*.a:80",
    "[::1]:80",
    "*.10.0.0.1",
    "*.::1",
    "a/b",
    "http://a",
    "ä.example",
    "a b",
  ]);
});

Deno.test("paths begin with a slash and are visible ASCII", () => {
  assertReads(readPath, {
    "/": "/",
    "/a/b?c=d&e": "/a/b?c=d&e",
    "/%41%zz//..": "/%41%zz//..",
    "/a:b@c": "/a:b@c",
  });
  assertRefuses(readPath, [
    "",
    "a",
    "a/",
    " /a",
    "/a b",
    "/a\n",
    "/a\0",
    "/ä",
    "/a#b",
    "http://a/",
    "*",
    `/${"x".repeat(5000)}`,
    "/\u2028",
    "/a\x7f",
  ]);
  assertReads(readPathPrefix, { "/": "/", "/v1": "/v1", "/v1/": "/v1/" });
  assertRefuses(readPathPrefix, ["", "v1", "/a?b", "/a b"]);
});

Deno.test("methods are tokens in capitals, CONNECT is none for a probe", () => {
  assertReads(readMethod, { GET: "GET", HEAD: "HEAD", OPTIONS: "OPTIONS", "X-PING": "X-PING" });
  assertRefuses(readMethod, ["", "get", "CONNECT", "GET ", "G T", "GET\r\n", "GÉT", "X".repeat(33)]);
});

Deno.test("networks are addresses or CIDR without bits behind the prefix", () => {
  assertReads(readNetwork, {
    "10.0.0.1": "10.0.0.1",
    "10.0.0.0/8": "10.0.0.0/8",
    "10.1.2.3/32": "10.1.2.3/32",
    "0.0.0.0/0": "0.0.0.0/0",
    "10.0.0.128/25": "10.0.0.128/25",
    "::1": "::1",
    "::/0": "::/0",
    "2001:DB8:0::/32": "2001:db8::/32",
    "2001:db8::8000/113": "2001:db8::8000/113",
    "::ffff:10.0.0.1": "10.0.0.1",
    "::ffff:10.0.0.0/104": "10.0.0.0/8",
    "::ffff:10.1.2.3/128": "10.1.2.3/32",
    "::ffff:0:0/96": "0.0.0.0/0",
  });
  assertRefuses(readNetwork, [
    "",
    "/8",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0.0/255.0.0.0",
    "10/8",
    "10.0.0/8",
    "::/129",
    "fe80::1%eth0",
    "fe80::%eth0/64",
    "localhost",
    "10.0.0.1/8",
    "2001:db8::1/32",
    "10.0.0.0 /8",
    "[::1]",
    "*",
  ]);
  assert.deepEqual(readNetwork("10.1.2.3/8"), {
    problem: "Bits are set behind the prefix, the network is 10.0.0.0/8",
  });
});

Deno.test("headers of a probe can not break its head, nor what the probe decides itself", () => {
  for (
    const [name, value] of [
      ["X-A", ""],
      ["x", "a b\tc"],
      ["Authorization", "Basic dTpw"],
      ["User-Agent", "me"],
      ["__proto__", "x"],
      ["Cookie", 'a="b"'],
    ]
  ) {
    assert.equal(headerProblem(name!, value!), undefined, name);
  }
  const bad = [
    ["", "x"],
    ["a b", "x"],
    ["a:", "x"],
    ["ä", "x"],
    ["a\r\n", "x"],
    ["x", "a\r\nb"],
    ["x", "a\nb"],
    ["x", "a\rb"],
    ["x", "a\0"],
    ["x", "ä"],
    ["x", "\x7f"],
    ["Host", "x"],
    ["HOST", "x"],
    ["connection", "close"],
    ["Content-Length", "5"],
    ["Transfer-Encoding", "chunked"],
    ["Upgrade", "x"],
    ["Expect", "100-continue"],
    ["x", "a".repeat(5000)],
    ["x".repeat(300), "a"],
  ];
  for (const [name, value] of bad) {
    assert.notEqual(headerProblem(name!, value!), undefined, JSON.stringify([name, value]));
  }
});

Deno.test("file paths are anything without control characters", () => {
  assertReads(readFilePath, { "ca.pem": "ca.pem", "/a b/ä.pem": "/a b/ä.pem", "..\\x": "..\\x" });
  assertRefuses(readFilePath, ["", " ", "a\nb", "a\0"]);
});
