// The change from one config to the next in words, for `hale check --diff` and the log of a reload. Fields are called
// as they are in the file. Certificates, keys, tokens and headers of probes are never shown, only that
// they are others.

import { formatAddress } from "../core/address.ts";
import { type Change, type Changed, diffConfig, type Member, sameValue } from "../core/diff.ts";
import { counted } from "../core/words.ts";
import type { Config, Listener, UpstreamConfig } from "../core/plan.ts";

/** Config fields whose name in the file is not just their own in snake case. */
const FILE_NAMES: Readonly<Record<string, string>> = {
  discovery: "dns_discovery",
  refreshIntervalMs: "refresh_interval_s",
  "tls.ca": "contents of trusted_ca_file",
  "tls.caFile": "trusted_ca_file",
  "tls.serverName": "server_name",
  "tls.cert": "contents of cert_file",
  "tls.key": "contents of key_file",
  "admin.token": "contents of token_file",
};

/** Fields of which only the fact of a change is told. */
const HIDDEN: ReadonlySet<string> = new Set([
  "tls.ca",
  "tls.cert",
  "tls.key",
  "admin.token",
  "activeHealth.headers",
]);

/** Fields that hold one fact although they are objects. */
const WHOLE: ReadonlySet<string> = new Set(["admin.address", "host"]);

/**
 * Lines such as `+ listener web 0.0.0.0:8080`, `- endpoint app/10.0.0.1:80`,
 * `~ upstream app: load_balancer round_robin -> random`, and last `= 3 listeners, 2 upstreams unchanged`.
 */
export function describeConfigDiff(old: Config, next: Config): string[] {
  const { listeners, upstreams, endpoints } = diffConfig(old, next);
  const edited = new Set(
    [...endpoints.added, ...endpoints.removed, ...endpoints.changed.map(({ after }) => after)].map(
      ({ upstream }) => upstream,
    ),
  );
  const untouched = upstreams.kept.filter(({ name }) => !edited.has(name)).length;
  return [
    ...processLines(old, next),
    ...thingLines(listeners, { title: listenerTitle, label: ({ name }) => `listener ${name}` }),
    ...thingLines(upstreams, { title: upstreamTitle, label: ({ name }) => `upstream ${name}` }),
    ...thingLines(ownEndpoints(endpoints, upstreams), { title: memberTitle, label: memberTitle }),
    `= ${counted(listeners.kept.length, "listener")}, ${counted(untouched, "upstream")} unchanged`,
  ];
}

function processLines(old: Config, next: Config): string[] {
  const part = ({ listeners: _listeners, upstreams: _upstreams, ...rest }: Config) => rest;
  return fieldChanges(part(old), part(next)).map((change) => `~ ${change}`);
}

interface Naming<T> {
  /** For a thing that comes or goes. */
  readonly title: (thing: T) => string;
  /** For a thing that stays. */
  readonly label: (thing: T) => string;
}

function thingLines<T extends object>(change: Change<T>, { title, label }: Naming<T>): string[] {
  const changes = change.changed.flatMap(({ before, after }) =>
    fieldChanges(fieldsOf(before), fieldsOf(after)).map((text) => `~ ${label(after)}: ${text}`)
  );
  const added = change.added.map((thing) => `+ ${title(thing)}`);
  return [...change.removed.map((thing) => `- ${title(thing)}`), ...added, ...changes];
}

/** What is compared of a thing: endpoints have lines of their own, and a member stands for its endpoint. */
function fieldsOf(thing: object): object {
  if ("endpoint" in thing) return thing.endpoint as object;
  return Object.fromEntries(Object.entries(thing).filter(([key]) => key !== "endpoints"));
}

function listenerTitle(listener: Listener): string {
  return `listener ${listener.name} ${formatAddress(listener.address)}`;
}

function upstreamTitle(upstream: UpstreamConfig): string {
  const discovery = upstream.discovery === undefined ? "" : ` and ${upstream.discovery.hostname}`;
  return `upstream ${upstream.name} with ${counted(upstream.endpoints.length, "endpoint")}${discovery}`;
}

function memberTitle({ upstream, endpoint }: Member<UpstreamConfig>): string {
  return `endpoint ${upstream}/${endpoint.key}`;
}

/** Endpoints that did not come or go with their whole upstream. */
function ownEndpoints(
  endpoints: Change<Member<UpstreamConfig>>,
  upstreams: Change<UpstreamConfig>,
): Change<Member<UpstreamConfig>> {
  const whole = new Set([...upstreams.added, ...upstreams.removed].map(({ name }) => name));
  const isOwn = ({ upstream }: Member<UpstreamConfig>) => !whole.has(upstream);
  return { ...endpoints, added: endpoints.added.filter(isOwn), removed: endpoints.removed.filter(isOwn) };
}

/** `load_balancer round_robin -> random`, one text per field that differs. */
function fieldChanges(before: object, after: object, path = ""): string[] {
  const [left, right] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return keys.filter((key) => !sameValue(left[key], right[key])).flatMap((key) => {
    const full = path === "" ? key : `${path}.${key}`;
    return fieldChange(full, { before: left[key], after: right[key] });
  });
}

function fieldChange(path: string, { before, after }: Changed<unknown>): string[] {
  if (HIDDEN.has(path) && before !== undefined && after !== undefined) return [`${fileName(path)} changed`];
  if (HIDDEN.has(path)) return [`${fileName(path)} ${before === undefined ? "added" : "removed"}`];
  if (isBlock(before) && isBlock(after) && !WHOLE.has(path)) return fieldChanges(before, after, path);
  return [`${fileName(path)} ${textOf(path, before)} -> ${textOf(path, after)}`];
}

function isBlock(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fileName(path: string): string {
  const known = FILE_NAMES[path];
  if (known !== undefined) return known;
  return path.split(".").map((key) => FILE_NAMES[key] ?? snakeCase(key)).join(".");
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function textOf(path: string, value: unknown): string {
  if (value === undefined) return "none";
  if (typeof value === "number" && path.endsWith("refreshIntervalMs")) return String(value / 1000);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return cut(`[${value.map((item) => textOf("", item)).join(", ")}]`);
  if (!isBlock(value)) return String(value);
  if ("host" in value && "port" in value) return formatAddress(value as { host: string; port: number });
  if (path === "host" && "name" in value) return String(value.name);
  // A block that comes or goes is told as a whole; in a list its fields are all there is to tell it by.
  return path === ""
    ? `{ ${Object.entries(value).map(([key, item]) => `${fileName(key)}: ${textOf("", item)}`).join(", ")} }`
    : "on";
}

function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
