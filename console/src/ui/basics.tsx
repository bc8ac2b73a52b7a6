// The small parts that pages are made of.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

import { ApiError, reachable } from "../lib/api";
import { type Loaded, Shared, useShared } from "../lib/state";
import { ago, exact, highlight } from "../lib/text";

/** A note at the edge of the page that goes away by itself. */
export const notes = new Shared<{ id: number; text: string; bad: boolean }[]>([]);
let lastNote = 0;

export function note(text: string, bad = false): void {
  const id = ++lastNote;
  notes.value = [...notes.value.slice(-3), { id, text, bad }];
  setTimeout(() => (notes.value = notes.value.filter((one) => one.id !== id)), bad ? 12_000 : 6_000);
}

export function Notes(): JSX.Element {
  const shown = useShared(notes);
  return (
    <div class="notes" role="status" aria-live="polite">
      {shown.map(({ id, text, bad }) => (
        <p key={id} class={bad ? "note bad" : "note"}>
          {text}
        </p>
      ))}
    </div>
  );
}

/** Says that the server does not answer, and that nothing was lost. */
export function Banner(): JSX.Element | null {
  if (useShared(reachable)) return null;
  return (
    <div class="banner" role="alert">
      The server does not answer. Trying again … What you have typed stays here; nothing is saved until it answers.
    </div>
  );
}

/** What a failure says, with the server's hint. */
export function Failure({ error, again }: { error: Error; again?: () => void }): JSX.Element {
  const problem = error instanceof ApiError ? error.problem : undefined;
  return (
    <div class="failure" role="alert">
      <p>
        <b>{error.message}</b>
      </p>
      {problem?.hint && <p>{problem.hint}</p>}
      {problem?.code && (
        <p class="quiet">
          {problem.code}
          {problem.instance ? `, request ${problem.instance}` : ""}
        </p>
      )}
      {again && <button onClick={again}>Try again</button>}
    </div>
  );
}

/** What was loaded, or why not. What was shown before stays while it is loaded again. */
export function Load<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }): JSX.Element {
  if (of.error) return <Failure error={of.error} again={of.reload} />;
  if (of.data === undefined) return <p class="quiet loading">Loading …</p>;
  return <div class={of.loading ? "reloading" : undefined}>{children(of.data)}</div>;
}

export function Empty({ children }: { children: ComponentChildren }): JSX.Element {
  return <p class="empty">{children}</p>;
}

/** An instant: how long ago, with the exact time on demand. */
export function Time({ at }: { at: string | null | undefined }): JSX.Element {
  if (!at) return <span class="quiet">–</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {ago(at)}
    </time>
  );
}

/** A label of a kind, a layer or a state. */
export function Tag({ children, tone }: { children: ComponentChildren; tone?: string | undefined }): JSX.Element {
  return <span class={tone ? `tag ${tone}` : "tag"}>{children}</span>;
}

/** A text whose words that are also in the question are marked. */
export function Marked({ text, question }: { text: string; question: string }): JSX.Element {
  return (
    <>{highlight(text, question).map((piece, index) => (piece.mark ? <mark key={index}>{piece.text}</mark> : piece.text))}</>
  );
}

/** A value between 0 and 1 as a bar with its number. */
export function Meter({ value, label }: { value: number; label: string }): JSX.Element {
  return (
    <span class="meter">
      <span class="meter-bar" aria-hidden="true">
        <span style={{ width: `${Math.min(1, Math.max(0, value)) * 100}%` }} />
      </span>
      <span class="meter-value" title={`${label}: ${value}`}>
        {value.toFixed(2)}
      </span>
    </span>
  );
}

interface FieldProps {
  label: string;
  hint?: string | undefined;
  children: (id: string) => ComponentChildren;
  wide?: boolean;
}

/** An input with its label. */
export function Field({ label, hint, children, wide }: FieldProps): JSX.Element {
  const id = useId();
  return (
    <div class={wide ? "field wide" : "field"}>
      <label for={id}>{label}</label>
      {children(id)}
      {hint && <small>{hint}</small>}
    </div>
  );
}

interface TextProps {
  label: string;
  value: string;
  set: (value: string) => void;
  hint?: string;
  type?: string;
  placeholder?: string;
  list?: string[];
  wide?: boolean;
  required?: boolean;
  autofocus?: boolean;
}

export function TextField({ label, value, set, hint, list, wide, type = "text", autofocus, ...rest }: TextProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (autofocus) input.current?.focus();
  }, []);
  const names = useId();
  return (
    <Field label={label} hint={hint} wide={wide ?? false}>
      {(id) => (
        <>
          <input
            id={id}
            ref={input}
            type={type as "text"}
            value={value}
            onInput={(event) => set(event.currentTarget.value)}
            autocomplete="off"
            spellcheck={false}
            {...(list ? { list: names } : {})}
            {...rest}
          />
          {list && (
            <datalist id={names}>
              {list.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

export function TextArea({ label, value, set, rows = 4, hint }: TextProps & { rows?: number }): JSX.Element {
  return (
    <Field label={label} hint={hint} wide>
      {(id) => <textarea id={id} rows={rows} value={value} onInput={(event) => set(event.currentTarget.value)} />}
    </Field>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  set: (value: string) => void;
  options: readonly (string | readonly [value: string, text: string])[];
}

export function Choice({ label, value, set, options }: ChoiceProps): JSX.Element {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
          {options.map((option) => {
            const [name, text] = typeof option === "string" ? [option, option] : option;
            return (
              <option key={name} value={name} selected={name === value}>
                {text}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}

export function Check({ label, value, set }: { label: string; value: boolean; set: (value: boolean) => void }): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => set(event.currentTarget.checked)} /> {label}
    </label>
  );
}

/** A dialog above the page. The browser keeps the focus in it and closes it with Escape. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button class="plain" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

/** A button that runs something once at a time and says what came of it. */
export function Action({ run, children, tone, disabled }: {
  run: () => Promise<unknown>;
  children: ComponentChildren;
  tone?: "main" | "danger" | "plain";
  disabled?: boolean;
}): JSX.Element {
  const [busy, setBusy] = useState(false);
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      await run();
    } catch (error) {
      note(explain(error), true);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class={tone} disabled={busy || disabled} aria-busy={busy} onClick={() => void start()}>
      {children}
    </button>
  );
}

/** A failure as one sentence. */
export function explain(error: unknown): string {
  if (error instanceof ApiError) {
    if (error.isUnreachable) return "The server did not answer, so it is not certain that this was done. Look again when it is back.";
    return error.problem?.hint ? `${error.message}. ${error.problem.hint}` : error.message;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Puts a text into the clipboard. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }): JSX.Element {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 2_000);
  };
  return (
    <button type="button" class="plain copy" onClick={() => void copy().catch(() => note("The browser does not allow copying.", true))}>
      {done ? "Copied" : label}
    </button>
  );
}

/** Rows of a name and a value. */
export function Facts({ of }: { of: [name: string, value: ComponentChildren][] }): JSX.Element {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface TabsProps {
  label: string;
  tabs: readonly (readonly [id: string, text: string])[];
  value: string;
  set: (value: string) => void;
}

/** Tabs; the arrow keys move between them. */
export function Tabs({ label, tabs, value, set }: TabsProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(([id]) => id === value);
    const next = tabs[(at + step + tabs.length) % tabs.length]!;
    set(next[0]);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next[0]}"]`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map(([id, text]) => (
        <button
          key={id}
          role="tab"
          type="button"
          data-tab={id}
          aria-selected={id === value}
          tabIndex={id === value ? 0 : -1}
          onClick={() => set(id)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
