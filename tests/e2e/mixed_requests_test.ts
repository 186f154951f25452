// 10,000 requests of all kinds while endpoints die, return and cut idle connections, and the config is edited twenty
// times. No answer may be wrong, and none may fail that a healthy endpoint could have given. Which failures are lawful:
// the endpoint cut the very connection on which the request was under way, and the request can not be sent again
// (W6): it has a body or is a POST, or its answer had begun. HALE_FUZZ_SEED repeats the requests of a run.

import assert from "node:assert/strict";
import { type Running, startHale } from "../support/hale_process.ts";
import { fuzzSeed, seeded } from "../support/http_mutations.ts";
import { MixedEndpoint } from "../support/mixed_endpoint.ts";
import { type Failure, MixedLoad } from "../support/mixed_load.ts";
import { askHttp, until } from "../support/named_endpoint.ts";
import { freePort } from "../support/ports.ts";

const REQUESTS = 10_000;
const CLIENTS = 16;
const EDITS = 20;
const POLICIES = ["round_robin", "least_requests", "random", "ip_hash", "peak_ewma"];

interface World {
  readonly running: Running;
  readonly port: number;
  readonly admin: number;
  /** Never dies, and is always in the config: of four attempts at different endpoints one finds it. */
  readonly steady: MixedEndpoint;
  readonly others: readonly MixedEndpoint[];
  readonly random: () => number;
}

function configOf(edit: number, { port, admin, steady, others, random }: Omit<World, "running">): string {
  const among = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  const chosen = edit === 0 ? others : others.filter(() => random() < 0.7);
  const endpoints = [steady, ...chosen].map(({ address }) =>
    `{ address: "${address}", weight: ${among(1, 5)} }`
  );
  const probes = edit % 3 === 1
    ? `active_health: { path: "/?probe", interval_ms: ${among(100, 300)}, timeout_ms: 100, jitter_ms: 20 }`
    : "";
  return `# edit ${edit}
admin: { address: "127.0.0.1:${admin}" }
log: { access: errors, format: json }
listeners: [{ name: web, address: "127.0.0.1:${port}", protocol: http, upstream: app }]
upstreams:
  - name: app
    protocol: http1
    load_balancer: ${POLICIES[edit % POLICIES.length]}
    endpoints: [${endpoints.join(", ")}]
    connect_attempts: 4
    timeouts: { connect_ms: ${among(5000, 9000)}, read_ms: ${among(20_000, 60_000)} }
    ${edit % 4 === 3 ? "" : `health: { consecutive_failures: ${among(2, 5)}, eject_ms: ${among(50, 500)} }`}
    ${edit % 4 === 3 ? "" : probes}
`;
}

/** Edits the file and waits until the edit is in force; every other time a signal makes that quick. */
async function edit(world: World, number: number): Promise<void> {
  const { hale, folder } = world.running;
  const mark = hale.lineCount;
  folder.write("hale.yaml", configOf(number, world));
  if (number % 2 === 0) hale.signal("SIGHUP");
  await hale.waitForLog(/Took config/, { after: mark });
}

/** One of the others dies, or returns. */
async function dieOrReturn({ others, random }: World): Promise<void> {
  const one = others[Math.floor(random() * others.length)]!;
  if (!one.isAlive) one.revive();
  else if (others.filter(({ isAlive }) => isAlive).length > 1) await one.die();
}

/** What happens meanwhile, spread over the requests. */
async function disturb(world: World, load: MixedLoad): Promise<void> {
  const turns = EDITS * 3;
  for (let turn = 0; turn < turns; turn++) {
    await until("the load to go on", () => load.done >= REQUESTS * turn / turns);
    if (turn % 3 === 0) await edit(world, 1 + turn / 3);
    else if (turn % 3 === 1) await dieOrReturn(world);
    else for (const other of world.others) other.cutIdle();
  }
  await until("the last requests", () => load.done >= REQUESTS);
  load.stop();
}

interface Logged {
  readonly endpoint: string;
  readonly outcome: string;
}

