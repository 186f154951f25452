// The status page: one self-contained document that needs no other file and no network but this admin address. It is
// an empty shell; its script fetches the state. The policy allows exactly this style and this script, by their hashes.

import { createHash } from "node:crypto";
import { PAGE_SCRIPT } from "./page_script.ts";
import { PAGE_STYLE } from "./page_style.ts";

const ICON = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>" +
  "<circle cx='8' cy='8' r='7' fill='%23888'/></svg>";

/** The document. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>hale</title>
<link rel="icon" id="icon" href="${ICON}">
<style>${PAGE_STYLE}</style>
</head>
<body>
<header class="bar">
  <span class="name">hale</span>
  <span class="facts" id="facts"></span>
  <span class="link"><span class="dot" id="link-dot"></span><span id="link">connecting</span></span>
</header>
<div class="page">
  <p class="lost" id="lost" role="alert" hidden></p>
  <section class="hero" id="hero" aria-live="polite">
    <span class="sign" id="sign" aria-hidden="true">…</span>
    <h1 id="summary">Asking hale how it is</h1>
    <p id="details"></p>
  </section>
  <section class="card out" id="out" aria-label="Endpoints that need attention" hidden>
    <p class="heads" aria-hidden="true">
      <span>State</span><span>Endpoint</span><span>Why</span><span>For</span><span>Returns</span>
    </p>
    <ul id="out-list"></ul>
    <p class="more" id="out-more" hidden></p>
  </section>
  <div class="columns">
    <main>
      <div class="tools" role="search">
        <input id="search" type="search" placeholder="Filter by upstream or address ( / )"
          aria-label="Filter by upstream or address" autocomplete="off" spellcheck="false">
        <div class="chips" id="chips" role="group" aria-label="Show endpoints by state"></div>
      </div>
      <div class="upstreams" id="upstreams"></div>
    </main>
    <aside aria-label="Config, listeners and events">
      <section class="card" id="config" aria-labelledby="config-title"></section>
      <section class="card" aria-labelledby="events-title">
        <h2 id="events-title">Recent events</h2>
        <ul class="events" id="events" tabindex="0" aria-labelledby="events-title"></ul>
      </section>
      <section class="card" id="process" aria-labelledby="process-title"></section>
    </aside>
  </div>
</div>
<dialog class="drawer" id="drawer" aria-labelledby="drawer-title"><div id="drawer-body"></div></dialog>
<dialog class="confirm" id="confirm" aria-labelledby="confirm-title">
  <form method="dialog">
    <h2 id="confirm-title"></h2>
    <p id="confirm-text"></p>
    <p class="bad" id="confirm-warning" hidden></p>
    <div class="buttons">
      <button class="button" value="no">Cancel</button>
      <button class="button main" value="yes" id="confirm-yes"></button>
    </div>
  </form>
</dialog>
<dialog class="confirm" id="login" aria-labelledby="login-title">
  <form method="dialog">
    <h2 id="login-title">This hale asks for its token</h2>
    <p class="soft">It is the content of the file that token_file names. It is kept in this tab only.</p>
    <p class="bad" id="login-wrong" hidden>That token was not accepted.</p>
    <input id="token" type="password" aria-label="Token" autocomplete="off" required>
    <div class="buttons"><button class="button main">Show the state</button></div>
  </form>
</dialog>
<noscript><p class="page">This page needs its script. The same facts are at /status and in "hale status".</p></noscript>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;

/** The Content-Security-Policy under which the document is served. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `script-src '${hashOf(PAGE_SCRIPT)}'`,
  `style-src '${hashOf(PAGE_STYLE)}'`,
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
