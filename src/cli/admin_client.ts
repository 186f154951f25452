// How commands reach a running hale: which admin address and token they use, and one question over HTTP. What can go
// wrong on the way comes back as a sentence.

import type { ConfigFiles } from "../config/files.ts";
import { FileTable } from "../config/files.ts";
import { defaultPaths } from "../config/decode.ts";
import { load } from "../config/load.ts";
import { type Address, formatAddress, parseAddress } from "../core/address.ts";

/** Where the admin address is. */
export interface AdminTarget {
  /** Without a final "/": "http://127.0.0.1:9900". */
  readonly url: string;
  readonly token?: string;
}

/** Why a command can not go on, as a sentence. */
export interface Failure {
  readonly failure: string;
}

/** Options of every command that talks to a running hale. */
export const ADMIN_OPTIONS = {
  admin: { type: "string" },
  "token-file": { type: "string" },
  config: { type: "string", short: "c", multiple: true },
} as const;

/** Their lines for `Usage.options`. */
export const ADMIN_HELP: readonly string[] = [
  "--admin ADDRESS     the admin address, host:port or URL (default: that of the config, else 127.0.0.1:9900)",
  "--token-file FILE   holds the token, where one is asked for (default: that of the config)",
  "-c, --config PATH   the config that names both; may repeat (default: ./hale.yaml, then /etc/hale/)",
];

/** What a person gave of `ADMIN_OPTIONS`. */
export interface AdminValues {
  readonly admin?: string | undefined;
  readonly "token-file"?: string | undefined;
  readonly config?: readonly string[] | undefined;
}

const USUAL: Address = { host: "127.0.0.1", port: 9900 };

/** Finds address and token. A config with problems does: it may be the very edit that somebody asks about. */
export function findTarget(values: AdminValues, files: ConfigFiles): AdminTarget | Failure {
  const found = values.admin === undefined ? fromConfig(values.config, files) : fromText(values.admin);
  const tokenFile = values["token-file"];
  if ("failure" in found || tokenFile === undefined) return found;
  return withToken(found, new FileTable(files).text(tokenFile), tokenFile);
}

function fromText(text: string): AdminTarget | Failure {
  if (/^https?:\/\//.test(text)) {
    return URL.canParse(text) ? { url: new URL(text).origin } : { failure: `"${text}" is no URL` };
  }
  const address = parseAddress(text);
  return "problem" in address
    ? { failure: `--admin "${text}": ${address.problem}` }
    : { url: urlOf(address) };
}

function fromConfig(paths: readonly string[] | undefined, files: ConfigFiles): AdminTarget | Failure {
  const table = new FileTable(files);
  const { sources } = load(paths ?? defaultPaths(files), table);
  const source = sources.find(({ draft }) => draft.admin !== undefined);
  const admin = source?.draft.admin;
  if (source === undefined || admin?.address === undefined) {
    const isSilent = paths !== undefined && sources.length > 0 && sources.every((each) => each.isReadable);
    if (!isSilent) return { url: urlOf(USUAL) };
    return { failure: "The config opens no admin address: it has no `admin: { address: ... }`" };
  }
  const target = { url: urlOf(admin.address) };
  if (admin.token_file === undefined) return target;
  const path = table.resolve(source.file, admin.token_file);
  return withToken(target, table.text(path), path);
}

function withToken(
  target: AdminTarget,
  text: string | { readonly error: string },
  path: string,
): AdminTarget | Failure {
  if (typeof text !== "string") return { failure: `Can not read the token in "${path}": ${text.error}` };
  return { ...target, token: text.trim() };
}

/** A wildcard is no address to connect to; this machine is meant. */
function urlOf({ host, port }: Address): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${formatAddress({ host: reachable, port })}`;
}

const TIMEOUT_MS = 10_000;

/** Sends one request; gives the JSON of a good answer, or what went wrong. */
export async function askAdmin(
  target: AdminTarget,
  path: string,
  method: "GET" | "POST" = "GET",
): Promise<{ readonly body: unknown } | Failure> {
  const headers: Record<string, string> = target.token === undefined
    ? {}
    : { authorization: `Bearer ${target.token}` };
  try {
    const response = await fetch(target.url + path, {
      method,
      headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    return response.ok ? { body: JSON.parse(text) } : { failure: refusalText(target, response.status, text) };
  } catch (error) {
    return { failure: `No hale answers at ${target.url}: ${reasonOf(error)}` };
  }
}

function refusalText(target: AdminTarget, status: number, text: string): string {
  if (status === 401) {
    const hint = target.token === undefined
      ? "name its file with --token-file"
      : "the token given is not accepted";
    return `The hale at ${target.url} asks for its token: ${hint}`;
  }
  return messageIn(text) ?? `The hale at ${target.url} answered with status ${status}`;
}

function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text);
    return typeof error?.message === "string" ? error.message : undefined;
  } catch {
    return undefined;
  }
}

/** The innermost part of the innermost message, without the number of the operating system. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer within ${TIMEOUT_MS / 1000} s`;
  if (error instanceof SyntaxError) return "what answers is no hale";
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const inner = error.message.split(": ").at(-1)!;
  return inner.replace(/ \(os error \d+\)$/, "").toLowerCase();
}

/** The path of an endpoint at the admin address. */
export function endpointPath(name: EndpointName): string {
  return `/upstreams/${encodeURIComponent(name.upstream)}/endpoints/${encodeURIComponent(name.endpoint)}`;
}

/** What UPSTREAM/ENDPOINT names. */
export interface EndpointName {
  readonly upstream: string;
  readonly endpoint: string;
}

/** Reads `app/10.0.0.1:8080`; undefined when one of the two is missing. An upstream's name may hold a "/". */
export function parseEndpointName(text: string): EndpointName | undefined {
  const slash = text.lastIndexOf("/");
  if (slash < 1 || slash === text.length - 1) return undefined;
  return { upstream: text.slice(0, slash), endpoint: text.slice(slash + 1) };
}

/** Text of a peer made harmless for a terminal: control characters other than line feeds become "?". */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, "?");
}
