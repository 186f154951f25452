import assert from "node:assert/strict";
import { describeConfigDiff } from "../../../src/config/describe_diff.ts";
import { configOf, withProtocol, withUpstream } from "../../support/config_text.ts";

const file = (name: string) => Deno.readTextFileSync(new URL(`../../cases/certs/${name}`, import.meta.url));

function diff(
  before: string,
  after: string,
  others: [Record<string, string>, Record<string, string>] = [{}, {}],
): string[] {
  return describeConfigDiff(configOf(before, others[0]), configOf(after, others[1]));
}

Deno.test("nothing changed is told in one line", () => {
  assert.deepEqual(diff(withUpstream(), `# another comment\n${withUpstream()}`), [
    "= 1 listener, 1 upstream unchanged",
  ]);
});

Deno.test("what came, went and changed is told by name", () => {
  const before = `
listeners:
- { name: web, address: "0.0.0.0:8080", protocol: http, upstream: app }
- { name: old, address: "0.0.0.0:8081", protocol: http, upstream: app }
upstreams:
- { name: app, protocol: http1, endpoints: ["10.0.0.1:80", "10.0.0.2:80"] }
- { name: same, protocol: http1, endpoints: ["10.0.0.1:80"] }
- { name: gone, protocol: http1, endpoints: ["10.0.0.1:80"] }
`;
  const after = `
workers: 4
listeners:
- { name: web, address: "0.0.0.0:8080", protocol: http, upstream: app, idle_timeout_ms: 5 }
- { name: new, address: "0.0.0.0:8082", protocol: http, upstream: app }
upstreams:
- { name: app, protocol: http1, load_balancer: random, endpoints: [{ address: "10.0.0.2:80", weight: 3 }, "10.0.0.3:80"] }
- { name: same, protocol: http1, endpoints: ["10.0.0.1:80"] }
- { name: api, protocol: https, endpoints: ["10.0.1.1:443", "10.0.1.2:443"] }
`;
  assert.deepEqual(diff(before, after), [
    "~ workers auto -> 4",
    "- listener old 0.0.0.0:8081",
    "+ listener new 0.0.0.0:8082",
    "~ listener web: idle_timeout_ms 3600000 -> 5",
    "- upstream gone with 1 endpoint",
    "+ upstream api with 2 endpoints",
    "~ upstream app: load_balancer round_robin -> random",
    "- endpoint app/10.0.0.1:80",
    "+ endpoint app/10.0.0.3:80",
    "~ endpoint app/10.0.0.2:80: weight 1 -> 3",
    "= 0 listeners, 1 upstream unchanged",
  ]);
});

Deno.test("fields are called as in the file, blocks that come or go are on or none", () => {
  const change = (before: string[], after: string[]) =>
    diff(withUpstream(...before), withUpstream(...after)).slice(0, -1).map((line) =>
      line.replace("~ upstream app: ", "")
    );
  assert.deepEqual(change([], ["health:"]), ["health none -> on"]);
  assert.deepEqual(change(["health:", "active_health:"], ["health: { eject_ms: 5 }"]), [
    "health.eject_ms 30000 -> 5",
    "health.eject_max_ms 30000 -> 5",
    "health.recovery either -> timer",
    "active_health on -> none",
  ]);
  const discovery = (
    fields: string,
  ) => ["endpoints: []", `dns_discovery: { hostname: a, port: 1, ${fields} }`];
  assert.deepEqual(
    change(
      discovery("fail_open: true"),
      discovery("refresh_interval_s: 5, fail_open: false, nameservers: ['::1'], drain_removed_ms: 7"),
    ),
    [
      "dns_discovery.refresh_interval_s 30 -> 5",
      "dns_discovery.fail_open true -> false",
      "dns_discovery.nameservers [] -> [[::1]:53]",
      "dns_discovery.drain_removed_ms none -> 7",
    ],
  );
  assert.deepEqual(change(["host: endpoint"], ["host: www.example"]), ["host endpoint -> www.example"]);
  assert.deepEqual(change(["max_connections: 5"], ["max_connections: 6", "timeouts: { connect_ms: 1 }"]), [
    "max_connections 5 -> 6",
    "timeouts.connect_ms 5000 -> 1",
  ]);
  const probe = (fields: string) => ["health:", `active_health: { ${fields} }`];
  assert.deepEqual(
    change(probe("path: /a"), probe(`path: /b, headers: { Authorization: "Bearer s3cret" }`)),
    [
      "active_health.path /a -> /b",
      "active_health.headers changed",
    ],
  );
  assert.deepEqual(change(["retries: { statuses: [503] }"], ["retries: { statuses: [502, 503] }"]), [
    "retries.statuses [503] -> [502, 503]",
  ]);
});

Deno.test("routes are told with their content", () => {
  const routes = (text: string) =>
    withUpstream().replace("upstream: app }", `upstream: app, routes: [${text}] }`);
  assert.deepEqual(
    diff(routes("{ host: a, upstream: app }"), routes("{ host: b, path_prefix: /x, upstream: app }"))[0],
    "~ listener web: routes [{ host: a, upstream: app }] -> [{ host: b, path_prefix: /x, upstream: app }]",
  );
});

Deno.test("tokens, keys and certificates are told only to have changed", () => {
  const text = `admin: { address: "127.0.0.1:1", token_file: t }\n` +
    withProtocol("https", ["trusted_ca_file: ca.pem"]).replace(
      "upstream: app }",
      "upstream: app, tls: { cert_file: c.pem, key_file: k.pem } }",
    );
  const files = (token: string, cert: string, ca: string) => ({
    t: token,
    "c.pem": file(`${cert}.pem`),
    "k.pem": file(`${cert}.key`),
    "ca.pem": file(ca),
  });
  const lines = diff(text, text, [
    files("secret-one", "good", "ca.pem"),
    files("secret-two", "n1", "ca2.pem"),
  ]);
  assert.deepEqual(lines, [
    "~ contents of token_file changed",
    "~ listener web: contents of cert_file changed",
    "~ listener web: contents of key_file changed",
    "~ upstream app: contents of trusted_ca_file changed",
    "= 0 listeners, 0 upstreams unchanged",
  ]);
  const open = text.replace(", token_file: t", "");
  assert.deepEqual(
    diff(open, text, [files("x", "good", "ca.pem"), files("secret-one", "good", "ca.pem")])[0],
    "~ contents of token_file added",
  );
});

Deno.test("a listener that comes or goes with its files shows none of them", () => {
  const plain = withUpstream();
  const tls = plain.replace("upstream: app }", "upstream: app, tls: { cert_file: c.pem, key_file: k.pem } }");
  const files = { "c.pem": file("good.pem"), "k.pem": file("good.key") };
  assert.deepEqual(diff(plain, tls, [{}, files])[0], "~ listener web: tls none -> on");
});

Deno.test("the admin endpoint comes, moves and goes", () => {
  const admin = (port: number) => `admin: { address: "127.0.0.1:${port}" }\n${withUpstream()}`;
  assert.deepEqual(diff(withUpstream(), admin(1))[0], "~ admin none -> on");
  assert.deepEqual(diff(admin(1), admin(2))[0], "~ admin.address 127.0.0.1:1 -> 127.0.0.1:2");
});

Deno.test("a long change is cut", () => {
  const many = Array.from({ length: 300 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join(", ");
  const trusted = withUpstream().replace("upstream: app }", `upstream: app, trusted_proxies: [${many}] }`);
  assert.ok(diff(withUpstream(), trusted)[0]!.length < 400);
});
