import assert from "node:assert/strict";
import fc from "fast-check";
import {
  bracketed,
  canonicalHost,
  formatAddress,
  formatIpv6,
  isIpLiteral,
  isIpv6,
  isLoopback,
  parseAddress,
  parseIpv4,
  parseIpv6,
  parsePort,
  unmapped,
} from "../../../src/core/address.ts";

function address(text: string, allowPortZero = false): string {
  const parsed = parseAddress(text, { allowPortZero });
  return "problem" in parsed ? `problem: ${parsed.problem}` : `${parsed.host} ${parsed.port}`;
}

Deno.test("an address is a host and a port, in one spelling", () => {
  const same: Record<string, string> = {
    "localhost:80": "localhost 80",
    "Example.COM:443": "example.com 443",
    "example.com.:443": "example.com 443",
    "10.0.0.1:65535": "10.0.0.1 65535",
    "[::1]:80": "::1 80",
    "[2001:DB8:0:0:0:0:0:1]:80": "2001:db8::1 80",
    "[::ffff:10.0.0.1]:80": "::ffff:a00:1 80",
    "[fe80::1%eth0]:80": "fe80::1%eth0 80",
    "_service.internal:1": "_service.internal 1",
    "xn--bcher-kva.example:80": "xn--bcher-kva.example 80",
    "1.2.3.4.example:80": "1.2.3.4.example 80",
    "a:1": "a 1",
  };
  for (const [text, wanted] of Object.entries(same)) assert.equal(address(text), wanted, text);
});

Deno.test("what two programs could read as two addresses is no address", () => {
  const bad = [
    "",
    ":",
    ":80",
    "host",
    "host:",
    "host:0",
    "host:65536",
    "host:080",
    "host:+80",
    "host:-1",
    "host:80 ",
    " host:80",
    "host: 80",
    "host:8e1",
    "host:0x50",
    "host:8_0",
    "host:80.0",
    "host:80:80",
    "::1",
    "::1:80",
    "[::1]",
    "[::1]80",
    "[::1]:",
    "[::1",
    "::1]:80",
    "[10.0.0.1]:80",
    "[host]:80",
    "[]:80",
    "[::1%]:80",
    "[::1%a b]:80",
    "10.0.0.256:80",
    "10.0.0:80",
    "127.1:80",
    "010.0.0.1:80",
    "10.0.0.0x1:80",
    "0x7f.0.0.1:80",
    "2130706433:80",
    "10.0.0.1.:80",
    "10.0.0.1.2:80",
    "ho st:80",
    "host/x:80",
    "user@host:80",
    "-host:80",
    "host-:80",
    "a..b:80",
    ".a:80",
    "bücher.de:80",
    "host\n:80",
    "host\0:80",
    "http://host:80",
    "１０.0.0.1:80",
    "host:８０",
    `${"a".repeat(64)}:80`,
    `${"a.".repeat(127)}ab:80`,
  ];
  for (const text of bad) assert.match(address(text), /^problem: /, JSON.stringify(text));
});

Deno.test("port 0 is only for listeners", () => {
  assert.equal(address("127.0.0.1:0", true), "127.0.0.1 0");
  assert.equal(address("[::]:0", true), ":: 0");
  assert.equal(address("127.0.0.1:0"), `problem: "0" is no port of 1..65535`);
  assert.match(address("127.0.0.1:00", true), /^problem/);
});

Deno.test("the problem with an address says what is missing", () => {
  assert.equal(address("host"), "problem: the port is missing");
  assert.equal(address("::1"), "problem: an IPv6 address needs brackets, as [::1]:80");
  assert.equal(address("[10.0.0.1]:80"), "problem: only an IPv6 address stands in brackets, as [::1]:80");
  assert.equal(address("[::1]"), "problem: an IPv6 address in brackets is followed by a port, as [::1]:80");
  assert.equal(address("127.1:80"), `problem: "127.1" is no host name or IP address`);
});

Deno.test("a port is decimal and without decoration", () => {
  for (const text of ["0", "1", "80", "65535"]) assert.equal(parsePort(text), Number(text));
  for (
    const text of ["", "65536", "99999", "100000", "01", "-1", "+1", "1.0", "1e1", "0x1", " 1", "1 ", "١"]
  ) {
    assert.equal(parsePort(text), undefined, text);
  }
});

