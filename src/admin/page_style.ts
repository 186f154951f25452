// The style of the status page: light and dark by the reader's system, from a phone's width to a wide screen. Colour
// never stands alone: every state has its word and its sign too.

/** The style sheet, as text. */
export const PAGE_STYLE = String.raw`
:root {
  color-scheme: light dark;
  --bg: #f5f5f2; --card: #ffffff; --line: #e2e2dc; --hover: #f7f7f4;
  --text: #1c2024; --soft: #5d6670;
  --good: #17784a; --bad: #bf231c; --warn: #8f5600; --info: #1c5cba;
  --good-bg: #e3f3ea; --bad-bg: #fce9e7; --warn-bg: #fcf0d9; --info-bg: #e5eefb; --soft-bg: #eeeeea;
  --shadow: 0 1px 2px rgb(0 0 0 / 5%);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #0f1215; --card: #171b1f; --line: #2a3037; --hover: #1c2126;
    --text: #e6e9ed; --soft: #9ba5b0;
    --good: #55c78d; --bad: #ff8178; --warn: #efb14a; --info: #7db3ff;
    --good-bg: #11291d; --bad-bg: #341715; --warn-bg: #2f230d; --info-bg: #13243d; --soft-bg: #23292f;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--bg); color: var(--text); line-height: 1.45; font-size: 14px;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
h1, h2, h3, p, ul, dl, dd, table { margin: 0; padding: 0; }
ul { list-style: none; }
button, input { font: inherit; color: inherit; }
:focus-visible { outline: 2px solid var(--info); outline-offset: 2px; }
code, .mono { font-family: var(--mono); font-size: .93em; }
.soft { color: var(--soft); }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.nowrap { white-space: nowrap; }
.hidden-word {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}

.bar {
  display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; padding: .7rem 1.25rem;
  border-bottom: 1px solid var(--line); background: var(--card);
}
.bar .name { font-weight: 700; font-size: 1.05rem; letter-spacing: -.01em; }
.bar .facts { color: var(--soft); }
.bar .link { margin-left: auto; color: var(--soft); display: flex; align-items: center; gap: .45rem; }
.dot { width: .55rem; height: .55rem; border-radius: 50%; background: var(--soft); flex: none; }
.dot.good { background: var(--good); } .dot.warn { background: var(--warn); } .dot.bad { background: var(--bad); }

.page { max-width: 1480px; margin: 0 auto; padding: 1.25rem; display: grid; gap: 1.25rem; }
.lost { background: var(--bad-bg); color: var(--bad); padding: .6rem 1rem; border-radius: 8px; font-weight: 600; }

.hero { display: grid; grid-template-columns: auto 1fr; gap: .1rem .9rem; align-items: center; }
.hero .sign {
  grid-row: span 2; width: 2.7rem; height: 2.7rem; border-radius: 50%; display: grid; place-items: center;
  font-size: 1.3rem; font-weight: 700; background: var(--soft-bg); color: var(--soft);
}
.hero[data-mood=good] .sign { background: var(--good-bg); color: var(--good); }
.hero[data-mood=bad] .sign { background: var(--bad-bg); color: var(--bad); }
.hero[data-mood=warn] .sign { background: var(--warn-bg); color: var(--warn); }
.hero h1 { font-size: 1.7rem; line-height: 1.2; letter-spacing: -.02em; font-weight: 650; }
.hero p { grid-column: 2; color: var(--soft); font-size: .98rem; }
.hero p a { color: var(--bad); font-weight: 600; }

.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow); }
.card > header { padding: .8rem 1rem; display: flex; flex-wrap: wrap; gap: .3rem .9rem; align-items: baseline; }
.card h2 { font-size: 1rem; font-weight: 650; overflow-wrap: anywhere; }
.card h3 { font-size: .78rem; font-weight: 600; color: var(--soft); margin-top: .9rem; }

.out { overflow: hidden; }
.out[data-mood=bad] { border-color: color-mix(in srgb, var(--bad) 35%, var(--line)); }
.out .heads, .out li { display: grid; gap: .2rem 1rem; padding: .6rem 1rem; align-items: baseline;
  grid-template-columns: 8.6rem minmax(11rem, 1.2fr) 2.2fr 7rem minmax(11rem, 1.6fr); }
.out .heads { font-size: .8rem; color: var(--soft); padding-bottom: .25rem; }
.out li + li { border-top: 1px solid var(--line); }
.out li:hover { background: var(--hover); }
.out .label { display: none; color: var(--soft); }
.out .more { padding: .6rem 1rem; border-top: 1px solid var(--line); color: var(--soft); }
.opener {
  border: 0; background: none; padding: 0; text-align: left; cursor: pointer; font-weight: 600; overflow-wrap: anywhere;
}
.opener:hover { text-decoration: underline; }
.opener .of { color: var(--soft); font-weight: 400; }

.pills { display: inline-flex; flex-wrap: wrap; gap: .25rem; }
.pill {
  display: inline-flex; align-items: center; gap: .35rem; border-radius: 99px; padding: .06rem .6rem .06rem .5rem;
  font-size: .83rem; font-weight: 600; white-space: nowrap; background: var(--soft-bg); color: var(--soft);
}
.pill.good { background: var(--good-bg); color: var(--good); }
.pill.bad { background: var(--bad-bg); color: var(--bad); }
.pill.warn { background: var(--warn-bg); color: var(--warn); }
.pill.info { background: var(--info-bg); color: var(--info); }
.pill i { font-style: normal; font-size: .8em; }

.columns { display: grid; grid-template-columns: minmax(0, 1fr) 320px; gap: 1.25rem; align-items: start; }
.tools { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin-bottom: .9rem; }
.tools input {
  flex: 1 1 14rem; min-width: 0; max-width: 24rem; padding: .42rem .7rem; border-radius: 8px; border: 1px solid var(--line);
  background: var(--card);
}
.chips { display: flex; flex-wrap: wrap; gap: .3rem; }
.chip {
  border: 1px solid var(--line); background: var(--card); border-radius: 99px; padding: .28rem .75rem; cursor: pointer;
  color: var(--soft);
}
.chip b { font-weight: 600; color: var(--text); }
.chip[aria-pressed=true] { background: var(--text); border-color: var(--text); color: var(--bg); }
.chip[aria-pressed=true] b { color: inherit; }
.upstreams { display: grid; gap: 1rem; }
.upstream { overflow: hidden; }
.upstream > header .share { font-weight: 600; }
.upstream > header .figures { margin-left: auto; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
.upstream .meter { display: flex; height: 3px; background: var(--line); }
.upstream .meter span { height: 3px; background: var(--good); }
.upstream .meter .trial { background: var(--warn); } .upstream .meter .away { background: var(--bad); }
.note { padding: .5rem 1rem; border-top: 1px solid var(--line); color: var(--soft); }
.note.bad { background: var(--bad-bg); color: var(--bad); }
.note.warn { background: var(--warn-bg); color: var(--warn); }
.upstream .more { padding: .6rem 1rem; border-top: 1px solid var(--line); }

.rows { width: 100%; border-collapse: collapse; table-layout: fixed; }
.rows th {
  text-align: left; font-weight: 500; font-size: .8rem; color: var(--soft); padding: .35rem .5rem;
  border-top: 1px solid var(--line);
}
.rows td { padding: .5rem; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
.rows th:first-child, .rows td:first-child { padding-left: 1rem; width: 9.2rem; }
.rows th:last-child, .rows td:last-child { padding-right: 1rem; width: 25%; }
.rows .num { text-align: right; white-space: nowrap; overflow-wrap: normal; }
.rows th.flight { width: 4.6rem; } .rows th.rate { width: 7.9rem; } .rows th.time { width: 6.9rem; }
.rows tbody tr:hover { background: var(--hover); }
.rows .why { display: block; color: var(--soft); margin-top: .1rem; }
.rows tr[data-mood=bad] .why { color: var(--bad); } .rows tr[data-mood=warn] .why { color: var(--warn); }
.rows tr[data-mood=bad] td:first-child { box-shadow: inset 3px 0 var(--bad); }
.rows tr[data-mood=warn] td:first-child { box-shadow: inset 3px 0 var(--warn); }
.rows tr[data-mood=info] td:first-child { box-shadow: inset 3px 0 var(--info); }
.tag { color: var(--soft); font-size: .85em; font-weight: 400; white-space: nowrap; }
.rate-cell { display: flex; justify-content: flex-end; align-items: center; gap: .5rem; }
.spark { width: 64px; height: 20px; flex: none; color: var(--info); }
.spark path { fill: none; stroke: currentColor; stroke-width: 1.4; stroke-linejoin: round; }
.spark path.area { fill: currentColor; stroke: none; opacity: .14; }
.evidence .ago { color: var(--soft); display: block; }

aside { display: grid; gap: 1rem; min-width: 0; }
aside .card { padding: .8rem 1rem 1rem; min-width: 0; }
aside .card h2 { display: flex; justify-content: space-between; gap: .5rem; margin-bottom: .4rem; }
.facts-list { display: grid; grid-template-columns: auto 1fr; gap: .15rem 1rem; }
.facts-list dt { color: var(--soft); }
.facts-list dd { text-align: right; overflow-wrap: anywhere; }
.refusal { background: var(--bad-bg); border-radius: 8px; padding: .6rem .75rem; margin: .5rem 0 .7rem; }
.refusal strong { color: var(--bad); }
.refusal li { margin-top: .5rem; overflow-wrap: anywhere; }
.refusal code { color: var(--soft); display: block; }
.small { width: 100%; border-collapse: collapse; }
.small th { text-align: left; color: var(--soft); font-weight: 500; font-size: .8rem; }
.small td, .small th { padding: .18rem .3rem .18rem 0; vertical-align: top; overflow-wrap: anywhere; }
.small .num { text-align: right; padding: .18rem 0 .18rem .7rem; white-space: nowrap; }
meter { width: 100%; height: .5rem; display: block; margin: .3rem 0; }
.events li { padding: .4rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.events li:first-child { border-top: 0; }
.events time { color: var(--soft); font-size: .85em; display: block; }
.events { max-height: 26rem; overflow: auto; }

dialog { border: 1px solid var(--line); background: var(--card); color: var(--text); padding: 0; }
dialog::backdrop { background: rgb(10 12 14 / 45%); }
.drawer {
  margin: 0 0 0 auto; width: min(38rem, 100vw); height: 100dvh; max-height: none; max-width: none; border-width: 0 0 0 1px;
}
.drawer > div { padding: 1.1rem 1.25rem 2rem; display: grid; gap: 1rem; align-content: start; }
.drawer header { display: flex; gap: 1rem; align-items: flex-start; justify-content: space-between; }
.drawer h2 { font-size: 1.2rem; line-height: 1.25; overflow-wrap: anywhere; }
.said { background: var(--soft-bg); border-radius: 8px; padding: .7rem .9rem; display: grid; gap: .2rem; }
.said[data-mood=bad] { background: var(--bad-bg); } .said[data-mood=warn] { background: var(--warn-bg); }
.said[data-mood=info] { background: var(--info-bg); }
.said .pill { background: var(--card); }
.said strong { font-size: 1.02rem; font-weight: 600; overflow-wrap: anywhere; }
.strip { display: flex; gap: 2px; height: 26px; }
.strip span { flex: 1; border-radius: 2px; background: var(--soft); opacity: .55; }
.strip .success { background: var(--good); opacity: 1; height: 60%; align-self: flex-end; }
.strip .failure { background: var(--bad); opacity: 1; }
.strip .none { height: 30%; align-self: flex-end; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
.button {
  border: 1px solid var(--line); background: var(--card); border-radius: 8px; padding: .45rem .95rem; cursor: pointer;
  font-weight: 600;
}
.button:hover { background: var(--hover); }
.button.main { background: var(--text); color: var(--bg); border-color: var(--text); }
.button.quiet { font-weight: 500; color: var(--soft); }
.confirm { border-radius: 12px; width: min(27rem, calc(100vw - 2rem)); }
.confirm > form { padding: 1.25rem; display: grid; gap: .8rem; }
.confirm h2 { font-size: 1.1rem; overflow-wrap: anywhere; }
.confirm .buttons { justify-content: flex-end; }
.confirm input { width: 100%; padding: .45rem .7rem; border: 1px solid var(--line); border-radius: 8px; background: var(--bg); }
.plain { border: 0; background: none; padding: 0; cursor: pointer; color: var(--info); font-weight: 600; }

@media (max-width: 1240px) { .columns { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 900px) {
  .out .heads { display: none; }
  .out li { display: flex; flex-wrap: wrap; }
  .out li > .wide { flex: 1 1 100%; }
  .out .label { display: inline; }
}
@media (max-width: 860px) {
  .page { padding: .9rem; gap: 1rem; }
  .bar { padding: .6rem .9rem; }
  .hero h1 { font-size: 1.35rem; }
  .hero .sign { width: 2.3rem; height: 2.3rem; grid-row: 1; }
  .hero p { grid-column: 1 / -1; }
  .rows thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  .rows, .rows tbody { display: block; }
  .rows tr { display: flex; flex-wrap: wrap; gap: .15rem .9rem; padding: .6rem .9rem; border-top: 1px solid var(--line);
    align-items: baseline; }
  .rows td, .rows td:first-child, .rows td:last-child { padding: 0; border: 0; width: auto; box-shadow: none; }
  .rows tr[data-mood=bad] { box-shadow: inset 3px 0 var(--bad); }
  .rows tr[data-mood=warn] { box-shadow: inset 3px 0 var(--warn); }
  .rows tr[data-mood=info] { box-shadow: inset 3px 0 var(--info); }
  .rows tr[data-mood=bad] td:first-child, .rows tr[data-mood=warn] td:first-child,
  .rows tr[data-mood=info] td:first-child { box-shadow: none; }
  .rows td.who { flex: 1 1 60%; }
  .rows th:first-child, .rows td:first-child { width: auto; }
  .rows td.num { text-align: left; }
  .rows td.num::before { content: attr(data-label) " "; color: var(--soft); }
  .rate-cell { display: inline-flex; }
  .rows td.evidence { flex: 1 1 100%; }
  .evidence .ago { display: inline; }
  .spark { display: none; }
}
@media (prefers-reduced-motion: no-preference) {
  .drawer[open] { animation: slide .16s ease-out; }
  @keyframes slide { from { transform: translateX(1.5rem); opacity: 0; } }
}
`;
