"""Walks the worked examples of the seed documents through the binary: over the command line, and over HTTP where a seed
prints JSON. Each example is a function whose name says what holds; it fails by an assertion. Called by seeds.sh."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

LOCI = os.path.abspath(sys.argv[1])
EXAMPLES = []


def example(seed, item):
    """Registers an example of an item of a seed."""

    def register(function):
        EXAMPLES.append((seed, item, function))
        return function

    return register


class Store:
    """A data folder of its own, and the binary on it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="loci-seeds-")
        kept = ("LOCI_MODEL_DIR", "LOCI_LOG")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("LOCI_") or k in kept}
        self.environment["LOCI_DATA"] = self.folder
        self.environment["LOCI_CONFIG"] = self.configure("")
        self.server = None

    def configure(self, text):
        path = pathlib.Path(self.folder) / "loci.toml"
        path.write_text(text)
        return str(path)

    def run(self, *words, stdin=None, succeeds=True):
        done = subprocess.run([LOCI, *words], env=self.environment, input=stdin, capture_output=True, text=True, timeout=120)
        if succeeds:
            assert done.returncode == 0, f"loci {' '.join(words)}: {done.stderr.strip()}"
        return done

    def json(self, *words, **options):
        return json.loads(self.run("--json", *words, **options).stdout)

    def remember(self, text, *words):
        return self.json("remember", text, *words)

    def memory(self, receipt):
        return self.json("get", receipt["id"])

    def recall(self, query, *words):
        return [hit["memory"]["content"] for hit in self.json("recall", query, *words)["data"]]

    def http(self, method, path, body=None, expect=(200, 201)):
        """The answer of a server on this folder, which is started when it is first needed."""
        if self.server is None:
            words = [LOCI, "--json", "serve", "--listen", "127.0.0.1:0"]
            self.server = subprocess.Popen(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            address = re.search(r"127\.0\.0\.1:\d+", self.server.stdout.readline())
            self.address = "http://" + address.group(0)
        data = None if body is None else json.dumps(body).encode()
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data, head, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        assert status in expect, f"{method} {path}: {status} {text[:300]!r}"
        return json.loads(text) if text else None

    def close(self):
        if self.server is not None:
            self.server.terminate()
            self.server.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


KINDS = [
    ("User's k8s cluster runs on ARM64 nodes.", "fact"),
    ("User prefers Terraform over Pulumi.", "preference"),
    ("Alice is the user's team lead. She approves production deployments.", "person"),
    ("Project Atlas uses Next.js 15, deploys to Vercel, deadline March 1.", "project"),
    ("Deployed v2.3.1 to staging on Feb 20. Smoke tests passed.", "task"),
    ("In our Feb 18 session, we debugged a memory leak in the worker pool.", "episodic"),
    ("Chose Kysely over Drizzle because Graphile Worker manages its own schema.", "decision"),
    ("I suggested using Alpine — user corrected: node:24-slim is required for Playwright compat.", "correction"),
    ("User's primary language is TypeScript.", "fact"),
    ("User prefers explicit error handling over try/catch.", "preference"),
    ("Bob is the SRE on call this week.", "person"),
    ("Project Cortex uses Fastify, Kysely, and Graphile Worker.", "project"),
    ("Migrated database from v16 to v17 on Feb 20.", "task"),
    ("In our Feb 18 session, the user was debugging OOM kills.", "episodic"),
    ("Decided to use per-agent Qdrant collections for isolation.", "decision"),
    ("I suggested port 8080 — correct port is 4000.", "correction"),
]


@example("S0", "Q2: sixteen sentences have their kinds")
def _(store):
    lines = "".join(text + "\n" for text, _ in KINDS)
    store.run("remember", "-", "--no-embed", "--as-is", stdin=lines)
    found = {memory["content"]: memory["kind"] for memory in store.json("list", "--limit", "50")["data"]}
    wrong = [(text, kind, found.get(text)) for text, kind in KINDS if found.get(text) != kind]
    assert not wrong, wrong


@example("S0", "Q4: a score is between 0 and 1, and its terms add up")
def _(store):
    store.remember("User's k8s cluster runs on ARM64 nodes.")
    [hit] = store.json("recall", "ARM64 cluster", "--explain")["data"]
    assert 0 <= hit["score"] <= 1 and hit["explain"]["weights"] == {"similarity": 0.5, "recency": 0.3, "utility": 0.2}, hit


@example("S0", "Q5: a cluster of 3 nodes becomes one of 5; only the head is found")
def _(store):
    old = store.remember("User's cluster has 3 nodes")
    store.run("memory", "supersede", old["id"], "User's cluster has 5 nodes (scaled from 3 in Feb 2026)")
    assert store.recall("how many nodes has the cluster?") == ["User's cluster has 5 nodes (scaled from 3 in Feb 2026)"]
    assert len(store.json("memory", "chain", old["id"])["data"]) == 2


@example("S0", "Q5: a deleted head uncovers the version before it")
def _(store):
    old = store.remember("User's cluster has 3 nodes")
    new = store.json("memory", "supersede", old["id"], "User's cluster has 5 nodes")
    store.run("forget", new["id"])
    assert store.recall("how many nodes has the cluster?") == ["User's cluster has 3 nodes"]


@example("S0", "Q6: nothing leaves its agent")
def _(store):
    store.remember("The staging password rotates on Mondays", "--agent", "planner")
    assert store.recall("staging password rotates", "--agent", "coder") == []
    assert len(store.recall("staging password rotates", "--agent", "planner")) == 1


@example("S0", "open question 4: Python and TypeScript both stay, flagged")
def _(store):
    store.remember("user prefers Python")
    second = store.remember("user prefers TypeScript")
    assert len(store.json("list")["data"]) == 2
    assert second["event"] == "ADD", second


@example("S0", "Q4: an agent has a score threshold, in the JSON of the seed")
def _(store):
    memory = {"weights": {"similarity": 0.5, "recency": 0.3, "utility": 0.2}, "retrievalLimit": 10, "scoreThreshold": 0.3}
    store.run("agent", "create", "helper", "--settings", json.dumps({"memory": memory}))


@example("S0", "Q5: more than 20 versions become one authoritative memory")
def _(store):
    head = store.remember("The queue holds 0 jobs", "--no-embed")
    for number in range(1, 23):
        head = store.json("memory", "supersede", head["id"], f"The queue holds {number} jobs", "--no-embed")
    store.run("store", "jobs", "run")
    chain = store.json("memory", "chain", head["id"])["data"]
    active = [one["content"] for one in chain if one["state"] == "active"]
    assert active == ["The queue holds 22 jobs"], active


@example("S0", "open question 4: Python and TypeScript are linked as contradicting")
def _(store):
    store.remember("user prefers Python")
    second = store.remember("user prefers TypeScript")
    links = store.json("memory", "links", second["id"])["data"]
    assert any(link["relation"] == "may_contradict" for link in links), links


@example("S1", "hot path: turns are stored and linked in their order")
def _(store):
    for text in ["The nightly build failed", "The disk of the runner was full"]:
        store.run("ingest", text, "--thread-id", "builds", "--role", "user")
    first = store.json("list", "--thread-id", "builds")["data"][-1]
    links = store.json("memory", "links", first["id"])["data"]
    assert any(link["relation"] == "temporal" for link in links), links


@example("S1", "session change: a session that has ended teaches once")
def _(store):
    store.run("ingest", "My sister Bea plays the cello", "--thread-id", "monday", "--role", "user")
    store.run("session", "end", "monday")
    store.run("session", "learn", "monday")
    learned = [hit for hit in store.json("list")["data"] if hit["source"]["type"] != "conversation"]
    assert len(learned) == 1 and "Bea plays the cello" in learned[0]["content"], learned
    store.run("session", "learn", "monday")
    assert len([hit for hit in store.json("list")["data"] if hit["source"]["type"] != "conversation"]) == 1


@example("S1", "bi-temporal: what held then is found as of then")
def _(store):
    store.remember("The office is in Rome", "--valid-from", "2024-01-01", "--valid-until", "2025-01-01")
    assert store.recall("where is the office?") == []
    assert store.recall("where is the office?", "--as-of", "2024-06-01") == ["The office is in Rome"]


@example("S1", "entities: who is found by an alias")
def _(store):
    store.run("ingest", "My manager is Robert, aka Bob", "--thread-id", "work", "--role", "user")
    store.run("session", "end", "work")
    store.run("session", "learn", "work")
    assert any("Robert" in text for text in store.recall("who is Bob?")), store.recall("who is Bob?")


AGENT_LEVEL = {
    "content": "When debugging TypeScript, always check tsconfig.json first",
    "layer": "agent",
    "identifiers": {"agentId": "agent_debugger", "userId": "user_123"},
    "metadata": {
        "tags": ["debugging", "typescript"],
        "source": {"type": "conversation", "reference": "msg_abc123"},
    },
}

PROJECT_LEVEL = {
    "content": "Use PostgreSQL for all new services per ADR-042",
    "layer": "project",
    "identifiers": {"projectId": "proj_backend_api"},
    "metadata": {
        "tags": ["database", "architecture"],
        "source": {"type": "knowledge_sync"},
        "knowledgePointer": {
            "sourceType": "adr",
            "sourceId": "adr-042-database-selection",
            "contentHash": "sha256:abc123def456...",
            "syncedAt": "2025-01-07T09:00:00Z",
        },
    },
}


@example("S2", "the JSON of an agent-level memory is understood")
def _(store):
    memory = store.http("POST", "/v1/memories", AGENT_LEVEL)["data"]
    assert memory["tags"] == ["debugging", "typescript"] and memory["source"]["reference"] == "msg_abc123", memory


@example("S2", "the JSON of a knowledge pointer is understood and filtered by")
def _(store):
    memory = store.http("POST", "/v1/memories", PROJECT_LEVEL)["data"]
    assert memory["knowledgePointer"]["sourceId"] == "adr-042-database-selection", memory
    found = store.http("GET", "/v1/memories?projectId=proj_backend_api&hasKnowledgePointer=true")["data"]
    assert [one["id"] for one in found] == [memory["id"]], found


@example("S2", "tabs of the project override spaces of the company")
def _(store):
    scope = ("--company", "acme", "--project", "web")
    store.remember("Use spaces for indentation", "--company", "acme")
    store.remember("Use tabs for indentation", "--project", "web")
    answer = store.json("recall", "what do we use for indentation?", *scope)["data"]
    assert answer[0]["memory"]["content"] == "Use tabs for indentation", answer
    assert "Use spaces for indentation" not in [hit["memory"]["content"] for hit in answer], answer


@example("S2", "errors have code, operation and advice")
def _(store):
    done = store.run("--json", "remember", "x", "--layer", "usr", succeeds=False)
    problem = json.loads(done.stderr)
    assert done.returncode == 10 and problem["code"] == "INVALID_LAYER" and problem["retryable"] is False, problem
    answer = store.http("POST", "/v1/memories", {"content": "x", "identifiers": {}}, expect=(400,))
    assert answer["code"] == "MISSING_IDENTIFIER", answer


@example("S2", "an update merges metadata and needs the version that was seen")
def _(store):
    made = store.http("POST", "/v1/memories", {**AGENT_LEVEL, "metadata": {"a": 1}})
    store.http("PATCH", f"/v1/memories/{made['id']}?agentId=agent_debugger&userId=user_123", {"metadata": {"b": 2}, "version": 1})
    path = f"/v1/memories/{made['id']}?agentId=agent_debugger&userId=user_123"
    metadata = store.http("GET", path)["metadata"]
    assert (metadata["a"], metadata["b"]) == (1, 2), metadata
    store.http("PATCH", path, {"metadata": {"b": 3}, "version": 1}, expect=(409,))


@example("S2", "a session that has only memories promotes what matters")
def _(store):
    for text, weight in [("The demo uses the blue data set", "0.9"), ("The window was open", "0.2")]:
        store.run("remember", text, "--session", "s1", "--layer", "session", "--importance", weight, "--kind", "fact")
    store.run("session", "end", "s1")
    store.run("store", "jobs", "run")
    assert [one["content"] for one in store.json("list")["data"]] == ["The demo uses the blue data set"]


@example("S2", "OpenSpec: an upsert keeps its id")
def _(store):
    entry_id = "0194fdc2-fa2f-7fc0-b1d3-aa2ca9a4f2f0"
    for status in ["created", "updated"]:
        entry = {"id": entry_id, "content": f"The gate is {status}"}
        body = {"operation": "upsert", "entries": [entry], "options": {"layer": {"user_id": "ann"}}}
        [done] = store.http("POST", "/openspec/v1/knowledge/batch", body)["results"]["entries"]
        assert (done["entry_id"], done["status"]) == (entry_id, status), done


@example("S2", "OpenSpec: create, query and describe an entry")
def _(store):
    entry = {"content": "Use PostgreSQL for all new services", "metadata": {"title": "ADR-042", "tags": ["database"]}}
    layer = {"type": "project", "project_id": "web"}
    body = {"entry": entry, "options": {"layer": layer}}
    made = store.http("POST", "/openspec/v1/knowledge/create", body)
    assert made["status"] == "created", made
    query = {"query": "PostgreSQL", "mode": "keyword", "layer": {"types": ["project"], "project_id": "web"}}
    found = store.http("POST", "/openspec/v1/knowledge/query", query)["results"]
    assert [one["entry"]["id"] for one in found] == [made["entry"]["id"]], found


@example("S3", "1: the delta header has the exact form")
def _(store):
    store.remember("Preferred name is Ana", "--category", "Personal", "--importance", "0.4")
    text = store.json("recall", "name", "--budget-tokens", "200", "--after-revision", "0")["pack"]["text"]
    lines = text.splitlines()
    assert lines[0] == "Memory updates since rev 0:" and lines[1].startswith("- +created: [Personal] Preferred name is Ana"), lines


@example("S3", "6: memory.query in the shape of the seed")
def _(store):
    store.remember("Deploy plan: staging first, then production", "--category", "tasks", "--user", "ana")
    body = {
        "query": "deployment plan context",
        "categories": ["tasks", "projects"],
        "filters": {"user_id": "ana", "pinned": False, "importance_min": 1, "importance_max": 5, "updated_after": "2025-07-01"},
        "top_k": 3,
        "return": "bullets",
        "budget_tokens": 512,
    }
    answer = store.http("POST", "/memory.query", body)
    bullets = answer if isinstance(answer, list) else next(value for value in answer.values() if isinstance(value, list))
    assert bullets and bullets[0]["category"] == "tasks" and bullets[0]["text"].startswith("[tasks] "), answer


@example("S3", "7: a deleted memory is not found, and can be restored")
def _(store):
    made = store.remember("The door code is 7731")
    store.run("forget", made["id"])
    assert store.recall("door code") == []
    store.run("restore", made["id"])
    assert store.recall("door code") == ["The door code is 7731"]


@example("S3", "8: the history tells every write")
def _(store):
    made = store.remember("The door code is 7731")
    store.run("update", made["id"], "The door code is 7732")
    store.run("forget", made["id"])
    events = [line["event"] for line in store.json("history", made["id"])["data"]]
    assert [one for one in events if one in ("ADD", "UPDATE", "DELETE")] in (["ADD", "UPDATE", "DELETE"], ["DELETE", "UPDATE", "ADD"]), events


@example("S3", "10: a name that is learned waits for consent")
def _(store):
    store.run("ingest", "My name is Ana.", "--thread-id", "hello", "--role", "user")
    store.run("session", "end", "hello")
    store.run("session", "learn", "hello")
    waiting = store.json("consent", "list")["data"]
    assert any("Ana" in proposal["memory"]["content"] for proposal in waiting), waiting


@example("S3", "12: a procedure is found by its category alone")
def _(store):
    store.remember("To deploy: 1. Run make. 2. Tag. 3. Push.", "--kind", "procedural", "--user", "ana")
    body = {"query": "how to deploy", "filters": {"user_id": "ana"}}
    assert store.http("POST", "/memory.query", body) == []
    assert len(store.http("POST", "/memory.query", {**body, "categories": ["procedural"]})) == 1


@example("S3", "15: a checkpoint survives the process, byte for byte")
def _(store):
    state = {"graph": {"node": "plan"}, "history": ["a", "b"], "π": 3.5}
    path = pathlib.Path(store.folder) / "state.json"
    path.write_text(json.dumps(state))
    store.run("checkpoint", "put", "--thread-id", "thread-1", str(path))
    answer = store.json("checkpoint", "get", "--thread-id", "thread-1")
    assert state in (answer, answer.get("data"), (answer.get("data") or {}).get("data")), answer


@example("S4", "a skill is procedural, and a tool turn matters more")
def _(store):
    made = store.remember("Deploy with make", "--kind", "skill")
    assert store.memory(made)["kind"] == "procedural"
    store.run("ingest", "exit code 0", "--thread-id", "t", "--role", "tool")
    [turn] = store.json("list", "--thread-id", "t")["data"]
    assert abs(turn["importance"] - 0.6) < 1e-9, turn


@example("S4", "strategies: what matters most comes by importance")
def _(store):
    for text, importance in [("Tea is in the cupboard", "0.4"), ("The production key expires in May", "0.95"), ("Rooms are booked by Kim", "0.6")]:
        store.remember(text, "--importance", importance)
    assert store.recall("what matters most?", "--strategy", "importance")[0] == "The production key expires in May"


@example("S4", "a prompt keeps its token budget")
def _(store):
    store.run("remember", "-", "--no-embed", "--as-is", stdin="".join(f"Server {n} has port {4000 + n}\n" for n in range(60)))
    pack = store.json("recall", "ports of the servers", "--budget-tokens", "150", "--limit", "60")["pack"]
    assert pack["tokens"] <= 150 and pack["cited"], pack


@example("S4", "backup, loss and restore")
def _(store):
    store.remember("The door code is 7731")
    backup = str(pathlib.Path(store.folder).with_suffix(".backup"))
    store.run("backup", "create", backup)
    elsewhere = store.folder + "-restored"
    try:
        store.run("backup", "restore", backup, "--data", elsewhere)
        done = store.run("--data", elsewhere, "--json", "list")
        assert [one["content"] for one in json.loads(done.stdout)["data"]] == ["The door code is 7731"], done.stdout
    finally:
        os.remove(backup)
        shutil.rmtree(elsewhere, ignore_errors=True)


def main():
    failed = 0
    for seed, item, function in EXAMPLES:
        store, problem = Store(), ""
        try:
            function(store)
        except Exception as error:  # An example that cannot run does not hold, whatever the reason.
            problem = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
        finally:
            store.close()
        failed += bool(problem)
        print(f"{seed}  {'fails' if problem else 'holds'}  {item}{'  — ' + problem if problem else ''}", flush=True)
    print(f"{len(EXAMPLES) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
