// What may be done with a memory, and the receipt of what was done.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

import { ApiError, type LedgerEntry, type Memory, type Schemas, scopeQuery, remove, writeMemory } from "../../lib/api";
import { go } from "../../lib/route";
import { may } from "../../lib/session";
import { instant } from "../../lib/text";
import { Action, Dialog, explain, Failure, note, TextArea, TextField } from "../../ui/basics";
import { undo } from "./history";

type Receipt = { did: string; detail: string; at: string };
type Write = Schemas["MemoryWrite"];

const receiptOf = (did: string, answer: Write): Receipt => ({
  did,
  detail: [
    answer.event,
    answer.version !== null && `version ${answer.version}`,
    answer.embeddingRegenerated && "vector computed anew",
    answer.redacted.length > 0 && `masked: ${answer.redacted.join(", ")}`,
    answer.degraded.length > 0 && `not done yet: ${answer.degraded.join(", ")}`,
  ]
    .filter(Boolean)
    .join(" · "),
  at: new Date().toISOString(),
});

type Open = "edit" | "correct" | "forget" | undefined;

export function MemoryActions({ memory, history, reload }: { memory: Memory; history: LedgerEntry[]; reload: () => void }): JSX.Element | null {
  const [open, setOpen] = useState<Open>();
  const [receipt, setReceipt] = useState<Receipt>();
  if (!may("writer")) return null;
  const done = (made: Receipt): void => {
    setOpen(undefined);
    setReceipt(made);
    reload();
  };
  const live = memory.state === "active" || memory.state === "decayed" || memory.state === "archived";
  const simple = (did: string, method: string, action: string, fields: Record<string, unknown> = {}) => async (): Promise<void> => {
    done(receiptOf(did, await writeMemory(method, memory.id, action, fields)));
  };
  const last = history.at(-1);
  return (
    <>
      <div class="actions" role="group" aria-label="Actions">
        {live && (
          <>
            <button onClick={() => setOpen("edit")}>Edit</button>
            <button onClick={() => setOpen("correct")}>Correct</button>
            <Action run={simple("Confirmed", "POST", "/confirm")}>Confirm</Action>
            <Action run={simple(memory.pinned ? "Unpinned" : "Pinned", "PATCH", "", { pinned: !memory.pinned })}>
              {memory.pinned ? "Unpin" : "Pin"}
            </Action>
            <button class="danger" onClick={() => setOpen("forget")}>
              Forget
            </button>
          </>
        )}
        {memory.state === "soft_deleted" && (
          <Action tone="main" run={simple("Restored", "POST", "/restore")}>
            Restore
          </Action>
        )}
      </div>
      {receipt && (
        <p class="receipt" role="status">
          <b>{receipt.did}</b> <span>{receipt.detail}</span> <span class="quiet">{instant(receipt.at)}</span>
          {last && (
            <Action
              tone="plain"
              run={async () => {
                await undo(last);
                setReceipt(undefined);
                reload();
              }}
            >
              Undo
            </Action>
          )}
        </p>
      )}
      {open === "edit" && <Edit memory={memory} close={() => setOpen(undefined)} done={done} />}
      {open === "correct" && <Correct memory={memory} close={() => setOpen(undefined)} />}
      {open === "forget" && <Forget memory={memory} close={() => setOpen(undefined)} done={done} />}
    </>
  );
}

interface Form {
  content: string;
  kind: string;
  category: string;
  tags: string;
  importance: string;
  eventTime: string;
  expiresAt: string;
}

const formOf = (memory: Memory): Form => ({
  content: memory.content,
  kind: memory.kind,
  category: memory.category ?? "",
  tags: memory.tags.join(", "),
  importance: String(memory.importance),
  eventTime: memory.eventTime ?? "",
  expiresAt: memory.expiresAt ?? "",
});

/** The fields that differ from the memory, as the API takes them. */
function changesOf(form: Form, memory: Memory): Record<string, unknown> {
  const before = formOf(memory);
  const changes: Record<string, unknown> = {};
  for (const name of Object.keys(form) as (keyof Form)[]) {
    if (form[name].trim() === before[name]) continue;
    const text = form[name].trim();
    if (name === "tags") changes[name] = text.split(",").map((tag) => tag.trim()).filter((tag) => tag !== "");
    else if (name === "importance") changes[name] = Number(text);
    else if (name === "content" || name === "kind") changes[name] = text;
    else changes[name] = text === "" ? null : text;
  }
  return changes;
}

