// The commands that talk to a running hale, against an admin app on a real port.

import assert from "node:assert/strict";
import { endpointCommand } from "../../src/cli/endpoint.ts";
import { statusCommand } from "../../src/cli/status.ts";
import type { Io } from "../../src/cli/terminal.ts";
import { whyCommand } from "../../src/cli/why.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { AdminFake } from "../support/admin_fake.ts";
import { refusedState, sickState } from "../support/admin_states.ts";

class Paper implements Io {
  stdout = "";
  stderr = "";
  isTerminal = false;
  colors = false;
  out = (text: string): void => {
    this.stdout += text;
  };
  err = (text: string): void => {
    this.stderr += text;
  };
}

function serve(fake: AdminFake) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, fake.app.fetch);
  return {
    admin: `127.0.0.1:${server.addr.port}`,
    async [Symbol.asyncDispose]() {
      fake.app.close();
      await server.shutdown();
    },
  };
}

type Command = (args: readonly string[], io: Io) => Promise<number>;

async function run(
  command: Command,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const paper = new Paper();
  const code = await command(args, paper);
  return { code, stdout: paper.stdout, stderr: paper.stderr };
}

Deno.test("status shows what is out", async () => {
  await using server = serve(new AdminFake(sickState(), new SystemClock()));
  const { code, stdout, stderr } = await run(statusCommand, "--admin", server.admin);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /3 of 9 endpoints are out, no usable one in pg/);
});

Deno.test("status --json gives the answer of /status", async () => {
  await using server = serve(new AdminFake(refusedState(), new SystemClock()));
  const { code, stdout } = await run(statusCommand, "--json", "--admin", `http://${server.admin}`);
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout).config.last_attempt.ok, false);
});

Deno.test("status --watch goes on, also over moments when no hale answers", async () => {
  const stop = new AbortController();
  const paper = new Paper();
  let rounds = 0;
  const fake = new AdminFake(sickState(), new SystemClock());
  const server = serve(fake);
  const clock = {
    now: () => 0,
    wallMs: () => 0,
    sleep: async () => {
      rounds++;
      if (rounds === 1) await server[Symbol.asyncDispose]();
      else stop.abort();
    },
  };
  const ports = { clock, rows: () => undefined, signal: stop.signal };
  assert.equal(await statusCommand(["--watch", "--admin", server.admin], paper, ports), 0);
  assert.equal(rounds, 2);
  assert.match(paper.stdout, /3 of 9 endpoints are out/);
  assert.match(paper.stderr, /No hale answers at http:\/\/127\.0\.0\.1:\d+: /);
});

Deno.test("status --watch redraws a terminal, and leaves out the well when all would not fit", async () => {
  await using server = serve(new AdminFake(sickState(), new SystemClock()));
  for (const [rows, all] of [[200, true], [10, false]] as const) {
    const stop = new AbortController();
    const paper = new Paper();
    paper.isTerminal = true;
    const clock = { now: () => 0, wallMs: () => 0, sleep: () => Promise.resolve(stop.abort()) };
    await statusCommand(["--watch", "--admin", server.admin], paper, {
      clock,
      rows: () => rows,
      signal: stop.signal,
    });
    assert.ok(paper.stdout.startsWith("\u001b[H\u001b[2J"));
    assert.equal(paper.stdout.includes("10.0.0.1:8080"), all);
  }
});

Deno.test("why tells the reason and the evidence", async () => {
  await using server = serve(new AdminFake(sickState(), new SystemClock()));
  const { code, stdout } = await run(whyCommand, "app/10.0.0.3:8080", "--admin", server.admin);
  assert.equal(code, 0);
  assert.match(stdout, /^app\/10\.0\.0\.3:8080 {2}ejected for 2 min 41 s/);
  assert.match(stdout, /5 connect failures in a row, last: refused/);
  assert.match(stdout, /refused the connection \(ECONNREFUSED\), 3 times/);
  const json = await run(whyCommand, "app/10.0.0.3:8080", "--json", "--admin", server.admin);
  assert.equal(JSON.parse(json.stdout).evidence.length, 32);
});

Deno.test("an endpoint that is not there is a sentence and exit code 1", async () => {
  await using server = serve(new AdminFake(sickState(), new SystemClock()));
  for (
    const result of [
      await run(whyCommand, "app/1.2.3.4:5", "--admin", server.admin),
      await run(endpointCommand, "drain", "app/1.2.3.4:5", "--admin", server.admin),
    ]
  ) {
    assert.equal(result.code, 1);
    assert.equal(result.stderr, 'hale: There is no endpoint "1.2.3.4:5" in an upstream "app"\n');
  }
});

Deno.test("endpoint drains an endpoint and sets it ready again", async () => {
  const fake = new AdminFake(sickState(), new SystemClock());
  await using server = serve(fake);
  const set = (state: string, name: string) => run(endpointCommand, state, name, "--admin", server.admin);
  const drained = await set("drain", "app/10.0.0.2:8080");
  assert.deepEqual([drained.code, drained.stdout], [
    0,
    "Set app/10.0.0.2:8080 to drain: no new work, 1 in flight may finish\n",
  ]);
  assert.match((await run(whyCommand, "app/10.0.0.2:8080", "--admin", server.admin)).stdout, /drained/);
  assert.equal(
    (await set("ready", "app/10.0.0.2:8080")).stdout,
    "Set app/10.0.0.2:8080 to ready: it gets work\n",
  );
  assert.match((await set("ready", "pg/10.0.2.1:5432")).stdout, /it stays out, 3 connect failures in a row/);
});

Deno.test("a hale with a token is asked with it, and says when it is missing or wrong", async () => {
  await using server = serve(new AdminFake(sickState(), new SystemClock(), { token: "sesame" }));
  const file = await Deno.makeTempFile();
  const none = await run(statusCommand, "--admin", server.admin);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /asks for its token: name its file with --token-file/);
  await Deno.writeTextFile(file, "wrong\n");
  const wrong = await run(statusCommand, "--admin", server.admin, "--token-file", file);
  assert.match(wrong.stderr, /the token given is not accepted/);
  await Deno.writeTextFile(file, "sesame\n");
  assert.equal((await run(statusCommand, "--admin", server.admin, "--token-file", file)).code, 0);
  await Deno.remove(file);
});

Deno.test("something else that answers is no hale", async () => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("hello"),
  );
  const result = await run(statusCommand, "--admin", `127.0.0.1:${server.addr.port}`);
  assert.equal(result.code, 1);
  assert.match(result.stderr, /what answers is no hale/);
  await server.shutdown();
});

Deno.test("help has an example; wrong calls end with exit code 2", async () => {
  for (const command of [statusCommand, whyCommand, endpointCommand] as Command[]) {
    const help = await run(command, "--help");
    assert.equal(help.code, 0);
    assert.match(help.stdout, /Examples:\n {2}hale /);
    assert.equal((await run(command, "--nonsense")).code, 2);
  }
  assert.equal((await run(whyCommand)).code, 2);
  assert.equal((await run(whyCommand, "app")).code, 2);
  assert.equal((await run(endpointCommand, "stop", "app/1.2.3.4:5")).code, 2);
  assert.equal((await run(endpointCommand, "drain", "app")).code, 2);
  const bad = await run(statusCommand, "--admin", "nonsense");
  assert.equal(bad.code, 1);
});
