// Whose memories are shown. Offers what the credential may see and nothing else.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import {
  boundsOf, type Identifiers, identity, isBound, mayEveryone, type Scope, scope, scopeText, type Sort, SORTS, suggestions,
} from "../lib/session";
import { useShared } from "../lib/state";
import { Dialog, TextField, Choice } from "./basics";

export function ScopePicker(): JSX.Element {
  const chosen = useShared(scope);
  const [open, setOpen] = useState(false);
  return (
    <>
      <button class="scope" data-scope onClick={() => setOpen(true)} aria-label={`Memories of ${scopeText(chosen)}. Change`}>
        <span class="quiet">memories of</span> <b>{scopeText(chosen)}</b> <span aria-hidden="true">▾</span>
      </button>
      {open && <ScopeDialog now={chosen} close={() => setOpen(false)} />}
    </>
  );
}

function ScopeDialog({ now, close }: { now: Scope; close: () => void }): JSX.Element {
  const who = identity.value!;
  const [names, setNames] = useState<Identifiers>(now.identifiers);
  const offered = SORTS.filter(([sort]) => !isBound() || boundsOf(sort).length > 0 || sort === "sessionId");
  const set = (sort: Sort, name: string): void => setNames({ ...names, [sort]: name.trim() });
  const choose = (next: Scope): void => {
    scope.value = next;
    close();
  };
  const identifiers = Object.fromEntries(Object.entries(names).filter(([, name]) => name !== "")) as Identifiers;
  return (
    <Dialog title="Whose memories?" close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (Object.keys(identifiers).length > 0) choose({ everyone: false, identifiers });
        }}
      >
        {mayEveryone(who) && (
          <p>
            <button type="button" onClick={() => choose({ everyone: true, identifiers: {} })}>
              Everyone’s
            </button>{" "}
            <span class="quiet">to read; changes by filter need one scope.</span>
          </p>
        )}
        <div class="fields">
          {offered.map(([sort, label], index) =>
            boundsOf(sort).length > 0 && !boundsOf(sort).includes("*") ? (
              <Choice
                key={sort}
                label={label}
                value={names[sort] ?? ""}
                set={(name) => set(sort, name)}
                options={[["", "–"], ...boundsOf(sort).map((name) => [name, name] as const)]}
              />
            ) : (
              <TextField
                key={sort}
                label={label}
                value={names[sort] ?? ""}
                set={(name) => set(sort, name)}
                list={suggestions(sort)}
                autofocus={index === 0}
              />
            ),
          )}
        </div>
        <p class="quiet">Only memories that belong to what you name here are shown.</p>
        <div class="actions">
          <button class="main" type="submit" disabled={Object.keys(identifiers).length === 0}>
            Show
          </button>
        </div>
      </form>
    </Dialog>
  );
}
