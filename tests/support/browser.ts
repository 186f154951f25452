// A headless browser, and a small HTTP server for the tests of the status page. Where Chromium is missing the tests are
// ignored, and say so.

import { chromium } from "playwright-core";
import type { AdminApp } from "../../src/admin/app.ts";

/** A page of the browser, as far as tests use it. */
export type BrowserPage = Awaited<ReturnType<typeof openPage>>;

/** The browser that runs the tests; the environment may name another. */
export const CHROMIUM = Deno.env.get("CHROMIUM") ?? "/usr/bin/chromium";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How a page looks at the server. */
export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  /** Where on the server to begin; "/" when absent. */
  readonly path?: string;
}

/** Whether the tests can run here. */
export function hasChromium(): boolean {
  try {
    return Deno.statSync(CHROMIUM).isFile;
  } catch {
    console.error(`No browser at ${CHROMIUM}: the tests in a browser do not run (set CHROMIUM to one)`);
    return false;
  }
}

/** A browser that has opened a page. Give it back with `await using`. */
export async function visit(url: string, look: Look = {}) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const page = await browser.newPage({
    viewport: { width: look.width ?? 1400, height: look.height ?? 1000 },
    colorScheme: look.scheme ?? "light",
    // Every request for the page's own server and nothing else.
    serviceWorkers: "block",
  });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.goto(url + (look.path ?? "/"));
  return {
    page,
    url,
    /** Errors of the page's script and refusals by its policy. */
    faults,
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** A server for an app on a free port, and a browser that has opened its page. Give both back with `await using`. */
export async function openPage(app: Pick<AdminApp, "fetch" | "close">, look: Look = {}) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.fetch);
  const visited = await visit(`http://127.0.0.1:${server.addr.port}`, look);
  return {
    ...visited,
    async [Symbol.asyncDispose]() {
      await visited[Symbol.asyncDispose]();
      app.close();
      await server.shutdown();
    },
  };
}
