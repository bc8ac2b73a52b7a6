// Taking memories along, and erasing a user for good after a look at what goes.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { ApiError, call, get, pathPart, type Schemas, scopeQuery, send, write } from "../../lib/api";
import { isChosen, may, scope, scopeText } from "../../lib/session";
import { bytes, number, words } from "../../lib/text";
import { Action, Check, Empty, Facts, Failure, note, TextField } from "../../ui/basics";

export function Carry(): JSX.Element {
  return (
    <>
      <Export />
      {may("admin") && <Erase />}
    </>
  );
}

function Export(): JSX.Element {
  const [size, setSize] = useState<number>();
  if (!isChosen(scope.value)) return <Empty>Choose whose memories you want to export, at the top of the page.</Empty>;
  const save = async (): Promise<void> => {
    const response = await send("GET", "/v1/export", { query: scopeQuery() });
    const parts: BlobPart[] = [];
    let length = 0;
    const reader = response.body!.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      length += value.byteLength;
      setSize(length);
    }
    const address = URL.createObjectURL(new Blob(parts, { type: "application/x-ndjson" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = `loci-${new Date().toISOString().slice(0, 10)}.jsonl`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return (
    <section class="card">
      <h2>Export</h2>
      <p>
        Everything of <b>{scopeText(scope.value)}</b> that you may see, as lines of JSON: memories, links, entities, facts and sessions.
      </p>
      <div class="actions">
        <Action tone="main" run={save}>
          Export
        </Action>
        {size !== undefined && <span class="quiet">{bytes(size)}</span>}
      </div>
    </section>
  );
}

/** Waits until a task has ended. */
async function finished(task: Schemas["Task"]): Promise<Schemas["Task"]> {
  let now = task;
  while (now.status === "running") {
    await new Promise((done) => setTimeout(done, 400));
    now = await get<Schemas["Task"]>(`/v1/admin/tasks/${pathPart(task.id)}`);
  }
  return now;
}

function Erase(): JSX.Element {
  const [user, setUser] = useState(scope.value.identifiers.userId ?? "");
  const [typed, setTyped] = useState("");
  const [scrub, setScrub] = useState(true);
  const [preview, setPreview] = useState<Schemas["Erasure"]>();
  const [error, setError] = useState<Error>();
  const look = async (): Promise<void> => {
    setError(undefined);
    try {
      setPreview(await call<Schemas["Erasure"]>("POST", "/v1/admin/erasures", { body: { userId: user.trim(), dryRun: true } }));
    } catch (problem) {
      setError(problem as Error);
    }
  };
  const erase = async (): Promise<void> => {
    setError(undefined);
    try {
      const begun = await write<Schemas["Task"]>("POST", "/v1/admin/erasures", { userId: user.trim(), dryRun: false, scrub });
      const ended = await finished(begun);
      if (ended.error) throw new ApiError(ended.error.detail, ended.error.status, ended.error);
      setPreview(ended.result as unknown as Schemas["Erasure"]);
      setTyped("");
      note(`Everything of ${user.trim()} is erased.`);
    } catch (problem) {
      setError(problem as Error);
    }
  };
  const counts = preview ? Object.entries(preview.total).filter(([, value]) => value > 0) : [];
  return (
    <section class="card">
      <h2>Erase a user</h2>
      <p>Everything of one person goes for good and cannot be restored. Look first at what that is.</p>
      <div class="fields">
        <TextField
          label="User"
          value={user}
          set={(text) => {
            setUser(text);
            setPreview(undefined);
          }}
        />
      </div>
      <div class="actions">
        <Action run={look} disabled={user.trim() === ""}>
          What would go?
        </Action>
      </div>
      {error && <Failure error={error} />}
      {preview && (
        <div class="plan" role="status">
          <p>
            <b>{preview.erased ? "Erased" : counts.length === 0 ? "Nothing is known of this user." : "This would go:"}</b>
          </p>
          <Facts of={counts.map(([name, value]) => [name === "lines" ? "ledger entries" : words(name), number(value)])} />
          {preview.left.length > 0 && (
            <>
              <h3>What may be left</h3>
              <ul>
                {preview.left.map((text) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            </>
          )}
          <h3>What no erasure reaches</h3>
          <ul>
            {preview.notReached.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
      {preview && !preview.erased && counts.length > 0 && (
        <>
          <Check label="also clean freed pages, words and logs" value={scrub} set={setScrub} />
          <div class="fields">
            <TextField label={`Type ${preview.userId} to erase`} value={typed} set={setTyped} />
          </div>
          <div class="actions">
            <Action tone="danger" run={erase} disabled={typed !== preview.userId}>
              Erase for good
            </Action>
          </div>
        </>
      )}
    </section>
  );
}
