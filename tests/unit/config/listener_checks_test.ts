import assert from "node:assert/strict";
import { configOf, problemsOf, withListener, withProtocol, withUpstream } from "../../support/config_text.ts";

function assertProblem(
  text: string,
  path: string,
  message: RegExp,
  others: Record<string, string> = {},
): void {
  const problems = problemsOf(text, others);
  assert.equal(problems.length, 1, `${path}: ${problems.join("\n")}`);
  const [, got, said] = problems[0]!.split("  ");
  assert.equal(got, path);
  assert.match(said!, message);
}

const HTTP = ["address: 127.0.0.1:8080", "protocol: http"];
const TCP = ["address: 127.0.0.1:8080", "protocol: tcp"];

Deno.test("an unknown upstream is named with the one that was meant, or with all there are", () => {
  assertProblem(
    withListener(...HTTP, "upstream: ap"),
    "listeners[0].upstream",
    /Unknown upstream, did you mean app\? \(got "ap", want one of app, db\)/,
  );
  assertProblem(
    withListener(...HTTP, "upstream: zebra"),
    "listeners[0].upstream",
    /Unknown upstream \(got "zebra", want one of app, db\)/,
  );
  assertProblem(
    withListener(...HTTP, "routes: [{ host: a, upstream: x }]"),
    "listeners[0].routes[0].upstream",
    /Unknown upstream/,
  );
  assertProblem(
    `listeners: [{ name: a, address: "a:1", protocol: http, upstream: app }]\n`,
    "listeners[0].upstream",
    /want an upstream of that name/,
  );
});

Deno.test("an upstream that could not be read is not called unknown", () => {
  const broken = withListener(...HTTP, "upstream: other").replace("name: db", "name: 5");
  assertProblem(broken, "upstreams[1].name", /Put it in quotes/);
});

Deno.test("an upstream with some fault is still known by its name", () => {
  assertProblem(withUpstream("load_balancer: x"), "upstreams[0].load_balancer", /Unknown word/);
});

Deno.test("http listeners lead to http upstreams, tcp listeners to tcp upstreams", () => {
  assertProblem(
    withListener(...HTTP, "upstream: db"),
    "listeners[0].upstream",
    /The listener is http, but the upstream "db" is tcp \(got "db", want an upstream with protocol: http1 or https\)/,
  );
  assertProblem(
    withListener(...TCP, "upstream: app"),
    "listeners[0].upstream",
    /The listener is tcp, but the upstream "app" is http1 \(got "app", want an upstream with protocol: tcp\)/,
  );
  assertProblem(
    withListener(...HTTP, "upstream: app", "routes: [{ host: a, upstream: db }]"),
    "listeners[0].routes[0].upstream",
    /is tcp/,
  );
  assert.deepEqual(problemsOf(withListener(...TCP, "upstream: db")), []);
});

Deno.test("a tcp listener needs an upstream and has nothing of HTTP", () => {
  assertProblem(withListener(...TCP), "listeners[0].upstream", /A tcp listener leads somewhere/);
  assertProblem(
    withListener(...TCP, "upstream: db", "trusted_proxies: [10.0.0.1]"),
    "listeners[0].trusted_proxies",
    /no trusted_proxies/,
  );
  const problems = problemsOf(withListener(...TCP, "upstream: db", "routes: [{ host: a, upstream: app }]"));
  assert.match(
    problems[0]!,
    /listeners\[0\]\.routes {2}A tcp listener does not look inside, it has no routes/,
  );
});

Deno.test("an http listener needs an upstream or routes", () => {
  assertProblem(withListener(...HTTP), "listeners[0]", /The listener leads nowhere/);
  assertProblem(withListener(...HTTP, "routes: []"), "listeners[0]", /The listener leads nowhere/);
  assert.deepEqual(problemsOf(withListener(...HTTP, "routes: [{ upstream: app }]")), []);
  assertProblem(withListener(...HTTP, "routes: 5"), "listeners[0].routes", /Wrong kind/);
});

Deno.test("a route that can never be taken is named", () => {
  const routes = (...entries: string[]) => withListener(...HTTP, `routes: [${entries.join(", ")}]`);
  assertProblem(
    routes("{ host: a.example, upstream: app }", "{ host: A.example., upstream: app }"),
    "listeners[0].routes[1]",
    /can never be taken, the one at hale.yaml:5/,
  );
  assertProblem(
    routes("{ path_prefix: /a, upstream: app }", "{ path_prefix: /a, upstream: app }"),
    "listeners[0].routes[1]",
    /can never be taken/,
  );
  assertProblem(
    routes("{ upstream: app }", "{ upstream: app }"),
    "listeners[0].routes[1]",
    /can never be taken/,
  );
  assert.deepEqual(
    problemsOf(
      routes(
        "{ host: a, upstream: app }",
        "{ host: '*.a', upstream: app }",
        "{ path_prefix: /a, upstream: app }",
        "{ host: a, path_prefix: /a, upstream: app }",
      ),
    ),
    [],
  );
});

