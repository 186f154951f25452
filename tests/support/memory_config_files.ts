// Config files in memory, for tests of the config room: a record of path to contents, folders by their slashes.

import type { ConfigFiles, FileFailure } from "../../src/config/files.ts";

/** Files in memory. A `FileFailure` as contents is a file that can not be read. Folders exist by the files in them. */
export function memoryFiles(
  contents: Readonly<Record<string, string | Uint8Array | FileFailure>>,
): ConfigFiles {
  const files = new Map(Object.entries(contents).map(([path, text]) => [normal(path), text]));
  const childrenOf = (folder: string) => {
    const prefix = normal(folder) === "." ? "" : normal(folder).replace(/\/?$/, "/");
    const inside = [...files.keys()].filter((path) => path.startsWith(prefix));
    return [...new Set(inside.map((path) => path.slice(prefix.length).split("/")[0]!))];
  };
  const isFolder = (path: string) => !files.has(normal(path)) && childrenOf(path).length > 0;
  return {
    read: (path) => files.get(normal(path)) ?? { error: "no such file", isMissing: true },
    list: (
      folder,
    ) => (isFolder(folder) ? childrenOf(folder).reverse() : { error: "no such folder", isMissing: true }),
    isFolder,
    resolve: (base, relative) => {
      const folder = base.slice(0, base.lastIndexOf("/") + 1);
      return normal(relative.startsWith("/") ? relative : folder + relative);
    },
  };
}

function normal(path: string): string {
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === ".." && steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return (path.startsWith("/") ? "/" : "") + steps.join("/") || ".";
}
