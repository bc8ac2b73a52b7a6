#!/usr/bin/env bash
# Shows a first remember and recall on a scratch store.
set -euo pipefail

loci="$1"
LOCI_DATA="$(mktemp -d)"
export LOCI_DATA
trap 'rm -rf "$LOCI_DATA"' EXIT

show() {
  printf '\n$ loci %s\n' "$*"
  "$loci" "$@"
}

show remember "Ana is allergic to peanuts" --user ana
show remember "The deploy of build 4021 failed with ERR-7731 on the staging cluster" --user ana
show remember "Ana prefers to be written to in the morning" --user ana
show recall "what food must she avoid?" --user ana --limit 1
show recall "ERR-7731" --user ana --limit 1
