// The command line as a person meets it: help, exit codes, and a clear sentence for every bad input.

import assert from "node:assert/strict";
import { ConfigFolder, HaleProcess, runHale } from "../support/hale_process.ts";
import { freePort } from "../support/ports.ts";

const COMMANDS = [
  "run",
  "check",
  "schema",
  "init",
  "tcp",
  "http",
  "probe",
  "resolve",
  "status",
  "why",
  "endpoint",
  "version",
] as const;

const GOOD = `
listeners: [{ name: web, address: 127.0.0.1:8080, protocol: tcp, upstream: app }]
upstreams: [{ name: app, protocol: tcp, endpoints: [{ address: 127.0.0.1:9 }] }]
`;

/** Runs hale and expects this exit code and a message that fits each pattern, without a stack trace. */
async function refused(
  args: readonly string[],
  codes: readonly number[],
  ...patterns: RegExp[]
): Promise<void> {
  const { code, stdout, stderr } = await runHale(args);
  const said = stdout + stderr;
  assert.ok(codes.includes(code), `exit ${code}, wanted ${codes.join(" or ")}: ${said}`);
  for (const pattern of patterns) assert.match(said, pattern);
  assert.doesNotMatch(said, /^\s+at .*(\.ts|\.mjs|ext:)/m, "a person gets a sentence, not a stack trace");
}

Deno.test("version prints the version and exits 0", async () => {
  const { code, stdout } = await runHale(["version"]);
  assert.equal(code, 0);
  assert.match(stdout, /\b[0-9]+\.[0-9]+\.[0-9]+\b/);
});

Deno.test("--help works alone and for every command, with an example", async () => {
  const { code, stdout } = await runHale(["--help"]);
  assert.equal(code, 0);
  for (const name of COMMANDS) assert.match(stdout, new RegExp(`\\b${name}\\b`), name);
  for (const name of COMMANDS) {
    const help = await runHale([name, "--help"]);
    assert.equal(help.code, 0, name);
    assert.match(help.stdout, new RegExp(`hale ${name}`), name);
  }
});

Deno.test("an unknown command or option is a usage error that names it", async () => {
  await refused(["chekc"], [2], /chekc/);
  await refused(["check", "--colour"], [2], /^hale: Unknown option '--colour'$/m);
});

Deno.test("a command whose output nobody reads any more ends without a word", async () => {
  await using hale = HaleProcess.start(["schema"], { log: "closed" });
  assert.equal(await hale.exitCode(), 1);
  assert.equal(hale.log, "");
});

Deno.test("schema prints a JSON schema, the one that is kept beside the examples", async () => {
  const { code, stdout } = await runHale(["schema"]);
  assert.equal(code, 0);
  const schema = JSON.parse(stdout);
  assert.ok("upstreams" in schema.properties && "listeners" in schema.properties);
  const kept = await Deno.readTextFile(new URL("../../config/hale.schema.json", import.meta.url));
  assert.deepEqual(JSON.parse(kept), schema, "renew it: deno task hale schema > config/hale.schema.json");
});

Deno.test("init prints a config that check accepts", async () => {
  const { code, stdout } = await runHale(["init"]);
  assert.equal(code, 0);
  using folder = new ConfigFolder();
  assert.equal((await runHale(["check", "-c", folder.write("hale.yaml", stdout)])).code, 0);
});

Deno.test("check exits 0 for a good file and 1 with every place for a bad one", async () => {
  using folder = new ConfigFolder();
  assert.equal((await runHale(["check", "-c", folder.write("good.yaml", GOOD)])).code, 0);
  const bad = folder.write(
    "bad.yaml",
    GOOD.replace("upstream: app", "upsteam: app").replace("127.0.0.1:9", "127.0.0.1:70000"),
  );
  await refused(["check", "-c", bad], [1], /bad\.yaml:2:\d+/, /upsteam/, /bad\.yaml:3:\d+/, /70000/);
});

Deno.test("a folder of files is one config", async () => {
  using folder = new ConfigFolder();
  const [listeners = "", upstreams = ""] = GOOD.trim().split("\n");
  folder.write("10-listeners.yaml", listeners);
  folder.write("20-upstreams.yml", upstreams);
  assert.equal((await runHale(["check", "-c", folder.path])).code, 0);
});

Deno.test("a config that can not be read is a sentence with its path", async () => {
  await refused(["run", "-c", "/nonexistent/hale.yaml"], [1, 2], /\/nonexistent\/hale\.yaml/);
  await refused(["check", "-c", "/nonexistent/hale.yaml"], [1, 2], /\/nonexistent\/hale\.yaml/);
});

Deno.test("without -c and without a config in the usual places, run says where it looked", async () => {
  using folder = new ConfigFolder();
  const { code, stdout, stderr } = await runHale(["run"], { cwd: folder.path });
  assert.ok(code === 1 || code === 2, `exit ${code}`);
  assert.match(stdout + stderr, /hale\.yaml/);
  assert.match(stdout + stderr, /\/etc\/hale/);
});

Deno.test("run refuses a broken document with file, line and column", async () => {
  using folder = new ConfigFolder();
  await refused(
    ["run", "-c", folder.write("broken.yaml", "listeners:\n  - {name: web\nupstreams: [\n")],
    [1],
    /broken\.yaml:\d+:\d+/,
  );
  await refused(["run", "-c", folder.write("empty.yaml", "")], [1], /empty\.yaml/);
});

Deno.test("an occupied port ends the start with its address", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${taken.addr.port}`;
  await refused(["tcp", address, "127.0.0.1:9"], [1], new RegExp(address.replaceAll(".", "\\.")), /in use/i);
  using folder = new ConfigFolder();
  const config = folder.write("hale.yaml", GOOD.replace("127.0.0.1:8080", address));
  await refused(["run", "-c", config], [1], new RegExp(address.replaceAll(".", "\\.")), /in use/i);
});

Deno.test("an address that is not ours ends the start with its address", async () => {
  await refused(["tcp", "192.0.2.1:8080", "127.0.0.1:9"], [1], /192\.0\.2\.1:8080/);
});

Deno.test("bad addresses on the command line are usage errors that say what is wanted", async () => {
  await refused(["tcp", "127.0.0.1:70000", "127.0.0.1:9"], [1, 2], /70000/, /65535/);
  await refused(["tcp", `127.0.0.1:${freePort()}`, "127.0.0.1:70000"], [1, 2], /70000/, /65535/);
  await refused(["tcp", `127.0.0.1:${freePort()}`, "no port"], [1, 2], /no port/);
  await refused(["tcp", `127.0.0.1:${freePort()}`], [2], /hale tcp/);
  await refused(["tcp"], [2], /hale tcp/);
});

Deno.test("a listener on a host name that does not exist is a sentence", async () => {
  await refused(
    ["tcp", `no-such-host.invalid:${freePort()}`, "127.0.0.1:9"],
    [1, 2],
    /no-such-host\.invalid/,
  );
});

Deno.test("why, status and endpoint say so when no hale answers", async () => {
  using folder = new ConfigFolder();
  const config = folder.write("hale.yaml", `admin: { address: 127.0.0.1:${freePort()} }\n${GOOD}`);
  for (const args of [["status"], ["why", "app/127.0.0.1:9"], ["endpoint", "drain", "app/127.0.0.1:9"]]) {
    await refused([...args, "-c", config], [1], /127\.0\.0\.1:\d+/);
  }
});
