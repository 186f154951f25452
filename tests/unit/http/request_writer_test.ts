// Requests as endpoints get them: what is dropped, what is added, and that everything else keeps its bytes.

import assert from "node:assert/strict";
import { clientFacts } from "../../../src/http/forwarding.ts";
import { requestBound } from "../../../src/http/request_writer.ts";
import { added, bytesOf, CLIENT, headOf, readRequest, rewritten } from "../../support/http_heads.ts";

const HOST = "Host: app.example.test";
const ADDED = added("app.example.test");
/** A head without its final blank line, to which the added headers go. */
const lines = (...text: string[]) => text.map((line) => `${line}\r\n`).join("");

Deno.test("what concerns nobody but client and endpoint keeps order, case and bytes", () => {
  const kept = lines(
    "GET /api/queues/%2F/a%2520b//c/../d?x=%2f&y=%zz HTTP/1.1",
    "hOsT:app.example.test",
    "X-Name: H\xc3\xb4t\xc3\xa9 ",
    "X-Latin:\t\xe9t\xe9",
    "accept: a",
    "Accept: b",
    "Cookie: a=b",
  );
  assert.equal(rewritten(kept + "\r\n"), kept + ADDED);
});

Deno.test("hop-by-hop headers and what Connection names are dropped, wherever they stand", () => {
  const text = headOf(
    "GET / HTTP/1.1",
    "Keep-Alive: timeout=5",
    HOST,
    "Connection: ",
    "Connection: X-Drop, close",
    "x-drop: secret",
    "Proxy-Connection: keep-alive",
    "Proxy-Authorization: Basic x",
    "TE: trailers",
    "Trailer: X-T",
    "Upgrade: foo",
    "X-Keep: 1",
  );
  assert.equal(rewritten(text), lines("GET / HTTP/1.1", HOST, "X-Keep: 1") + ADDED);
});

Deno.test("Connection can not remove what framing, routing and forwarding stand on", () => {
  const text = headOf(
    "POST / HTTP/1.1",
    HOST,
    "Connection: Host, Content-Length, X-Forwarded-For, X-Forwarded-Host, X-Request-Id, Authorization",
    "Content-Length: 5",
    "Authorization: Basic x",
  );
  assert.equal(
    rewritten(text),
    lines("POST / HTTP/1.1", HOST, "Content-Length: 5", "Authorization: Basic x") + ADDED,
  );
});

Deno.test("an untrusted client's word about its own clients is replaced", () => {
  const spoof = headOf(
    "GET /who HTTP/1.1",
    HOST,
    "X-Forwarded-For: 10.1.1.1",
    "X-Forwarded-For: 203.0.113.50",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Host: admin.example.test",
    "X-Forwarded-Port: 1",
    "X-Real-IP: 10.1.1.1",
    "Forwarded: for=10.1.1.1;proto=https",
    // CGI and its heirs take these for the ones with hyphens.
    "X_Forwarded_For: 10.1.1.1",
    "x-forwarded_PROTO: https",
    "X_Real-IP: 10.1.1.1",
  );
  assert.equal(rewritten(spoof), lines("GET /who HTTP/1.1", HOST) + ADDED);
});

Deno.test("a trusted proxy's word is kept, and its own address appended in one field", () => {
  const client = clientFacts("::ffff:192.0.2.9", { tls: true, isTrusted: true });
  const text = headOf(
    "GET / HTTP/1.1",
    "X-Forwarded-For: 10.1.1.1",
    HOST,
    "X-Forwarded-For: 2001:db8::17, 10.2.2.2",
    "X-Forwarded-For: ",
    "X-Forwarded-Proto: http",
    "Forwarded: for=10.1.1.1",
  );
  const out = lines("GET / HTTP/1.1", HOST, "X-Forwarded-Proto: http", "Forwarded: for=10.1.1.1") + headOf(
    "X-Forwarded-For: 10.1.1.1, 2001:db8::17, 10.2.2.2, 192.0.2.9",
    "X-Forwarded-Host: app.example.test",
    "X-Request-Id: id-1",
  );
  assert.equal(rewritten(text, { client }), out);
});

Deno.test("IPv6 clients stand bare in X-Forwarded-For, and TLS shows in -Proto", () => {
  const out = rewritten(headOf("GET / HTTP/1.1", HOST), {
    client: clientFacts("2001:db8::1", { tls: true, isTrusted: false }),
  });
  assert.match(out, /\r\nX-Forwarded-For: 2001:db8::1\r\nX-Forwarded-Proto: https\r\n/);
});

