// The page as a document: whole, self-contained, and allowed exactly as it is by its policy. How it behaves is tried in
// a browser, in tests/browser.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { PAGE, PAGE_POLICY } from "../../../src/admin/page.ts";
import { PAGE_SCRIPT } from "../../../src/admin/page_script.ts";

Deno.test("the policy's hashes are those of the one style and the one script", () => {
  for (const tag of ["style", "script"]) {
    const blocks = [...PAGE.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))];
    assert.equal(blocks.length, 1, tag);
    const hash = createHash("sha256").update(blocks[0]![1]!).digest("base64");
    assert.ok(PAGE_POLICY.includes(`${tag}-src 'sha256-${hash}'`), tag);
  }
});

Deno.test("the page asks nobody else for anything", () => {
  const urls = PAGE.match(/(?:https?:)?\/\/[a-z0-9.-]+\.[a-z]+[^\s'"]*/gi) ?? [];
  assert.deepEqual([...new Set(urls)], ["http://www.w3.org/2000/svg"], "only the name of the SVG namespace");
  assert.doesNotMatch(PAGE, /<(?:link|script|img)[^>]+(?:src|href)="(?!data:)/);
});

Deno.test("the script is strict JavaScript that makes no markup out of text", () => {
  new Function(PAGE_SCRIPT);
  assert.match(PAGE_SCRIPT, /^"use strict";/);
  assert.doesNotMatch(
    PAGE_SCRIPT,
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|<\/script|<!--/,
  );
});

Deno.test("no style or handler stands in an attribute, where the policy would refuse it", () => {
  assert.doesNotMatch(PAGE.replace(/<(script|style)>[\s\S]*?<\/\1>/g, ""), /\s(?:style|on[a-z]+)=/);
});
