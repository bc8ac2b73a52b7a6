// What happened to a memory, each change with what it was before, and its undoing.
import type { JSX } from "preact";

import { type LedgerEntry, type Memory, pathPart, type Schemas, scopeBody, write } from "../../lib/api";
import { link } from "../../lib/route";
import { may, scope } from "../../lib/session";
import { diff, exact, instant, words } from "../../lib/text";
import { Action, Empty, note } from "../../ui/basics";

/** The difference between two texts. */
export function Words({ old, now }: { old: string; now: string }): JSX.Element {
  return (
    <>
      {diff(old, now).map((part, index) =>
        part.kind === "added" ? <ins key={index}>{part.text}</ins> : part.kind === "removed" ? <del key={index}>{part.text}</del> : part.text,
      )}
    </>
  );
}

const shown = (value: unknown): string =>
  value === undefined || value === null ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);

function Changes({ entry }: { entry: LedgerEntry }): JSX.Element | null {
  const [old, now] = [entry.old, entry.new].map((part) => (part && typeof part === "object" ? part : {}) as Record<string, unknown>);
  const names = [...new Set([...Object.keys(old!), ...Object.keys(now!)])];
  if (names.length === 0) return null;
  return (
    <dl class="changes">
      {names.map((name) => (
        <div key={name}>
          <dt>{words(name)}</dt>
          <dd>
            {typeof old![name] === "string" && typeof now![name] === "string" ? (
              <Words old={old![name]} now={now![name]} />
            ) : (
              <>
                {name in old! && <del>{shown(old![name])}</del>} {name in now! && <ins>{shown(now![name])}</ins>}
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Undoes one change, and says what was done. */
export async function undo(entry: Pick<LedgerEntry, "space" | "sequence">): Promise<void> {
  const body = scope.value.everyone ? {} : scopeBody();
  const done = await write<Schemas["UndoOutcome"]>("POST", `/v1/ledger/${pathPart(entry.space)}/${entry.sequence}/undo`, body);
  note(`Undone: ${done.done}`);
}

/** The changes that can be undone. */
const UNDOABLE = new Set(["ADD", "UPDATE", "SUPERSEDE", "DELETE", "RESTORE", "MERGE", "FADE"]);

export function History({ entries, memory, reload }: { entries: LedgerEntry[]; memory: Memory; reload: () => void }): JSX.Element {
  if (entries.length === 0) return <Empty>Nothing is recorded of it.</Empty>;
  return (
    <ol class="history">
      {[...entries].reverse().map((entry) => (
        <li key={`${entry.space} ${entry.sequence}`}>
          <div class="history-head">
            <b>{words(entry.event.toLowerCase())}</b>
            <span>{entry.reason}</span>
            <time dateTime={entry.createdAt} title={exact(entry.createdAt)} class="quiet">
              {instant(entry.createdAt)}
            </time>
            <span class="quiet">
              {[entry.actor && `by ${entry.actor}`, entry.version !== undefined && entry.version !== null && `version ${entry.version}`]
                .filter(Boolean)
                .join(", ")}
            </span>
            {may("writer") && UNDOABLE.has(entry.event) && (
              <Action
                tone="plain"
                run={async () => {
                  await undo(entry);
                  reload();
                }}
              >
                Undo
              </Action>
            )}
          </div>
          <Changes entry={entry} />
          {entry.memoryId && entry.memoryId !== memory.id && <a href={link("memory", entry.memoryId)}>{entry.memoryId}</a>}
        </li>
      ))}
    </ol>
  );
}
