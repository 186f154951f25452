// The status page in a real browser: what a person sees and does, on a desk and on a phone, with and without a token.

import assert from "node:assert/strict";
import { SystemClock } from "../../src/net/system_clock.ts";
import { AdminFake } from "../support/admin_fake.ts";
import {
  bigState,
  endpointAt,
  healthyState,
  refusedState,
  sickState,
  startingState,
  upstreamOf,
  WALL_MS,
} from "../support/admin_states.ts";
import { type BrowserPage, hasChromium, openPage } from "../support/browser.ts";

const ignore = !hasChromium();
const PATIENCE = { timeout: 20_000 };

/** A test that needs the browser; it starts processes, so the leak checks of the test runner do not apply to it. */
function browserTest(name: string, run: () => Promise<void>): void {
  Deno.test({ name, ignore, fn: run, sanitizeOps: false, sanitizeResources: false });
}

/** Run in the page. */
const FOCUSED = 'document.activeElement?.textContent.trim() ?? ""';

/** Run in the page: texts whose colour is too near to what lies behind. */
const POOR_CONTRASTS = String.raw`(() => {
  const rgba = (text) => {
    const parts = text.match(/[\d.]+/g).map(Number);
    if (text.startsWith("color(srgb")) parts.splice(0, 3, ...parts.slice(0, 3).map((part) => part * 255));
    return parts.length === 3 ? [...parts, 1] : parts;
  };
  const lightOf = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  const poor = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    if (!own || !element.checkVisibility() || element.closest("script, style")) continue;
    const [a, b] = [lightOf(rgba(getComputedStyle(element).color)), lightOf(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.add(ratio.toFixed(2) + " " + element.className + " " + element.textContent.slice(0, 30));
  }
  return [...poor];
})()`;

const fake = (state = sickState(), over = {}) => new AdminFake(state, new SystemClock(), over);

async function sees(page: BrowserPage["page"], selector: string, text: string | RegExp): Promise<void> {
  await page.locator(selector).filter({ hasText: text }).first().waitFor(PATIENCE);
}

