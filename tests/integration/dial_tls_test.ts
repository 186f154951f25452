// TLS toward endpoints (L1, case 52): what is accepted, what is refused, and in which words. Whether a bundle stands
// INSTEAD of the public roots is a matter of the whole process, so those tests run in one of their own.

import assert from "node:assert/strict";
import { dial, type Dialed, type DialFailure } from "../../src/net/dial.ts";
import { Handshakes, MAX_UNANSWERED } from "../../src/net/handshakes.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { until } from "../support/until.ts";
import { pem, TlsEndpoint } from "../support/tls_endpoint.ts";

interface Try {
  readonly port: number;
  readonly ca?: string;
  readonly serverName?: string;
  readonly host?: string;
  readonly connectMs?: number;
  readonly signal?: AbortSignal;
  readonly handshakes?: Handshakes;
}

function dialTls(t: Try): Promise<Dialed | DialFailure> {
  const tls = {
    serverName: t.serverName ?? "app.example.test",
    ca: pem(t.ca ?? "ca.pem"),
    alpn: ["http/1.1"],
  } as const;
  return dial({ host: t.host ?? "127.0.0.1", port: t.port, tls }, {
    connectMs: t.connectMs ?? 10_000,
    happyEyeballsMs: 250,
    clock: new SystemClock(),
    resolveHost: () => Promise.resolve({ addresses: ["127.0.0.1"] }),
    ...(t.signal === undefined ? {} : { signal: t.signal }),
    ...(t.handshakes === undefined ? {} : { handshakes: t.handshakes }),
  });
}

async function tryLeaf(leaf: string, t: Omit<Try, "port"> = {}): Promise<string> {
  const endpoint = new TlsEndpoint(leaf);
  const result = await dialTls({ ...t, port: endpoint.port });
  if ("conn" in result) result.conn.close();
  await endpoint.close();
  return "conn" in result ? "ok" : `${result.outcome} ${result.detail}`;
}

Deno.test("case 52: each certificate is accepted or refused with its reason", async () => {
  assert.equal(await tryLeaf("good"), "ok");
  assert.equal(await tryLeaf("wildcard"), "ok");
  assert.equal(await tryLeaf("expired"), "tls_failed 127.0.0.1: certificate has expired");
  assert.equal(await tryLeaf("not-yet"), "tls_failed 127.0.0.1: certificate is not valid yet");
  assert.equal(
    await tryLeaf("other-ca"),
    "tls_failed 127.0.0.1: certificate was issued by an unknown authority",
  );
  assert.equal(
    await tryLeaf("other-name"),
    'tls_failed 127.0.0.1: certificate is not valid for name "app.example.test", only for other.example.test',
  );
  assert.match(await tryLeaf("selfca"), /^tls_failed 127\.0\.0\.1: certificate /);
  assert.match(
    await tryLeaf("selfca", { ca: "selfca.pem" }),
    /^tls_failed .* is a CA certificate .* CA:FALSE$/,
  );
  assert.match(
    await tryLeaf("good", { serverName: "127.0.0.1" }),
    /^tls_failed .*: certificate is not valid for name "127\.0\.0\.1"/,
  );
});

Deno.test("an address literal as server name is checked against the certificate's addresses", async () => {
  assert.equal(await tryLeaf("by-ip", { serverName: "127.0.0.1" }), "ok");
  assert.equal(await tryLeaf("by-ip", { serverName: "::1" }), "ok");
  assert.match(await tryLeaf("by-ip", { serverName: "127.0.0.2" }), /not valid for name "127\.0\.0\.2"/);
});

Deno.test("a bundle of two authorities accepts both", async () => {
  assert.equal(await tryLeaf("good", { ca: "both.pem" }), "ok");
  assert.equal(await tryLeaf("other-ca", { ca: "both.pem" }), "ok");
});

Deno.test("a host name is dialled by address and checked by name", async () => {
  assert.equal(await tryLeaf("good", { host: "somewhere.example.test" }), "ok");
});

Deno.test("a TLS connection carries bytes and tells the time of each stage", async () => {
  const endpoint = new TlsEndpoint("good");
  const result = await dialTls({ port: endpoint.port });
  if ("outcome" in result) throw new Error(result.detail);
  assert.ok(result.tlsMs > 0 && result.connectMs > 0);
  assert.equal(result.resolveMs, 0);
  assert.equal(await result.conn.write(new Uint8Array(5)), 5);
  result.conn.close();
  await endpoint.close();
});

Deno.test("a bundle or a name that can not be used is our fault, not the endpoint's", async () => {
  assert.equal(
    await tryLeaf("good", { serverName: "a b" }),
    "internal_error 127.0.0.1: the server name is not one that TLS can check",
  );
});

Deno.test("an endpoint without HTTP/1.1 in its ALPN is refused and says so", async () => {
  const endpoint = new TlsEndpoint("good", { alpn: ["h2"] });
  const result = await dialTls({ port: endpoint.port });
  assert.deepEqual(result, {
    outcome: "tls_failed",
    detail: "127.0.0.1: the server offers no HTTP/1.1 (ALPN)",
  });
  await endpoint.close();
});

