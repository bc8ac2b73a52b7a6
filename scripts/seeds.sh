#!/usr/bin/env bash
# Walks the worked examples of the five seed documents through a built binary and prints a table.
#
#   scripts/seeds.sh [LOCI]      default: target/debug/loci
#
# Exits with 1 if an example does not hold. It needs python3, and the embedding model for the examples that depend on meaning.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B scripts/seeds.py "${1:-${CARGO_TARGET_DIR:-target}/debug/loci}"
