// The first page: whether the server is well, and what to do in the first minute.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { get, type Schemas, scopeBody, scopeQuery, write } from "../lib/api";
import { go } from "../lib/route";
import { identity, isChosen, key, may, scope } from "../lib/session";
import { useLoad } from "../lib/state";
import { count } from "../lib/text";
import { Action, Copy, Load, note, Tabs, TextField } from "../ui/basics";

const ADDRESS = location.origin;
const HEADER = (): string => (key.value === "" ? "" : ` \\\n  -H "Authorization: Bearer $LOCI_KEY"`);

const TABS = [
  ["curl", "curl"],
  ["mcp", "MCP"],
  ["python", "Python"],
  ["typescript", "TypeScript"],
] as const;

/** What to copy. The key itself is never put there. */
function snippet(kind: string): string {
  const guarded = key.value !== "";
  switch (kind) {
    case "mcp":
      return JSON.stringify(
        { mcpServers: { loci: { url: `${ADDRESS}/mcp`, ...(guarded ? { headers: { Authorization: "Bearer ${LOCI_KEY}" } } : {}) } } },
        null,
        2,
      );
    case "python":
      return [
        ...(guarded ? ["import os", ""] : []),
        "from loci import Memory",
        "",
        `memory = Memory(url="${ADDRESS}"${guarded ? ', key=os.environ["LOCI_KEY"]' : ""}, user="ana")`,
        'memory.remember("I am allergic to peanuts")',
        'print([hit.memory.content for hit in memory.recall("what food must I avoid?").data])',
      ].join("\n");
    case "typescript":
      return [
        'import { Loci } from "@loci/client";',
        "",
        `const loci = new Loci({ url: "${ADDRESS}", userId: "ana"${guarded ? ", key: process.env.LOCI_KEY" : ""} });`,
        'await loci.remember("I am allergic to peanuts");',
        'console.log((await loci.recall("what food must I avoid?")).data[0]?.memory.content);',
      ].join("\n");
    default:
      return [
        `curl ${ADDRESS}/v1/memories${HEADER()} --json '{`,
        `  "content": "Ana is allergic to peanuts",`,
        `  "identifiers": {"userId": "ana"}`,
        `}'`,
        ``,
        `curl ${ADDRESS}/v1/recall${HEADER()} --json '{`,
        `  "query": "what food must she avoid?",`,
        `  "identifiers": {"userId": "ana"}`,
        `}'`,
      ].join("\n");
  }
}

export function Start(): JSX.Element {
  const [tab, setTab] = useState("curl");
  const ready = useLoad((signal) => get<Schemas["Readiness"]>("/readyz", {}, signal), []);
  const stats = useLoad((signal) => get<Schemas["Statistics"]>("/v1/stats", isChosen(scope.value) ? scopeQuery() : {}, signal), []);
  const text = snippet(tab);
  return (
    <>
      <h1>Loci remembers</h1>
      <Load of={stats}>
        {(data) => (
          <p class="lead">
            {data.memories === 0
              ? "Nothing is remembered yet. The first minute:"
              : `${count(data.memories, "memory", "memories")}${data.entities > 0 ? ` about ${count(data.entities, "person or thing", "people and things")}` : ""}.`}
            {data.memories > 0 && (
              <>
                {" "}
                <a href="#/ask">Ask</a> or <a href="#/browse">browse</a>.
              </>
            )}
          </p>
        )}
      </Load>
      <Load of={ready}>
        {(data) => (
          <p class={`verdict ${data.status === "healthy" ? "yes" : "unsure"}`}>
            The server is <b>{data.status}</b>
            {data.components.vectors.model
              ? `, with the model ${data.components.vectors.model}.`
              : ", without an embedding model: it finds by words only."}
            {data.components.vectors.message && ` ${data.components.vectors.message}`}
          </p>
        )}
      </Load>
      {may("writer") && <Remember />}
      <h2>From a program</h2>
      <Tabs label="Programs" tabs={TABS} value={tab} set={setTab} />
      <div class="panel snippet" role="tabpanel" aria-label={TABS.find(([id]) => id === tab)?.[1]}>
        <Copy text={text} />
        <pre tabIndex={0}>{text}</pre>
      </div>
      <p class="quiet">
        All operations: <a href="/docs">the description of the API</a>. Keys of this page: press <kbd>?</kbd>.
      </p>
    </>
  );
}

function Remember(): JSX.Element {
  const [content, setContent] = useState("");
  const [user, setUser] = useState("");
  const everyone = scope.value.everyone || !isChosen(scope.value);
  const remember = async (): Promise<void> => {
    const owner = everyone ? { identifiers: { userId: user.trim() } } : scopeBody();
    const made = await write<Schemas["MemoryWrite"]>("POST", "/v1/memories", { ...owner, content: content.trim() });
    note(made.event === "NONE" ? "It was known already." : "Remembered.");
    go("memory", made.id);
  };
  return (
    <section class="card">
      <h2>Remember something</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
        }}
      >
        <div class="fields">
          <TextField label="What" value={content} set={setContent} placeholder="Ana is allergic to peanuts" wide />
          {everyone && <TextField label="About which user" value={user} set={setUser} placeholder="ana" />}
        </div>
        <div class="actions">
          <Action tone="main" run={remember} disabled={content.trim() === "" || (everyone && user.trim() === "")}>
            Remember
          </Action>
          <span class="quiet">{identity.value?.open ? "This server asks for no key." : ""}</span>
        </div>
      </form>
    </section>
  );
}