Deno.test("a URL as target goes out as path, its authority as Host", () => {
  const out = (line: string) => rewritten(headOf(line, HOST, "X-Keep: 1"));
  const expected = (line: string, host: string) => lines(line, `Host: ${host}`, "X-Keep: 1") + added(host);
  assert.equal(
    out("GET http://a.example.test/x?q=1 HTTP/1.1"),
    expected("GET /x?q=1 HTTP/1.1", "a.example.test"),
  );
  assert.equal(
    out("GET http://a.example.test:80?q HTTP/1.1"),
    expected("GET /?q HTTP/1.1", "a.example.test:80"),
  );
  assert.equal(
    out("OPTIONS http://a.example.test HTTP/1.1"),
    expected("OPTIONS * HTTP/1.1", "a.example.test"),
  );
  assert.equal(out("OPTIONS * HTTP/1.1"), expected("OPTIONS * HTTP/1.1", "app.example.test"));
});

Deno.test("the upstream may ask for another Host, while the client's goes to X-Forwarded-Host", () => {
  const host = bytesOf("internal.example.test");
  const out = lines("GET / HTTP/1.1", "X-A: 1", "Host: internal.example.test") + ADDED;
  assert.equal(rewritten(headOf("GET / HTTP/1.1", "X-A: 1", HOST), { host }), out);
});

Deno.test("HTTP/1.0 goes out as HTTP/1.1, with a Host, without Expect", () => {
  const text = headOf("GET / HTTP/1.0", "Expect: 100-continue", "X-A: 1", "Connection: keep-alive");
  assert.equal(rewritten(text), lines("GET / HTTP/1.1", "Host: 10.0.0.1:80", "X-A: 1") + added());
  assert.equal(
    rewritten(headOf("GET / HTTP/1.0", HOST)),
    lines("GET / HTTP/1.1", HOST) + ADDED,
  );
});

Deno.test("Expect, and Trailer before chunks, go on", () => {
  const text = lines(
    "POST / HTTP/1.1",
    HOST,
    "Expect: 100-continue",
    "Transfer-Encoding: chunked",
    "Trailer: X-T",
  );
  assert.equal(rewritten(text + "\r\n"), text + ADDED);
});

Deno.test("an upgrade is passed on by headers of our own, h2c is not", () => {
  const text = headOf(
    "GET / HTTP/1.1",
    HOST,
    "Connection: keep-alive, Upgrade",
    "Upgrade: h2c, websocket,  foo/2",
  );
  assert.equal(
    rewritten(text),
    lines("GET / HTTP/1.1", HOST, "Connection: Upgrade", "Upgrade: websocket, foo/2") + ADDED,
  );
  const h2c = headOf(
    "GET / HTTP/1.1",
    HOST,
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AA",
  );
  assert.equal(rewritten(h2c), lines("GET / HTTP/1.1", HOST) + ADDED);
});

Deno.test("the wish for trailers goes on when Connection names it", () => {
  const text = headOf("GET / HTTP/1.1", HOST, "Connection: TE", "TE: gzip;q=0.5, trailers");
  assert.equal(rewritten(text), lines("GET / HTTP/1.1", HOST, "TE: trailers", "Connection: TE") + ADDED);
});

Deno.test("a request id of the client is kept, an odd one is replaced", () => {
  const withId = (...ids: string[]) =>
    rewritten(headOf("GET / HTTP/1.1", HOST, ...ids.map((id) => `X-Request-Id: ${id}`)));
  assert.match(withId("abc/1"), /\r\nX-Request-Id: abc\/1\r\nX-Forwarded/);
  assert.doesNotMatch(withId("abc/1"), /id-1/);
  for (const ids of [[""], ["a b"], ['a"b'], ["a\\b"], ["\xe9"], ["x".repeat(129)], ["a", "b"]]) {
    const out = withId(...ids);
    assert.equal(out.match(/X-Request-Id/g)?.length, 1, ids.join());
    assert.match(out, /X-Request-Id: id-1\r\n\r\n$/);
  }
});

Deno.test("a rewritten head is never longer than its bound", () => {
  const upgrades = Array.from({ length: 40 }, () => "Upgrade: " + "a,".repeat(20));
  const text = headOf("GET http://a/ HTTP/1.1", HOST, "Connection: Upgrade", ...upgrades);
  const client = clientFacts("2001:db8:1111:2222:3333:4444:5555:6666", { tls: true, isTrusted: true });
  for (
    const one of [
      text,
      headOf("GET / HTTP/1.0"),
      headOf("GET / HTTP/1.1", HOST, "X-Forwarded-For: " + "a".repeat(3000)),
    ]
  ) {
    const rewrite = { client, host: undefined, endpointHost: bytesOf("10.0.0.1:80") };
    assert.ok(rewritten(one, rewrite).length <= requestBound(readRequest(one).head, rewrite));
  }
  assert.equal(CLIENT.isTrusted, false);
});
