// Page script, part 3: the bar on top and the panels beside: config with the last refusal, events, and what the process
// is doing.

/** Plain JavaScript for browsers, as text. */
export const SCRIPT_SIDE = String.raw`
function renderBar(view) {
  const phase = view.phase === "running" ? "" : view.phase + " · ";
  setText(byId("facts"), phase + view.version + " · generation " + view.generation + " · up " + saySpan(view.uptime_ms));
}

function renderLink() {
  const mood = state.failedSince !== null ? "bad" : state.view === null ? "" : state.live ? "good" : "warn";
  setAttr(byId("link-dot"), "class", "dot " + mood);
  setText(byId("link"), { bad: "no answer", good: "live", warn: "asking every few seconds", "": "connecting" }[mood]);
  byId("lost").hidden = state.failedSince === null;
  if (state.failedSince === null) return;
  const span = saySpan(performance.now() - state.failedSince);
  const old = state.view === null ? "" : ". What you see is the state of " + sayClock(state.view.at);
  setText(byId("lost"), "hale has not answered for " + span + (state.failure === "" ? "" : " (" + state.failure + ")") + old);
}

const fact = (name, ...value) => [h("dt", { text: name }), h("dd", {}, ...value)];

function renderConfig(view) {
  const { config } = view, attempt = config.last_attempt, panel = byId("config");
  setKids(panel, JSON.stringify([view.generation, config]), () => [
    h("h2", { id: "config-title" }, "Config", attempt.ok ? "" : h("span", { class: "pill bad" }, h("i", { "aria-hidden": "true", text: "✕" }), "edit refused")),
    attempt.ok ? "" : refusal(view),
    h("dl", { class: "facts-list" },
      ...fact("Generation", String(view.generation)),
      ...fact("Hash", h("code", { text: config.hash === "" ? "none yet" : config.hash.slice(0, 12), title: config.hash })),
      ...(config.loaded_at === null ? [] : fact("In force for", since(h("time"), config.loaded_at))),
      ...(attempt.at === null ? [] : fact("Last try", since(h("time"), attempt.at, (span) => span + " ago, " + (attempt.ok ? "taken" : "refused")))),
      ...fact("Tries", ["accepted", "refused", "unchanged"].map((name) => (config.reloads[name] ?? 0) + " " + name).join(", "))),
  ]);
}

function refusal(view) {
  const { at, problems } = view.config.last_attempt;
  return h("div", { class: "refusal" },
    h("strong", { text: "The edit of " + (at === null ? "start-up" : sayClock(at)) + " was refused" }),
    h("p", { text: view.generation === 0 ? "Nothing is in force yet" : "Generation " + view.generation + " goes on running. " + plural(problems.length, "problem") + ":" }),
    h("ul", {}, ...problems.slice(0, 20).map((problem) => h("li", {},
      h("code", { text: placeOf(problem) }), problem.path === "" ? "" : h("b", { text: problem.path + "  " }), problem.message))),
    problems.length > 20 ? h("p", { text: "and " + (problems.length - 20) + " more, see hale status" }) : "");
}
const placeOf = ({ file, line, column }) => file === "" ? "" : file + (line > 0 ? ":" + line + ":" + column : "");

function renderProcess(view) {
  const { limits } = view;
  const key = JSON.stringify([view.workers, view.listeners, limits, view.not_charged, view.process]);
  setKids(byId("process"), key, () => [
    h("h2", { id: "process-title", text: "Process" }),
    h("p", { text: grouped(limits.sessions) + " of " + grouped(limits.max_connections) + " client connections" }),
    h("meter", { max: limits.max_connections, high: limits.max_connections * .8, optimum: 0, value: limits.sessions, "aria-label": "Client connections of the limit" }),
    ...processTables(view), ...memory(view.process), ...notCharged(view.not_charged),
  ]);
}
function processTables(view) {
  const lag = (ms) => h("td", { class: ms > 100 ? "num bad" : "num", text: sayMs(ms) });
  return [
    h("h3", { text: "Listeners" }),
    table(["Listener", "Open", "Accepted"], view.listeners.map((one) => [
      h("td", {}, one.name, h("span", { class: "tag", text: "  " + one.protocol + " " + one.address }),
        h("span", { class: "tag", text: "  " + sayBytes(one.bytes_received) + " in, " + sayBytes(one.bytes_sent) + " out" })),
      h("td", { class: "num", text: grouped(one.sessions) }), h("td", { class: "num", text: grouped(one.accepted_total) })])),
    h("h3", { text: "Workers" }),
    table(["Worker", "Sessions", "Restarts", "Loop lag"], [...view.workers.map((one) => [
      h("td", { text: String(one.id) }), h("td", { class: "num", text: grouped(one.sessions) }),
      h("td", { class: one.restarts > 0 ? "num warn" : "num", text: String(one.restarts) }), lag(one.loop_lag_ms)]),
      [h("td", { text: "main" }), h("td"), h("td"), lag((view.process.loop_lag_seconds.main ?? 0) * 1000)]]),
  ];
}
function table(heads, rows) {
  return h("table", { class: "small" },
    h("thead", {}, h("tr", {}, ...heads.map((text, at) => h("th", { scope: "col", class: at > 0 && "num", text })))),
    h("tbody", {}, ...rows.map((cells) => h("tr", {}, ...cells))));
}
function memory(process) {
  const parts = [];
  if (process.resident_bytes !== null) parts.push(...fact("Memory", sayBytes(process.resident_bytes)));
  if (process.cpu_seconds !== null) parts.push(...fact("CPU time", saySpan(process.cpu_seconds * 1000)));
  if (process.open_descriptors !== null) {
    const most = process.max_descriptors === null ? "" : " of " + grouped(process.max_descriptors);
    parts.push(...fact("Descriptors", grouped(process.open_descriptors) + most));
  }
  return parts.length === 0 ? [] : [h("h3", { text: "Resources" }), h("dl", { class: "facts-list" }, ...parts)];
}
function notCharged(causes) {
  const seen = Object.entries(causes).filter(([, count]) => count > 0);
  if (seen.length === 0) return [];
  return [h("h3", { text: "Went wrong, but charged to no endpoint" }),
    h("dl", { class: "facts-list" }, ...seen.flatMap(([cause, count]) => fact(cause.replaceAll("_", " "), grouped(count))))];
}

const LEVELS = { debug: "", info: "", warning: "warn", error: "bad" };
function addEvent(event) {
  const list = byId("events");
  const why = event.endpoint === undefined ? "" : openerOf(event.upstream, event.endpoint);
  if (why !== "") {
    why.className = "plain";
    why.append("why", h("span", { class: "hidden-word", text: " " + event.upstream + " / " + event.endpoint }));
  }
  list.querySelector(".none")?.remove();
  list.prepend(h("li", {}, h("time", { datetime: event.at, title: sayDate(event.at), text: sayClock(event.at) }),
    h("span", { class: LEVELS[event.severity] ?? "", text: event.text }), " ", why));
  while (list.children.length > 100) list.lastElementChild.remove();
}
byId("events").append(h("li", { class: "none soft", text: "None so far" }));
`;