Deno.test("IPv4 addresses have four decimal parts", () => {
  assert.deepEqual(parseIpv4("0.0.0.0"), [0, 0, 0, 0]);
  assert.deepEqual(parseIpv4("255.255.255.255"), [255, 255, 255, 255]);
  for (
    const text of [
      "",
      "1.2.3",
      "1.2.3.4.5",
      "1.2.3.256",
      "01.2.3.4",
      "1.2.3.",
      ".1.2.3",
      "1..2.3",
      "a.b.c.d",
      "1.2.3.4 ",
    ]
  ) {
    assert.equal(parseIpv4(text), undefined, text);
  }
});

Deno.test("IPv6 addresses are read in all their spellings", () => {
  const good: Record<string, string> = {
    "::": "::",
    "::1": "::1",
    "1::": "1::",
    "1::8": "1::8",
    "1:2:3:4:5:6:7:8": "1:2:3:4:5:6:7:8",
    "0001:0002:0003:0004:0005:0006:0007:0008": "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7::": "1:2:3:4:5:6:7:0",
    "::2:3:4:5:6:7:8": "0:2:3:4:5:6:7:8",
    "1:0:0:4:0:0:0:8": "1:0:0:4::8",
    "1:0:0:4:5:0:0:8": "1::4:5:0:0:8",
    "2001:db8:0:1:1:1:1:1": "2001:db8:0:1:1:1:1:1",
    "::ffff:1.2.3.4": "::ffff:102:304",
    "64:ff9b::192.0.2.33": "64:ff9b::c000:221",
    "1:2:3:4:5:6:1.2.3.4": "1:2:3:4:5:6:102:304",
    "ABCD::EF": "abcd::ef",
  };
  for (const [text, wanted] of Object.entries(good)) assert.equal(canonicalHost(text), wanted, text);
});

Deno.test("texts with colons that are no IPv6 address are refused", () => {
  const bad = [
    ":",
    ":::",
    "1:",
    ":1",
    "1:::2",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "::1:2:3:4:5:6:7:8",
    "12345::",
    "g::",
    "::1.2.3",
    "::1.2.3.4.5",
    "::1.2.3.256",
    "1.2.3.4::",
    "1.2.3.4::1",
    "1:2:3:4:5:6:7:1.2.3.4",
    "::01.2.3.4",
    "::1 ",
    " ::1",
    "[::1]",
    "::1/64",
    "::1%",
    "::1%a%b",
    "::1%../x",
    "fe80::1%eth0 ",
    "::-1",
    "::+1",
  ];
  for (const text of bad) assert.equal(canonicalHost(text), undefined, JSON.stringify(text));
});

Deno.test("names are lower case, without final dot, and never look like numbers", () => {
  assert.equal(canonicalHost("A.Example."), "a.example");
  assert.equal(canonicalHost(`${"a".repeat(63)}.b`), `${"a".repeat(63)}.b`);
  assert.equal(canonicalHost("a_b.c-d"), "a_b.c-d");
  assert.equal(canonicalHost("1a"), "1a");
  for (
    const text of [
      "",
      ".",
      "..",
      "a..",
      "1",
      "a.1",
      "a.0x",
      "a.0x1f",
      "a.1.",
      "*.a",
      "a b",
      "a\tb",
      "ä",
      "a/b",
      "a%b",
      "a,b",
      "\u2025",
    ]
  ) {
    assert.equal(canonicalHost(text), undefined, JSON.stringify(text));
  }
});

Deno.test("letters that change their number when lowered do not slip through", () => {
  // The Kelvin sign lowers to "k", a dotted capital I to two characters.
  assert.equal(canonicalHost("\u212A.example"), undefined);
  assert.equal(canonicalHost("\u0130.example"), undefined);
});

