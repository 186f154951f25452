// Other people's HTTP on both sides: curl, node and the runtime's own fetch and server, with bodies of many sizes, over
// TLS and plain.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { HttpStage, type StageOptions } from "../support/http_stage.ts";
import { pem } from "../support/tls_endpoint.ts";

/** Echoes a body back, with its own hash; `/chunks` answers in pieces without a length. */
function echoServer(tls?: { cert: string; key: string }): Deno.HttpServer<Deno.NetAddr> {
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {}, ...(tls ?? {}) };
  return Deno.serve(options, async (request) => {
    const body = new Uint8Array(await request.arrayBuffer());
    const headers = { "x-hash": hashOf(body), "x-proto": request.headers.get("x-forwarded-proto") ?? "" };
    if (!request.url.endsWith("/chunks")) return new Response(body, { headers });
    return new Response(new Blob([body]).stream(), { headers });
  });
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const SIZES = [0, 1, 4095, 4096, 4097, 65_535, 65_536, 65_537, 69_632, 1_000_000, 8_000_000];

function bodyOf(size: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: size }, (_, at) => (at * 31 + (at >> 8)) & 255);
}

async function withStage(
  options: StageOptions & { readonly tls?: boolean },
  use: (stage: HttpStage) => Promise<void>,
): Promise<void> {
  const server = echoServer(options.tls ? { cert: pem("by-ip.pem"), key: pem("by-ip.key") } : undefined);
  {
    await using stage = await HttpStage.start([`127.0.0.1:${server.addr.port}`], options);
    await use(stage);
  }
  await server.shutdown();
}

Deno.test("bodies of many sizes go through unchanged, with a length and in chunks, both ways", async () => {
  await withStage({}, async (stage) => {
    const client = Deno.createHttpClient({});
    for (const size of SIZES) {
      const body = bodyOf(size);
      for (const path of ["/", "/chunks"]) {
        for (const sent of [body, new Blob([body]).stream()]) {
          const answer = await fetch(`http://127.0.0.1:${stage.port}${path}`, {
            method: "POST",
            body: sent,
            client,
          });
          const back = new Uint8Array(await answer.arrayBuffer());
          assert.equal(answer.status, 200);
          assert.equal(answer.headers.get("x-hash"), hashOf(body), `up ${size} ${path}`);
          assert.equal(hashOf(back), hashOf(body), `down ${size} ${path}`);
        }
      }
    }
    client.close();
  });
});

Deno.test("TLS toward clients and toward endpoints works together, and says so to the endpoint", async () => {
  const options: StageOptions & { tls: boolean } = {
    tls: true,
    listener: { tls: { certFile: "", keyFile: "", cert: pem("local.pem"), key: pem("local.key") } },
    upstream: { protocol: "https", tls: { ca: pem("ca.pem") } },
  };
  await withStage(options, async (stage) => {
    const client = Deno.createHttpClient({ caCerts: [pem("ca.pem")] });
    for (const size of [0, 10, 100_000, 3_000_000]) {
      const body = bodyOf(size);
      const answer = await fetch(`https://localhost:${stage.port}/`, { method: "POST", body, client });
      assert.equal(answer.headers.get("x-proto"), "https");
      assert.equal(hashOf(new Uint8Array(await answer.arrayBuffer())), hashOf(body), String(size));
    }
    client.close();
  });
});

Deno.test("an endpoint whose certificate is not trusted gives 502 and is charged for it", async () => {
  await withStage(
    { tls: true, upstream: { protocol: "https", tls: { ca: pem("ca2.pem") } } },
    async (stage) => {
      const answer = await fetch(`http://127.0.0.1:${stage.port}/`);
      assert.equal(answer.status, 502);
      assert.equal((await answer.json()).error.code, "tls_failed");
      assert.deepEqual(stage.evidence, ["tls_failed×1"]);
    },
  );
});

/** Runs a program and gives its output; undefined: this machine does not have it. */
async function run(program: string, args: string[]): Promise<string | undefined> {
  try {
    const { stdout } = await new Deno.Command(program, { args, stderr: "null" }).output();
    return new TextDecoder().decode(stdout);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

Deno.test("curl gets along with keep-alive, uploads, HEAD, HTTP/1.0, Expect and TLS", async () => {
  await withStage({}, async (stage) => {
    const url = `http://127.0.0.1:${stage.port}`;
    const file = await Deno.makeTempFile();
    await Deno.writeFile(file, bodyOf(3_000_000));
    const hash = hashOf(bodyOf(3_000_000));
    const format = "%{http_code} %{num_connects} %{size_download}\\n";
    const twice = await run("curl", [
      "-s",
      "-o",
      "/dev/null",
      "-o",
      "/dev/null",
      "-w",
      format,
      `${url}/a`,
      `${url}/b`,
    ]);
    if (twice === undefined) return console.log("no curl here");
    assert.equal(twice, "200 1 0\n200 0 0\n");
    for (const more of [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect: 100-continue"], ["-0"]]) {
      const up = await run("curl", [
        "-s",
        "-D",
        "-",
        "-o",
        "/dev/null",
        "--data-binary",
        `@${file}`,
        ...more,
        url,
      ]);
      if (more[0] === "-0") assert.match(up!, /^HTTP\/1\.1 200 OK/);
      assert.match(up!.toLowerCase(), new RegExp(`x-hash: ${hash}`), more.join(" "));
    }
    assert.match((await run("curl", ["-sI", url]))!, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match((await run("curl", ["-s", "-0", "-D", "-", url]))!, /^HTTP\/1\.1 200 OK\r\n/);
    await Deno.remove(file);
  });
});

Deno.test("node's client keeps its connection and its server its own", async () => {
  const script = `
    const http = require("http");
    const server = http.createServer((request, response) => {
      let size = 0;
      request.on("data", (chunk) => size += chunk.length);
      request.on("end", () => response.end(request.method + " " + size));
    }).listen(0, "127.0.0.1", () => console.log(server.address().port));
    process.stdin.on("data", async (line) => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      const ask = (method, body) => new Promise((resolve, reject) => {
        const request = http.request({ port: Number(line), host: "127.0.0.1", method, agent }, (response) => {
          let text = "";
          response.on("data", (chunk) => text += chunk).on("end", () => resolve(response.statusCode + " " + text));
        });
        request.on("error", reject).end(body);
      });
      for (const [method, body] of [["GET"], ["POST", "x".repeat(100000)], ["PUT", "abc"], ["DELETE"], ["HEAD"]]) {
        console.log(await ask(method, body));
      }
      process.exit(0);
    });`;
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command("node", { args: ["-e", script], stdin: "piped", stdout: "piped" }).spawn();
  } catch {
    return console.log("no node here");
  }
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const port = Number((await lines.read()).value);
  {
    await using stage = await HttpStage.start([`127.0.0.1:${port}`]);
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(`${stage.port}\n`));
    await writer.close();
    let output = "";
    for (let part = await lines.read(); !part.done; part = await lines.read()) output += part.value;
    assert.equal(output, "200 GET 0\n200 POST 100000\n200 PUT 3\n200 DELETE 0\n200 \n");
    assert.equal(stage.plane.stats().listeners.web!.accepted, 1);
    await child.status;
  }
});
