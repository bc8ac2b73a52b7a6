#!/usr/bin/env bash
# Builds the Python wheel, checks the package, and tests it and examples/python, installed from the wheel.
#
#   scripts/python.sh [PYTEST ARGUMENTS]
#
# LOCI names the binary (default: target/debug/loci). The packages come from PyPI, at the versions of python/requirements/.
# Without Python 3.10 or newer, or without the packages, the script says so and ends well, unless LOCI_TEST_REQUIRE is set.
set -euo pipefail
cd "$(dirname "$0")/.."

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
tools="$target/test-tools/python-package"
LOCI="$(realpath -m "${LOCI:-$target/debug/loci}")"
export LOCI

say() { echo "python: $*" >&2; }
missing() {
  say "$1"
  [ -z "${LOCI_TEST_REQUIRE:-}" ] || exit 1
  say "SKIPPED"
  exit 0
}

# A mark with the versions is written last: a folder that bears it is whole. LangGraph's tests of its store are in the
# sources of its package only.
fetch() {
  local checkpoint
  cmp --silent python/requirements/test.txt "$tools/.whole" && return 0
  say "fetching the packages of python/requirements/test.txt with pip"
  checkpoint="$(grep -x 'langgraph-checkpoint==.*' python/requirements/test.txt)"
  rm -rf "$tools" && mkdir -p "$(dirname "$tools")" && python3 -m venv "$tools" &&
    "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement python/requirements/test.txt &&
    "$tools/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation \
      --dest "$tools/sources" "$checkpoint" &&
    tar -xzf "$tools"/sources/langgraph_checkpoint-*.tar.gz --strip-components 1 --directory "$tools/sources" &&
    cp python/requirements/test.txt "$tools/.whole"
}

python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || missing "Python 3.10 or newer is missing"
[ -x "$LOCI" ] || { say "build the binary first: cargo build --workspace --bin loci"; exit 1; }
fetch || missing "the packages cannot be fetched"
export LOCI_TEST_LANGGRAPH="$tools/sources"

say "build the wheel and install it"
work="$target/python-package"
rm -rf "$work" && mkdir -p "$work"
# Symbols for a debugger are most of a debug build.
strip --strip-debug -o "$work/loci" "$LOCI" 2>/dev/null || cp "$LOCI" "$work/loci"
LOCI_BINARY="$work/loci" scripts/wheel.sh "$work/dist"
wheels=("$work"/dist/loci_memory-*.whl)
export LOCI_TEST_WHEEL="${wheels[0]}"
"$tools/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$LOCI_TEST_WHEEL"

cd python
say "check"
"$tools/bin/python" scripts/generate.py --check
"$tools/bin/ruff" format --quiet --check . ../examples/python --config pyproject.toml
"$tools/bin/ruff" check --quiet . ../examples/python --config pyproject.toml
"$tools/bin/mypy"
MYPYPATH=src:tests "$tools/bin/mypy" --strict tests/*.py
say "test"
"$tools/bin/python" -m pytest "$@"