Deno.test("a name is measured without its final dot", () => {
  const longest = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`;
  assert.equal(longest.length, 253);
  assert.equal(canonicalHost(`${longest}.`), longest);
  assert.equal(canonicalHost(`${longest}e`), undefined);
});

Deno.test("literals are told from names", () => {
  for (const host of ["1.2.3.4", "::1", "::ffff:102:304", "fe80::1%eth0"]) {
    assert.equal(isIpLiteral(host), true, host);
  }
  for (const host of ["localhost", "1.2.3.4.example", "a"]) assert.equal(isIpLiteral(host), false, host);
  assert.equal(isIpv6("::1"), true);
  assert.equal(isIpv6("1.2.3.4"), false);
});

Deno.test("only IPv6 is written in brackets", () => {
  assert.equal(bracketed("::1"), "[::1]");
  assert.equal(bracketed("1.2.3.4"), "1.2.3.4");
  assert.equal(bracketed("localhost"), "localhost");
  assert.equal(formatAddress({ host: "2001:db8::1", port: 80 }), "[2001:db8::1]:80");
  assert.equal(formatAddress({ host: "a", port: 0 }), "a:0");
});

Deno.test("IPv4-mapped addresses become IPv4, all others stay", () => {
  assert.equal(unmapped("::ffff:7f00:1"), "127.0.0.1");
  assert.equal(unmapped("::ffff:127.0.0.1"), "127.0.0.1");
  assert.equal(unmapped("0:0:0:0:0:FFFF:1.2.3.4"), "1.2.3.4");
  for (
    const host of [
      "::1",
      "::102:304",
      "::fffe:102:304",
      "1::ffff:102:304",
      "64:ff9b::102:304",
      "1.2.3.4",
      "localhost",
    ]
  ) {
    assert.equal(unmapped(host), host);
  }
});

Deno.test("a zone survives in a link-local address and keeps two interfaces apart", () => {
  assert.equal(canonicalHost("FE80:0::1%eth0"), "fe80::1%eth0");
  assert.notEqual(canonicalHost("fe80::1%eth0"), canonicalHost("fe80::1%eth1"));
  assert.equal(unmapped("fe80::1%eth0"), "fe80::1%eth0");
});

Deno.test("loopback is 127.0.0.0/8, ::1 and localhost, also mapped", () => {
  for (const host of ["127.0.0.1", "127.255.0.9", "::1", "localhost", "::ffff:7f00:1"]) {
    assert.equal(isLoopback(host), true, host);
  }
  for (
    const host of [
      "128.0.0.1",
      "0.0.0.0",
      "::",
      "::2",
      "127.example",
      "localhost.example",
      "10.0.0.1",
      "::ffff:a00:1",
    ]
  ) {
    assert.equal(isLoopback(host), false, host);
  }
});

const anyGroups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });

Deno.test("every IPv6 address comes back from its canonical spelling", () => {
  fc.assert(fc.property(anyGroups, (groups) => {
    const text = formatIpv6(groups);
    assert.deepEqual(parseIpv6(text), groups);
    assert.equal(canonicalHost(text), text);
    assert.equal(
      canonicalHost(groups.map((group) => group.toString(16).padStart(4, "0")).join(":").toUpperCase()),
      text,
    );
    assert.ok(!/(^|:)0[0-9a-f]/.test(text), "no leading zeros");
    // The URL parser of the platform writes IPv6 by the same rules.
    assert.equal(new URL(`http://[${text}]/`).hostname, `[${text}]`);
  }));
});

Deno.test("every IPv4 address comes back from its spelling, and from its mapped form", () => {
  const bytes = fc.array(fc.nat(255), { minLength: 4, maxLength: 4 });
  fc.assert(fc.property(bytes, (parts) => {
    const text = parts.join(".");
    assert.deepEqual(parseIpv4(text), parts);
    assert.equal(canonicalHost(text), text);
    assert.equal(unmapped(canonicalHost(`::ffff:${text}`)!), text);
  }));
});

Deno.test("an address comes back from what formatAddress writes", () => {
  const host = fc.oneof(fc.domain(), fc.ipV4(), anyGroups.map(formatIpv6));
  fc.assert(fc.property(host, fc.integer({ min: 1, max: 65535 }), (name, port) => {
    const canonical = canonicalHost(name);
    fc.pre(canonical !== undefined);
    assert.deepEqual(parseAddress(formatAddress({ host: canonical, port })), { host: canonical, port });
  }));
});

Deno.test("no text makes the parsers throw, and canonical spelling is a fixed point", () => {
  const odd = fc.string({ unit: fc.constantFrom(..."0123456789abcdefxXF:.%[]-_ \n\0é", "::", "ffff") });
  fc.assert(
    fc.property(fc.oneof(odd, fc.string({ unit: "binary" })), (text) => {
      const parsed = parseAddress(text, { allowPortZero: true });
      if (!("problem" in parsed)) {
        assert.deepEqual(parseAddress(formatAddress(parsed), { allowPortZero: true }), parsed);
      }
      const canonical = canonicalHost(text);
      if (canonical !== undefined) {
        assert.equal(canonicalHost(canonical), canonical);
      }
      isIpLiteral(text), isLoopback(text), unmapped(text), bracketed(text);
    }),
    { numRuns: 2000 },
  );
});
