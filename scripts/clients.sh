#!/usr/bin/env bash
# Generates a Python and a TypeScript client from docs/openapi.json, compiles them under strict settings, and lets a small
# program in each language remember and recall through them, against the real binary on loopback.
#
#   scripts/clients.sh [--generate-only]
#
# A warning of a generator is a failure: it means that an operation, or a part of one, is missing in the client. Without
# the tools the script says so and ends well, unless LOCI_TEST_REQUIRE is set.
set -euo pipefail
cd "$(dirname "$0")/.."

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
tools="$target/client-tools"
work="$target/clients"
loci="${LOCI:-$target/debug/loci}"
python_packages=(openapi-python-client==0.29.1 mypy==2.4.1)
node_packages=(openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 @types/node@20.19.43)

say() { echo "clients: $*" >&2; }
missing() {
  say "$1"
  [ -z "${LOCI_TEST_REQUIRE:-}" ] || exit 1
  say "SKIPPED"
  exit 0
}

# A mark with the versions is written last: what bears it is whole.
fetch_python() {
  [ "$(cat "$tools/python/.whole" 2>/dev/null)" != "${python_packages[*]}" ] || return 0
  say "fetching ${python_packages[*]} with pip"
  rm -rf "$tools/python"
  python3 -m venv "$tools/python" &&
    "$tools/python/bin/pip" install --quiet --disable-pip-version-check "${python_packages[@]}" &&
    echo "${python_packages[*]}" > "$tools/python/.whole"
}
fetch_node() {
  [ "$(cat "$tools/node/.whole" 2>/dev/null)" != "${node_packages[*]}" ] || return 0
  say "fetching ${node_packages[*]} with npm"
  rm -rf "$tools/node" && mkdir -p "$tools/node"
  npm install --silent --no-fund --no-audit --no-save --prefix "$tools/node" "${node_packages[@]}" >/dev/null &&
    echo "${node_packages[*]}" > "$tools/node/.whole"
}
mkdir -p "$tools"
command -v python3 >/dev/null || missing "python3 is missing"
command -v npm >/dev/null || missing "npm is missing"
fetch_python || missing "the Python tools cannot be fetched"
fetch_node || missing "the Node tools cannot be fetched"

rm -rf "$work" && mkdir -p "$work/python" "$work/typescript"
export PATH="$tools/python/bin:$PATH"

say "Python: generate and type-check"
openapi-python-client generate --path docs/openapi.json --output-path "$work/python/loci_client" --meta none --overwrite \
  --config scripts/clients/python.yaml --fail-on-warning
cp scripts/clients/roundtrip.py "$work/python/"
(cd "$work/python" && mypy --config-file "$OLDPWD/scripts/clients/mypy.ini" loci_client roundtrip.py)

say "TypeScript: generate and type-check"
ln -s "$tools/node/node_modules" "$work/typescript/node_modules"
node "$tools/node/node_modules/openapi-typescript/bin/cli.js" docs/openapi.json --default-non-nullable=false --output "$work/typescript/schema.d.ts" >/dev/null
cp scripts/clients/roundtrip.ts scripts/clients/tsconfig.json scripts/clients/package.json "$work/typescript/"
(cd "$work/typescript" && node node_modules/typescript/bin/tsc --noEmit && node node_modules/typescript/bin/tsc)

[ "${1:-}" != "--generate-only" ] || exit 0
[ -x "$loci" ] || { say "build the binary first: cargo build --workspace --bin loci"; exit 1; }

data="$(mktemp -d)"
server=""
finish() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$data"
}
trap finish EXIT
touch "$data/loci.toml"
export LOCI_DATA="$data/store" LOCI_EMBEDDINGS=none LOCI_LOG="${LOCI_LOG:-warn}"
LOCI_KEY="$("$loci" --config "$data/loci.toml" --json key create --role writer --name clients | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["secret"])')"
export LOCI_KEY
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
"$loci" --config "$data/loci.toml" serve --listen "127.0.0.1:$port" > "$data/log" 2>&1 &
server=$!
for _ in $(seq 200); do
  if curl --silent --fail --output /dev/null "http://127.0.0.1:$port/healthz"; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$data/log" >&2; exit 1; }
  sleep 0.1
done

say "remember and recall through each client"
export LOCI_URL="http://127.0.0.1:$port"
(cd "$work/python" && python roundtrip.py)
(cd "$work/typescript" && node build/roundtrip.js)
say "both clients work"
