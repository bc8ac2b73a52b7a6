#!/usr/bin/env bash
# Sends the real binary everything its description allows, and much that it does not: every failure of a check ends with a
# non-zero exit.
#
#   scripts/fuzz-http.sh [--briefly] [ARGUMENTS of schemathesis, such as --phases=stateful]
#
# --briefly: few examples with a fixed seed and one thread, so that a run can be repeated, for `make check`. Without
# schemathesis it says so and ends well, unless LOCI_TEST_REQUIRE is set.
set -euo pipefail
cd "$(dirname "$0")/.."

package="schemathesis==4.32.5"
few=()
if [ "${1:-}" = "--briefly" ]; then
  shift
  few=(--max-examples "${FUZZ_EXAMPLES:-4}" --seed "${FUZZ_SEED:-20260517}" --phases examples,coverage,fuzzing --workers 1)
  echo "fuzzing with: ${few[*]}" >&2
fi

target="${CARGO_TARGET_DIR:-target}"
loci="${LOCI:-$target/debug/loci}"
venv="$target/fuzz-venv"
[ -x "$loci" ] || { echo "build the binary first: cargo build --workspace --bin loci" >&2; exit 1; }
# A mark with the version is written last: what bears it is whole.
if [ "$(cat "$venv/.whole" 2>/dev/null)" != "$package" ]; then
  rm -rf "$venv"
  if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "$package"; then
    echo "$package" > "$venv/.whole"
  else
    echo "$package cannot be fetched: the fuzzing of HTTP is SKIPPED" >&2
    [ -z "${LOCI_TEST_REQUIRE:-}" ] || exit 1
    exit 0
  fi
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
# Without the secret of its tokens, the configuration is refused.
export LOCI_FUZZ_SECRET="a secret of this run only, $RANDOM$RANDOM$RANDOM"
cat > "$data/loci.toml" <<'TOML'
[server]
requests_per_second = 0
refusals_per_second = 0
[auth.jwt]
secret_env = "LOCI_FUZZ_SECRET"
audience = "loci"
TOML
# A run revokes whatever key it finds in the list of keys, so it comes with a token, which is in no list.
"$loci" --config "$data/loci.toml" key create --role admin --name fuzz > "$data/key"
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
  --checks all --header "Authorization: Bearer $token" "${few[@]}" "$@" || status=$?
if grep -q "panicked" "$data/log"; then
  echo "the server panicked:" >&2
  grep -A 5 "panicked" "$data/log" >&2
  status=1
fi
exit "$status"
