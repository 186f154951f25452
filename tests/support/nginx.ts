// nginx for tests: an endpoint, or a proxy in front of hale, that other people wrote. It runs on one config text, with
// its files in a temporary folder that ends with it. Where nginx is missing the tests are ignored, and say so.

import assert from "node:assert/strict";
import { freePort } from "./ports.ts";

const PLACES = [Deno.env.get("NGINX"), "/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"];

function found(): string | undefined {
  return PLACES.find((path) => {
    try {
      return path !== undefined && Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** Whether the tests can run here. */
export function hasNginx(): boolean {
  if (found() !== undefined) return true;
  console.error("No nginx here: the tests with nginx do not run (set NGINX to one)");
  return false;
}

/** What is to run. */
export interface NginxOptions {
  /** The inside of the `server` block, without `listen`. `FOLDER` stands for the folder of its files. */
  readonly server: string;
  /** More in the `http` block. */
  readonly http?: string;
  /** Files below `FOLDER/www`. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
  /** With a master process, which `reload` needs. */
  readonly hasMaster?: boolean;
}

const QUIET = { stdin: "null", stdout: "null", stderr: "piped" } as const;
const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

function configOf(folder: string, port: number, options: NginxOptions): string {
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ");
  return `
daemon off;
${options.hasMaster === true ? "worker_processes 1;" : "master_process off;"}
pid ${folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  types { text/plain txt; }
  default_type application/octet-stream;
  ${paths}
  ${options.http ?? ""}
  server {
    listen 127.0.0.1:${port} backlog=1024;
    ${options.server}
  }
}
`.replaceAll("FOLDER", folder);
}

/** An nginx that runs. Dispose of it. */
export class Nginx implements AsyncDisposable {
  /** Where its files are; those to serve are below `www`. */
  readonly folder: string;
  readonly port: number;
  readonly #child: Deno.ChildProcess;
  readonly #errors: Promise<string>;
  #isOver = false;

  private constructor(options: NginxOptions) {
    this.folder = Deno.makeTempDirSync({ prefix: "hale-nginx-" });
    // Started by root, its worker processes are somebody else.
    Deno.chmodSync(this.folder, 0o755);
    this.port = freePort();
    Deno.mkdirSync(`${this.folder}/www`);
    Deno.chmodSync(`${this.folder}/www`, 0o777);
    for (const [name, bytes] of Object.entries(options.files ?? {})) {
      Deno.writeFileSync(`${this.folder}/www/${name}`, bytes);
    }
    Deno.writeTextFileSync(`${this.folder}/nginx.conf`, configOf(this.folder, this.port, options));
    const args = ["-p", this.folder, "-e", "stderr", "-c", `${this.folder}/nginx.conf`];
    this.#child = new Deno.Command(found()!, { args, ...QUIET }).spawn();
    this.#errors = new Response(this.#child.stderr).text();
    this.#child.status.then(() => this.#isOver = true);
  }

  /** Starts nginx and waits until it accepts. */
  static async start(options: NginxOptions): Promise<Nginx> {
    const nginx = new Nginx(options);
    const end = performance.now() + 20_000;
    while (!await nginx.#accepts()) {
      if (!nginx.#isOver && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
      else assert.fail(`nginx did not start: ${await nginx.#end()}`);
    }
    return nginx;
  }

  /** "127.0.0.1:PORT". */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async #accepts(): Promise<boolean> {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port: this.port })).close();
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.ConnectionRefused) return false;
      throw error;
    }
  }

  /** Takes its config anew: new workers serve, the old ones close their idle connections and end. */
  reload(): void {
    this.#child.kill("SIGHUP");
  }

  async #end(): Promise<string> {
    if (!this.#isOver) this.#child.kill("SIGTERM");
    await this.#child.status;
    return await this.#errors;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    Deno.removeSync(this.folder, { recursive: true });
  }
}