Deno.test("a route for every request makes the listener's own upstream useless", () => {
  assertProblem(
    withListener(...HTTP, "upstream: app", "routes: [{ upstream: app }]"),
    "listeners[0].routes[0]",
    /never used/,
  );
});

Deno.test("a route whose host is faulty is not compared", () => {
  assertProblem(
    withListener(...HTTP, "upstream: app", `routes: [{ host: "a b", upstream: app }]`),
    "listeners[0].routes[0].host",
    /Not a host name/,
  );
});

function listeners(...addresses: string[]): string {
  const lines = addresses.map((address, index) =>
    `- { name: l${index}, address: "${address}", protocol: http, upstream: app }`
  );
  return `listeners:\n${
    lines.join("\n")
  }\nupstreams: [{ name: app, protocol: http1, endpoints: ["127.0.0.1:9001"] }]\n`;
}

Deno.test("two listeners on one address are found in whatever spelling", () => {
  const pairs = [
    ["127.0.0.1:80", "127.0.0.1:80"],
    ["[::1]:80", "[0::0:1]:80"],
    ["127.0.0.1:80", "[::ffff:127.0.0.1]:80"],
    ["localhost:80", "LOCALHOST.:80"],
    ["0.0.0.0:80", "[::]:80"],
  ];
  for (const [a, b] of pairs) {
    assertProblem(listeners(a!, b!), "listeners[1].address", /is taken by the listener "l0" at hale.yaml:2$/);
  }
});

Deno.test("listeners on port 0 each have a port of their own", () => {
  assert.deepEqual(problemsOf(listeners("127.0.0.1:0", "127.0.0.1:0", "0.0.0.0:0", "[::]:0")), []);
});

Deno.test("listeners that differ in port or host may stand beside each other, a wildcard beside an address too", () => {
  assert.deepEqual(
    problemsOf(
      listeners(
        "127.0.0.1:80",
        "127.0.0.1:81",
        "127.0.0.2:80",
        "0.0.0.0:80",
        "[::1]:80",
        "[fe80::1%a]:80",
        "[fe80::1%b]:80",
      ),
    ),
    [],
  );
});

Deno.test("the admin endpoint does not share an address with a listener", () => {
  const admin = `admin: { address: "127.0.0.1:8080" }\n${withUpstream()}`;
  assertProblem(
    admin,
    "admin.address",
    /The address 127.0.0.1:8080 is taken by the listener "web" at hale.yaml:3/,
  );
});

Deno.test("an upstream that leads straight back is a loop", () => {
  assertProblem(
    withUpstream("endpoints: [b:1, 127.0.0.1:8080]"),
    "listeners[0].upstream",
    /leads back to this listener by its endpoint 127.0.0.1:8080/,
  );
  assertProblem(
    withProtocol("tcp", [`endpoints: ["[::ffff:127.0.0.1]:8080"]`]),
    "listeners[0].upstream",
    /leads back/,
  );
  assertProblem(
    withUpstream("endpoints: [localhost:8080]").replace("127.0.0.1:8080", "0.0.0.0:8080"),
    "listeners[0].upstream",
    /leads back/,
  );
  assert.deepEqual(problemsOf(withUpstream("endpoints: [127.0.0.1:8081, 127.0.0.2:8080]")), []);
  assert.deepEqual(
    problemsOf(withUpstream("endpoints: [10.0.0.1:8080]").replace("127.0.0.1:8080", "0.0.0.0:8080")),
    [],
  );
});

Deno.test("a listener may lead to another listener of the same file", () => {
  const text = `listeners:
- { name: a, address: "127.0.0.1:1", protocol: http, upstream: x }
- { name: b, address: "127.0.0.1:2", protocol: http, upstream: y }
upstreams:
- { name: x, protocol: http1, endpoints: ["127.0.0.1:2"] }
- { name: y, protocol: http1, endpoints: ["127.0.0.1:3"] }
`;
  assert.equal(configOf(text).listeners.length, 2);
});

Deno.test("an upstream that nobody uses is no problem", () => {
  assert.deepEqual(problemsOf(withListener(...HTTP, "upstream: app")), []);
});
