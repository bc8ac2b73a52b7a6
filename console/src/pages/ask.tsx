// Asking: a question, what is found and why, and the text that a prompt would get.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { call, type Filter, type Schemas, scopeBody } from "../lib/api";
import { DAY } from "../lib/decay";
import { notice, scope } from "../lib/session";
import { Shared, useShared } from "../lib/state";
import { count, day } from "../lib/text";
import { Choice, Copy, Empty, Failure, TextField } from "../ui/basics";
import { ExplanationView, ScoreBar } from "../ui/explanation";
import { MemoryRow } from "../ui/memory-row";

type Answer = Schemas["RecallAnswer"];

interface Question {
  text: string;
  strategy: Schemas["Strategy"];
  limit: string;
  kind: string;
  tags: string;
  /** Days from today: memory as it was, or the question as it would be asked then. */
  days: number;
  budget: string;
  format: Schemas["Format"];
}

const FIRST: Question = { text: "", strategy: "hybrid", limit: "10", kind: "", tags: "", days: 0, budget: "600", format: "bullets" };

/** Kept while other pages are shown, so that one comes back to the same results. */
const question = new Shared<Question>(FIRST);
const asked = new Shared<{ text: string; of: unknown; answer: Answer } | undefined>(undefined);
// Nothing of one scope or credential may be seen in another.
scope.subscribe(() => (asked.value = undefined));

const list = (text: string): string[] => text.split(",").map((part) => part.trim()).filter((part) => part !== "");

/** The slider is fine near today and coarse far away. */
const daysOf = (step: number): number => Math.sign(step) * Math.round((Math.abs(step) / 100) ** 2 * 730);
const stepOf = (days: number): number => Math.sign(days) * Math.round(Math.sqrt(Math.abs(days) / 730) * 100);

function requestOf(of: Question): Record<string, unknown> {
  const filter: Partial<Filter> = {};
  if (of.kind !== "") filter.kind = list(of.kind);
  if (of.tags !== "") filter.tags = list(of.tags);
  const then = of.days === 0 ? undefined : new Date(Date.now() + of.days * DAY).toISOString();
  if (then !== undefined && of.days < 0) filter.asOf = then;
  const budget = Number(of.budget);
  return {
    ...scopeBody(),
    query: of.text,
    strategy: of.strategy,
    limit: Number(of.limit) || 10,
    explain: true,
    ...(Object.keys(filter).length > 0 ? { filter } : {}),
    ...(then === undefined ? {} : { now: then }),
    ...(budget > 0 ? { pack: { budgetTokens: budget, format: of.format } } : {}),
  };
}

export function Ask(): JSX.Element {
  const now = useShared(question);
  const found = useShared(asked);
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const abort = useRef<AbortController | undefined>(undefined);
  const set = (part: Partial<Question>): void => void (question.value = { ...question.value, ...part });
  const ask = async (): Promise<void> => {
    if (question.value.text.trim() === "") return;
    abort.current?.abort();
    const mine = (abort.current = new AbortController());
    setBusy(true);
    setError(undefined);
    try {
      const answer = await call<Answer>("POST", "/v1/recall", { body: requestOf(question.value), signal: mine.signal });
      for (const one of answer.data) notice(one.memory.identifiers);
      asked.value = { text: question.value.text, of: scope.value, answer };
    } catch (problem) {
      if (!mine.signal.aborted) setError(problem as Error);
    } finally {
      if (abort.current === mine) setBusy(false);
    }
  };
  // A change of the day is asked again at once, as soon as the slider rests.
  const rested = useRef(now.days);
  useEffect(() => {
    if (rested.current === now.days) return;
    rested.current = now.days;
    const timer = setTimeout(() => void (asked.value && ask()), 250);
    return () => clearTimeout(timer);
  }, [now.days]);
  return (
    <>
      <h1>Ask</h1>
      <form
        class="ask"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <div class="ask-line">
          <input
            data-question
            aria-label="Question"
            placeholder="What do you want to know?"
            value={now.text}
            onInput={(event) => set({ text: event.currentTarget.value })}
            type="search"
            maxLength={8192}
            autocomplete="off"
          />
          <button class="main" type="submit" disabled={busy}>
            Ask
          </button>
        </div>
        <div class="fields compact ask-fields">
          <Choice
            label="strategy"
            value={now.strategy}
            set={(strategy) => set({ strategy: strategy as Question["strategy"] })}
            options={["hybrid", "semantic", "lexical", "recency", "importance"]}
          />
          <TextField label="kinds" value={now.kind} set={(kind) => set({ kind })} placeholder="fact, task" />
          <TextField label="tags" value={now.tags} set={(tags) => set({ tags })} placeholder="any of these" />
          <TextField label="at most" value={now.limit} set={(limit) => set({ limit })} type="number" />
          <TextField label="prompt tokens" value={now.budget} set={(budget) => set({ budget })} type="number" />
          <Choice
            label="prompt format"
            value={now.format}
            set={(format) => set({ format: format as Question["format"] })}
            options={["bullets", "markdown", "messages", "json"]}
          />
          <AsOf days={now.days} set={(days) => set({ days })} />
        </div>
      </form>
      {error && <Failure error={error} again={() => void ask()} />}
      {found ? (
        <Answered question={found.text} answer={found.answer} busy={busy} />
      ) : (
        !error && <Empty>{busy ? "Looking …" : "Ask in plain words. Each result shows why it was found, and what a prompt would get of it."}</Empty>
      )}
    </>
  );
}

