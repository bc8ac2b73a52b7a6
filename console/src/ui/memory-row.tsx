// A memory in a list: its text, and what it is.
import type { ComponentChildren, JSX } from "preact";

import type { Schemas } from "../lib/api";
import { link } from "../lib/route";
import { words } from "../lib/text";
import { Marked, Tag, Time } from "./basics";

type Shown = Partial<Schemas["Memory"]> & { id: string };

/** The names of a scope, without what everyone sees anyway. */
export function ScopeTags({ of }: { of: Schemas["Identifiers"] | undefined }): JSX.Element {
  return (
    <>
      {Object.entries(of ?? {}).flatMap(([sort, name]) =>
        typeof name === "string" ? [<Tag key={sort}>{`${sort.replace(/Id$/, "")} ${name}`}</Tag>] : [],
      )}
    </>
  );
}

export const stateTone = (state: string | undefined): string | undefined =>
  state === "active" ? undefined : state === "soft_deleted" ? "bad" : "warn";

export function MemoryRow({ memory, question, children }: {
  memory: Shown;
  question?: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <article class="memory-row">
      <p class="memory-text">
        <a href={link("memory", memory.id)}>
          <Marked text={memory.content ?? ""} question={question ?? ""} />
        </a>
      </p>
      <p class="memory-facts">
        {memory.kind && <Tag tone="kind">{memory.kind}</Tag>}
        {memory.state && memory.state !== "active" && <Tag tone={stateTone(memory.state)}>{words(memory.state)}</Tag>}
        {memory.pinned && <Tag>pinned</Tag>}
        {memory.supersededById && <Tag tone="warn">replaced</Tag>}
        <ScopeTags of={memory.identifiers} />
        <Time at={memory.saidAt ?? memory.createdAt} />
      </p>
      {children}
    </article>
  );
}
