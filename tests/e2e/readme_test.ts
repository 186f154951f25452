// What the README tells people to type works: its commands exist, its config is clean and serves, and the demo runs.

import assert from "node:assert/strict";
import { bufferedLines } from "../support/lines.ts";
import { ConfigFolder, runHale, startHale } from "../support/hale_process.ts";
import { askHttp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

const ROOT = new URL("../../", import.meta.url);
const README = Deno.readTextFileSync(new URL("README.md", ROOT));
const TASKS: Record<string, string | { command: string }> =
  JSON.parse(Deno.readTextFileSync(new URL("deno.json", ROOT))).tasks;

/** The contents of all code blocks in one language. */
function blocks(language: string): string[] {
  return [...README.matchAll(new RegExp("^```" + language + "\\n(.*?)^```$", "gms"))].map((found) =>
    found[1] ?? ""
  );
}

/** The commands of all shell blocks, without comments. */
function commands(): string[] {
  const lines = blocks("sh").flatMap((block) => block.split("\n"));
  return lines.map((line) => line.replace(/\s+#.*$/, "").trim()).filter((line) => line !== "");
}

function commandOf(task: string): string {
  const entry = TASKS[task];
  assert.ok(entry !== undefined, `deno.json has no task "${task}"`);
  return typeof entry === "string" ? entry : entry.command;
}

Deno.test("every task and every Deno version that the README names is the one of the project", () => {
  const version = /^DENO_MAIN=(.*)$/m.exec(Deno.readTextFileSync(new URL("scripts/toolchain.sh", ROOT)))?.[1];
  const all = commands();
  assert.ok(all.length >= 10, "the README has commands");
  for (const command of all) {
    const [, named, task] = /^(?:npx -y deno@(\S+)|deno) task (\S+)/.exec(command) ?? [];
    if (task === undefined) assert.match(command, /^(curl|bash|hale) /, command);
    else commandOf(task);
    if (named !== undefined) assert.equal(named, version, command);
  }
});

Deno.test("every hale command that the README names has help", async () => {
  const inText = [...README.matchAll(/`hale ([a-z]+)[^`]*`/g)].map((found) => found[1] ?? "");
  const inBlocks = commands().flatMap((command) => / hale ([a-z]+)/.exec(command)?.[1] ?? []);
  const names = new Set([...inText, ...inBlocks]);
  assert.ok(names.size >= 10);
  for (const name of names) assert.equal((await runHale([name, "--help"])).code, 0, name);
});

Deno.test("the README's config is clean and serves", async () => {
  const config = blocks("yaml").find((block) => block.startsWith("# hale.yaml"));
  assert.ok(config !== undefined, "the README has a config");
  assert.ok(config.trim().split("\n").length <= 25, "the first config is short");
  using folder = new ConfigFolder();
  assert.equal((await runHale(["check", "-c", folder.write("hale.yaml", config)])).code, 0);

  await using one = NamedEndpoint.http("one");
  await using two = NamedEndpoint.http("two");
  const [port, admin] = [freePort(), freePort()];
  const local = config.replace("10.0.0.1:8080", one.address).replace("10.0.0.2:8080", two.address)
    .replace("0.0.0.0:8080", `127.0.0.1:${port}`).replace("127.0.0.1:9900", `127.0.0.1:${admin}`);
  await using running = await startHale(local);
  assert.equal((await askHttp(port, "/")).status, 200);
  assert.equal((await askHttp(admin, "/status")).status, 200);
  assert.equal(await running.hale.stop(), 0);
});

Deno.test("the README's example of a problem is what check says", async () => {
  const config = blocks("yaml").find((block) => block.startsWith("# hale.yaml")) ?? "";
  using folder = new ConfigFolder();
  folder.write("hale.yaml", config.replace("10.0.0.2:8080", "10.0.0.2:80800"));
  const { code, stdout } = await runHale(["check", "-c", "hale.yaml"], { cwd: folder.path });
  assert.equal(code, 1);
  assert.ok(blocks("text").includes(stdout), stdout);
});

Deno.test("every example config is clean", async () => {
  const examples = [...Deno.readDirSync(new URL("config/", ROOT))].map(({ name }) => name);
  const checked = examples.filter((name) => name.endsWith(".yaml") && name !== "full.yaml");
  assert.ok(checked.includes("demo.yaml"));
  for (const name of checked) {
    const { code, stdout } = await runHale(["check", "-c", `config/${name}`]);
    assert.equal(code, 0, `${name}: ${stdout}`);
  }
});

const DEMO_PORTS = [8080, 9000, 9900, 8101, 8102, 8103, 8201, 8202, 8203] as const;

function areFree(ports: readonly number[]): boolean {
  try {
    for (const port of ports) Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch {
    return false;
  }
}

Deno.test({
  name: "the demo serves, shows itself, and ends with everything it started",
  ignore: !areFree(DEMO_PORTS),
  fn: async () => {
    const [, ...args] = commandOf("dev").split(" ");
    const child = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stdout: "piped", stderr: "null" })
      .spawn();
    const lines: string[] = [];
    const reading = (async () => {
      for await (const line of bufferedLines(child.stdout)) lines.push(line);
    })();
    try {
      const names = new Set<string>();
      await until("three endpoints to answer through hale", async () => {
        const answer = await askHttp(8080, "/hello").catch(() => undefined);
        if (answer?.status === 200) names.add(answer.body);
        return names.size >= 3;
      });
      assert.equal((await askHttp(9900, "/status")).status, 200);
      assert.ok(lines.some((line) => /kill \d+/.test(line)), "it says how to end an endpoint");
    } finally {
      child.kill("SIGTERM");
      await child.status;
      await reading;
    }
    await until("all ports of the demo to be free", () => areFree(DEMO_PORTS));
  },
});
