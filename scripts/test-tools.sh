#!/usr/bin/env bash
# Fetches the clients that tests talk to, once: other people's programs, at fixed versions.
#
#   scripts/test-tools.sh [DEST]
#
# What cannot be fetched is left out, and the tests that need it say that they were skipped.
set -euo pipefail

dest="${1:-target/test-tools}"
packages=("mcp==2.3.0")
inspector="@modelcontextprotocol/inspector@0.15.0"

say() { echo "test tools: $*" >&2; }

mkdir -p "$dest"

# A mark with the versions is written last: what bears it is whole.
wanted="${packages[*]}"
if [ "$(cat "$dest/python/.whole" 2>/dev/null)" != "$wanted" ]; then
  if command -v python3 >/dev/null; then
    say "fetching ${packages[*]} with pip"
    rm -rf "$dest/python"
    if python3 -m venv "$dest/python" && "$dest/python/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"; then
      echo "$wanted" > "$dest/python/.whole"
    else
      say "the Python client is not there; its tests are skipped"
      rm -rf "$dest/python"
    fi
  else
    say "python3 is missing; its tests are skipped"
  fi
fi

if [ "$(cat "$dest/node/.whole" 2>/dev/null)" != "$inspector" ]; then
  if command -v npm >/dev/null; then
    say "fetching $inspector with npm"
    rm -rf "$dest/node" && mkdir -p "$dest/node"
    if npm install --silent --no-fund --no-audit --no-save --prefix "$dest/node" "$inspector" >/dev/null; then
      echo "$inspector" > "$dest/node/.whole"
    else
      say "the inspector is not there; its tests are skipped"
      rm -rf "$dest/node"
    fi
  else
    say "npm is missing; the tests of the inspector are skipped"
  fi
fi
