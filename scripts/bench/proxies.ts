// The proxies that are compared: how each is started and ended. A proxy that is not installed is left out, and said so.

import { permissionsFor } from "../permissions.ts";
import {
  type EndpointPorts,
  haleConfig,
  haproxyConfig,
  installed,
  nginxConfig,
  type Setting,
} from "./configs.ts";
import { HOST } from "./wire.ts";

/** A running proxy: one process, a TCP port and an HTTP port (0: it does not offer that). */
export interface Running {
  readonly name: string;
  readonly pid: number;
  readonly tcp: number;
  readonly http: number;
  stop(): Promise<void>;
}

interface Recipe {
  readonly name: string;
  /** Whether one process serves both protocols; floors are one process each. */
  readonly protocols: readonly ("tcp" | "http")[];
  command(setting: Setting): Deno.Command | undefined;
}

const QUIET = { stdin: "null", stdout: "null", stderr: "inherit" } as const;

function written(setting: Setting, name: string, text: string): string {
  const path = `${setting.folder}/${name}`;
  Deno.writeTextFileSync(path, text);
  return path;
}

function script(name: string, ports: readonly number[]): Deno.Command {
  const path = new URL(name, import.meta.url).pathname;
  const args = ["run", "--quiet", "--no-prompt", "--allow-net=127.0.0.1", path, ...ports.map(String)];
  return new Deno.Command(Deno.execPath(), { args, ...QUIET });
}

function haleCommand(setting: Setting): Deno.Command | undefined {
  const args = ["run", "-c", written(setting, "hale.yaml", haleConfig(setting))];
  const binary = Deno.env.get("HALE_BIN");
  if (binary !== undefined && binary !== "") return new Deno.Command(binary, { args, ...QUIET });
  const main = installed(new URL("../../main.ts", import.meta.url).pathname);
  if (main === undefined) return undefined;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", ...permissionsFor(Deno.version.deno), main, ...args],
    ...QUIET,
  });
}

const RECIPES: readonly Recipe[] = [
  {
    name: "haproxy",
    protocols: ["tcp", "http"],
    command: (setting) => {
      const path = installed("/usr/sbin/haproxy", "/usr/local/sbin/haproxy", "/usr/bin/haproxy");
      if (path === undefined) return undefined;
      const args = ["-db", "-f", written(setting, "haproxy.cfg", haproxyConfig(setting))];
      return new Deno.Command(path, { args, ...QUIET });
    },
  },
  {
    name: "nginx",
    protocols: installed("/usr/lib/nginx/modules/ngx_stream_module.so") ? ["tcp", "http"] : ["http"],
    command: (setting) => {
      const path = installed("/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx");
      if (path === undefined) return undefined;
      const args = [
        "-e",
        "/dev/null",
        "-c",
        written(setting, "nginx.conf", nginxConfig(setting)),
        "-p",
        setting.folder,
      ];
      return new Deno.Command(path, { args, ...QUIET });
    },
  },
  {
    name: "floor",
    protocols: ["tcp"],
    command: ({ tcp, endpoint }) => script("floor_tcp.ts", [tcp, endpoint.tcp]),
  },
  {
    name: "floor",
    protocols: ["http"],
    command: ({ http, endpoint }) => script("floor_http.ts", [http, endpoint.http]),
  },
  { name: "hale", protocols: ["tcp", "http"], command: haleCommand },
  {
    name: "fetch",
    protocols: ["http"],
    command: ({ http, endpoint }) => script("fetch_proxy.ts", [http, endpoint.http]),
  },
];

/** The names that can be compared, in the order of the table. */
export const PROXY_NAMES: readonly string[] = [...new Set(RECIPES.map((recipe) => recipe.name))];

/** Starts every proxy of `names` that is installed and serves one of `protocols`, and waits until it accepts. */
export async function startProxies(
  names: readonly string[],
  protocols: ReadonlySet<string>,
  setting: { readonly folder: string; readonly endpoint: EndpointPorts },
): Promise<Running[]> {
  const running: Running[] = [];
  for (const recipe of RECIPES) {
    const wanted = names.includes(recipe.name) &&
      recipe.protocols.some((protocol) => protocols.has(protocol));
    if (!wanted) continue;
    const started = await startProxy(recipe, setting);
    if (started === undefined) console.error(`${recipe.name} is not installed: left out`);
    else running.push(started);
  }
  return running;
}

async function startProxy(
  recipe: Recipe,
  { folder, endpoint }: { readonly folder: string; readonly endpoint: EndpointPorts },
): Promise<Running | undefined> {
  const [tcp, http] = [unusedPort(), unusedPort()];
  const command = recipe.command({ folder, endpoint, tcp, http });
  if (command === undefined) return undefined;
  const running = asRunning(recipe, command.spawn(), { tcp, http });
  if (await acceptsAll([running.tcp, running.http])) return running;
  await running.stop();
  return undefined;
}

function asRunning(recipe: Recipe, child: Deno.ChildProcess, ports: { tcp: number; http: number }): Running {
  const { name, protocols } = recipe;
  const stop = async () => {
    try {
      child.kill("SIGKILL");
    } catch {
      console.error(`${name} had ended before the bench was over`);
    }
    await child.status;
  };
  const portOf = (protocol: "tcp" | "http") => protocols.includes(protocol) ? ports[protocol] : 0;
  return { name, pid: child.pid, tcp: portOf("tcp"), http: portOf("http"), stop };
}

/** Starts the endpoint process behind all proxies. */
export async function startEndpoint(): Promise<EndpointPorts & { stop(): Promise<void> }> {
  const [tcp, http] = [unusedPort(), unusedPort()];
  const child = script("endpoint.ts", [tcp, http]).spawn();
  const { stop } = asRunning({ name: "endpoint", protocols: [], command: () => undefined }, child, {
    tcp,
    http,
  });
  if (await acceptsAll([tcp, http])) return { tcp, http, stop };
  await stop();
  throw new Error("The endpoint of the bench does not start");
}

/** A port below the range of outgoing connections, so that no client takes it before the proxy does. */
function unusedPort(): number {
  while (true) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    try {
      Deno.listen({ hostname: HOST, port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}

/** Whether all ports (0: none) accept within 20 s. */
async function acceptsAll(ports: readonly number[]): Promise<boolean> {
  const end = performance.now() + 20_000;
  for (const port of ports.filter((port) => port !== 0)) {
    while (!(await accepts(port))) {
      if (performance.now() > end) return false;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return true;
}

async function accepts(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: HOST, port })).close();
    return true;
  } catch {
    return false;
  }
}
