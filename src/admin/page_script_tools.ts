// Page script, part 1: making elements, and how numbers, spans of time and states are spelled. Text comes in only as
// text nodes, never as markup.

/** Plain JavaScript for browsers, as text. */
export const SCRIPT_TOOLS = String.raw`
const byId = (id) => document.getElementById(id);

function h(tag, props, ...kids) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (name === "text") el.textContent = value;
    else if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) el.setAttribute(name, value === true ? "" : value);
  }
  el.append(...kids.filter((kid) => kid !== undefined && kid !== null));
  return el;
}

// Elements that did not change are left alone: focus, selection and screen readers stay undisturbed.
function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}
function setAttr(el, name, value) {
  if (el.getAttribute(name) !== value) el.setAttribute(name, value);
}
function setKids(el, key, make) {
  if (el.kidsKey === key) return;
  el.kidsKey = key;
  el.replaceChildren(...make());
}

const plural = (count, word) => grouped(count) + " " + word + (count === 1 ? "" : "s");
const grouped = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });

function sayRate(perS) {
  if (perS === 0) return "0";
  if (perS < 0.1) return "<0.1";
  return perS < 10 ? perS.toFixed(1) : grouped(perS);
}
function sayMs(ms) {
  if (ms === null) return "–";
  if (ms < 10) return Number(ms.toFixed(1)) + " ms";
  if (ms < 1000) return Math.round(ms) + " ms";
  return (ms / 1000).toFixed(ms < 10000 ? 1 : 0) + " s";
}
function sayPair({ p50_ms, p99_ms }) {
  if (p50_ms === null) return "–";
  const one = sayMs(p50_ms), other = sayMs(p99_ms);
  return (one.endsWith(" ms") && other.endsWith(" ms") ? one.slice(0, -3) : one) + " / " + other;
}
function sayBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  while (bytes >= 1024 && at < units.length - 1) { bytes /= 1024; at++; }
  return (at === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)) + " " + units[at];
}
function saySpan(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return s + " s";
  const m = Math.floor(s / 60);
  if (m < 10) return m + " min" + (s % 60 ? " " + (s % 60) + " s" : "");
  if (m < 60) return m + " min";
  const hours = Math.floor(m / 60);
  if (hours < 48) return hours + " h" + (m % 60 ? " " + (m % 60) + " min" : "");
  const days = Math.floor(hours / 24);
  return days + " d" + (hours % 24 ? " " + (hours % 24) + " h" : "");
}
const sayClock = (iso) => new Date(iso).toLocaleTimeString("en-GB");
const sayDate = (iso) => new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

// A span that grows (since) or shrinks (until); ticker() keeps all of them right, by the clock of hale, not of this machine.
function since(el, iso, words = (span) => span) {
  el.tick = () => setText(el, words(saySpan(serverNow() - Date.parse(iso))));
  setAttr(el, "data-tick", "");
  setAttr(el, "title", sayDate(iso));
  el.tick();
  return el;
}
// say(span) gives the text; span is null once the moment has come.
function until(el, ms, say) {
  const moment = state.receivedAt + ms;
  el.tick = () => {
    const left = moment - performance.now();
    setText(el, say(left > 500 ? saySpan(left) : null));
  };
  setAttr(el, "data-tick", "");
  el.tick();
  return el;
}
function still(el, text) {
  el.tick = undefined;
  el.removeAttribute("data-tick");
  el.removeAttribute("title");
  setText(el, text);
  return el;
}
function ticker() {
  for (const el of document.querySelectorAll("[data-tick]")) el.tick?.();
}
const serverNow = () => Date.parse(state.view.at) + performance.now() - state.receivedAt;

const SIGNS = { good: "●", bad: "✕", warn: "◐", info: "■" };
const REASONS = {
  ejected: ["bad", "ejected"], half_open: ["warn", "half open"], drained: ["info", "drained"],
  maintenance: ["info", "maintenance"], removed: ["bad", "removed"], full: ["warn", "full"],
};
function statesOf(endpoint) {
  if (endpoint.reasons.length > 0) return endpoint.reasons.map((reason) => REASONS[reason] ?? ["warn", reason]);
  if (endpoint.state === "half_open") return [["warn", "half open"]];
  if (endpoint.state === "ejected") return [["warn", "would be ejected"]];
  return [["good", "healthy"]];
}
function moodOf(endpoint) {
  const moods = statesOf(endpoint).map(([mood]) => mood);
  return ["bad", "warn", "info"].find((mood) => moods.includes(mood)) ?? "good";
}
// out: no new work at all; trial and full: some, or soon; well: the rest.
function kindOf(endpoint) {
  if (endpoint.reasons.some((reason) => reason !== "half_open" && reason !== "full")) return "out";
  if (endpoint.state !== "healthy") return "trial";
  return endpoint.reasons.includes("full") ? "full" : "well";
}
function showPills(el, endpoint) {
  const states = statesOf(endpoint);
  setKids(el, JSON.stringify(states), () => states.map(([mood, word]) =>
    h("span", { class: "pill " + mood }, h("i", { "aria-hidden": "true", text: SIGNS[mood] }), word)));
}
`;
