// hale inside a test: a config text, the real supervisor with inline workers, real sockets on ports of the system's
// choice. Its events are kept to be looked at.

import assert from "node:assert/strict";
import { decode } from "../../src/config/decode.ts";
import type { Clock } from "../../src/core/clock.ts";
import type { EventKind, HaleEvent } from "../../src/core/event.ts";
import { textOf } from "../../src/core/event_text.ts";
import type { Config } from "../../src/core/plan.ts";
import { Supervisor } from "../../src/control/supervisor.ts";
import { probeBind } from "../../src/net/listen.ts";
import { SystemClock } from "../../src/net/system_clock.ts";
import { InlineWorkers } from "./inline_worker.ts";

/** The config that a text means; fails the test when it means none. */
export function configOf(text: string, files: Readonly<Record<string, string>> = {}): Config {
  const all: Record<string, string> = { ...files, "hale.yaml": text };
  const decoded = decode(["hale.yaml"], {
    read: (path) => all[path] ?? Deno.readTextFileSync(path),
    list: () => ({ error: "no folders here" }),
    isFolder: () => false,
    resolve: (_base, relative) => relative,
  });
  if ("problems" in decoded) assert.fail(JSON.stringify(decoded.problems, null, 2));
  return decoded.config;
}

/** A supervisor that serves. Dispose of it. */
export class InlineHale implements AsyncDisposable {
  readonly supervisor: Supervisor;
  readonly events: HaleEvent[] = [];
  readonly #inline = new InlineWorkers();
  #trials = 0;

  private constructor(clock: Clock) {
    this.supervisor = new Supervisor({
      clock,
      random: Math.random,
      emit: (event) => this.events.push(event),
      spawn: this.#inline.spawn,
      probeBind,
      cores: 1,
      reusePort: true,
      fatal: (message) => this.events.push({ kind: "stopped", exitCode: 1, message }),
    });
  }

  /** Serves the config; fails when it is refused. `clock` is that of the control plane; workers have real time. */
  static async start(
    text: string,
    files?: Readonly<Record<string, string>>,
    clock: Clock = new SystemClock(),
  ): Promise<InlineHale> {
    const hale = new InlineHale(clock);
    assert.deepEqual(await hale.apply(text, files), []);
    return hale;
  }

  /** Applies an edit and gives the reasons of a refusal. */
  apply(text: string, files?: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const hash = `edit ${++this.#trials}`;
    return this.supervisor.apply(configOf(text, files), { hash, trigger: "signal" });
  }

  /** The port of a listener. */
  port(listener: string): number {
    return this.supervisor.plan!.listeners.find(({ name }) => name === listener)!.address.port;
  }

  /** The slot of an endpoint. */
  slot(upstream: string, key: string): number {
    const endpoints = this.supervisor.plan!.upstreams.find(({ name }) => name === upstream)!.endpoints;
    return endpoints.find((endpoint) => endpoint.key === key)!.slot;
  }

  /** What is known about an endpoint. */
  health(upstream: string, key: string) {
    return this.supervisor.keeper.view(this.slot(upstream, key))!;
  }

  /** Sessions in flight on an endpoint. */
  inFlight(upstream: string, key: string): number {
    return this.supervisor.board.cells(this.slot(upstream, key)).inFlight;
  }

  /** Sessions in flight over all endpoints, those that have left included. */
  get allInFlight(): number {
    const { board, slots } = this.supervisor;
    return Array.from({ length: slots.count }, (_, slot) => board.cells(slot).inFlight).reduce(
      (sum, each) => sum + each,
      0,
    );
  }

  /** The sentences of all events of a kind. */
  sentences(kind: EventKind): string[] {
    return this.events.filter((event) => event.kind === kind).map(textOf);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor.terminate();
    await this.#inline.ended();
  }
}
