// The people, projects, places and things that memories mention; merging those that are the same.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { get, type Page, pathPart, type Schemas, scopeBody, scopeQuery, write } from "../lib/api";
import { go, link, route } from "../lib/route";
import { may, scope } from "../lib/session";
import { useLoad, useShared } from "../lib/state";
import { Action, Dialog, Empty, Load, note, Tag, TextField, Time } from "../ui/basics";
import { MemoryRow } from "../ui/memory-row";

type Entity = Schemas["Entity"];

export function Entities(): JSX.Element {
  const named = useShared(route).rest[0];
  const [search, setSearch] = useState("");
  const entities = useLoad((signal) => get<Page<Entity>>("/v1/entities", { ...scopeQuery(), limit: 1000 }, signal), []);
  const wanted = search.toLowerCase();
  const fits = (entity: Entity): boolean =>
    [entity.canonicalName, ...entity.aliases].some((name) => name.toLowerCase().includes(wanted));
  return (
    <>
      <h1>Entities</h1>
      <Load of={entities}>
        {(page) => {
          const chosen = named ?? page.data[0]?.id;
          return chosen === undefined ? (
            <Empty>No memory mentions anyone or anything by name yet.</Empty>
          ) : (
            <div class="master">
              <div>
                <TextField label="Name" value={search} set={setSearch} />
                <nav aria-label="Entities">
                  <ul class="master-list">
                    {page.data.filter(fits).map((one) => (
                      <li key={one.id}>
                        <a data-row href={link("entities", one.id)} aria-current={one.id === chosen ? "true" : undefined}>
                          {one.canonicalName} <span class="quiet">{one.entityType}, {one.mentionCount}×</span>
                        </a>
                      </li>
                    ))}
                  </ul>
                </nav>
                {page.nextCursor && <p class="quiet">The 1,000 mentioned most.</p>}
              </div>
              <EntityView key={chosen} id={chosen} all={page.data} reload={entities.reload} />
            </div>
          );
        }}
      </Load>
    </>
  );
}

function EntityView({ id, all, reload }: { id: string; all: Entity[]; reload: () => void }): JSX.Element {
  const profile = useLoad((signal) => get<Schemas["EntityProfile"]>(`/v1/entities/${pathPart(id)}`, scopeQuery(), signal), [id]);
  const [merging, setMerging] = useState(false);
  const again = (): void => {
    profile.reload();
    reload();
  };
  const writable = may("writer") && !scope.value.everyone;
  return (
    <section aria-label="Entity">
      <Load of={profile}>
        {({ entity, memories }) => (
          <>
            <p class="statement">{entity.canonicalName}</p>
            <p class="memory-facts">
              <Tag tone="kind">{entity.entityType}</Tag>
              <span>mentioned {entity.mentionCount === 1 ? "once" : `${entity.mentionCount} times`}</span>
              <span>
                known since <Time at={entity.createdAt} />
              </span>
            </p>
            {entity.summary && <p>{entity.summary}</p>}
            <h2>Other names</h2>
            {entity.aliases.length === 0 ? (
              <p class="quiet">None.</p>
            ) : (
              <p class="memory-facts">
                {entity.aliases.map((alias) => (
                  <Tag key={alias}>{alias}</Tag>
                ))}
              </p>
            )}
            {writable ? (
              <div class="actions">
                <button onClick={() => setMerging(true)}>Merge another into it …</button>
              </div>
            ) : (
              may("writer") && <p class="quiet">To merge, choose one scope above.</p>
            )}
            <h2>Newest memories</h2>
            {memories.length === 0 ? <Empty>None that you may see.</Empty> : memories.map((one) => <MemoryRow key={one.id} memory={one} question={entity.canonicalName} />)}
            {merging && <Merge into={entity} all={all} close={() => setMerging(false)} done={again} />}
          </>
        )}
      </Load>
    </section>
  );
}

function Merge({ into, all, close, done }: { into: Entity; all: Entity[]; close: () => void; done: () => void }): JSX.Element {
  const [from, setFrom] = useState("");
  const other = all.find((one) => one.canonicalName === from || one.id === from);
  const merge = async (): Promise<void> => {
    await write("POST", `/v1/entities/${pathPart(into.id)}/merge`, { ...scopeBody(), from: other?.id ?? from });
    // What was merged is known by its id alone from now on; the id is needed to split it again.
    if (other) merged.set(other.id, { into: into.id, name: other.canonicalName });
    note(`${other?.canonicalName ?? from} and ${into.canonicalName} are one from now on.`);
    close();
    done();
  };
  const mine = [...merged].filter(([, one]) => one.into === into.id);
  return (
    <Dialog title={`Merge into ${into.canonicalName}`} close={close}>
      <TextField
        label="The other one"
        value={from}
        set={setFrom}
        list={all.filter((one) => one.id !== into.id).map((one) => one.canonicalName)}
        wide
        autofocus
      />
      <p class="quiet">Both become one; the names of both stay. It can be undone.</p>
      <div class="actions">
        <Action tone="main" run={merge} disabled={from.trim() === ""}>
          Merge
        </Action>
        <button onClick={close}>Cancel</button>
      </div>
      {mine.map(([id, one]) => (
        <Action
          key={id}
          run={async () => {
            await write("POST", `/v1/entities/${pathPart(into.id)}/split`, { ...scopeBody(), id });
            merged.delete(id);
            note(`${one.name} is separate again.`);
            close();
            done();
            go("entities", id);
          }}
        >
          Split {one.name} off again
        </Action>
      ))}
    </Dialog>
  );
}

/** What was merged since the page was loaded, by the id of the entity that is gone. */
const merged = new Map<string, { into: string; name: string }>();