function AsOf({ days, set }: { days: number; set: (days: number) => void }): JSX.Element {
  const when = days === 0 ? "today" : day(Date.now() + days * DAY);
  return (
    <div class="field as-of">
      <label for="as-of">
        as of <b>{when}</b>
        {days !== 0 && (
          <button type="button" class="plain" onClick={() => set(0)}>
            today
          </button>
        )}
      </label>
      <input
        id="as-of"
        type="range"
        min={-100}
        max={100}
        value={stepOf(days)}
        aria-valuetext={when}
        onInput={(event) => set(daysOf(Number(event.currentTarget.value)))}
      />
    </div>
  );
}

const VERDICT = {
  yes: "These results are likely to answer the question.",
  unsure: "These results may answer the question; it is not certain.",
  no: "Nothing known answers this question.",
};

function Answered({ question, answer, busy }: { question: string; answer: Answer; busy: boolean }): JSX.Element {
  const verdict = answer.data.length === 0 ? "no" : answer.answered;
  return (
    <div class={busy ? "answer reloading" : "answer"}>
      <section aria-label="Results">
        <p class={`verdict ${verdict}`} role="status">
          <b>{VERDICT[verdict]}</b>{" "}
          <span class="quiet">
            {count(answer.data.length, "result")}, certainty {Math.round(answer.confidence * 100)} %
            {answer.degraded.length > 0 && `, without ${answer.degraded.join(" and ")}`}
          </span>
        </p>
        <ol class="hits">
          {answer.data.map((hit) => (
            <Hit key={hit.memory.id} hit={hit} question={question} />
          ))}
        </ol>
      </section>
      {answer.pack && <Packed pack={answer.pack} />}
    </div>
  );
}

function Hit({ hit, question }: { hit: Schemas["RecallResult"]; question: string }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <li class="hit">
      <MemoryRow memory={hit.memory} question={question}>
        <div class="hit-score">
          {hit.explain ? <ScoreBar explain={hit.explain} score={hit.score} /> : <b>{hit.score.toFixed(2)}</b>}
          {hit.explain && (
            <button class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? "Hide why" : "Why"}
            </button>
          )}
        </div>
        {hit.newer && (
          <p class="newer">
            A later statement may contradict it: “{hit.newer.text}”
          </p>
        )}
        {open && hit.explain && <ExplanationView explain={hit.explain} score={hit.score} question={question} />}
      </MemoryRow>
    </li>
  );
}

function Packed({ pack }: { pack: Schemas["RecallPack"] }): JSX.Element {
  return (
    <section class="packed" aria-label="Prompt">
      <h2>
        In a prompt <Copy text={pack.text} />
      </h2>
      <p class="budget">
        <span class="clue-bar" aria-hidden="true">
          <span style={{ width: `${Math.min(1, pack.tokens / Math.max(1, pack.budgetTokens)) * 100}%` }} />
        </span>
        <span>
          {pack.tokens} of {pack.budgetTokens} tokens
        </span>
      </p>
      {pack.text === "" ? <Empty>Nothing would be put into the prompt.</Empty> : <pre tabIndex={0}>{pack.text}</pre>}
      <p class="quiet">
        {count(pack.cited.length, "memory", "memories")} cited
        {pack.shortened.length > 0 && `, ${pack.shortened.length} shortened`}
        {pack.leftOut.length > 0 && `, ${pack.leftOut.length} left out for want of room`}
      </p>
    </section>
  );
}