/** What hale logged about the exchanges that failed, by request id. */
function loggedIn(log: string): Map<number, Logged> {
  const found = new Map<number, Logged>();
  for (const line of log.split("\n")) {
    if (!line.includes('"kind":"session_ended"')) continue;
    const { session } = JSON.parse(line);
    if (session.http !== undefined) found.set(Number(session.http.request_id), session);
  }
  return found;
}

/** What a client sees of an outcome. */
function seenAs(outcome: string, method: string): string {
  if (outcome === "answer_cut") return "cut";
  return method === "HEAD" ? "status 502" : outcome;
}

/** A cut may be under way for a while before anybody hears of it, on a busy machine, milliseconds. */
const SLACK_MS = 2000;

/** Why a failure is not lawful; undefined: it is. */
function complaint(failure: Failure, logged: Logged | undefined, others: readonly MixedEndpoint[]) {
  const { request, what, beganAt, endedAt } = failure;
  if (logged === undefined) return "hale has not logged it";
  const { outcome } = logged;
  if (what !== seenAs(outcome, request.method)) {
    return `the client saw ${what}, the log ${outcome}`;
  }
  const endpoint = others.find(({ address }) => address === logged.endpoint);
  if (endpoint === undefined) return `${logged.endpoint} has cut nothing`;
  const isNear = (cut: number) => cut > beganAt - SLACK_MS && cut < endedAt + SLACK_MS;
  if (!endpoint.cuts.some(isNear)) return "nothing was cut at that time";
  const sighting = endpoint.sightings.get(request.id);
  if (sighting !== undefined && !sighting.line.isCut) return "its connection was not cut";
  const isFinal = request.method === "POST" || request.method === "PUT";
  if (outcome === "answer_cut" || (isFinal && ["no_answer", "stale_connection"].includes(outcome))) {
    return undefined;
  }
  return `${outcome} is no reason`;
}

/** Fails when an answer was wrong or a failure was not lawful. */
function judge(load: MixedLoad, world: World, seed: number): void {
  assert.deepEqual(load.wrong, [], `seed ${seed}`);
  const logged = loggedIn(world.running.hale.log);
  const complaints = load.failures.flatMap((failure) => {
    const entry = logged.get(failure.request.id);
    const text = complaint(failure, entry, world.others);
    return text === undefined ? [] : [`${text}: ${JSON.stringify({ failure, entry })}`];
  });
  assert.deepEqual(complaints, [], `seed ${seed}`);
}

Deno.test("10,000 mixed requests, while endpoints die and configs change, are answered right", async () => {
  const seed = fuzzSeed();
  const [steady, ...others] = ["steady", "one", "two", "three"].map((name) => new MixedEndpoint(name));
  const start = {
    port: freePort(),
    admin: freePort(),
    steady: steady!,
    others,
    random: seeded(seed + 1),
  };
  try {
    await using running = await startHale(configOf(0, start));
    const world: World = { ...start, running };
    const load = new MixedLoad(world.port, seeded(seed));
    await Promise.all([load.run(CLIENTS), disturb(world, load)]);
    const { answered, failures, connections, pairs, done } = load;
    const failed = Object.groupBy(failures, ({ request }) => request.method);
    const counts = Object.entries(failed).map(([method, all]) => `${method} ${all!.length}`);
    console.log({ done, connections, pairs, answered, failed: counts.join(", ") });
    // The log comes a moment later than the answers.
    await until("the log", () => {
      const logged = loggedIn(running.hale.log);
      return failures.every(({ request }) => logged.has(request.id));
    }, 5000).catch(() => {}); // What is missing there is said below.
    judge(load, world, seed);
    assert.deepEqual(Object.keys(answered).sort(), ["one", "steady", "three", "two"]);
    assert.ok(failures.length < done / 50, "failures are rare");
    const status = JSON.parse((await askHttp(world.admin, "/status")).body);
    assert.equal(status.generation, EDITS + 1);
    assert.equal(await running.hale.stop(), 0);
  } finally {
    for (const endpoint of [steady!, ...others]) await endpoint[Symbol.asyncDispose]();
  }
});
