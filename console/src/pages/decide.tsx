// What waits for someone's decision: consents, possible contradictions, and weak facts.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, get, type Memory, type Page, pathPart, type Schemas, scopeBody, scopeQuery, write, writeMemory } from "../lib/api";
import { type Contradiction, contradictions } from "../lib/contradictions";
import { go, route } from "../lib/route";
import { may, mayRight, scope } from "../lib/session";
import { useLoad, useShared } from "../lib/state";
import { ago, count, day } from "../lib/text";
import { Action, Dialog, Empty, Load, note, Tabs, Tag, TextArea } from "../ui/basics";
import { MemoryRow } from "../ui/memory-row";

const TABS = [
  ["consents", "Consents"],
  ["contradictions", "Possible contradictions"],
  ["weak", "Weak memories"],
] as const;

/** The scope for something that is named by its id. */
const own = (): Record<string, unknown> => (scope.value.everyone ? {} : scopeBody());

export function Decide(): JSX.Element {
  const tab = useShared(route).rest[0] ?? "consents";
  return (
    <>
      <h1>Decide</h1>
      <Tabs label="What waits" tabs={TABS} value={tab} set={(next) => go("decide", next)} />
      <div class="panel" role="tabpanel" aria-label={TABS.find(([name]) => name === tab)?.[1]}>
        {tab === "consents" && <Consents />}
        {tab === "contradictions" && <Contradictions />}
        {tab === "weak" && <Weak />}
      </div>
    </>
  );
}

function Consents(): JSX.Element {
  const waiting = useLoad((signal) => get<Page<Schemas["Proposal"]>>("/v1/consents", { ...scopeQuery(), limit: 200 }, signal), []);
  const decide = (id: string, verdict: "accept" | "reject") => async (): Promise<void> => {
    await write("POST", `/v1/consents/${pathPart(id)}/${verdict}`, own());
    note(verdict === "accept" ? "Accepted: it is remembered from now on." : "Rejected: it is not remembered.");
    waiting.reload();
  };
  return (
    <>
      <p class="quiet">Statements about a person that are remembered only if someone agrees.</p>
      <Load of={waiting}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty>Nothing waits for consent.</Empty>
          ) : (
            page.data.map((one) => (
              <div class="card" key={one.memory.id}>
                <MemoryRow memory={one.memory}>
                  <p class="quiet">
                    reveals: {one.field}; seen {one.signals === 1 ? "once" : `${one.signals} times`}
                    {one.lapsesAt && `; lapses ${ago(one.lapsesAt)}`}
                    {one.sensitive ? " unless someone decides" : "; it will hold by itself after more observations"}
                  </p>
                  {mayRight("consent") && (
                    <div class="actions">
                      <Action tone="main" run={decide(one.memory.id, "accept")}>
                        Accept
                      </Action>
                      <Action run={decide(one.memory.id, "reject")}>Reject</Action>
                    </div>
                  )}
                </MemoryRow>
              </div>
            ))
          )
        }
      </Load>
    </>
  );
}

function Contradictions(): JSX.Element {
  const found = useLoad((signal) => contradictions(signal), []);
  const resolve = (pair: Contradiction, keep: Schemas["Keep"]) => async (): Promise<void> => {
    await writeMemory("POST", pair.newer.id, "/resolve", { other: pair.older.id, keep });
    note({ both: "Both are kept; the link is removed.", newer: "The later one holds; the earlier stays in its versions.", older: "The earlier one holds again." }[keep]);
    found.reload();
  };
  const [merging, setMerging] = useState<Contradiction>();
  return (
    <>
      <p class="quiet">Two statements about the same, of which perhaps only one holds. Nothing is deleted: what is replaced stays in its versions.</p>
      <Load of={found}>
        {({ pairs, more }) =>
          pairs.length === 0 ? (
            <Empty>Nothing seems to contradict.</Empty>
          ) : (
            <>
              {more && <p class="quiet">The first {pairs.length} are shown.</p>}
              {pairs.map((pair) => (
                <div class="card pair" key={`${pair.newer.id} ${pair.older.id}`}>
                  <div class="two">
                    <section>
                      <h2>Earlier</h2>
                      <MemoryRow memory={pair.older} />
                    </section>
                    <section>
                      <h2>Later</h2>
                      <MemoryRow memory={pair.newer} />
                    </section>
                  </div>
                  {may("writer") && (
                    <div class="actions">
                      <Action run={resolve(pair, "both")}>Keep both</Action>
                      <Action tone="main" run={resolve(pair, "newer")}>
                        The later replaces
                      </Action>
                      <Action run={resolve(pair, "older")}>The earlier holds</Action>
                      <button onClick={() => setMerging(pair)}>Merge …</button>
                    </div>
                  )}
                </div>
              ))}
            </>
          )
        }
      </Load>
      {merging && <Merge pair={merging} close={() => setMerging(undefined)} done={found.reload} />}
    </>
  );
}

/** One statement in place of two. The later replaces the earlier, and is then corrected. */
function Merge({ pair, close, done }: { pair: Contradiction; close: () => void; done: () => void }): JSX.Element {
  const [content, setContent] = useState(`${pair.newer.content}\n${pair.older.content}`);
  const merge = async (): Promise<void> => {
    await writeMemory("POST", pair.newer.id, "/resolve", { other: pair.older.id, keep: "newer" });
    await writeMemory("POST", pair.newer.id, "/correct", { content: content.trim(), reason: "merged with an earlier statement" });
    note("Merged into one statement; both stay in its versions.");
    close();
    done();
  };
  return (
    <Dialog title="Merge" close={close}>
      <TextArea label="One statement for both" value={content} set={setContent} />
      <div class="actions">
        <Action tone="main" run={merge} disabled={content.trim() === ""}>
          Merge
        </Action>
        <button onClick={close}>Cancel</button>
      </div>
    </Dialog>
  );
}

function Weak(): JSX.Element {
  const weak = useLoad((signal) => get<Page<Schemas["WeakMemory"]>>("/v1/memories/weak", { ...scopeQuery(), limit: 200 }, signal), []);
  const confirm = (memory: Memory) => async (): Promise<void> => {
    await writeMemory("POST", memory.id, "/confirm");
    note("Confirmed: it no longer fades.");
    weak.reload();
  };
  const forget = (memory: Memory) => async (): Promise<void> => {
    await call("DELETE", `/v1/memories/${memory.id}`, { query: { ...scopeQuery(), reason: "checked in the console" } });
    note("Forgotten; it can be restored for a while.");
    weak.reload();
  };
  return (
    <>
      <p class="quiet">Memories that nobody has used or confirmed for long. They go by themselves unless someone says that they are right.</p>
      <Load of={weak}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty>Every memory is sure enough.</Empty>
          ) : (
            <>
              <p>{count(page.data.length, "memory", "memories")}, the weakest first.</p>
              {page.data.map(({ memory, confidenceNow, goneAt }) => (
                <div class="card" key={memory.id}>
                  <MemoryRow memory={memory}>
                    <p class="quiet">
                      confidence <Tag tone="warn">{confidenceNow.toFixed(2)}</Tag>
                      {goneAt ? ` goes on ${day(goneAt)}` : " stays"}
                    </p>
                    {may("writer") && (
                      <div class="actions">
                        <Action tone="main" run={confirm(memory)}>
                          It is right
                        </Action>
                        <Action run={forget(memory)}>Forget</Action>
                      </div>
                    )}
                  </MemoryRow>
                </div>
              ))}
            </>
          )
        }
      </Load>
    </>
  );
}
