// What was remembered, day by day, the newest day first.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { get, type Memory, type Page, type Schemas, scopeQuery } from "../lib/api";
import { notice } from "../lib/session";
import { useLoad } from "../lib/state";
import { count, day } from "../lib/text";
import { Check, Choice, Empty, Failure, Load, TextField } from "../ui/basics";
import { MemoryRow } from "../ui/memory-row";
import { Lines } from "../ui/lines";

/** The time by which a memory is put into the timeline. */
type By = "said" | "happened";

const timeOf = (memory: Memory, by: By): string =>
  by === "happened" ? (memory.eventTime ?? memory.saidAt ?? memory.createdAt) : (memory.saidAt ?? memory.createdAt);

/** The memories of each day, the newest first. */
function days(memories: Memory[], by: By): [string, Memory[]][] {
  const sorted = [...memories].sort((one, other) => timeOf(other, by).localeCompare(timeOf(one, by)));
  const found = new Map<string, Memory[]>();
  for (const memory of sorted) {
    const name = day(timeOf(memory, by));
    found.set(name, [...(found.get(name) ?? []), memory]);
  }
  return [...found];
}

export function Timeline(): JSX.Element {
  const [before, setBefore] = useState("");
  const [by, setBy] = useState<By>("said");
  const [turns, setTurns] = useState(false);
  const [pages, setPages] = useState<{ memories: Memory[]; cursor: string | undefined }>();
  const [error, setError] = useState<Error>();
  const filter = { ...scopeQuery(), createdBefore: before, limit: 200 };
  const first = useLoad(
    async (signal) => {
      const page = await get<Page<Memory>>("/v1/memories", filter, signal);
      for (const memory of page.data) notice(memory.identifiers);
      setPages({ memories: page.data, cursor: page.nextCursor ?? undefined });
      return page;
    },
    [before],
  );
  const more = async (): Promise<void> => {
    try {
      const page = await get<Page<Memory>>("/v1/memories", { ...filter, cursor: pages!.cursor });
      setPages({ memories: [...pages!.memories, ...page.data], cursor: page.nextCursor ?? undefined });
    } catch (problem) {
      setError(problem as Error);
    }
  };
  const shown = (pages?.memories ?? []).filter((memory) => turns || memory.kind !== "episodic");
  return (
    <>
      <h1>Timeline</h1>
      <Rates />
      <div class="fields compact">
        <TextField label="before" value={before} set={setBefore} type="date" />
        <Choice label="by the day it" value={by} set={(value) => setBy(value as By)} options={[["said", "was said"], ["happened", "happened"]]} />
        <Check label="with turns of conversations" value={turns} set={setTurns} />
      </div>
      <Load of={first}>
        {() =>
          shown.length === 0 ? (
            <Empty>Nothing was remembered{before && " before this day"}.</Empty>
          ) : (
            <ol class="days">
              {days(shown, by).map(([name, memories]) => (
                <li key={name}>
                  <h2>{name}</h2>
                  <div>
                    {memories.map((memory) => (
                      <MemoryRow key={memory.id} memory={memory} />
                    ))}
                  </div>
                </li>
              ))}
            </ol>
          )
        }
      </Load>
      {error && <Failure error={error} again={() => void more()} />}
      {pages?.cursor && <button onClick={() => void more()}>Older ones</button>}
    </>
  );
}

/** How many memories came and went each day of the last three months. */
function Rates(): JSX.Element {
  const after = new Date(Date.now() - 90 * 86_400_000).toISOString();
  const counts = useLoad(
    (signal) => get<Schemas["Operations"]>("/v1/operations", { ...scopeQuery(), bucket: "day", after, event: ["ADD", "SUPERSEDE", "DELETE"] }, signal),
    [],
  );
  return (
    <Load of={counts}>
      {({ data, after: from, before: to }) => {
        const start = new Date(from).getTime();
        const length = Math.ceil((new Date(to).getTime() - start) / 86_400_000);
        const times = Array.from({ length }, (_, index) => start + index * 86_400_000);
        const values = (events: string[]): number[] => {
          const sums = new Array<number>(length).fill(0);
          for (const one of data) {
            const at = Math.floor((new Date(one.start).getTime() - start) / 86_400_000);
            if (events.includes(one.event) && at >= 0 && at < length) sums[at]! += one.count;
          }
          return sums;
        };
        const added = values(["ADD"]);
        const total = added.reduce((sum, value) => sum + value, 0);
        return (
          <Lines
            label={`${count(total, "memory", "memories")} added in 90 days`}
            times={times}
            lines={[
              { name: "added", values: added, colour: "accent" },
              { name: "replaced or forgotten", values: values(["SUPERSEDE", "DELETE"]), colour: "bad" },
            ]}
          />
        );
      }}
    </Load>
  );
}
