#!/usr/bin/env bash
# Fetches what Loci is compared with, once: other people's programs, at fixed versions.
#
#   scripts/bench-tools.sh [DEST]
#
# What cannot be fetched is left out, and the tables say so.
set -euo pipefail

dest="${1:-target/bench-tools}"
server="@modelcontextprotocol/server-memory@2026.8.31"

say() { echo "bench tools: $*" >&2; }

mkdir -p "$dest"

# A mark with the versions is written last: what bears it is whole.
if ! cmp --silent bench/requirements.txt "$dest/python/.whole"; then
  command -v python3 >/dev/null || { say "python3 is missing"; exit 1; }
  say "fetching the peers in Python with pip"
  rm -rf "$dest/python"
  python3 -m venv "$dest/python"
  pip=("$dest/python/bin/pip" install --quiet --disable-pip-version-check)
  if ! "${pip[@]}" --requirement bench/requirements.txt; then
    # One that is not to be had for this machine must not keep the others away.
    while read -r package; do
      "${pip[@]}" "$package" || say "$package is not there"
    done < <(grep -v '^#' bench/requirements.txt)
  else
    cp bench/requirements.txt "$dest/python/.whole"
  fi
fi

if [ "$(cat "$dest/node/.whole" 2>/dev/null)" != "$server" ]; then
  if command -v npm >/dev/null; then
    say "fetching $server with npm"
    rm -rf "$dest/node" && mkdir -p "$dest/node"
    if npm install --silent --no-fund --no-audit --no-save --prefix "$dest/node" "$server" >/dev/null; then
      echo "$server" > "$dest/node/.whole"
    else
      say "the MCP memory server is not there"
      rm -rf "$dest/node"
    fi
  else
    say "npm is missing; the MCP memory server is left out"
  fi
fi
