#!/usr/bin/env bash
# Builds and checks the TypeScript client, and tests it and examples/typescript on the real binary.
#
#   scripts/typescript.sh
#
# LOCI names the binary (default: target/debug/loci). The packages come from npm, at the versions of the lock files. Without
# npm the script says so and ends well, unless LOCI_TEST_REQUIRE is set.
set -euo pipefail
cd "$(dirname "$0")/.."

LOCI="$(realpath -m "${LOCI:-${CARGO_TARGET_DIR:-target}/debug/loci}")"
export LOCI

say() { echo "typescript: $*" >&2; }
missing() {
  say "$1"
  [ -z "${LOCI_TEST_REQUIRE:-}" ] || exit 1
  say "SKIPPED"
  exit 0
}

# A mark with the lock file is written last: a folder that bears it is whole.
fetch() {
  local mark="$1/node_modules/.whole"
  cmp --silent "$1/package-lock.json" "$mark" 2>/dev/null && return 0
  say "fetching the packages of $1 with npm"
  (cd "$1" && npm ci --silent --no-fund --no-audit) && cp "$1/package-lock.json" "$mark"
}

command -v npm >/dev/null || missing "npm is missing"
[ -x "$LOCI" ] || { say "build the binary first: cargo build --workspace --bin loci"; exit 1; }
fetch typescript || missing "the packages cannot be fetched"
fetch examples/typescript || missing "the packages of the examples cannot be fetched"

cd typescript
say "build and check"
npm run --silent build
npm run --silent check
say "test"
npm run --silent test
