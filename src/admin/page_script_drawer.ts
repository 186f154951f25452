// Page script, part 4: the drawer that tells why an endpoint is where it is, and the operator's actions with their
// confirmation.

/** Plain JavaScript for browsers, as text. */
export const SCRIPT_DRAWER = String.raw`
const drawer = byId("drawer");
const pathOf = ({ upstream, address }) =>
  "/upstreams/" + encodeURIComponent(upstream) + "/endpoints/" + encodeURIComponent(address);

function openDrawer(upstream, address) {
  state.open = { upstream, address };
  history.replaceState(null, "", "#/" + encodeURIComponent(upstream) + "/" + encodeURIComponent(address));
  byId("drawer-body").replaceChildren(h("h2", { id: "drawer-title", text: upstream + " / " + address }), h("p", { text: "Asking hale why" }));
  byId("drawer-body").parts = undefined;
  if (!drawer.open) drawer.showModal();
  refreshDrawer();
}
drawer.addEventListener("close", () => {
  state.open = null;
  history.replaceState(null, "", location.pathname);
});
drawer.addEventListener("click", (event) => {
  if (event.target === drawer) drawer.close();
});
function openFromHash() {
  const match = /^#\/([^/]+)\/([^/]+)$/.exec(location.hash);
  if (match !== null) openDrawer(decodeURIComponent(match[1]), decodeURIComponent(match[2]));
}

async function refreshDrawer() {
  const open = state.open;
  if (open === null) return;
  try {
    const response = await ask(pathOf(open) + "/why");
    if (state.open !== open) return;
    const answer = await response.json();
    if (response.ok) showWhy(answer);
    else sayInDrawer(answer.error?.message ?? "hale answered " + response.status);
  } catch (error) {
    if (state.open === open) sayInDrawer("hale did not answer: " + error.message);
  }
}
function sayInDrawer(text) {
  const body = byId("drawer-body");
  body.parts = undefined;
  body.replaceChildren(drawerHead(state.open), h("p", { class: "bad", role: "status", text }));
}

function drawerHead({ upstream, address }) {
  return h("header", {}, h("h2", { id: "drawer-title", tabindex: "-1" }, h("span", { class: "soft", text: upstream + " / " }), address),
    h("button", { class: "button quiet", type: "button", text: "Close", onclick: () => drawer.close() }));
}

function showWhy(why) {
  const body = byId("drawer-body");
  body.parts ??= drawerParts(body);
  const { pills, said, reason, times, returns, facts, buttons, strip, evidence } = body.parts;
  showPills(pills, why);
  setAttr(said, "data-mood", moodOf(why));
  setText(reason, capital(why.reason === "" ? (why.usable ? "in rotation" : "out") : why.reason));
  since(times, why.since, (span) => "Since " + sayClock(why.since) + ", for " + span);
  returns.hidden = why.returns === "";
  showReturn(returns, why, "Returns ");
  setKids(facts, JSON.stringify(factsOf(why)), () => factsOf(why).flatMap(([name, value]) => fact(name, value)));
  setKids(buttons, why.reasons.join() + why.upstream, () => actionsFor(why));
  const key = JSON.stringify(why.evidence);
  setKids(strip, key, () => [...why.evidence].reverse().map((one) => h("span", { class: one.verdict, title: sayClock(one.at) + " " + sayEvidence(one) })));
  setKids(evidence, key, () => why.evidence.map(evidenceRow));
}

function drawerParts(body) {
  const parts = {
    pills: h("span", { class: "pills" }), reason: h("strong"), times: h("span", { class: "soft" }), returns: h("span"),
    facts: h("dl", { class: "facts-list" }), buttons: h("div", { class: "buttons" }),
    strip: h("div", { class: "strip", "aria-hidden": "true" }), evidence: h("tbody"),
  };
  parts.said = h("div", { class: "said" }, h("div", {}, parts.pills), parts.reason, parts.times, parts.returns);
  const heads = ["Time", "From", "What", "Took"].map((text, at) => h("th", { scope: "col", class: at === 3 && "num", text }));
  body.replaceChildren(drawerHead(state.open), parts.said, parts.buttons, parts.facts,
    h("section", {}, h("h2", { text: "Evidence" }), h("p", { class: "soft", text: "The last 32, newest first; the strip runs from old to new" }), parts.strip,
      h("table", { class: "small" }, h("thead", {}, h("tr", {}, ...heads)), parts.evidence)));
  byId("drawer-title").focus();
  return parts;
}

function factsOf(why) {
  const failures = why.failures.map(({ source, outcome, count }) => grouped(count) + " " + source + " " + outcome.replaceAll("_", " "));
  return [
    ["In flight", grouped(why.in_flight)], ["Picks", grouped(why.picks_total) + ", now " + sayRate(why.rate_per_s) + "/s"],
    ["p50 / p99", why.p50_ms === null ? "nothing timed lately" : sayPair(why)],
    ["Failures in a row", String(why.streak)], ["Ejections", String(why.ejections) + (why.would_eject > 0 ? ", and " + why.would_eject + " only noted" : "")],
    ["Failures", failures.length === 0 ? "none" : failures.join(", ")],
    ["Weight", why.weight + (why.priority === 0 ? "" : ", priority " + why.priority) + ", " + why.source],
  ];
}

function evidenceRow(one) {
  const [sign, mood] = VERDICTS[one.verdict];
  return h("tr", {}, h("td", { class: "nowrap", title: sayDate(one.at), text: sayClock(one.at) }), h("td", { class: "nowrap", text: one.source }),
    h("td", {}, h("span", { class: mood, "aria-hidden": "true", text: sign + " " }), capital(one.sentence),
      one.detail === "" ? "" : h("span", { class: "soft", text: " " + one.detail }), one.count > 1 ? " ×" + grouped(one.count) : ""),
    h("td", { class: "num", text: sayMs(one.duration_ms) }));
}

const ACTIONS = {
  drain: { word: "Drain", text: (why) => "It gets no new work. " + (why.in_flight === 0 ? "Nothing is in flight." : "What is in flight (" + grouped(why.in_flight) + ") may finish.") + " It stays out until somebody sets it ready." },
  maintenance: { word: "Maintenance", text: () => "It gets no new work and stays out until somebody sets it ready, whatever its health." },
  ready: { word: "Set ready", text: (why) => why.state === "healthy" ? "It gets work again." : "The operator's hold ends. Its health still decides: it is " + why.state.replace("_", " ") + "." },
};
function actionsFor(why) {
  const held = why.reasons.filter((reason) => reason === "drained" || reason === "maintenance");
  const wanted = [...(held.length > 0 ? ["ready"] : []), ...(held.includes("drained") ? [] : ["drain"]), ...(held.includes("maintenance") ? [] : ["maintenance"])];
  return wanted.map((name, at) => h("button", {
    class: at === 0 && name === "ready" ? "button main" : "button", type: "button", text: ACTIONS[name].word, onclick: () => act(why, name),
  }));
}

async function act(why, name) {
  const action = ACTIONS[name];
  const others = state.view.upstreams.find((upstream) => upstream.name === why.upstream)?.endpoints
    .filter((endpoint) => endpoint.usable && endpoint.address !== why.address) ?? [];
  const last = name !== "ready" && why.usable && others.length === 0;
  const sure = await confirmed({
    title: action.word + " " + why.upstream + " / " + why.address + "?", text: action.text(why), yes: action.word,
    warning: last ? "It is the last usable endpoint of " + why.upstream + ": without it, that upstream can serve nobody." : "",
  });
  if (!sure) return;
  try {
    const response = await ask(pathOf({ upstream: why.upstream, address: why.address }) + "/" + name, { method: "POST" });
    if (!response.ok) throw new Error((await response.json()).error?.message ?? "hale answered " + response.status);
  } catch (error) {
    await confirmed({ title: "That did not work", text: error.message, yes: "Close", warning: "" });
  }
  poke();
}

function confirmed({ title, text, yes, warning }) {
  const dialog = byId("confirm");
  setText(byId("confirm-title"), title);
  setText(byId("confirm-text"), text);
  setText(byId("confirm-yes"), yes);
  setText(byId("confirm-warning"), warning);
  byId("confirm-warning").hidden = warning === "";
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}
`;
