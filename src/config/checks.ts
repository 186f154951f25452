// All rules between fields and between files, over everything that could be read. The rules themselves are in
// upstream_checks.ts, listener_checks.ts and file_checks.ts; here is what concerns the config as a whole (C2, C4).

import { checkAdmin, checkListenerFiles, checkUpstreamFiles } from "./file_checks.ts";
import type { FileValue, ListenerValue, UpstreamValue } from "./file_schema.ts";
import type { FileTable } from "./files.ts";
import { type Acceptor, checkAddresses, checkListener } from "./listener_checks.ts";
import type { Loaded } from "./load.ts";
import { type Problem, quoted } from "./problem.ts";
import { complaint } from "./raw.ts";
import { below, type Item, placeText, rawAt, Report, type Spot } from "./report.ts";
import type { Draft, Source } from "./source.ts";
import { checkUpstream } from "./upstream_checks.ts";

/** Keys that may stand in one file only. Lists of several files are joined instead. */
const SINGLE_KEYS = ["workers", "admin", "log", "limits", "drain", "resolver"] as const;

/** The problems of the config beyond those of each file on its own. */
export function checkConfig(loaded: Loaded, table: FileTable): Problem[] {
  const { sources } = loaded;
  const report = new Report(sources);
  const listeners = sources.flatMap((source) => itemsOf<ListenerValue>(source, "listeners"));
  const upstreams = sources.flatMap((source) => itemsOf<UpstreamValue>(source, "upstreams"));
  const isWhole = loaded.problems.length === 0 && sources.every(({ isReadable }) => isReadable);
  checkSingles(sources, report);
  checkNames(listeners, "listener", report);
  checkNames(upstreams, "upstream", report);
  const isComplete = isWhole && sources.every((source) => hasAllNames(source, report));
  for (const listener of listeners) {
    checkListener(listener, { byName: byName(upstreams), isComplete }, report);
    checkListenerFiles(listener, table, report);
  }
  for (const upstream of upstreams) {
    checkUpstream(upstream, report);
    checkUpstreamFiles(upstream, table, report);
  }
  for (const admin of adminsOf(sources)) checkAdmin(admin, table, report);
  checkAddresses(acceptorsOf(sources, listeners), report);
  if (isWhole) checkSomething(sources, report);
  return report.problems;
}

function itemsOf<T>(source: Source, key: "listeners" | "upstreams"): Item<T>[] {
  const values = source.draft[key] ?? [];
  return values.flatMap((value, index) =>
    value === undefined ? [] : [{ source, path: [key, index], value: value as Draft<T> }]
  );
}

function checkSingles(sources: readonly Source[], report: Report): void {
  for (const key of SINGLE_KEYS) {
    const spots = sources.map((source) => ({ source, path: [key] })).filter((spot) =>
      rawAt(spot) !== undefined
    );
    for (const spot of spots.slice(1)) {
      report.add(
        spot,
        `"${key}" may stand in one file only, and is already set at ${placeText(spots[0]!)}`,
        "key",
      );
    }
  }
}

function checkNames(
  items: readonly Item<ListenerValue | UpstreamValue>[],
  what: string,
  report: Report,
): void {
  const firsts = new Map<string, Spot>();
  for (const item of items) {
    const { name } = item.value;
    if (name === undefined) continue;
    const first = firsts.get(name);
    const spot = below(item, "name");
    if (first === undefined) firsts.set(name, spot);
    else report.add(spot, `The name ${quoted(name)} is taken by the ${what} at ${placeText(first)}`);
  }
}

/** Whether every upstream of the file could be read as far as its name. */
function hasAllNames(source: Source, report: Report): boolean {
  const upstreams = source.draft.upstreams;
  if (upstreams === undefined || report.isFaulty({ source, path: ["upstreams"] })) return false;
  return upstreams.every((upstream) => upstream?.name !== undefined);
}

/** Of upstreams with one name the first counts; the others are reported anyway. */
function byName(upstreams: readonly Item<UpstreamValue>[]): Map<string, Item<UpstreamValue>> {
  const named = new Map<string, Item<UpstreamValue>>();
  for (const upstream of upstreams) {
    const { name } = upstream.value;
    if (name !== undefined && !named.has(name)) named.set(name, upstream);
  }
  return named;
}

function adminsOf(sources: readonly Source[]): Item<NonNullable<FileValue["admin"]>>[] {
  return sources.flatMap((source) =>
    source.draft.admin === undefined ? [] : [{ source, path: ["admin"], value: source.draft.admin }]
  );
}

function acceptorsOf(sources: readonly Source[], listeners: readonly Item<ListenerValue>[]): Acceptor[] {
  const ofListeners = listeners.map((item) => ({
    item,
    what: `the listener ${quoted(item.value.name ?? "")}`,
  }));
  const ofAdmins = adminsOf(sources).slice(0, 1).map((item) => ({ item, what: "the admin endpoint" }));
  return [...ofListeners, ...ofAdmins].flatMap(({ item, what }) => {
    const { address } = item.value;
    return address === undefined ? [] : [{ what, address, spot: below(item, "address") }];
  });
}

/** A config without any listener would serve nobody. */
function checkSomething(sources: readonly Source[], report: Report): void {
  const [first] = sources;
  const isSilent = sources.every((source) => source.draft.listeners?.length === 0);
  if (first === undefined || !isSilent) return;
  report.add(
    { source: first, path: ["listeners"] },
    complaint("No listener in any file", undefined, "at least one listener"),
  );
}
