# Sourced by .ci/run and scripts/test_binary.sh: gets exact Deno versions from the npm registry, and nginx.
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

# Prints the path of an nginx, with which some tests talk: the one installed, one in the cache, or one taken from the
# packages of a Debian-like system. Fails where none can be had; those tests are ignored then.
nginx_of() {
  local dir="$TOOLS/nginx" candidate
  for candidate in "$(command -v nginx)" /usr/sbin/nginx "$dir/usr/sbin/nginx"; do
    runs_nginx "$candidate" && { echo "$candidate"; return; }
  done
  mkdir -p "$dir"
  fetch_nginx "$dir" || { [ "$(id -u)" = 0 ] && apt_get update && fetch_nginx "$dir"; } || return 1
  runs_nginx "$dir/usr/sbin/nginx" && echo "$dir/usr/sbin/nginx"
}

# The package that holds the program has other names on older systems.
fetch_nginx() {
  local package
  for package in nginx nginx-core nginx-light; do
    (cd "$1" && rm -f ./*.deb && apt_get download "$package" && dpkg-deb -x ./*.deb . && rm ./*.deb) || continue
    runs_nginx "$1/usr/sbin/nginx" && return
  done
  return 1
}

runs_nginx() {
  [ -x "$1" ] && "$1" -v >/dev/null 2>&1
}

# Gives up soon where no network is.
apt_get() {
  timeout 60 apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=10 "$@" >&2 </dev/null
}
