// Requests as broken and hostile as they have been seen, byte for byte over real sockets: what the client is answered
// and, above all, what the endpoint gets to see.

import assert from "node:assert/strict";
import { HttpEndpoint, type SeenRequest } from "../support/http_endpoint.ts";
import { stringOf } from "../support/http_heads.ts";
import { HttpStage } from "../support/http_stage.ts";

/** A case file: the statuses of the answers in order, how many requests arrive, and what they must look like. */
interface Case {
  readonly file: string;
  readonly statuses: readonly number[];
  readonly check?: (seen: readonly SeenRequest[]) => void;
}

const refused = (status: number, ...files: string[]): Case[] =>
  files.map((file) => ({ file, statuses: [status] }));
const passed = (file: string, check?: Case["check"]): Case => ({
  file,
  statuses: [200],
  ...(check === undefined ? {} : { check }),
});

const hasLine = (head: string, line: string): boolean => head.includes(`\r\n${line}\r\n`);
const has = (...lines: string[]) => (seen: readonly SeenRequest[]): void => {
  for (const line of lines) assert.ok(hasLine(seen[0]!.head, line), `${line} in ${seen[0]!.head}`);
};
const lacks = (head: string, ...names: string[]): void => {
  for (const name of names) assert.doesNotMatch(head, new RegExp(`\r\n${name} *:`, "i"));
};
const HOP_NAMES = [
  "Connection",
  "Keep-Alive",
  "Proxy-Connection",
  "TE",
  "Trailer",
  "Upgrade",
  "HTTP2-Settings",
  "X-Drop",
];

const CASES: readonly Case[] = [
  ...refused(
    400,
    "37-cl-list-differ",
    "37-cl-te",
    "37-cl-value-empty",
    "37-cl-value-exp",
    "37-cl-value-float",
    "37-cl-value-hex",
    "37-cl-value-huge",
    "37-cl-value-minus",
    "37-cl-value-plus",
    "37-cl-value-space-inside",
    "37-dup-cl-differ",
    "37-dup-cl-same",
    "37-te-cl",
    "37-te-in-http10",
    "38-chunk-data-no-crlf",
    "38-chunk-ext-bare-lf",
    "38-chunk-size-bare-lf",
    "38-empty-header-name",
    "38-first-header-line-folded",
    "38-obs-fold-on-te",
    "38-obs-fold",
    "38-request-line-bare-lf",
    "38-space-before-colon",
    "38-two-cl-space-colon",
    "38-versionless-line-with-body",
    "45-absolute-userinfo",
    "45-bad-host",
    "45-no-host",
    "45-two-hosts",
    "50-cr-in-uri",
    "50-cr-in-value",
    "50-nul-in-value",
    "50-space-in-uri",
  ),
  ...refused(414, "48-long-request-line"),
  ...refused(431, "48-header-100k", "48-headers-2000"),
  passed("38-chunk-ext-valid", ([one]) => assert.equal(one!.body, "5\r\nhello\r\n0\r\n\r\n")),
  passed("39-connection-names-host-and-cl", ([one]) => {
    assert.ok(hasLine(one!.head, "Host: app.example.test") && hasLine(one!.head, "Content-Length: 5"));
    assert.equal(one!.body, "hello");
  }),
  passed("39-connection-names-xff", ([one]) => {
    assert.ok(hasLine(one!.head, "X-Forwarded-For: 127.0.0.1"));
    lacks(one!.head, ...HOP_NAMES);
  }),
  passed("39-empty-first-connection", ([one]) => lacks(one!.head, ...HOP_NAMES)),
  passed("39-h2c-upgrade", ([one]) => lacks(one!.head, ...HOP_NAMES)),
  passed(
    "45-absolute-default-port",
    ([one]) => assert.ok(one!.head.startsWith("GET /x HTTP/1.1\r\nHost: a.example.test:80\r\n")),
  ),
  passed(
    "45-absolute-match",
    ([one]) => assert.ok(one!.head.startsWith("GET /x?q=1 HTTP/1.1\r\nHost: a.example.test\r\n")),
  ),
  passed("45-absolute-mismatch", ([one]) => {
    assert.ok(one!.head.startsWith("GET /x HTTP/1.1\r\nHost: a.example.test\r\n"));
    assert.doesNotMatch(one!.head, /b\.example\.test/);
  }),
  passed("45-asterisk", ([one]) => assert.ok(one!.head.startsWith("OPTIONS * HTTP/1.1\r\n"))),
  passed(
    "45-encoded-path",
    ([one]) =>
      assert.ok(one!.head.startsWith("GET /api/queues/%2F/a%2520b//c/../d?x=%2f&y=%zz HTTP/1.1\r\n")),
  ),
  passed("47-trailers-request", ([one]) => {
    assert.ok(hasLine(one!.head, "Trailer: X-Checksum"));
    assert.equal(one!.body, "4\r\ndata\r\n0\r\nX-Checksum: abc123\r\n\r\n");
  }),
  passed("47-trailers-forbidden", ([one]) => {
    assert.equal(one!.body, "4\r\ndata\r\n0\r\n\r\n");
    lacks(one!.head, "Content-Length");
  }),
  passed("49-xff-spoof", ([one]) => {
    const forwarded = one!.head.split("\r\n").filter((line) =>
      /^(x-forwarded|forwarded|x-real-ip)/i.test(line)
    );
    assert.deepEqual(forwarded, [
      "X-Forwarded-For: 127.0.0.1",
      "X-Forwarded-Proto: http",
      "X-Forwarded-Host: app.example.test",
    ]);
  }),
  passed("50-utf8-value", has("X-Name: \xc3\xa9t\xc3\xa9", "X-Latin: \xe9t\xe9")),
  {
    file: "41-head",
    statuses: [200, 200],
    check: (seen) => assert.deepEqual(seen.map(({ head }) => head.split(" ")[0]), ["HEAD", "GET"]),
  },
  {
    file: "51-upgrade-plus-second",
    statuses: [200, 200],
    check: (seen) => {
      assert.ok(seen[0]!.head.startsWith("GET /chat ") && hasLine(seen[0]!.head, "Upgrade: foo"));
      assert.ok(
        seen[1]!.head.startsWith("GET /admin ") && hasLine(seen[1]!.head, "X-Forwarded-For: 127.0.0.1"),
      );
    },
  },
];

