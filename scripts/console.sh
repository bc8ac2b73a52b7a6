#!/usr/bin/env bash
# Builds and checks the console, and tests it in a browser on the real binary.
#
#   scripts/console.sh            check that console/dist is current and small, then test
#   scripts/console.sh pictures   renew the pictures in docs/console/
#
# LOCI names the binary (default: target/debug/loci), CHROMIUM the browser (default: the one of the system). The packages come
# from npm, at the versions of the lock file. Without npm, or without a browser, the script says so and ends well, unless
# LOCI_TEST_REQUIRE is set. CONSOLE_LARGE=1 adds the test with 100,000 memories.
set -euo pipefail
cd "$(dirname "$0")/.."

LOCI="$(realpath -m "${LOCI:-${CARGO_TARGET_DIR:-target}/debug/loci}")"
export LOCI

say() { echo "console: $*" >&2; }
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

browser() {
  local name
  for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name"; then return 0; fi
  done
  return 1
}

command -v npm >/dev/null || missing "npm is missing"
[ -x "$LOCI" ] || { say "build the binary first: cargo build --workspace --bin loci"; exit 1; }
fetch console || missing "the packages cannot be fetched"
CHROMIUM="$(browser)" || missing "Chromium is missing (Debian: apt-get install chromium)"
export CHROMIUM

cd console
if [ "${1:-}" = pictures ]; then
  exec node scripts/pictures.js
fi
say "check"
npx --no-install tsc --noEmit
npm run --silent check
say "test"
npm run --silent test