function Edit({ memory, close, done }: { memory: Memory; close: () => void; done: (made: Receipt) => void }): JSX.Element {
  const [form, setForm] = useState(formOf(memory));
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  // The same change keeps its key, so that sending it again after a break does not make it twice.
  const once = useRef({ of: "", key: "" });
  const changes = changesOf(form, memory);
  const nothing = Object.keys(changes).length === 0;
  const set = (part: Partial<Form>): void => setForm({ ...form, ...part });
  const save = async (): Promise<void> => {
    const text = JSON.stringify(changes);
    if (once.current.of !== text) once.current = { of: text, key: crypto.randomUUID() };
    setBusy(true);
    setError(undefined);
    try {
      const headers = { "if-match": `"${memory.version}"`, "idempotency-key": once.current.key };
      done(receiptOf("Changed", await writeMemory("PATCH", memory.id, "", changes, headers)));
    } catch (problem) {
      setError(problem as Error);
      setBusy(false);
    }
  };
  const conflict = error instanceof ApiError && error.status === 409;
  return (
    <Dialog title="Edit" close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextArea label="Text" value={form.content} set={(content) => set({ content })} rows={5} />
        <div class="fields">
          <TextField label="kind" value={form.kind} set={(kind) => set({ kind })} />
          <TextField label="category" value={form.category} set={(category) => set({ category })} />
          <TextField label="tags" value={form.tags} set={(tags) => set({ tags })} hint="separated by commas" />
          <TextField label="importance" value={form.importance} set={(importance) => set({ importance })} hint="0 to 1" />
          <TextField label="happened" value={form.eventTime} set={(eventTime) => set({ eventTime })} hint="a day or an instant" />
          <TextField label="expires" value={form.expiresAt} set={(expiresAt) => set({ expiresAt })} hint="a day or an instant" />
        </div>
        {error && <Failure error={error} />}
        {conflict && <p>Someone else has changed it meanwhile. Close this, look at the newer version, and edit again: your text is not saved.</p>}
        <div class="actions">
          <button class="main" type="submit" disabled={busy || nothing}>
            Save
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <span class="quiet">Nothing is overwritten that was changed meanwhile.</span>
        </div>
      </form>
    </Dialog>
  );
}

function Correct({ memory, close }: { memory: Memory; close: () => void }): JSX.Element {
  const [content, setContent] = useState(memory.content);
  const [reason, setReason] = useState("");
  const [error, setError] = useState<Error>();
  const save = async (): Promise<void> => {
    try {
      const fields = { content, ...(reason === "" ? {} : { reason }) };
      const made = await writeMemory("POST", memory.id, "/correct", fields);
      note(`Corrected (${made.event}): the old statement stays in its versions.`);
      close();
      go("memory", made.id);
    } catch (problem) {
      setError(problem as Error);
    }
  };
  return (
    <Dialog title="It was wrong" close={close}>
      <p class="quiet">A new memory replaces this one and counts as certain. The old one stays readable in its versions.</p>
      <TextArea label="What is right" value={content} set={setContent} />
      <TextField label="Reason" value={reason} set={setReason} wide />
      {error && <Failure error={error} />}
      <div class="actions">
        <Action tone="main" run={save} disabled={content.trim() === "" || content === memory.content}>
          Correct
        </Action>
        <button onClick={close}>Cancel</button>
      </div>
    </Dialog>
  );
}

function Forget({ memory, close, done }: { memory: Memory; close: () => void; done: (made: Receipt) => void }): JSX.Element {
  const [reason, setReason] = useState("");
  const forget = async (): Promise<void> => {
    try {
      await remove(`/v1/memories/${memory.id}`, { ...scopeQuery(), reason });
      done({ did: "Forgotten", detail: "DELETE · it can be restored until it is removed for good", at: new Date().toISOString() });
    } catch (problem) {
      note(explain(problem), true);
    }
  };
  return (
    <Dialog title="Forget" close={close}>
      <p>{memory.content}</p>
      <p class="quiet">It is hidden at once, and can be restored for a while.</p>
      <TextField label="Reason" value={reason} set={setReason} wide />
      <div class="actions">
        <Action tone="danger" run={forget}>
          Forget
        </Action>
        <button onClick={close}>Cancel</button>
      </div>
    </Dialog>
  );
}