/** Answers 200 with a body of two bytes, without the body for HEAD. */
function endpoint(): HttpEndpoint {
  return new HttpEndpoint(async ({ head }, conn) => {
    const body = head.startsWith("HEAD ") ? "" : "ok";
    await conn.write(new TextEncoder().encode(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${body}`));
  });
}

function caseText(file: string): string {
  return stringOf(Deno.readFileSync(new URL(`../cases/${file}.client.http`, import.meta.url)));
}

const statusesOf = (answer: string): number[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d\d\d) /g)].map(([, status]) => Number(status));

Deno.test("every request case is answered and passed on as it should be", async (t) => {
  const hostname = "127.0.0.1";
  for (const { file, statuses, check } of CASES) {
    await t.step(file, async () => {
      await using one = endpoint();
      await using stage = await HttpStage.start([one.address], { hostname });
      const isRefused = statuses[0]! >= 400;
      const enough = (answer: string) =>
        !isRefused && statusesOf(answer).length === statuses.length && answer.endsWith("ok");
      const answer = await stage.send(caseText(file), enough);
      assert.deepEqual(statusesOf(answer), statuses, answer);
      assert.equal(one.seen.length, isRefused ? 0 : statuses.length, one.raw.text);
      assert.doesNotMatch(one.raw.text, /smuggled/);
      if (isRefused) {
        assert.equal(one.raw.text, "");
        assert.equal(one.accepted, 0, "not even a connection is made for a refused request");
        assert.match(answer, /\r\nConnection: close\r\n/);
        assert.match(answer, /{"error":{"code":"[a-z_]+","message":"[^"]+","request_id":"[0-9a-f]{32}"}}\n$/);
        assert.deepEqual(stage.evidence, []);
      }
      check?.(one.seen);
    });
  }
});

Deno.test("every request case that came is tried", () => {
  const special = ["46-http10", "46-http10-keepalive", "49-xff-ipv6"];
  const files = [...Deno.readDirSync(new URL("../cases/", import.meta.url))].map(({ name }) => name)
    .filter((name) => name.endsWith(".client.http")).map((name) => name.replace(".client.http", ""));
  assert.ok(files.length > 50);
  assert.deepEqual(files.sort(), [...CASES.map(({ file }) => file), ...special].sort());
});

Deno.test("an IPv6 client stands bare in X-Forwarded-For (49-xff-ipv6)", async () => {
  await using one = endpoint();
  await using stage = await HttpStage.start([one.address], { hostname: "::1" });
  await stage.send(caseText("49-xff-ipv6"), (answer) => answer.endsWith("ok"));
  has("X-Forwarded-For: ::1", "X-Forwarded-Host: [::1]:8080", "Host: [::1]:8080")(one.seen);
  assert.doesNotMatch(one.raw.text, /2001:db8/);
});

Deno.test("the answer to a case does not depend on how its bytes arrive", async () => {
  await using one = endpoint();
  await using stage = await HttpStage.start([one.address]);
  for (const { file, statuses } of CASES) {
    const text = caseText(file);
    if (text.length > 1000) continue;
    const enough = (answer: string) =>
      statuses[0]! < 400 && statusesOf(answer).length === statuses.length && answer.endsWith("ok");
    const answer = await sendSlowly(stage, text, enough);
    // A refused body may only be found out after its head was passed on, when it comes in pieces.
    assert.deepEqual(statusesOf(answer), statuses, file);
    assert.doesNotMatch(one.raw.text, /\/smuggled HTTP/);
  }
});

/** Sends a text in pieces of three bytes. */
async function sendSlowly(
  stage: HttpStage,
  text: string,
  enough: (answer: string) => boolean,
): Promise<string> {
  using conn = await stage.connect();
  conn.setNoDelay();
  let answer = "";
  const reading = (async () => {
    const buffer = new Uint8Array(4096);
    while (!enough(answer)) {
      const count = await conn.read(buffer).catch(() => null);
      if (count === null) return;
      answer += stringOf(buffer.subarray(0, count));
    }
  })();
  for (let at = 0; at < text.length; at += 3) {
    const isSent = await conn.write(Uint8Array.from(text.slice(at, at + 3), (one) => one.charCodeAt(0)))
      .catch(() => 0);
    if (isSent === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await reading;
  return answer;
}
