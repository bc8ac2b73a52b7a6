#!/usr/bin/env bash
# Asks the real binary everything its description allows, and much that it does not: every failure of a
# check ends with a non-zero exit. Arguments go to schemathesis, such as `--phases=stateful`.
set -euo pipefail
cd "$(dirname "$0")/.."

target="${CARGO_TARGET_DIR:-target}"
loci="${LOCI:-$target/debug/loci}"
venv="$target/fuzz-venv"
[ -x "$loci" ] || { echo "build the binary first: cargo build --workspace --bin loci" >&2; exit 1; }
if [ ! -x "$venv/bin/schemathesis" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check schemathesis==4.32.5
fi

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

export LOCI_DATA="$data/store" LOCI_EMBEDDINGS=none LOCI_LOG="${LOCI_LOG:-warn}"
cat > "$data/loci.toml" <<'TOML'
[server]
requests_per_second = 0
[auth.jwt]
secret_env = "LOCI_FUZZ_SECRET"
audience = "loci"
TOML
# A run revokes whatever key it finds in the list of keys, so it comes with a token, which is in no list.
"$loci" --config "$data/loci.toml" key create --role admin --name fuzz > "$data/key"
export LOCI_FUZZ_SECRET="a secret of this run only, $RANDOM$RANDOM$RANDOM"
token="$(python3 - <<'PYTHON'
import base64, hashlib, hmac, json, os, time
part = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=")
claims = {"sub": "fuzz", "aud": "loci", "exp": int(time.time()) + 7200, "loci": {"tenant": "default", "role": "admin"}}
said = part(b'{"alg":"HS256","typ":"JWT"}') + b"." + part(json.dumps(claims).encode())
proof = hmac.new(os.environ["LOCI_FUZZ_SECRET"].encode(), said, hashlib.sha256).digest()
print((said + b"." + part(proof)).decode())
PYTHON
)"
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
"$loci" --config "$data/loci.toml" serve --listen "127.0.0.1:$port" > "$data/log" 2>&1 &
server=$!
for _ in $(seq 100); do
  if curl --silent --fail --output /dev/null "http://127.0.0.1:$port/healthz"; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$data/log" >&2; exit 1; }
  sleep 0.1
done

status=0
"$venv/bin/schemathesis" --config-file schemathesis.toml run "http://127.0.0.1:$port/openapi.json" \
  --checks all --header "Authorization: Bearer $token" "$@" || status=$?
if grep -q "panicked" "$data/log"; then
  echo "the server panicked:" >&2
  grep -A 5 "panicked" "$data/log" >&2
  status=1
fi
exit "$status"
