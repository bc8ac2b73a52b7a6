#!/usr/bin/env bash
# What do many agents with one memory each cost?
#
#   scripts/many-agents.sh [BINARY] [AGENTS]
#
# Serves an empty store under `ulimit -n 1024`, writes one memory to each of AGENTS agents over loopback, recalls each,
# and prints one JSON object: descriptors, resident memory, disk, and CPU and time per first write and per recall.
# Linux; needs python3.
set -euo pipefail
cd "$(dirname "$0")/.."

loci="${1:-target/debug/loci}" agents="${2:-1000}"
scratch="$(mktemp -d)"
ulimit -n 1024
LOCI_LOG="${LOCI_LOG:-error}" "$loci" --json --data "$scratch/data" serve --listen 127.0.0.1:0 >"$scratch/output" 2>"$scratch/log" &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$scratch"' EXIT
until [ -s "$scratch/output" ]; do kill -0 $server; read -rt 0.1 <> <(:) || true; done

python3 - "$scratch" "$server" "$agents" <<'PY'
import http.client, json, os, sys, time

scratch, server, agents = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
address = json.load(open(f"{scratch}/output"))["listening"].removeprefix("http://")
client = http.client.HTTPConnection(address)
failures = {}
most = {"descriptors": 0, "resident": 0}

def cpu():
    fields = open(f"/proc/{server}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

def resident():
    return next(int(line.split()[1]) / 1024 for line in open(f"/proc/{server}/status") if line.startswith("VmRSS"))

def look():
    most["descriptors"] = max(most["descriptors"], len(os.listdir(f"/proc/{server}/fd")))
    most["resident"] = max(most["resident"], resident())

def ask(path, body):
    client.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    response = client.getresponse()
    answer = response.read()
    if response.status >= 300:
        failures[f"{path} {response.status}"] = failures.get(f"{path} {response.status}", 0) + 1
        failures.setdefault("first", answer.decode()[:300])
        return {}
    return json.loads(answer)

def each(path, body):
    before, start, found = cpu(), time.time(), 0
    for number in range(agents):
        answer = ask(path, body(number))
        data = answer.get("data")
        found += len(data) if isinstance(data, list) else 0
        if number % 50 == 0:
            look()
    look()
    return {"cpu_ms": round((cpu() - before) * 1000 / agents, 2), "ms": round((time.time() - start) * 1000 / agents, 2),
            "found": found}

# The first question loads the model.
warm = {"identifiers": {"agentId": "warm", "userId": "ana"}}
ask("/v1/memories", {**warm, "content": "The lamp of the lighthouse is green"})
ask("/v1/recall", {**warm, "query": "what colour is the lamp?"})
start = resident()
write = each("/v1/memories", lambda n: {"identifiers": {"agentId": f"agent-{n}", "userId": "ana"}, "content": f"The lamp of lighthouse {n} is green"})
recall = each("/v1/recall", lambda n: {"identifiers": {"agentId": f"agent-{n}", "userId": "ana"}, "query": "what colour is the lamp?"})
before = cpu()
time.sleep(5)
idle = (cpu() - before) / 5
disk = sum(os.stat(os.path.join(folder, name)).st_blocks * 512 for folder, _, names in os.walk(f"{scratch}/data") for name in names)
print(json.dumps({"agents": agents, "write": write, "recall": recall, "descriptors": most["descriptors"],
                  "resident_mb": round(most["resident"]), "beyond_start_mb": round(most["resident"] - start),
                  "disk_mb": round(disk / 1e6, 1), "idle_cpu": round(idle, 3), "failures": failures}))
PY
