// The whole script of the status page: its parts in order, and here how it talks to hale. It asks /status every two
// seconds (less often when answers are slow to make), and at once when /events tells of something. Both are fetched
// with the token when one is needed, which is kept in this tab's session storage and nowhere else.

import { SCRIPT_DRAWER } from "./page_script_drawer.ts";
import { SCRIPT_ROWS } from "./page_script_rows.ts";
import { SCRIPT_SIDE } from "./page_script_side.ts";
import { SCRIPT_TOOLS } from "./page_script_tools.ts";

const SCRIPT_STATE = String.raw`
const state = {
  view: null, receivedAt: 0, live: false, failedSince: null, failure: "", search: "", show: "all", rows: new Map(), open: null,
};
`;

const SCRIPT_TALK = String.raw`
async function ask(path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem("hale-token");
    const headers = { ...options.headers, ...(token === null ? {} : { authorization: "Bearer " + token }) };
    const response = await fetch(path, { signal: AbortSignal.timeout(15000), ...options, headers });
    if (response.status !== 401) return response;
    await response.body?.cancel();
    await login(token);
  }
}

// One question for the token, however many requests wait for it.
let asking = null;
function login(refused) {
  if (sessionStorage.getItem("hale-token") !== refused) return Promise.resolve();
  asking ??= new Promise((resolve) => {
    const dialog = byId("login");
    byId("login-wrong").hidden = refused === null;
    byId("token").value = "";
    if (!dialog.open) dialog.showModal();
    dialog.addEventListener("close", () => {
      if (byId("token").value !== "") sessionStorage.setItem("hale-token", byId("token").value.trim());
      asking = null;
      resolve();
    }, { once: true });
  });
  return asking;
}

function render() {
  const { view } = state;
  if (view === null) return;
  const all = allEndpoints(view);
  renderBar(view);
  renderSummary(view, all);
  renderOut(all);
  renderUpstreams(view, all);
  renderConfig(view);
  renderProcess(view);
}

let polling = false, again = false, timer = 0;
async function poll() {
  if (polling) { again = true; return; }
  polling = true;
  clearTimeout(timer);
  const began = performance.now();
  try {
    const response = await ask("/status");
    if (!response.ok) throw new Error("status " + response.status);
    state.view = await response.json();
    state.receivedAt = performance.now();
    state.failedSince = null;
    render();
    await refreshDrawer();
  } catch (error) {
    state.failedSince ??= began;
    state.failure = error.name === "TimeoutError" ? "no answer in time" : error.message;
  }
  renderLink();
  polling = false;
  const took = performance.now() - began;
  timer = setTimeout(poll, again ? 50 : Math.max(2000, took * 10));
  again = false;
}
function poke() {
  clearTimeout(timer);
  timer = setTimeout(poll, 100);
}
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else poll();
});

let lastId = "";
async function follow() {
  for (let wait = 1000;; wait = Math.min(wait * 2, 30000)) {
    try {
      const headers = lastId === "" ? {} : { "last-event-id": lastId };
      const response = await ask("/events?last=100", { headers, signal: undefined });
      if (response.ok) {
        wait = 1000;
        state.live = true;
        renderLink();
        await readEvents(response.body);
      }
    } catch (error) {
      console.info("hale: events: " + error.message);
    }
    state.live = false;
    renderLink();
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
async function readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    blocks.forEach(takeBlock);
  }
}
function takeBlock(block) {
  const lines = block.split("\n");
  const data = lines.find((line) => line.startsWith("data: "));
  if (data === undefined) return;
  lastId = lines.find((line) => line.startsWith("id: "))?.slice(4) ?? lastId;
  addEvent(JSON.parse(data.slice(6)));
  poke();
}

byId("search").addEventListener("input", (event) => {
  state.search = event.target.value.trim().toLowerCase();
  render();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, dialog") !== null;
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  byId("search").focus();
});
setInterval(() => {
  if (state.view !== null) ticker();
  renderLink();
}, 1000);
openFromHash();
poll();
follow();
`;

/** Plain JavaScript for browsers, as text: strict, and with no global names. */
export const PAGE_SCRIPT = `"use strict";
(() => {
${[SCRIPT_STATE, SCRIPT_TOOLS, SCRIPT_ROWS, SCRIPT_SIDE, SCRIPT_DRAWER, SCRIPT_TALK].join("\n")}
})();
`;
