// Reading the config from disk: the real files behind the config room's port, and the hash by which "nothing changed" is
// known. What a config means is the config room's business; when to read is the reloader's.

import { dirname, join, normalize } from "node:path";
import type { ConfigFiles, FileFailure } from "../config/files.ts";
import { decode, type Decoded } from "../config/decode.ts";

/** What one reading gave. */
export interface ConfigReading {
  readonly decoded: Decoded;
  /** Of everything that was read; equal readings have equal hashes. 12 hex digits. */
  readonly hash: string;
}

/** Reads, decodes and checks everything the paths name. */
export async function readConfig(paths: readonly string[]): Promise<ConfigReading> {
  const decoded = decode(paths, diskFiles);
  return { decoded, hash: await hashOf(decoded.digestInput) };
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest).subarray(0, 6)].map((byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}

/** Files as they are on disk. */
export const diskFiles: ConfigFiles = {
  read: (path) => orFailure(() => Deno.readFileSync(path)),
  list: (folder) => orFailure(() => [...Deno.readDirSync(folder)].map((entry) => entry.name)),
  isFolder: (path) => {
    try {
      return Deno.statSync(path).isDirectory;
    } catch {
      return false;
    }
  },
  resolve: (base, relative) => {
    if (relative.startsWith("/")) return normalize(relative);
    return join(base.endsWith("/") ? base : dirname(base), relative);
  },
};

function orFailure<T>(read: () => T): T | FileFailure {
  try {
    return read();
  } catch (error) {
    return { error: reasonOf(error), isMissing: error instanceof Deno.errors.NotFound };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file or folder";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.NotCapable) return "hale runs without permission to read it";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder";
  return error instanceof Error ? error.message : String(error);
}