/** A plain TCP endpoint that does `act` with its one connection. */
async function withPlainEndpoint(
  act: (conn: Deno.TcpConn) => Promise<unknown>,
  run: (port: number) => Promise<void>,
): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    using conn = await listener.accept();
    await act(conn);
  })();
  await run(listener.addr.port);
  await served;
  listener.close();
}

Deno.test("a port that does not speak TLS is told as that", async () => {
  const answer = new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n");
  await withPlainEndpoint((conn) => conn.write(answer), async (port) => {
    assert.deepEqual(await dialTls({ port }), {
      outcome: "tls_failed",
      detail: "127.0.0.1: the port does not speak TLS",
    });
  });
});

Deno.test("an endpoint that hangs up in the handshake failed it", async () => {
  await withPlainEndpoint((conn) => conn.read(new Uint8Array(4096)), async (port) => {
    assert.deepEqual(await dialTls({ port }), {
      outcome: "tls_failed",
      detail: "127.0.0.1: the server closed the connection in the handshake",
    });
  });
});

Deno.test("the deadline holds in the handshake too, and its socket is freed once the peer ends", async () => {
  const handshakes = new Handshakes(new SystemClock());
  const hangUp = Promise.withResolvers<void>();
  const hang = async (conn: Deno.TcpConn) => {
    await conn.read(new Uint8Array(4096));
    await hangUp.promise;
  };
  await withPlainEndpoint(hang, async (port) => {
    assert.deepEqual(await dialTls({ port, connectMs: 150, handshakes }), {
      outcome: "connect_timeout",
      detail: "127.0.0.1: no end of the TLS handshake within 150 ms",
    });
    assert.equal(handshakes.unanswered, 1);
    hangUp.resolve();
  });
  await until(() => handshakes.unanswered === 0);
});

Deno.test("an endpoint that accepts and hangs is not given a descriptor per dial", async () => {
  const handshakes = new Handshakes(new SystemClock());
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const details: string[] = [];
  for (let i = 0; i < MAX_UNANSWERED + 2; i++) {
    const result = await dialTls({ port, connectMs: 50, handshakes });
    details.push("detail" in result ? result.detail : "connected");
  }
  assert.equal(handshakes.unanswered, MAX_UNANSWERED);
  assert.equal(details[0], "127.0.0.1: no end of the TLS handshake within 50 ms");
  assert.equal(details.at(-1), "127.0.0.1: 8 earlier TLS handshakes with it are still unanswered");
  listener.close(); // resets what the kernel has queued
  await until(() => handshakes.unanswered === 0);
});

Deno.test("a dial that is aborted in the handshake is cancelled", async () => {
  const handshakes = new Handshakes(new SystemClock());
  const stop = new AbortController();
  const abortAtHello = async (conn: Deno.TcpConn) => {
    await conn.read(new Uint8Array(4096));
    stop.abort();
  };
  await withPlainEndpoint(abortAtHello, async (port) => {
    const result = await dialTls({ port, signal: stop.signal, handshakes });
    assert.equal("outcome" in result && result.outcome, "cancelled");
  });
  await until(() => handshakes.unanswered === 0);
});

/** Runs the child that dials endpoints of both authorities, with one of them (`ca`) standing for the public ones. */
async function trustLines(args: string[], flags: string[]): Promise<string[]> {
  const child = new URL("../support/trust_child.ts", import.meta.url).pathname;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--no-config", ...flags, child, ...args],
    env: {
      DENO_TLS_CA_STORE: "system",
      SSL_CERT_FILE: new URL("../cases/certs/ca.pem", import.meta.url).pathname,
      NO_COLOR: "1",
    },
    stderr: "inherit",
  }).output();
  return new TextDecoder().decode(stdout).trim().split("\n");
}

Deno.test("a bundle stands instead of the runtime's own roots, in workers too", async () => {
  assert.deepEqual(await trustLines(["empty"], ["-A"]), [
    "trust exclusive",
    "main ca2 good: certificate was issued by an unknown authority",
    "main ca2 other-ca: ok",
    "main ca good: ok",
    "main public good: certificate was issued by an unknown authority",
    "worker ca2 good: certificate was issued by an unknown authority",
    "worker ca2 other-ca: ok",
    "worker ca good: ok",
    "worker public good: certificate was issued by an unknown authority",
  ]);
});

Deno.test("emptying the runtime's roots twice is as good as once", async () => {
  const lines = await trustLines(["twice"], ["-A"]);
  assert.deepEqual(lines.slice(0, 2), [
    "trust exclusive",
    "main ca2 good: certificate was issued by an unknown authority",
  ]);
});

Deno.test("left alone, the runtime would believe its own roots beside the bundle", async () => {
  const lines = await trustLines(["leave"], ["-A"]);
  assert.equal(lines[0], "trust untouched");
  assert.equal(lines[1], "main ca2 good: ok");
});

Deno.test("when the store was read before, or may not be emptied, that is said", async () => {
  const late = await trustLines(["late"], ["-A"]);
  assert.equal(late[0], "trust added: TLS was used before the store could be emptied");
  assert.equal(late[1], "main ca2 good: ok");
  const narrow = await trustLines(["empty"], ["--allow-net", "--allow-read"]);
  assert.equal(narrow[0], "trust added: --allow-env=DENO_TLS_CA_STORE is missing");
});
