// nginx as a client: a proxy in front of hale, with HTTP/1.0 and with kept HTTP/1.1 connections, with and without
// buffering, and an nginx behind hale as well.

import assert from "node:assert/strict";
import { HttpClient } from "../support/http_client.ts";
import { valueIn } from "../support/http_reader.ts";
import { HttpStage } from "../support/http_stage.ts";
import { hasNginx, Nginx } from "../support/nginx.ts";
import { hashOf, patterned } from "../support/patterned.ts";

const ignore = !hasNginx();
const BODY = patterned(3_000_000);
const SIZES = [0, 1, 4096, 65_537, BODY.length];

/** Answers with the request's body: by length, or in chunks below `/chunks`. Tells what it saw of the request. */
function echoServer(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body = new Uint8Array(await request.arrayBuffer());
    const headers = { "x-method": request.method, "x-for": request.headers.get("x-forwarded-for") ?? "" };
    if (!request.url.endsWith("/chunks")) return new Response(body, { headers });
    return new Response(new Blob([body]).stream(), { headers });
  });
}

const SETTINGS = {
  "HTTP/1.0": "proxy_http_version 1.0;",
  "kept HTTP/1.1": 'proxy_http_version 1.1; proxy_set_header Connection "";',
  "kept HTTP/1.1 without buffers":
    'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering off; proxy_buffering off;',
};

for (const [name, settings] of Object.entries(SETTINGS)) {
  Deno.test({
    name: `nginx in front: bodies of many sizes go through both, over ${name}`,
    ignore,
    fn: async () => {
      const server = echoServer();
      {
        await using stage = await HttpStage.start([`127.0.0.1:${server.addr.port}`], {
          listener: { trustedProxies: ["127.0.0.1/32"] },
        });
        await using nginx = await Nginx.start({
          http: `upstream hale { server 127.0.0.1:${stage.port}; keepalive 4; }`,
          server: `
            client_max_body_size 0;
            location / {
              proxy_pass http://hale;
              proxy_next_upstream off;
              proxy_set_header X-Forwarded-For 192.0.2.1;
              ${settings}
            }`,
        });
        using client = await HttpClient.connect(nginx.port);
        for (const target of ["/", "/chunks"]) {
          for (const size of SIZES) {
            const sent = BODY.subarray(0, size);
            const start = `POST ${target} HTTP/1.1\r\nHost: app.test\r\n`;
            await client.send(`${start}Content-Length: ${size}\r\n\r\n`, sent);
            const byLength = await client.answer("POST");
            assert.equal(hashOf(byLength.body), hashOf(sent), `${target} ${size}`);
            assert.equal(valueIn(byLength.head, "x-for"), "192.0.2.1, 127.0.0.1");
            const chunk = size === 0 ? "" : `${size.toString(16)}\r\n`;
            await client.send(`${start}Transfer-Encoding: chunked\r\n\r\n${chunk}`, sent);
            await client.send(size === 0 ? "0\r\n\r\n" : "\r\n0\r\n\r\n");
            assert.equal(
              hashOf((await client.answer("POST")).body),
              hashOf(sent),
              `${target} ${size} chunked`,
            );
          }
          assert.equal(valueIn((await client.ask("HEAD", target)).head, "x-method"), "HEAD");
        }
        const { accepted } = stage.plane.stats().listeners.web!;
        if (name !== "HTTP/1.0") assert.equal(accepted, 1, "nginx keeps its connection to hale");
        else assert.equal(accepted, 4 * SIZES.length + 2);
      }
      await server.shutdown();
    },
  });
}

Deno.test({
  name: "nginx in front and nginx behind: files, ranges and refusals go through all three",
  ignore,
  fn: async () => {
    await using behind = await Nginx.start({
      server: "root FOLDER/www; client_max_body_size 1k; keepalive_requests 5;",
      files: { "file.bin": BODY },
    });
    await using stage = await HttpStage.start([behind.address]);
    await using front = await Nginx.start({
      server: `
        client_max_body_size 0;
        location / {
          proxy_pass http://127.0.0.1:${stage.port};
          proxy_http_version 1.1;
          proxy_request_buffering off;
        }`,
    });
    using client = await HttpClient.connect(front.port);
    for (let turn = 0; turn < 20; turn++) {
      assert.equal(hashOf((await client.ask("GET", "/file.bin")).body), hashOf(BODY), `turn ${turn}`);
      const part = await client.ask("GET", "/file.bin", "Range: bytes=1000000-1999999");
      assert.equal(hashOf(part.body), hashOf(BODY.subarray(1_000_000, 2_000_000)));
    }
    await client.send(`PUT /file.bin HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY.length}\r\n\r\n`);
    const sending = client.send(BODY).catch(() => {}); // It need not take all of it.
    assert.equal((await client.answer("PUT")).status, 413);
    await sending;
  },
});
