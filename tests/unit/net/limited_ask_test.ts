import assert from "node:assert/strict";
import type { Ask, AskFailure, AskOptions } from "../../../src/net/dns_query.ts";
import { limitedAsk, MAX_QUESTIONS } from "../../../src/net/limited_ask.ts";

const OPTIONS: AskOptions = { timeoutMs: 5000, useTcp: false };
const SILENT = { host: "10.0.0.1", port: 53 };
const OTHER = { host: "10.0.0.2", port: 53 };
const FAILURE: AskFailure = { failure: "timeout", detail: "no answer" };

/** Questions that wait until a test answers them, oldest first. */
class Asked {
  readonly open: { readonly host: string; readonly answer: () => void }[] = [];

  readonly ask: Ask = ({ host }) =>
    new Promise((resolve) => this.open.push({ host, answer: () => resolve(FAILURE) }));

  count(host: string): number {
    return this.open.filter((one) => one.host === host).length;
  }
}

/** Lets everything happen that can. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

Deno.test("questions beyond the limit wait for their server, and for no other", async () => {
  const asked = new Asked();
  const ask = limitedAsk(asked.ask);
  const question = { name: "app.example.test", type: "A" } as const;
  const ends = Array.from({ length: MAX_QUESTIONS + 10 }, () => ask(SILENT, question, OPTIONS));
  ends.push(ask(OTHER, question, OPTIONS));
  await settle();
  assert.deepEqual([asked.count(SILENT.host), asked.count(OTHER.host)], [MAX_QUESTIONS, 1]);
  for (let answered = 1; answered <= 10; answered++) {
    asked.open.shift()!.answer();
    await settle();
    assert.equal(asked.count(SILENT.host), MAX_QUESTIONS, `the next one goes out after ${answered} answers`);
  }
  for (const { answer } of asked.open) answer();
  assert.ok((await Promise.all(ends)).every((end) => end === FAILURE));
});

Deno.test("a question that nobody wants any more does not wait, and takes no place", async () => {
  const asked = new Asked();
  const ask = limitedAsk(asked.ask);
  const question = { name: "app.example.test", type: "A" } as const;
  const ends = Array.from({ length: MAX_QUESTIONS }, () => ask(SILENT, question, OPTIONS));
  const stop = new AbortController();
  const unwanted = ask(SILENT, question, { ...OPTIONS, signal: stop.signal });
  const wanted = ask(SILENT, question, OPTIONS);
  stop.abort();
  assert.deepEqual(await unwanted, { failure: "timeout", detail: "cancelled" });
  asked.open.shift()!.answer();
  await settle();
  assert.equal(asked.count(SILENT.host), MAX_QUESTIONS);
  for (const { answer } of asked.open) answer();
  await Promise.all([...ends, wanted]);
});
