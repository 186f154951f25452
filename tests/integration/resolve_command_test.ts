// `hale resolve` against a scripted name server.

import assert from "node:assert/strict";
import { resolveCommand } from "../../src/cli/resolve.ts";
import type { Io } from "../../src/cli/terminal.ts";
import { formatAddress } from "../../src/core/address.ts";
import { readScript } from "../support/dns_script.ts";
import { NameServer } from "../support/name_server.ts";

class Paper implements Io {
  outText = "";
  errText = "";
  readonly isTerminal = false;
  readonly colors = false;

  out(text: string): void {
    this.outText += text;
  }

  err(text: string): void {
    this.errText += text;
  }
}

/** Runs the command against the case; times and ports are taken out of what it printed. */
async function resolveCase(name: string, ...args: string[]): Promise<{ code: number; lines: string[] }> {
  const server = NameServer.start(readScript(name));
  const at = formatAddress(server.address);
  const paper = new Paper();
  const code = await resolveCommand([...args, "--nameserver", at], paper);
  await server.close();
  const text = paper.outText.replaceAll(at, "SERVER").replace(/(in|after) [0-9.]+ m?s/g, "$1 TIME");
  return { code, lines: text.trimEnd().split("\n") };
}

Deno.test("a name with an alias: records, chain, lifetime, next refresh", async () => {
  assert.deepEqual(await resolveCase("20-cname-ttl", "app.example.test"), {
    code: 0,
    lines: [
      "app.example.test A: 1 record, by SERVER (udp) in TIME",
      "  app.example.test -> blue.example.test",
      "  127.0.0.11                              TTL 1 d",
      "app.example.test AAAA: nodata after TIME",
      "  SERVER (udp) says no records of that type for app.example.test",
      "next refresh in TIME (least TTL)",
    ],
  });
});

Deno.test("a service name is asked for SRV, its targets are looked up", async () => {
  const { code, lines } = await resolveCase("22-srv-no-additional", "_http._tcp.app.example.test");
  assert.equal(code, 0);
  assert.deepEqual(lines.slice(0, 5), [
    "_http._tcp.app.example.test SRV: 3 records, by SERVER (udp) in TIME",
    "  n1.example.test:9001                    TTL 1 min, priority 10, weight 1",
    "    127.0.0.11                            TTL 1 min",
    "  n2.example.test:9001                    TTL 1 min, priority 10, weight 1",
    "    A: servfail (n2.example.test A: SERVER: SERVFAIL)",
  ]);
  assert.match(lines.at(-1)!, /^next refresh in TIME \(refresh_interval_s by default; least TTL 1 min\)$/);
});

Deno.test("nothing is exit code 1, with the kind of failure", async () => {
  const { code, lines } = await resolveCase("25-rdlength-wrong", "app.example.test", "--type", "A");
  assert.equal(code, 1);
  assert.match(lines[0]!, /^app\.example\.test A: malformed/);
});

Deno.test("a wrong call is exit code 2 and says what is wanted", async () => {
  const wrong = [[], ["a b"], ["a", "b"], ["a", "--type", "MX"], ["a", "--nameserver", "dns.test"], [
    "a",
    "--no",
  ]];
  for (const args of wrong) {
    const paper = new Paper();
    assert.equal(await resolveCommand(args, paper), 2, args.join(" "));
    assert.match(paper.errText, /usage: hale resolve NAME/);
    assert.equal(paper.outText, "");
  }
});

Deno.test("--help shows an example; an address needs no DNS", async () => {
  const paper = new Paper();
  assert.equal(await resolveCommand(["--help"], paper), 0);
  assert.match(paper.outText, /Examples:\n {2}hale resolve app/);
  assert.equal(await resolveCommand(["10.0.0.1"], paper), 0);
  assert.match(paper.outText, /10\.0\.0\.1 is an IP address/);
});
