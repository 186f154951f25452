# Sourced by .ci/run and scripts/test_binary.sh: gets exact Deno versions from the npm registry.
# Everything lands in one cache folder outside the repository; nothing is installed system-wide.

TOOLS="${HALE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/hale-tools}"

# The version of development and tests; the lowest that the source runs on; the one that compiles the test binary.
DENO_MAIN=2.9.6
DENO_LOWEST=2.6.8
DENO_COMPILER=2.8.3

# Prints the path of a deno of exactly VERSION: the one on PATH, one in the cache, or one newly installed.
deno_of() {
  local version="$1" dir="$TOOLS/deno-$1" found
  if found="$(command -v deno)" && is_deno "$found" "$version"; then
    echo "$found"
    return
  fi
  found="$(deno_in "$dir")" && is_deno "$found" "$version" && { echo "$found"; return; }
  mkdir -p "$dir"
  npm install --prefix "$dir" --no-save --no-audit --no-fund --loglevel=error "deno@$version" >&2 </dev/null
  found="$(deno_in "$dir")"
  is_deno "$found" "$version" || { echo "No working deno $version in $dir" >&2; return 1; }
  echo "$found"
}

# The binary itself, not npm's wrapper: where install scripts are off only the platform package holds it.
deno_in() {
  local candidate
  for candidate in "$1"/node_modules/deno/deno "$1"/node_modules/@deno/*/deno; do
    [ -x "$candidate" ] && { echo "$candidate"; return; }
  done
  return 1
}

is_deno() {
  local line
  line="$("$1" --version 2>/dev/null | head -n 1)" || return 1
  [[ "$line" == "deno $2 "* || "$line" == "deno $2" ]]
}
