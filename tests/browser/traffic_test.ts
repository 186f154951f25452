// A real browser as a client: a web site that it loads through hale, with downloads, uploads, events, WebSockets and
// ranges. What the page finds is told by scripts that run in it.

import assert from "node:assert/strict";
import { hasChromium, visit } from "../support/browser.ts";
import { HttpStage } from "../support/http_stage.ts";
import { hashOf, patterned } from "../support/patterned.ts";
import { until } from "../support/until.ts";
import { EVENTS, LARGE_BYTES, RESOURCES, SOUND_S, WebSite } from "../support/web_site.ts";

const ignore = !hasChromium();
const PATIENCE = { timeout: 20_000 };

type Visited = Awaited<ReturnType<typeof visit>>;

/** A test of the site through hale. The browser is a process, so the leak checks of the test runner do not apply. */
function siteTest(name: string, run: (it: Visited, stage: HttpStage, site: WebSite) => Promise<void>): void {
  const fn = async () => {
    await using site = new WebSite();
    await using stage = await HttpStage.start([site.address]);
    {
      await using it = await visit(`http://127.0.0.1:${stage.port}`);
      await run(it, stage, site);
      assert.deepEqual(it.faults, []);
    }
    await until(() => stage.inFlight === 0);
    // Whatever the browser did, it was not the endpoint's fault.
    assert.deepEqual(stage.evidence.filter((each) => !/^(answered|client_\w+)×/.test(each)), []);
  };
  Deno.test({ name: `browser: ${name}`, ignore, fn, sanitizeOps: false, sanitizeResources: false });
}

/** Run in the page: SHA-256 in hex. */
const HASH_OF = `async (bytes) =>
  [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("")`;

siteTest(
  "a page with many small resources loads whole over a few kept connections",
  async ({ page }, stage) => {
    for (let turn = 0; turn < 3; turn++) {
      if (turn > 0) await page.reload();
      await page.waitForFunction(`window.loaded.length === ${RESOURCES}`, undefined, PATIENCE);
      const loaded: number[] = await page.evaluate("window.loaded");
      assert.deepEqual(
        loaded.sort((one, two) => one - two),
        Array.from({ length: RESOURCES }, (_, at) => at),
      );
    }
    const { accepted } = stage.plane.stats().listeners.web!;
    assert.ok(accepted >= 2 && accepted <= 12, `${accepted} connections`);
  },
);

siteTest("a download of 20 MiB arrives whole, by script and as a file", async ({ page }) => {
  const hash = hashOf(patterned(LARGE_BYTES));
  const script = `(async () => {
    const bytes = await (await fetch("/large")).arrayBuffer();
    return { size: bytes.byteLength, hash: await (${HASH_OF})(bytes) };
  })()`;
  assert.deepEqual(await page.evaluate(script), { size: LARGE_BYTES, hash });
  const downloading = page.waitForEvent("download", PATIENCE);
  await page.getByText("download").click(PATIENCE);
  const download = await downloading;
  assert.equal(await download.failure(), null);
  assert.equal(hashOf(await Deno.readFile(await download.path())), hash);
});

siteTest("uploads by form and by fetch arrive whole", async ({ page }) => {
  const script = `(async () => {
    const bytes = new Uint8Array(5_000_000);
    for (let at = 0; at < bytes.length; at++) bytes[at] = at * 31 + (at >> 8) + (at >> 16) * 7;
    const form = new FormData();
    form.append("word", "grüß");
    form.append("file", new Blob([bytes]), "file.bin");
    const byForm = await (await fetch("/form", { method: "POST", body: form })).json();
    const byFetch = await (await fetch("/raw", { method: "PUT", body: bytes })).json();
    return { byForm, byFetch };
  })()`;
  const bytes = patterned(5_000_000);
  const told = { size: bytes.length, hash: hashOf(bytes) };
  assert.deepEqual(await page.evaluate(script), {
    byForm: { ...told, name: "file.bin", word: "grüß" },
    byFetch: { ...told, method: "PUT" },
  });
});

siteTest("server-sent events arrive one by one", async ({ page }) => {
  // The next event is sent only once this one was told of: one that is held back somewhere would stop them all.
  const script = `new Promise((resolve, reject) => {
    const texts = [];
    const events = new EventSource("/events");
    setTimeout(() => reject("only came: " + texts), 20_000);
    events.onmessage = ({ data }) => {
      texts.push(data);
      fetch("/seen", { method: "POST" });
      if (texts.length < ${EVENTS}) return;
      events.close();
      resolve(texts);
    };
  })`;
  assert.deepEqual(await page.evaluate(script), Array.from({ length: EVENTS }, (_, at) => `event ${at}`));
});

siteTest("a WebSocket of the page talks and closes", async ({ page }) => {
  const script = `new Promise((resolve, reject) => {
    const socket = new WebSocket("ws://" + location.host + "/socket");
    const told = [];
    socket.binaryType = "arraybuffer";
    setTimeout(() => reject("only came: " + told), 20_000);
    socket.onopen = () => { socket.send("hello"); socket.send(new Uint8Array(1_000_000)); socket.send("close"); };
    socket.onmessage = ({ data }) => told.push(typeof data === "string" ? data : data.byteLength);
    socket.onclose = ({ code, reason, wasClean }) => resolve([...told, code, reason, wasClean]);
  })`;
  assert.deepEqual(await page.evaluate(script), ["hello", 1_000_000, 4005, "as you wish", true]);
});

siteTest(
  "sound is played from its end without all of it: ranges are asked for and aborted",
  async (it, _, site) => {
    const script = `new Promise((resolve, reject) => {
    const sound = new Audio();
    setTimeout(() => reject("no more after " + sound.readyState), 20_000);
    sound.onerror = () => reject(sound.error.message);
    sound.onloadedmetadata = () => sound.currentTime = sound.duration - 2;
    sound.onseeked = () => resolve([Math.round(sound.duration), Math.round(sound.currentTime)]);
    sound.preload = "metadata";
    sound.src = "/sound.wav";
    document.body.append(sound);
  })`;
    assert.deepEqual(await it.page.evaluate(script), [SOUND_S, SOUND_S - 2]);
    assert.equal(site.ranges[0], "bytes=0-");
    assert.ok(
      site.ranges.some((range) => Number(/^bytes=(\d+)-/.exec(range)?.[1]) > 1_000_000),
      `${site.ranges}`,
    );
  },
);