const rowOf = (page: BrowserPage["page"], address: string) =>
  page.locator("tbody tr").filter({ has: page.getByRole("button", { name: address, exact: true }) });

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!await holds()) {
    if (Date.now() > deadline) throw new Error(`Waited 20 s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

browserTest("when all is well the page says so, and its script breaks no rule of its policy", async () => {
  await using it = await openPage(fake(healthyState()).app);
  await sees(it.page, "h1", "All 9 endpoints are in rotation");
  assert.equal(await it.page.locator("#out").isVisible(), false);
  assert.equal(await it.page.title(), "hale");
  await sees(it.page, "#link", "live");
  assert.deepEqual(it.faults, []);
});

browserTest("what is out stands on top with why, for how long, and what brings it back", async () => {
  await using it = await openPage(fake().app);
  await sees(it.page, "h1", "3 of 9 endpoints are out, pg has none left");
  assert.equal(await it.page.title(), "3 out · hale");
  const first = it.page.locator("#out li").first();
  const text = await first.innerText();
  assert.match(
    text,
    /ejected[\s\S]*app \/ 10\.0\.0\.3:8080[\s\S]*5 connect failures in a row, last: refused/,
  );
  assert.match(text, /2 min 4\d s/);
  assert.match(text, /(in \d+ s|now) on trial, or sooner after 2 good probes in a row/);
  const box = await first.boundingBox();
  assert.ok(box!.y < 400, "it is seen without scrolling");
});

browserTest("every state is told by a word, not by colour alone", async () => {
  await using it = await openPage(fake().app);
  await sees(it.page, "h1", "3 of 9");
  const words = [
    ["10.0.0.1:8080", "healthy"],
    ["10.0.0.3:8080", "ejected"],
    ["10.0.0.4:8080", "half open"],
    [
      "10.1.4.12:9000",
      "drained",
    ],
    ["10.0.2.1:5432", "maintenance"],
    ["10.0.2.2:5432", "full"],
  ];
  for (const [address, word] of words) {
    assert.match(await rowOf(it.page, address!).locator(".pills").innerText(), new RegExp(word!), address);
  }
});

browserTest("the times count on their own", async () => {
  await using it = await openPage(fake().app);
  const cell = it.page.locator("#out li").first().locator("[data-tick]").first();
  await sees(it.page, "h1", "3 of 9");
  const before = await cell.innerText();
  await until("the time to move", async () => await cell.innerText() !== before);
});

browserTest("a change is seen without reloading the page", async () => {
  const admin = fake(healthyState());
  await using it = await openPage(admin.app);
  await sees(it.page, "#link", "live");
  admin.setOperator("app", "10.0.0.1:8080", "drain");
  await sees(it.page, "h1", "1 of 9 endpoints is out");
  await sees(it.page, "#events li", /Set app\/10\.0\.0\.1:8080 to drain/);
});

browserTest("events from before the page was opened are listed, newest first", async () => {
  const admin = fake(healthyState());
  admin.setOperator("app", "10.0.0.1:8080", "drain");
  admin.setOperator("app", "10.0.0.2:8080", "drain");
  await using it = await openPage(admin.app);
  await until("two events", async () => await it.page.locator("#events li").count() === 2);
  assert.match(await it.page.locator("#events li").first().innerText(), /10\.0\.0\.2:8080/);
});

browserTest(
  "the drawer tells why with its evidence, has a link of its own, and closes with Escape",
  async () => {
    await using it = await openPage(fake().app);
    await rowOf(it.page, "10.0.0.3:8080").getByRole("button").click(PATIENCE);
    const drawer = it.page.getByRole("dialog");
    await drawer.getByRole("heading", { name: "app / 10.0.0.3:8080" }).waitFor(PATIENCE);
    await sees(it.page, "#drawer", "5 connect failures in a row, last: refused (ECONNREFUSED)");
    assert.match(await drawer.innerText(), /Returns (in \d+ s|now) on trial/);
    assert.equal(await drawer.locator("tbody tr").count(), 32);
    assert.equal(await drawer.locator(".strip span").count(), 32);
    const hash = () => new URL(it.page.url()).hash;
    // The driver hears of a new address a moment after the page shows it.
    await until("the drawer's own link", () => hash() === "#/app/10.0.0.3%3A8080");
    await it.page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden", ...PATIENCE });
    await until("the link to go with the drawer", () => hash() === "");
  },
);

browserTest("a link to an endpoint opens its drawer", async () => {
  await using it = await openPage(fake().app, { path: "/#/pg/10.0.2.1%3A5432" });
  await sees(it.page, "#drawer", "3 connect failures in a row, last: connect_timeout; in maintenance");
});

browserTest("a link to an endpoint that is not there says so", async () => {
  await using it = await openPage(fake().app, { path: "/#/pg/gone" });
  await sees(it.page, "#drawer", 'There is no endpoint "gone"');
});

browserTest("draining asks first; Cancel changes nothing", async () => {
  const admin = fake(healthyState());
  await using it = await openPage(admin.app);
  await rowOf(it.page, "10.0.0.2:8080").getByRole("button").click(PATIENCE);
  await it.page.getByRole("button", { name: "Drain" }).click(PATIENCE);
  const confirm = it.page.locator("#confirm");
  await sees(it.page, "#confirm", "Drain app / 10.0.0.2:8080?");
  assert.match(await confirm.innerText(), /What is in flight \(1\) may finish/);
  assert.equal(await it.page.locator("#confirm-warning").isVisible(), false);
  await confirm.getByRole("button", { name: "Cancel" }).click();
  await confirm.waitFor({ state: "hidden", ...PATIENCE });
  assert.equal(admin.state.endpoints.get(1)!.gate, 0);
  await it.page.getByRole("button", { name: "Drain" }).click();
  await confirm.getByRole("button", { name: "Drain" }).click();
  await sees(it.page, "#drawer .pill", "drained");
  await it.page.getByRole("button", { name: "Set ready" }).click(PATIENCE);
  await confirm.getByRole("button", { name: "Set ready" }).click();
  await sees(it.page, "#drawer .pill", "healthy");
  assert.equal(admin.state.endpoints.get(1)!.gate, 0);
  assert.deepEqual(it.faults, []);
});

browserTest("taking the last usable endpoint out carries a warning", async () => {
  const admin = fake(healthyState());
  admin.setOperator("pg", "10.0.2.2:5432", "maintenance");
  await using it = await openPage(admin.app);
  await rowOf(it.page, "10.0.2.1:5432").getByRole("button").click(PATIENCE);
  await it.page.getByRole("button", { name: "Maintenance" }).click(PATIENCE);
  await sees(it.page, "#confirm-warning", "It is the last usable endpoint of pg");
});

browserTest("a refused edit is named on top and shown with its problems", async () => {
  await using it = await openPage(fake(refusedState()).app);
  await sees(it.page, "#details", "The last config edit was refused");
  const panel = await it.page.locator("#config").innerText();
  assert.match(panel, /The edit of \d\d:\d\d:\d\d was refused/);
  assert.match(panel, /Generation 7 goes on running\. 3 problems:/);
  assert.match(panel, /\/etc\/hale\/hale\.yaml:31:19/);
  assert.match(panel, /upstreams\[0\]\.health\.eject_ms/);
  assert.match(panel, /Cannot bind 0\.0\.0\.0:443: permission denied/);
});

browserTest("failing discovery shows its kind and when it asks again", async () => {
  await using it = await openPage(fake().app);
  await sees(
    it.page,
    ".note.bad",
    /catalogue\.service\.internal \(A\+AAAA\): failing with servfail for 10 min/,
  );
  await sees(it.page, ".note.bad", /asks again (in \d+ s|now)/);
});

browserTest("before the first plan the page says that hale is starting", async () => {
  await using it = await openPage(fake(startingState()).app);
  await sees(it.page, "h1", "hale is starting: no plan is in force yet");
});

browserTest(
  "text filter and state chips narrow what is shown; the slash key goes to the filter",
  async () => {
    await using it = await openPage(fake().app);
    await sees(it.page, "h1", "3 of 9");
    await it.page.keyboard.press("/");
    await it.page.keyboard.type("PG/10.0.2.2");
    await until("one row", async () => await it.page.locator("tbody tr:visible .who").count() === 1);
    await it.page.locator("#search").fill("");
    await it.page.getByRole("button", { name: /^Out 3/ }).click();
    await until("three rows", async () => await it.page.locator("tbody tr .who:visible").count() === 3);
    assert.equal(await it.page.getByRole("button", { name: /^Out 3/ }).getAttribute("aria-pressed"), "true");
    await it.page.locator("#search").fill("nothing like it");
    await sees(it.page, "main", "No endpoint matches");
  },
);

browserTest("with 10,000 endpoints the document stays small and everything is found", async () => {
  await using it = await openPage(fake(bigState(10_000, 500)).app);
  await sees(it.page, "h1", "104 of 10,000 endpoints are out");
  const rows = await it.page.locator("tbody tr").count();
  assert.ok(rows < 700, `${rows} rows`);
  await it.page.locator("#search").fill("service-7/10.0.14.3");
  await sees(it.page, ".who", "10.0.14.3:80");
  await it.page.locator("#search").fill("");
  await it.page.getByRole("button", { name: "Show 200 more" }).first().click();
  await until("250 rows in the first card", async () => {
    return await it.page.locator(".upstream").first().locator("tbody tr").count() === 250;
  });
  await it.page.getByRole("button", { name: "show all that are out" }).click();
  await until("all 104", async () => await it.page.locator("tbody .who").count() === 104);
});

browserTest("hostile names are text, not markup", async () => {
  const name = "<img src=x onerror=\"document.title='broken'\">";
  const state = healthyState();
  const upstreams = [upstreamOf(name, [endpointAt("10.0.0.1:80", 2)]), ...sickState().plan!.upstreams];
  await using it = await openPage(fake({ ...sickState(), plan: { ...state.plan!, upstreams } }).app);
  await sees(it.page, "h2", name);
  assert.equal(await it.page.locator("img").count(), 0);
  await rowOf(it.page, "10.0.0.1:80").getByRole("button").click(PATIENCE);
  await sees(it.page, "#drawer h2", name);
  assert.equal(await it.page.locator("img").count(), 0);
});

browserTest(
  "with a token the page asks for it, refuses a wrong one, and keeps the right one in this tab",
  async () => {
    await using it = await openPage(fake(sickState(), { token: "sesame" }).app);
    await sees(it.page, "#login", "asks for its token");
    assert.ok(!(await it.page.content()).includes("10.0.0.3"), "nothing is shown before");
    await it.page.locator("#token").fill("wrong");
    await it.page.keyboard.press("Enter");
    await sees(it.page, "#login-wrong", "not accepted");
    await it.page.locator("#token").fill("sesame");
    await it.page.keyboard.press("Enter");
    await sees(it.page, "h1", "3 of 9");
    await sees(it.page, "#link", "live");
    await it.page.reload();
    await sees(it.page, "h1", "3 of 9");
    assert.equal(await it.page.evaluate("localStorage.length"), 0);
  },
);

browserTest("when hale stops answering the page says since when, and recovers by itself", async () => {
  let isDown = false;
  const admin = fake();
  const fetch = (request: Request) =>
    isDown ? Promise.resolve(new Response("", { status: 503 })) : admin.app.fetch(request);
  await using it = await openPage({ fetch, close: admin.app.close });
  await sees(it.page, "h1", "3 of 9");
  isDown = true;
  await sees(
    it.page,
    "#lost",
    /hale has not answered for \d+ s \(status 503\)\. What you see is the state of/,
  );
  isDown = false;
  await it.page.locator("#lost").waitFor({ state: "hidden", ...PATIENCE });
});

browserTest(
  "when the events break off the page goes on asking, and follows again from where it was",
  async () => {
    const admin = fake(healthyState());
    const ids: (string | null)[] = [];
    const fetch = (request: Request) => {
      if (!request.url.includes("/events")) return admin.app.fetch(request);
      ids.push(request.headers.get("last-event-id"));
      return ids.length === 2
        ? Promise.resolve(new Response("", { status: 503 }))
        : admin.app.fetch(request).then(cutAfterEvent);
    };
    const cutAfterEvent = (response: Response) => {
      if (ids.length > 1) return response;
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          controller.enqueue(chunk);
          if (new TextDecoder().decode(chunk).startsWith("id:")) controller.terminate();
        },
      });
      return new Response(response.body!.pipeThrough(cut), response);
    };
    admin.setOperator("app", "10.0.0.1:8080", "drain");
    await using it = await openPage({ fetch, close: admin.app.close });
    await sees(it.page, "#events li", "10.0.0.1:8080");
    await until("a third try", () => ids.length >= 3);
    assert.equal(ids[0], null);
    assert.match(ids[2]!, /-1$/);
    admin.setOperator("app", "10.0.0.2:8080", "drain");
    await sees(it.page, "#events li", "10.0.0.2:8080");
    assert.equal(await it.page.locator("#events li").count(), 2, "nothing twice");
  },
);

browserTest("on a phone nothing is wider than the screen, and the drawer fills it", async () => {
  await using it = await openPage(fake(refusedState()).app, { width: 360, height: 740 });
  await sees(it.page, "h1", "All 9");
  const overflow = () =>
    it.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.equal(await overflow(), 0);
  await rowOf(it.page, "[2001:db8:0:4::17]:9000").getByRole("button").click(PATIENCE);
  await sees(it.page, "#drawer", "In rotation");
  // It slides in: it is where it should be once it has come to rest.
  await until("the drawer to fill the screen", async () => {
    const box = await it.page.locator("#drawer").boundingBox();
    return box!.x === 0 && Math.round(box!.width) === 360;
  });
  assert.equal(
    await it.page.evaluate("drawer.scrollWidth - drawer.clientWidth"),
    0,
  );
});

browserTest("text is readable in light and in dark: contrast of at least 4.5", async () => {
  for (const scheme of ["light", "dark"] as const) {
    await using it = await openPage(fake().app, { scheme });
    await sees(it.page, "h1", "3 of 9");
    const poor = await it.page.evaluate(POOR_CONTRASTS);
    assert.deepEqual(poor, [], scheme);
  }
});

browserTest("everything is reached with the keyboard alone", async () => {
  await using it = await openPage(fake().app);
  await sees(it.page, "h1", "3 of 9");
  const reached = new Set<string>();
  for (let step = 0; step < 40; step++) {
    await it.page.keyboard.press("Tab");
    reached.add(await it.page.evaluate(FOCUSED));
  }
  for (const wanted of ["app / 10.0.0.3:8080", "10.0.0.1:8080", "Out 3"]) {
    assert.ok(reached.has(wanted), wanted);
  }
  await rowOf(it.page, "10.0.0.1:8080").getByRole("button").focus();
  await it.page.keyboard.press("Enter");
  await sees(it.page, "#drawer", "In rotation");
  await it.page.keyboard.press("Escape");
  await it.page.locator("#drawer").waitFor({ state: "hidden", ...PATIENCE });
  const focused = await it.page.evaluate(FOCUSED);
  assert.equal(focused, "10.0.0.1:8080", "the focus goes back to where it was");
});

browserTest("a focused row keeps its focus while numbers change", async () => {
  const admin = fake(healthyState());
  await using it = await openPage(admin.app);
  await sees(it.page, "h1", "All 9");
  await rowOf(it.page, "10.0.0.2:8080").getByRole("button").focus();
  const endpoints = new Map(admin.state.endpoints);
  endpoints.set(1, { ...endpoints.get(1)!, inFlight: 4321 });
  admin.state = { ...admin.state, endpoints };
  await until(
    "the new number",
    async () => (await rowOf(it.page, "10.0.0.2:8080").innerText()).includes("4,321"),
  );
  assert.equal(await it.page.evaluate(FOCUSED), "10.0.0.2:8080");
});

browserTest("the page says when a limit is near and what was charged to nobody", async () => {
  const state = healthyState();
  await using it = await openPage(fake({ ...state, wallMs: WALL_MS }).app);
  await sees(it.page, "#process", "410 of 10,000 client connections");
  await sees(it.page, "#process", /client garbage\s*12/);
  await sees(it.page, "#process", /web\s+http 0\.0\.0\.0:8080/);
});
