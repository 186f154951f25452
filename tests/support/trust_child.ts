// Run as a process of its own: whom does TLS believe? The first argument: "empty" the runtime's store, "leave" it, or
// empty it "twice", or too "late", after TLS was used. Prints one line per dial, in the main thread and then in a worker.

import { dial } from "../../src/net/dial.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { emptyRuntimeTrust } from "../../src/net/trust.ts";
import { pem, TlsEndpoint } from "./tls_endpoint.ts";

async function say(where: string, ca: string, leaf: string): Promise<string> {
  const endpoint = new TlsEndpoint(leaf);
  const result = await dial({
    host: "127.0.0.1",
    port: endpoint.port,
    tls: {
      serverName: "app.example.test",
      alpn: ["http/1.1"],
      ...(ca === "public" ? {} : { ca: pem(`${ca}.pem`) }),
    },
  }, {
    connectMs: 10_000,
    happyEyeballsMs: 250,
    clock: new SystemClock(),
    resolveHost: () => Promise.reject(new Error("No name is dialled here")),
  });
  if ("conn" in result) result.conn.close();
  await endpoint.close();
  const end = "conn" in result ? "ok" : result.detail.replace("127.0.0.1: ", "");
  return `${where} ${ca} ${leaf}: ${end}`;
}

const PAIRS = [["ca2", "good"], ["ca2", "other-ca"], ["ca", "good"], ["public", "good"]] as const;

async function sayAll(where: string): Promise<string[]> {
  const lines: string[] = [];
  for (const [ca, leaf] of PAIRS) lines.push(await say(where, ca, leaf));
  return lines;
}

function prepareTrust(how: string): string {
  if (how === "leave") return "untouched";
  if (how === "late") Deno.createHttpClient({}).close();
  if (how === "twice") emptyRuntimeTrust();
  const trust = emptyRuntimeTrust();
  return trust.state === "added" ? `added: ${trust.reason}` : trust.state;
}

if (!("WorkerGlobalScope" in globalThis)) {
  console.log(`trust ${prepareTrust(Deno.args[0]!)}`);
  for (const line of await sayAll("main")) console.log(line);
  const worker = new Worker(import.meta.url, { type: "module" });
  worker.onmessage = (event: MessageEvent<string[]>) => {
    for (const line of event.data) console.log(line);
    worker.terminate();
  };
} else {
  (globalThis as unknown as Worker).postMessage(await sayAll("worker"));
}
