// `deno task dev`: three demo endpoints, hale over them with config/demo.yaml, and a restart of hale whenever a source
// file changes (config edits need none). An endpoint that was killed comes back after a while, so that one sees it
// leave and return. Ends on Ctrl-C, or when hale ends by itself.

import { permissionsFor } from "./permissions.ts";

const ENDPOINTS = [
  { name: "one", http: 8101, tcp: 8201 },
  { name: "two", http: 8102, tcp: 8202 },
  { name: "three", http: 8103, tcp: 8203 },
] as const;

/** How long a killed endpoint stays away. */
const AWAY_MS = 20000;

/** Quiet time after a change of a source before hale is restarted. */
const SETTLE_MS = 300;

type Endpoint = typeof ENDPOINTS[number];

/** Everything that runs below this process; all of it ends with it. */
class Dev {
  readonly #children = new Set<Deno.ChildProcess>();
  #hale: Deno.ChildProcess | undefined;
  #restarting = false;
  #ending = false;

  start(script: string, ...args: string[]): Deno.ChildProcess {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", ...permissionsFor(Deno.version.deno), script, ...args],
      stdin: "null",
    }).spawn();
    this.#children.add(child);
    void child.status.then(() => this.#children.delete(child));
    return child;
  }

  /** Keeps one endpoint running, with a pause after each end. Prints how to end it. */
  async keepEndpoint({ name, http, tcp }: Endpoint): Promise<void> {
    while (!this.#ending) {
      const child = this.start("scripts/dev/endpoint.ts", name, String(http), String(tcp));
      console.log(`  endpoint ${name.padEnd(5)}  http ${http}, tcp ${tcp}   end it:  kill ${child.pid}`);
      await child.status;
      if (this.#ending) return;
      console.log(`  endpoint ${name} has ended; it comes back in ${AWAY_MS / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
    }
  }

  /** Runs hale; a restart that we asked for starts the next one, any other end ends the demo. */
  async keepHale(): Promise<number> {
    while (true) {
      this.#restarting = false;
      this.#hale = this.start("main.ts", "run", "-c", "config/demo.yaml");
      const { code } = await this.#hale.status;
      if (!this.#restarting || this.#ending) return code;
    }
  }

  async watchSources(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    for await (const _ of Deno.watchFs(["src", "main.ts"])) {
      clearTimeout(timer);
      timer = setTimeout(() => this.#restart(), SETTLE_MS);
    }
  }

  #restart(): void {
    console.log("\nA source changed: restarting hale");
    this.#restarting = true;
    stop(this.#hale);
  }

  end(): void {
    this.#ending = true;
    for (const child of this.#children) stop(child);
  }
}

function stop(child: Deno.ChildProcess | undefined): void {
  try {
    child?.kill("SIGTERM");
  } catch {
    // It has ended by itself.
  }
}

const GUIDE = `
Try, in another terminal:
  curl http://127.0.0.1:8080/hello            a different endpoint each time
  nc 127.0.0.1 9000                           then type a line: the same over TCP
  curl http://127.0.0.1:9900/status           what hale knows; the page is http://127.0.0.1:9900/
Then end an endpoint with its command above and look again: it leaves within 3 s, no request fails,
and it returns after ${AWAY_MS / 1000} s when its probes pass. Edit config/demo.yaml while it runs.
Ctrl-C ends everything.
`;

if (import.meta.main) {
  Deno.chdir(new URL("../", import.meta.url));
  const dev = new Dev();
  const ended = Promise.withResolvers<number>();
  // hale gets the terminal's Ctrl-C too and drains; we only stop what does not end by itself.
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => dev.end());
  for (const endpoint of ENDPOINTS) void dev.keepEndpoint(endpoint);
  console.log(GUIDE);
  void dev.watchSources();
  void dev.keepHale().then(ended.resolve);
  const code = await ended.promise;
  dev.end();
  Deno.exit(code);
}
