// What it means when a name server can not even be asked. Answers are heard in tests/integration/dns_test.ts.

import assert from "node:assert/strict";
import { askServer } from "../../../src/net/dns_query.ts";

/** Asks while no datagram socket can be had, for the reason of this code. */
async function failureFor(code: string): Promise<string> {
  const { listenDatagram } = Deno;
  Deno.listenDatagram = () => {
    throw Object.assign(new Error(code), { code });
  };
  try {
    const server = { host: "2001:db8::53", port: 53 };
    const end = await askServer(server, { name: "a.test", type: "A" }, { timeoutMs: 1000, useTcp: false });
    return "failure" in end ? end.failure : "answered";
  } finally {
    Deno.listenDatagram = listenDatagram;
  }
}

Deno.test("a server of a kind of which we have no address is unreachable, and only what has run out is our own limit", async () => {
  for (const code of ["EADDRNOTAVAIL", "ENETUNREACH", "EAFNOSUPPORT"]) {
    assert.equal(await failureFor(code), "unreachable", code);
  }
  for (const code of ["EMFILE", "ENFILE", "EADDRINUSE", "ENOBUFS", "ENOMEM"]) {
    assert.equal(await failureFor(code), "own_limit", code);
  }
});
