#!/usr/bin/env bash
# What does HTTP cost on top of the engine, and does the server stay well under load?
#
#   scripts/load-http.sh [BINARY] [SECONDS] [CONNECTIONS]
#
# Grows a store of 100,000 made-up turns of a hundred users, serves it with the real model, and asks
# and adds over loopback with wrk. Prints JSON lines: requests a second, p50 and p99, errors, the
# server's CPU time per request and its memory before and after. Needs wrk and python3.
set -euo pipefail
cd "$(dirname "$0")/.."

loci="${1:-target/release/loci}" seconds="${2:-60}" connections="${3:-64}"
folder="target/load"
command -v wrk >/dev/null || { echo "load: wrk is not installed" >&2; exit 1; }
[ -d "$folder/recall" ] || "$loci" bench recall --largest 100000 --keep "$folder" >&2

scratch="$(mktemp -d)"
cp -r "$folder/recall" "$scratch/data"
LOCI_LOG=warn "$loci" --json --data "$scratch/data" serve --listen 127.0.0.1:0 >"$scratch/output" &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$scratch"' EXIT
until [ -s "$scratch/output" ]; do kill -0 $server; read -rt 0.1 <> <(:) || true; done
address="$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["listening"])' "$scratch/output")"

cat >"$scratch/recall.lua" <<'LUA'
-- A hundred users, two questions each, asked again and again: the question's vector is cached.
local number = 0
request = function()
  number = number + 1
  local body = string.format(
    '{"query":"when did we talk of matter %d","identifiers":{"agentId":"bench","userId":"user%d"},"limit":10}',
    number % 2, number % 100)
  return wrk.format("POST", "/v1/recall", {["Content-Type"] = "application/json"}, body)
end
LUA
cat >"$scratch/add.lua" <<'LUA'
-- Turns: durable when they are answered, no model on the way.
local number, thread = 0, 0
setup = function(given) thread = thread + 1; given:set("thread_number", thread) end
request = function()
  number = number + 1
  local body = string.format(
    '{"identifiers":{"userId":"load%d"},"turns":[{"threadId":"t%d","role":"user","content":"turn %d of thread %d"}]}',
    number % 100, number % 100, number, thread_number)
  return wrk.format("POST", "/v1/turns", {["Content-Type"] = "application/json"}, body)
end
LUA
cat >"$scratch/tell.lua" <<'LUA'
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.stderr:write(string.format("%d %f %f %f %d\n", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
LUA

# Seconds of CPU that the server has used, and its resident megabytes.
cpu() { awk -v t="$(getconf CLK_TCK)" '{ print ($14 + $15) / t }' "/proc/$server/stat"; }
memory() { awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$server/status"; }

measure() {
  local work="$1" figures before after
  cat "$scratch/$work.lua" "$scratch/tell.lua" >"$scratch/script.lua"
  # Once for warmth, so that memory is compared with memory in use.
  wrk -t2 -c"$connections" -d5s -s "$scratch/script.lua" "$address" >/dev/null 2>&1
  local resident; resident="$(memory)"
  before="$(cpu)"
  figures="$(wrk -t2 -c"$connections" -d"${seconds}s" --timeout 30s -s "$scratch/script.lua" "$address" 2>&1 >/dev/null | tail -n 1)"
  after="$(cpu)"
  python3 - "$work" "$connections" "$before" "$after" "$resident" "$(memory)" $figures <<'PYTHON'
import json, sys
work, connections, before, after, was, now, requests, duration, p50, p99, failed = sys.argv[1:]
requests, duration = int(requests), float(duration)
print(json.dumps({
    "work": work, "connections": int(connections), "seconds": round(duration, 1), "requests": requests,
    "rps": round(requests / duration, 1), "p50_ms": round(float(p50), 2), "p99_ms": round(float(p99), 2),
    "errors": int(failed), "cpu_ms_per_request": round((float(after) - float(before)) * 1e3 / max(requests, 1), 3),
    "memory_mb": [int(was), int(now)]}))
PYTHON
}

measure recall
measure add
