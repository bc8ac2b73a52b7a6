// All memories of the scope as a table, with filters and changes of many.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { may, scope } from "../../lib/session";
import { revived, Shared, useShared } from "../../lib/state";
import { count } from "../../lib/text";
import { Check, Choice, Failure, TextField } from "../../ui/basics";
import { Bulk } from "./bulk";
import { Rows } from "./rows";
import { Table } from "./table";

interface Filters {
  kind: string;
  tags: string;
  state: string;
  layer: string;
  user: string;
  after: string;
  before: string;
  importance: string;
  superseded: boolean;
}

const NONE: Filters = { kind: "", tags: "", state: "", layer: "", user: "", after: "", before: "", importance: "", superseded: false };

/** Kept while a memory of the table is looked at. */
const filters = new Shared<Filters>(NONE);
scope.subscribe(() => (filters.value = NONE));

const list = (text: string): string[] => text.split(",").map((part) => part.trim()).filter((part) => part !== "");

/** The filter as a body has it; the query has the same names but for the users. */
function filterOf(given: Filters): Record<string, unknown> {
  const filter: Record<string, unknown> = {};
  if (given.kind) filter["kind"] = list(given.kind);
  if (given.tags) filter["tags"] = list(given.tags);
  if (given.state) filter["state"] = [given.state];
  if (given.layer) filter["layer"] = [given.layer];
  if (given.user) filter["userId"] = list(given.user);
  if (given.after) filter["createdAfter"] = given.after;
  if (given.before) filter["createdBefore"] = given.before;
  if (given.importance) filter["importanceMin"] = Number(given.importance);
  if (given.superseded) filter["superseded"] = true;
  return filter;
}

function queryOf(filter: Record<string, unknown>): Record<string, unknown> {
  const { userId, ...others } = filter;
  return userId === undefined ? others : { ...others, "filter.userId": userId };
}

export function Browse(): JSX.Element {
  const given = useShared(filters);
  const life = useShared(revived);
  const [revision, setRevision] = useState(0);
  const [fresh, setFresh] = useState(0);
  const [selected, setSelected] = useState(new Set<string>());
  const [bulk, setBulk] = useState<Record<string, unknown>>();
  const filter = filterOf(given);
  const text = JSON.stringify(filter);
  const rows = useMemo(() => new Rows(queryOf(filter), () => setRevision((value) => value + 1)), [text, fresh, life]);
  useEffect(() => {
    const timer = setTimeout(() => void rows.start(), 120);
    return () => {
      clearTimeout(timer);
      rows.stop();
    };
  }, [rows]);
  const set = (part: Partial<Filters>): void => {
    filters.value = { ...filters.value, ...part };
    setSelected(new Set());
  };
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  const everyone = scope.value.everyone;
  const writable = may("writer");
  return (
    <div class="browse">
      <h1>Browse</h1>
      <div class="fields compact" role="search" aria-label="Filters">
        <TextField label="kinds" value={given.kind} set={(kind) => set({ kind })} placeholder="fact, task" />
        <TextField label="tags" value={given.tags} set={(tags) => set({ tags })} placeholder="any of these" />
        <Choice
          label="state"
          value={given.state}
          set={(state) => set({ state })}
          options={[["", "in use"], "active", "decayed", "archived", "proposed", ["soft_deleted", "forgotten"]]}
        />
        <Choice
          label="layer"
          value={given.layer}
          set={(layer) => set({ layer })}
          options={[["", "all"], "user", "agent", "session", "project", "team", "org", "company", "pool"]}
        />
        {everyone && <TextField label="users" value={given.user} set={(user) => set({ user })} />}
        <TextField label="added after" value={given.after} set={(after) => set({ after })} type="date" />
        <TextField label="added before" value={given.before} set={(before) => set({ before })} type="date" />
        <TextField label="importance from" value={given.importance} set={(importance) => set({ importance })} placeholder="0.5" />
        <Check label="with replaced ones" value={given.superseded} set={(superseded) => set({ superseded })} />
      </div>
      <div class="toolbar">
        <span role="status">
          {count(rows.total, "memory", "memories")}
          {selected.size > 0 && `, ${selected.size} chosen`}
        </span>
        {writable && !everyone && (
          <>
            {selected.size > 0 && <button onClick={() => setBulk({ id: [...selected] })}>Change the chosen …</button>}
            {selected.size > 0 && (
              <button class="plain" onClick={() => setSelected(new Set())}>
                Choose none
              </button>
            )}
            {rows.total > 0 && (
              <button class={selected.size > 0 ? "plain" : undefined} onClick={() => setBulk(filter)}>
                Change all {rows.total === 1 ? "" : "that match "}…
              </button>
            )}
          </>
        )}
        {writable && everyone && <span class="quiet">To change many, choose one scope above.</span>}
        <button class="plain" onClick={() => setFresh(fresh + 1)}>
          Load again
        </button>
      </div>
      {rows.error && <Failure error={rows.error} again={() => setFresh(fresh + 1)} />}
      <Table rows={rows} revision={revision} selected={selected} toggle={toggle} selectable={writable && !everyone} />
      {bulk && (
        <Bulk
          filter={bulk}
          whole={Object.keys(bulk).length === 0}
          close={() => setBulk(undefined)}
          done={() => {
            setBulk(undefined);
            setSelected(new Set());
            setFresh(fresh + 1);
          }}
        />
      )}
    </div>
  );
}
