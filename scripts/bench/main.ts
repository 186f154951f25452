// `deno task bench`: CPU time of each proxy's process per unit of work. The proxies take turns in one run, so that
// whatever else the machine does falls on all alike; the table shows medians and how they compare. The load comes from
// this process and the endpoint is another one: their CPU time does not count. Bounded, loopback only, ends by itself.

import { parseArgs } from "node:util";
import { cpuNanoseconds, median, residentKiB } from "./cpu.ts";
import { PROXY_NAMES, type Running, startEndpoint, startProxies } from "./proxies.ts";
import { IDLE_SESSIONS, idleSessions, type Started, type Work, WORKS } from "./works.ts";
import { closeQuietly } from "./wire.ts";

const HELP = `Usage: deno task bench [--turns N] [--only TEXT] [--proxies NAME,...] [--json]

--turns N      measured turns of each proxy at each work (default 9: about three minutes; 41 for quiet numbers)
--only TEXT    only works whose name contains TEXT, upper and lower case alike ("tcp", "kept", "idle")
--proxies A,B  only these of ${PROXY_NAMES.join(", ")}
--json         one JSON object instead of the table
HALE_BIN       the hale executable to measure; without it the source runs`;

/** A compiler at run time needs some ten thousand requests before code costs what it will cost for ever. */
const WARM_UP_TURNS = 8;
const IDLE_NAME = "TCP memory per idle session";

interface Options {
  readonly turns: number;
  readonly only: string;
  readonly proxies: readonly string[];
  readonly json: boolean;
}

/** One row of the table: a median per proxy. */
interface Row {
  readonly work: string;
  readonly unit: string;
  readonly medians: Readonly<Record<string, number>>;
}

function readOptions(): Options {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      turns: { type: "string", default: "9" },
      only: { type: "string", default: "" },
      proxies: { type: "string", default: PROXY_NAMES.join(",") },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h" },
    },
  });
  const turns = Number(values.turns);
  if (values.help) {
    console.log(HELP);
    Deno.exit(0);
  }
  if (!Number.isInteger(turns) || turns < 1 || turns > 1000) throw new Error("--turns wants 1..1000");
  return { turns, only: values.only.toLowerCase(), proxies: values.proxies.split(","), json: values.json };
}

/** Runs one work on all proxies that serve its protocol, turn about. */
async function measure(work: Work, proxies: readonly Running[], turns: number): Promise<Row> {
  const able = proxies.filter((proxy) => proxy[work.protocol] !== 0);
  const started: { proxy: Running; load: Started; costs: number[] }[] = [];
  for (const proxy of able) started.push({ proxy, load: await work.start(proxy[work.protocol]), costs: [] });
  for (let turn = -WARM_UP_TURNS; turn < turns; turn++) {
    for (const { proxy, load, costs } of started) {
      const before = cpuNanoseconds(proxy.pid);
      const units = await load.turn();
      // What a proxy does after the last answer (closing) belongs to its turn.
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (turn >= 0) costs.push((cpuNanoseconds(proxy.pid) - before) / units / 1000);
    }
  }
  for (const { load } of started) load.stop();
  const medians = Object.fromEntries(started.map(({ proxy, costs }) => [proxy.name, median(costs)]));
  return { work: work.name, unit: `µs/${work.unit}`, medians };
}

/** Resident memory per idle session, on freshly started proxies. */
async function measureIdle(proxies: readonly Running[]): Promise<Row> {
  const medians: Record<string, number> = {};
  for (const proxy of proxies.filter((one) => one.tcp !== 0)) {
    const first = await idleSessions(proxy.tcp, 50);
    const before = residentKiB(proxy.pid);
    const conns = await idleSessions(proxy.tcp, IDLE_SESSIONS);
    await new Promise((resolve) => setTimeout(resolve, 500));
    medians[proxy.name] = (residentKiB(proxy.pid) - before) / IDLE_SESSIONS;
    [...first, ...conns].forEach(closeQuietly);
  }
  return { work: IDLE_NAME, unit: "KiB", medians };
}

function printTable(rows: readonly Row[], names: readonly string[]): void {
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => i === 0 ? cell.padEnd(32) : cell.padStart(16)).join("");
  console.log(line(["work", "unit", ...names]));
  for (const { work, unit, medians } of rows) {
    const reference = medians["haproxy"] ?? medians["floor"];
    const cells = names.map((name) => cell(medians[name], reference));
    console.log(line([work, unit, ...cells]));
  }
  console.log(`\nMedians; in brackets the ratio to ${names.includes("haproxy") ? "haproxy" : "floor"}.`);
}

function cell(value: number | undefined, reference: number | undefined): string {
  if (value === undefined) return "-";
  const ratio = reference === undefined ? "" : ` (${(value / reference).toFixed(2)})`;
  return `${value < 10 ? value.toFixed(3) : value.toFixed(1)}${ratio}`;
}

async function runAll({ turns, only, proxies }: Options): Promise<Row[]> {
  const works = WORKS.filter((work) => work.name.toLowerCase().includes(only));
  const withIdle = IDLE_NAME.toLowerCase().includes(only);
  if (works.length === 0 && !withIdle) throw new Error(`--only "${only}" fits no work`);
  const protocols = new Set<string>([...works.map((work) => work.protocol), ...(withIdle ? ["tcp"] : [])]);
  const folder = Deno.makeTempDirSync({ prefix: "hale-bench-" });
  const endpoint = await startEndpoint();
  const running = await startProxies(proxies, protocols, { folder, endpoint });
  const rows: Row[] = [];
  try {
    // Memory first: later the processes are warm and have room to spare.
    if (withIdle) rows.push(await measureIdle(running));
    for (const work of works) {
      rows.unshift(await measure(work, running, turns));
      console.error(`done: ${work.name}`);
    }
  } finally {
    await Promise.all([...running, endpoint].map((one) => one.stop()));
    Deno.removeSync(folder, { recursive: true });
  }
  return rows.sort((a, b) => orderOf(a) - orderOf(b));
}

/** The place of a row in the table: works in their order, memory last. */
function orderOf(row: Row): number {
  const at = WORKS.findIndex((work) => work.name === row.work);
  return at < 0 ? WORKS.length : at;
}

if (import.meta.main) {
  const options = readOptions();
  const rows = await runAll(options);
  const names = PROXY_NAMES.filter((name) => rows.some((row) => row.medians[name] !== undefined));
  if (options.json) console.log(JSON.stringify({ deno: Deno.version.deno, turns: options.turns, rows }));
  else printTable(rows, names);
}
