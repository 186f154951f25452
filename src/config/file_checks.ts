// Files that a config names: CA bundles, certificates, keys, tokens. Each is read, and looked at as far as possible,
// while the config is checked. The same reads give the texts again when the config is built.

import { isLoopback } from "../core/address.ts";
import type { FileValue, ListenerValue, UpstreamValue } from "./file_schema.ts";
import type { FileTable } from "./files.ts";
import { certificatesProblem, privateKeyProblem } from "./pem.ts";
import { quoted } from "./problem.ts";
import { complaint } from "./raw.ts";
import { below, type Item, rawAt, type Report, type Spot } from "./report.ts";

type Judge = (text: string) => string | undefined;

/** Checks the certificate and key of a listener. */
export function checkListenerFiles(listener: Item<ListenerValue>, table: FileTable, report: Report): void {
  const tls = listener.value.tls;
  checkFile(
    below(listener, "tls", "cert_file"),
    { path: tls?.cert_file, judge: certificatesProblem, table },
    report,
  );
  checkFile(
    below(listener, "tls", "key_file"),
    { path: tls?.key_file, judge: privateKeyProblem, table },
    report,
  );
}

/** Checks the CA bundle of an upstream, wherever it is named. */
export function checkUpstreamFiles(upstream: Item<UpstreamValue>, table: FileTable, report: Report): void {
  const { trusted_ca_file, tls } = upstream.value;
  const judge = certificatesProblem;
  checkFile(below(upstream, "trusted_ca_file"), { path: trusted_ca_file, judge, table }, report);
  checkFile(below(upstream, "tls", "trusted_ca_file"), { path: tls?.trusted_ca_file, judge, table }, report);
}

/** Checks that an admin endpoint beyond loopback has a token, and the token itself (A1). */
export function checkAdmin(
  admin: Item<NonNullable<FileValue["admin"]>>,
  table: FileTable,
  report: Report,
): void {
  const { address, token_file } = admin.value;
  const spot = below(admin, "token_file");
  if (address !== undefined && !isLoopback(address.host) && rawAt(spot) === undefined) {
    const want = "token_file beside it, or a loopback address such as 127.0.0.1:9900";
    report.add(
      below(admin, "address"),
      complaint("Anybody could reach the admin endpoint", address.host, want),
    );
  }
  checkFile(spot, { path: token_file, judge: tokenProblem, table }, report);
}

/** What is wrong with a token: it travels in a header, so it is one word of visible ASCII. */
function tokenProblem(text: string): string | undefined {
  const token = text.trim();
  if (token === "") return "it is empty, want a token";
  return /^[\x21-\x7e]{1,1000}$/.test(token) ? undefined : "a token is one word of visible ASCII characters";
}

interface NamedFile {
  /** Undefined: not given, or already reported. */
  readonly path: string | undefined;
  readonly judge: Judge;
  readonly table: FileTable;
}

function checkFile(spot: Spot, { path, judge, table }: NamedFile, report: Report): void {
  if (path === undefined) return;
  const resolved = table.resolve(spot.source.file, path);
  const text = table.text(resolved);
  if (typeof text !== "string") return report.add(spot, `Can not read ${quoted(resolved)}: ${text.error}`);
  const problem = judge(text);
  if (problem !== undefined) report.add(spot, `Can not use ${quoted(resolved)}: ${problem}`);
}
