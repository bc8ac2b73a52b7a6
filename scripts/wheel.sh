#!/usr/bin/env bash
# Builds the Python wheel with the program `loci` in it.
#
#   scripts/wheel.sh [DEST]
#
# DEST is dist/ by default. LOCI_BINARY names the program; by default it is that of the release build. The build backend
# comes from PyPI, at the version of python/requirements/build.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

dest="$(realpath -m "${1:-dist}")"
tools="$(realpath -m "${CARGO_TARGET_DIR:-target}")/wheel-tools"

# A mark with the versions is written last: a folder that bears it is whole.
if ! cmp --silent python/requirements/build.txt "$tools/.whole"; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement python/requirements/build.txt
  cp python/requirements/build.txt "$tools/.whole"
fi
mkdir -p "$dest"
"$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-cache-dir --wheel-dir "$dest" ./python
ls -l "$dest"/loci_memory-*.whl >&2
