// Page script, part 2: the summary, the list of what is out, and the cards of upstreams with their endpoints. Never
// more than a few hundred rows stand in the document, however many endpoints there are; the rest is found by filter.

/** Plain JavaScript for browsers, as text. */
export const SCRIPT_ROWS = String.raw`
const CARD_ROWS = 50, ALL_ROWS = 400, CARDS = 60, OUT_ROWS = 8;

function allEndpoints(view) {
  return view.upstreams.flatMap((upstream) => upstream.endpoints.map((endpoint) => ({
    upstream, endpoint, kind: kindOf(endpoint),
  })));
}

function renderSummary(view, all) {
  const out = all.filter(({ kind }) => kind === "out");
  const dead = view.upstreams.filter((upstream) => upstream.usable === 0 &&
    !upstream.endpoints.some((endpoint) => endpoint.state === "half_open"));
  const details = detailsOf(view, all, out);
  const byPeople = out.every(({ endpoint }) => moodOf(endpoint) === "info");
  const mood = dead.length > 0 || (out.length > 0 && !byPeople) ? "bad" : details.length > 0 ? "warn" : "good";
  setAttr(byId("hero"), "data-mood", view.generation === 0 ? "none" : mood);
  setText(byId("sign"), view.generation === 0 ? "…" : mood === "good" ? "✓" : out.length > 0 && out.length < 100 ? String(out.length) : "!");
  const summary = summaryOf(view, all, out, dead);
  setText(byId("summary"), summary);
  document.title = (out.length > 0 ? grouped(out.length) + " out · " : "") + "hale";
  showIcon(mood);
  const key = JSON.stringify(details.map((part) => part.text));
  setKids(byId("details"), key, () => details.flatMap((part, at) => [
    at > 0 ? " · " : "", part.href ? h("a", { href: part.href, text: part.text }) : part.text,
  ]));
}

function summaryOf(view, all, out, dead) {
  if (view.generation === 0) return "hale is starting: no plan is in force yet";
  if (all.length === 0) return "The plan names no endpoint";
  const none = dead.length === 0 ? "" : ", " + listed(dead.map(({ name }) => name)) + " " +
    (dead.length === 1 ? "has" : "have") + " none left";
  if (out.length > 0) return grouped(out.length) + " of " + plural(all.length, "endpoint") + (out.length === 1 ? " is" : " are") + " out" + none;
  if (dead.length > 0) return listed(dead.map(({ name }) => name)) + (dead.length === 1 ? " has" : " have") + " no usable endpoint";
  return all.length === 1 ? "The only endpoint is in rotation" : "All " + grouped(all.length) + " endpoints are in rotation";
}
const listed = (names) => names.length <= 3 ? names.join(", ") : names.slice(0, 2).join(", ") + " and " + (names.length - 2) + " more";

function detailsOf(view, all, out) {
  const parts = [];
  const count = (kind) => all.filter((one) => one.kind === kind).length;
  if (view.phase === "draining") parts.push({ text: "hale is draining: it was told to stop" });
  const where = [...new Set(out.map(({ upstream }) => upstream.name))];
  if (where.length > 0) parts.push({ text: "in " + listed(where) });
  if (count("trial") > 0) parts.push({ text: count("trial") + " on trial" });
  if (count("full") > 0) parts.push({ text: count("full") + " full" });
  for (const upstream of view.upstreams.filter(({ fail_open }) => fail_open).slice(0, 3)) {
    parts.push({ text: upstream.name + " picks among all its endpoints (fail open)" });
  }
  for (const { name, discovery } of view.upstreams.filter((one) => one.discovery?.state === "failing").slice(0, 3)) {
    parts.push({ text: "discovery of " + name + " is failing (" + discovery.failure + ")" });
  }
  if (!view.config.last_attempt.ok) parts.push({ text: "the last config edit was refused", href: "#config" });
  if (parts.length > 0) parts[0].text = capital(parts[0].text);
  return parts;
}

function showIcon(mood) {
  const colour = { good: "%231a9d5c", bad: "%23d3382e", warn: "%23d9902a" }[mood];
  setAttr(byId("icon"), "href", "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>" +
    "<circle cx='8' cy='8' r='7' fill='" + colour + "'/></svg>");
}

const openerOf = (upstream, endpoint) => h("button", {
  class: "opener", type: "button", "aria-haspopup": "dialog", onclick: () => openDrawer(upstream, endpoint),
});

const outRows = new Map();
function renderOut(all) {
  const kinds = ["out", "trial", "full", "well"];
  // What failed before what people took out.
  const rank = ({ kind, endpoint }) => kinds.indexOf(kind) * 2 + (moodOf(endpoint) === "info" ? 1 : 0);
  const sick = all.filter(({ kind, endpoint }) => kind !== "well" || endpoint.reason !== "")
    .sort((a, b) => rank(a) - rank(b));
  byId("out").hidden = sick.length === 0;
  setAttr(byId("out"), "data-mood", sick.some(({ endpoint }) => moodOf(endpoint) === "bad") ? "bad" : "warn");
  const shown = sick.slice(0, OUT_ROWS);
  keyed(byId("out-list"), outRows, shown, ({ upstream, endpoint }) => upstream.name + " " + endpoint.address, outRow);
  byId("out-more").hidden = sick.length <= OUT_ROWS;
  setKids(byId("out-more"), String(sick.length), () => ["and " + grouped(sick.length - OUT_ROWS) + " more: ",
    h("button", { class: "plain", type: "button", text: "show all that are out", onclick: () => showOnly("out") })]);
}

function outRow({ upstream, endpoint }) {
  const opener = openerOf(upstream.name, endpoint.address);
  opener.append(h("span", { class: "of", text: upstream.name + " / " }), endpoint.address);
  const pills = h("span", { class: "pills" }), reason = h("span", { class: "wide" });
  const lasts = h("span"), returns = h("span");
  const labelled = (label, el) => h("span", {}, h("span", { class: "label", text: label + " " }), el);
  const el = h("li", {}, pills, opener, reason, labelled("For", lasts), labelled("Returns", returns));
  return { el, update(one) {
    showPills(pills, one.endpoint);
    setText(reason, capital(one.endpoint.reason));
    // How long it has been full is not known: it may be so only at this moment.
    if (one.kind === "full") still(lasts, "–");
    else since(lasts, one.endpoint.since);
    showReturn(returns, one.endpoint, "");
  } };
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// lead begins the sentence, as ", returns " or "Returns ".
function showReturn(el, endpoint, lead) {
  if (endpoint.returns === "") return still(el, "");
  if (endpoint.returns_in_ms === null) return still(el, lead + endpoint.returns);
  const how = endpoint.returns.replace("on trial when its time is over", "on trial");
  return until(el, endpoint.returns_in_ms, (span) => lead + (span === null ? "now" : "in " + span) + " " + how);
}

// Brings the children of parent to one element per item, in order, reusing those with the same key.
function keyed(parent, known, items, keyOf, make) {
  const live = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    live.add(key);
    let row = known.get(key);
    if (row === undefined) known.set(key, row = make(item));
    row.update(item);
    if (row.el === place) place = place.nextElementSibling;
    else parent.insertBefore(row.el, place);
  }
  for (const [key, row] of known) {
    if (!live.has(key)) { row.el.remove(); known.delete(key); }
  }
}

const cards = new Map();
function renderUpstreams(view, all) {
  const matching = all.filter(matches);
  renderChips(all);
  const byUpstream = Map.groupBy(matching, ({ upstream }) => upstream.name);
  const shown = view.upstreams.filter(({ name, endpoints }) => byUpstream.has(name) || (endpoints.length === 0 && state.show === "all" && state.search === ""));
  let budget = ALL_ROWS;
  const items = shown.slice(0, CARDS).map((upstream) => {
    const found = byUpstream.get(upstream.name) ?? [];
    const most = state.rows.get(upstream.name) ?? Math.max(5, Math.min(CARD_ROWS, budget));
    budget -= Math.min(most, found.length);
    return { upstream, found, most };
  });
  keyed(byId("upstreams"), cards, items, ({ upstream }) => upstream.name, upstreamCard);
  const rest = shown.length - items.length;
  const note = rest > 0 ? "and " + plural(rest, "upstream") + " more: use the filter" : shown.length > 0 ? "" :
    view.upstreams.length === 0 ? "No upstreams yet" : "No endpoint matches";
  setKids(notice, note, () => note === "" ? [] : [h("p", { class: "soft", role: "status", text: note })]);
}
const notice = h("div");
byId("upstreams").after(notice);

function matches({ upstream, endpoint, kind }) {
  if (state.show !== "all" && kind !== state.show) return false;
  if (state.search === "") return true;
  return (upstream.name + "/" + endpoint.address).toLowerCase().includes(state.search);
}

const CHIPS = [["all", "All"], ["out", "Out"], ["trial", "On trial"], ["full", "Full"], ["well", "In rotation"]];
const chips = CHIPS.map(([show, word]) => {
  const count = h("b"), el = h("button", { class: "chip", type: "button", onclick: () => showOnly(show) }, word + " ", count);
  byId("chips").append(el);
  return { show, count, el };
});
function renderChips(all) {
  for (const { show, count, el } of chips) {
    setText(count, grouped(show === "all" ? all.length : all.filter(({ kind }) => kind === show).length));
    setAttr(el, "aria-pressed", String(state.show === show));
  }
}
function showOnly(show) {
  state.show = show;
  render();
}

function upstreamCard({ upstream: { name } }) {
  const share = h("span", { class: "share" }), about = h("span", { class: "soft" }), figures = h("span", { class: "figures soft" });
  const meter = h("div", { class: "meter", "aria-hidden": "true" }), body = h("tbody"), more = h("p", { class: "more" });
  const discovery = h("p", { class: "note" }), open = h("p", { class: "note warn", text: "Fail open: all endpoints are out, so picks go to any of them" });
  const table = h("table", { class: "rows" }, h("caption", { class: "hidden-word", text: "Endpoints of " + name }),
    h("thead", {}, h("tr", {}, ...["State", "Endpoint"].map((text) => h("th", { scope: "col", text })),
      h("th", { scope: "col", class: "num flight", text: "In flight" }), h("th", { scope: "col", class: "num rate", text: "Picks/s" }),
      h("th", { scope: "col", class: "num time", text: "p50 / p99" }), h("th", { scope: "col", text: "Last evidence" }))), body);
  const el = h("section", { class: "card upstream", "aria-label": "Upstream " + name },
    h("header", {}, h("h2", { text: name }), share, about, figures), meter, open, discovery, table, more);
  const rows = new Map();
  return { el, update({ upstream, found, most }) {
    setText(share, upstream.usable + " of " + upstream.total + " usable");
    setAttr(share, "class", "share " + (upstream.usable === upstream.total ? "good" : upstream.usable === 0 ? "bad" : "warn"));
    setText(about, aboutUpstream(upstream));
    setKids(figures, figuresOf(upstream).join(), () => figuresOf(upstream).map((text) => h("span", { class: "nowrap", text })));
    showMeter(meter, upstream);
    open.hidden = !upstream.fail_open;
    showDiscovery(discovery, upstream.discovery);
    table.hidden = found.length === 0;
    const sorted = found.length <= most ? found : sickFirst(found);
    keyed(body, rows, sorted.slice(0, most), ({ endpoint }) => endpoint.address, endpointRow);
    more.hidden = found.length <= most;
    setKids(more, found.length + " " + most, () => [h("button", {
      class: "plain", type: "button", text: "Show 200 more of " + grouped(found.length - most),
      onclick: () => { state.rows.set(name, most + 200); render(); },
    })]);
  } };
}
const sickFirst = (found) => [...found.filter(({ kind }) => kind !== "well"), ...found.filter(({ kind }) => kind === "well")];

function aboutUpstream(upstream) {
  const health = { off: "health off", observe: "observe only", enforce: undefined }[upstream.health];
  return [upstream.protocol, upstream.load_balancer, health].filter(Boolean).join(" · ");
}
function figuresOf(upstream) {
  const timed = upstream.p50_ms === null ? [] : ["p50 " + sayMs(upstream.p50_ms), "p99 " + sayMs(upstream.p99_ms)];
  return [sayRate(upstream.rate_per_s) + "/s", ...timed];
}
function showMeter(el, upstream) {
  const kinds = upstream.endpoints.map(kindOf);
  const parts = [["", "well"], ["trial", "trial"], ["trial", "full"], ["away", "out"]]
    .map(([name, kind]) => [name, kinds.filter((one) => one === kind).length]).filter(([, count]) => count > 0);
  setKids(el, JSON.stringify(parts), () => parts.map(([name, count]) => {
    const part = h("span", { class: name });
    part.style.flexGrow = count;
    return part;
  }));
}
function showDiscovery(el, discovery) {
  el.hidden = discovery === undefined;
  if (discovery === undefined) return;
  setAttr(el, "class", discovery.state === "failing" ? "note bad" : "note");
  const failing = discovery.state === "failing";
  setKids(el, [failing, discovery.failure, discovery.hostname, discovery.since, discovery.note].join(), () => [
    "DNS " + discovery.hostname + " (" + discovery.record_type + "): " + (failing ? "failing with " + discovery.failure : "ok"),
    discovery.since === null ? "" : since(h("time"), discovery.since, (span) => (failing ? " for " : ", unchanged for ") + span),
    discovery.note === "" ? "" : ", " + discovery.note, h("span"),
  ]);
  if (discovery.next_refresh_ms !== null) until(el.lastChild, discovery.next_refresh_ms, (span) => ", asks again " + (span === null ? "now" : "in " + span));
}

function endpointRow({ upstream, endpoint }) {
  const pills = h("span", { class: "pills" }), opener = openerOf(upstream.name, endpoint.address), why = h("span", { class: "why" });
  const tags = h("span", { class: "tag" }), flight = h("td", { class: "num", "data-label": "in flight" });
  opener.append(endpoint.address);
  const rate = h("span"), spark = sparkline(), times = h("td", { class: "num", "data-label": "p50/p99" });
  const evidence = h("span"), ago = h("time", { class: "ago" });
  const el = h("tr", {}, h("td", {}, pills), h("td", { class: "who" }, opener, " ", tags, why), flight,
    h("td", { class: "num", "data-label": "picks/s" }, h("span", { class: "rate-cell" }, spark.el, rate)), times,
    h("td", { class: "evidence" }, evidence, " ", ago));
  return { el, update({ endpoint }) {
    setAttr(el, "data-mood", moodOf(endpoint));
    showPills(pills, endpoint);
    setText(tags, tagsOf(endpoint));
    setText(why, capital(endpoint.reason));
    why.hidden = endpoint.reason === "";
    setText(flight, grouped(endpoint.in_flight));
    setText(rate, sayRate(endpoint.rate_per_s));
    spark.show(endpoint.rates);
    setText(times, sayPair(endpoint));
    showEvidence(evidence, ago, endpoint.last);
  } };
}
function tagsOf(endpoint) {
  return [endpoint.weight === 1 ? "" : "weight " + endpoint.weight, endpoint.priority === 0 ? "" : "priority " + endpoint.priority,
    endpoint.source === "discovered" ? "discovered" : ""].filter(Boolean).join(" · ");
}
const VERDICTS = { success: ["✓", "good"], failure: ["✕", "bad"], none: ["·", "soft"] };
function sayEvidence(last) {
  const said = last.source === "probe" && last.verdict === "success" ? "Probe passed" : capital(last.source) + ": " + last.sentence;
  return said + (last.detail === "" ? "" : " (" + last.detail + ")") +
    (last.count > 1 ? ", " + grouped(last.count) + " times" : "");
}
function showEvidence(el, ago, last) {
  if (last === null) { setKids(el, "", () => [h("span", { class: "soft", text: "none yet" })]); still(ago, ""); return; }
  const text = sayEvidence(last), [sign, mood] = VERDICTS[last.verdict];
  setKids(el, text + sign, () => [h("span", { class: mood, "aria-hidden": "true", text: sign + " " }), text]);
  since(ago, last.at, (span) => span + " ago, took " + sayMs(last.duration_ms));
}

function sparkline() {
  const space = "http://www.w3.org/2000/svg";
  const el = document.createElementNS(space, "svg"), area = document.createElementNS(space, "path"), line = document.createElementNS(space, "path");
  area.setAttribute("class", "area");
  for (const [name, value] of [["class", "spark"], ["viewBox", "0 0 64 20"], ["aria-hidden", "true"]]) el.setAttribute(name, value);
  el.append(area, line);
  return { el, show(rates) {
    const most = Math.max(1, ...rates), step = 64 / Math.max(1, rates.length - 1);
    const points = rates.map((rate, at) => (at * step).toFixed(1) + " " + (18.5 - rate / most * 16.5).toFixed(1));
    setAttr(line, "d", points.length === 0 ? "" : "M" + points.join("L"));
    setAttr(area, "d", points.length === 0 ? "" : "M0 20L" + points.join("L") + "L64 20Z");
  } };
}
`;
