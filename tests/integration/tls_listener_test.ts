// TLS toward clients (L2): what clients may ask for, and certificates that are replaced while hale runs.

import assert from "node:assert/strict";
import { connect as connectTls } from "node:tls";
import { InlineHale } from "../support/inline_hale.ts";
import { until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";
import { echo, readExactly, TcpEndpoint, writeBytes } from "../support/tcp_endpoint.ts";
import { pem } from "../support/tls_endpoint.ts";

const CA = pem("ca.pem");

interface Shape {
  readonly port: number;
  readonly endpoint: TcpEndpoint;
  readonly protocol?: "tcp" | "http";
}

function config({ port, endpoint, protocol = "tcp" }: Shape): string {
  const upstream = protocol === "tcp" ? "tcp" : "http1";
  return `
listeners:
  - { name: in, address: "127.0.0.1:${port}", protocol: ${protocol}, upstream: up, tls: { cert_file: c.pem, key_file: k.pem } }
upstreams: [{ name: up, protocol: ${upstream}, endpoints: ["${endpoint.address}"] }]
`;
}

const files = (leaf: string) => ({ "c.pem": pem(`${leaf}.pem`), "k.pem": pem(`${leaf}.key`) });

/** Offers protocols and gives the one that was agreed on; "": none; undefined: the handshake failed. */
async function agreed(port: number, alpnProtocols: string[]): Promise<string | undefined> {
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  using tls = await Deno.startTls(conn, { hostname: "localhost", caCerts: [CA], alpnProtocols });
  return await tls.handshake().then(({ alpnProtocol }) => alpnProtocol ?? "", () => undefined);
}

/** The names in the certificate that a new client is shown. */
function namesAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subjectaltname ?? "");
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

Deno.test("a silent TLS client of a tcp listener costs its endpoint no connection", async () => {
  await using endpoint = new TcpEndpoint(echo);
  const port = freePort();
  await using _hale = await InlineHale.start(config({ port, endpoint }), files("local"));
  using _silent = await Deno.connect({ hostname: "127.0.0.1", port });
  for (let turn = 0; turn < 3; turn++) {
    using conn = await Deno.connect({ hostname: "127.0.0.1", port });
    using tls = await Deno.startTls(conn, { hostname: "localhost", caCerts: [CA] });
    await writeBytes(tls, Uint8Array.from([1, 2, 3]));
    assert.deepEqual([...await readExactly(tls, 3)], [1, 2, 3]);
  }
  assert.equal(endpoint.accepted, 3);
});

Deno.test("a tcp listener takes clients of any protocol, an http one those of HTTP/1.1", async () => {
  await using endpoint = new TcpEndpoint(echo);
  const port = freePort();
  await using hale = await InlineHale.start(config({ port, endpoint }), files("local"));
  assert.equal(await agreed(port, ["postgresql"]), "");
  assert.equal(await agreed(port, []), "");
  assert.deepEqual(await hale.apply(config({ port, endpoint, protocol: "http" }), files("local")), []);
  await until("the new socket to be the only one", async () => {
    for (let turn = 0; turn < 10; turn++) if (await agreed(port, ["http/1.1"]) !== "http/1.1") return false;
    return true;
  });
  assert.equal(await agreed(port, ["h2"]), undefined);
  assert.equal(await agreed(port, ["h2", "http/1.1"]), "http/1.1");
});

Deno.test("a replaced certificate is for new clients, and cuts nobody", async () => {
  await using endpoint = new TcpEndpoint(echo);
  const port = freePort();
  await using hale = await InlineHale.start(config({ port, endpoint }), files("local"));
  const before = await namesAt(port);
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  using old = await Deno.startTls(conn, { hostname: "localhost", caCerts: [CA] });
  await writeBytes(old, new Uint8Array([1]));
  assert.deepEqual([...await readExactly(old, 1)], [1]);
  assert.deepEqual(await hale.apply(config({ port, endpoint }), files("n1")), []);
  await until("the new certificate", async () => {
    for (let turn = 0; turn < 10; turn++) if (await namesAt(port) === before) return false;
    return true;
  });
  await writeBytes(old, new Uint8Array([2]));
  assert.deepEqual([...await readExactly(old, 1)], [2]);
});
