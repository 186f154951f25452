// Minutes of what a long life brings, in a row: clients without pause over TCP and HTTP, an endpoint that dies and
// returns, config edits all the while. No client may notice, and afterwards nothing may be left: descriptors as before,
// memory bounded, an orderly end. HALE_SOAK_S sets how long (default 60 s). HALE_BIN names a binary.

import assert from "node:assert/strict";
import { type Running, startHale } from "../support/hale_process.ts";
import { askHttp, askTcp, NamedEndpoint, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

const SOAK_MS = Number(Deno.env.get("HALE_SOAK_S") ?? 60) * 1000;
const CLIENTS = 4;
const EDIT_EVERY_MS = 700;
const DEATH_EVERY_MS = 5000;

interface World {
  readonly tcp: number;
  readonly http: number;
  readonly admin: number;
  /** A listener that comes and goes. */
  readonly extra: number;
  readonly stays: NamedEndpoint;
  readonly http1: NamedEndpoint;
  /** The port of the endpoint that dies and returns. */
  readonly dyingPort: number;
}

/** The config after the `edit`-th edit: weights, comments, a listener and a policy change all the time. */
function configOf(world: World, edit: number): string {
  const extra = edit % 2 === 0
    ? ""
    : `\n  - { name: extra, address: "127.0.0.1:${world.extra}", protocol: tcp, upstream: lines }`;
  const policies = ["round_robin", "least_requests", "random", "ip_hash", "peak_ewma"];
  return `# edit ${edit}
admin: { address: "127.0.0.1:${world.admin}" }
drain: { timeout_ms: 5000 }
log: { access: off }
listeners:
  - { name: lines, address: "127.0.0.1:${world.tcp}", protocol: tcp, upstream: lines }
  - { name: web, address: "127.0.0.1:${world.http}", protocol: http, upstream: web }${extra}
upstreams:
  - name: lines
    protocol: tcp
    load_balancer: ${policies[edit % policies.length]}
    endpoints:
      - { address: "${world.stays.address}", weight: ${1 + edit % 7} }
      - { address: "127.0.0.1:${world.dyingPort}" }
    health: { consecutive_failures: 3, eject_ms: 1000 }
    active_health: { kind: tcp, interval_ms: 300, timeout_ms: 300, jitter_ms: 50 }
  - name: web
    protocol: http1
    load_balancer: ${policies[(edit + 2) % policies.length]}
    endpoints: [{ address: "${world.http1.address}" }]
    health: {}
`;
}

/** Runs `step` again and again until the time is over; gives how often. The first error ends the soak. */
async function repeat(end: number, step: (round: number) => Promise<void>): Promise<number> {
  let rounds = 0;
  for (; performance.now() < end; rounds++) await step(rounds);
  return rounds;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function talkTcp(world: World, round: number, dying: DyingEndpoint): Promise<void> {
  const text = `round ${round} `.repeat(1 + round % 500);
  const answer = await askTcp(world.tcp, text).catch((error: Error) => `${error}`);
  if (answer.replaceAll(/(stays|dies): /g, "") === text) return;
  // Whom the kernel had queued for a listener that closes is cut after a good connect: no proxy can hide that.
  assert.ok(dying.justDied, `TCP round ${round} gave "${answer.slice(0, 60)}"`);
}

async function talkHttp(world: World, round: number): Promise<void> {
  const answer = await askHttp(world.http, `/round/${round}`);
  assert.equal(answer.status, 200, `HTTP round ${round}: ${answer.head}`);
  assert.equal(answer.body, world.http1.name);
}

/** An endpoint that dies and returns, turn about. */
class DyingEndpoint {
  #now: NamedEndpoint | undefined;
  #diedAt = -Infinity;

  constructor(readonly port: number) {
    this.#now = NamedEndpoint.tcp("dies", port);
  }

  /** Whether it died within the last two seconds. */
  get justDied(): boolean {
    return performance.now() - this.#diedAt < 2000;
  }

  /** Dies (its sessions may end by themselves) or returns. */
  async turn(): Promise<void> {
    if (this.#now === undefined) {
      this.#now = NamedEndpoint.tcp("dies", this.port);
      return;
    }
    const old = this.#now;
    this.#now = undefined;
    this.#diedAt = performance.now();
    await old.retire();
  }

  async end(): Promise<void> {
    await this.#now?.[Symbol.asyncDispose]();
  }
}

function descriptors(pid: number): number {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
}

function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1]) / 1024;
}

function edit(running: Running, text: string): void {
  Deno.renameSync(running.folder.write("next", text), `${running.folder.path}/hale.yaml`);
}

Deno.test({
  name: "clients notice nothing of edits and dying endpoints, and nothing is left afterwards",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using stays = NamedEndpoint.tcp("stays");
    await using http1 = NamedEndpoint.http("web");
    const [tcp, http, admin, extra, dyingPort] = [freePort(), freePort(), freePort(), freePort(), freePort()];
    const world: World = { tcp, http, admin, extra, stays, http1, dyingPort };
    const dying = new DyingEndpoint(dyingPort);
    await using running = await startHale(configOf(world, 0));
    for (let i = 0; i < 50; i++) await Promise.all([talkTcp(world, i, dying), talkHttp(world, i)]);
    await pause(1000);
    const before = { descriptors: descriptors(running.hale.pid), mebibytes: residentMiB(running.hale.pid) };

    const end = performance.now() + SOAK_MS;
    const clients = Array.from({ length: CLIENTS }, () => [
      repeat(end, (round) => talkTcp(world, round, dying)),
      repeat(end, (round) => talkHttp(world, round)),
    ]).flat();
    const edits = repeat(end, async (round) => {
      edit(running, configOf(world, round + 1));
      await pause(EDIT_EVERY_MS);
    });
    const deaths = repeat(end, async () => {
      await dying.turn();
      await pause(DEATH_EVERY_MS);
    });
    const memory: number[] = [];
    const looks = repeat(end, async () => {
      await pause(SOAK_MS / 12);
      memory.push(Math.round(residentMiB(running.hale.pid)));
    });
    const rounds = await Promise.all(clients);
    await looks;
    console.log(
      `${
        rounds.reduce((a, b) => a + b)
      } questions, ${await edits} edits, ${await deaths} turns of the endpoint`,
    );

    edit(running, configOf(world, 0));
    const pid = running.hale.pid;
    const allowed = before.descriptors + 10;
    await until(
      `at most ${allowed} descriptors, now ${descriptors(pid)}`,
      () => descriptors(pid) <= allowed,
      90_000,
    );
    const told = `memory in MiB: ${before.mebibytes.toFixed(0)} before, then ${memory.join(" ")}`;
    console.log(told);
    assert.ok(residentMiB(pid) - before.mebibytes < 300, told);
    await until("no session is left", async () => {
      const metrics = (await askHttp(admin, "/metrics")).body;
      return [...metrics.matchAll(/^hale_sessions\{.*\} (\d+)$/gm)].every((found) => found[1] === "0");
    });
    assert.equal(await running.hale.stop(), 0);
    await dying.end();
  },
});
