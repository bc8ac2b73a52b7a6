// Changing or forgetting many memories at once. A dry run says first how many would be changed, and which.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, type Schemas, scopeBody, write } from "../../lib/api";
import { memoriesOf } from "../../lib/memories";
import { count } from "../../lib/text";
import { Action, Choice, Dialog, Failure, note, TextField } from "../../ui/basics";

type Result = Schemas["FilterResult"];

/** What is changed: the field, how it is called, and how its text becomes a value. */
const CHANGES: Record<string, { label: string; value: (text: string) => unknown }> = {
  importance: { label: "importance (0 to 1)", value: Number },
  tags: { label: "tags, separated by commas; they replace the present ones", value: (text) => text.split(",").map((tag) => tag.trim()).filter(Boolean) },
  category: { label: "category; empty removes it", value: (text) => text || null },
  kind: { label: "kind", value: (text) => text },
};

export function Bulk({ filter, whole, close, done }: {
  filter: Record<string, unknown>;
  /** Whether the filter has no conditions, and stands for all memories of the scope. */
  whole: boolean;
  close: () => void;
  done: () => void;
}): JSX.Element {
  const [what, setWhat] = useState("forget");
  const [value, setValue] = useState("");
  const [plan, setPlan] = useState<{ result: Result; texts: string[] }>();
  const [error, setError] = useState<Error>();
  const request = (dryRun: boolean): { path: string; body: Record<string, unknown> } => {
    const common = { ...scopeBody(), filter, all: whole, dryRun, ...(dryRun ? {} : { expected: plan?.result.matched }) };
    if (what === "forget") return { path: "/v1/memories/delete", body: { ...common, ...(value ? { reason: value } : {}) } };
    const changes = what === "pin" || what === "unpin" ? { pinned: what === "pin" } : { [what]: CHANGES[what]!.value(value) };
    return { path: "/v1/memories/update", body: { ...common, changes } };
  };
  const preview = async (): Promise<void> => {
    setError(undefined);
    try {
      const { path, body } = request(true);
      const result = await call<Result>("POST", path, { body });
      const memories = await memoriesOf(result.data);
      setPlan({ result, texts: memories.map((memory) => memory.content) });
    } catch (problem) {
      setError(problem as Error);
    }
  };
  const run = async (): Promise<void> => {
    setError(undefined);
    try {
      const { path, body } = request(false);
      const result = await write<Result>("POST", path, body);
      const failed = result.failed.length > 0 ? `; ${count(result.failed.length, "memory was", "memories were")} left as they are` : "";
      note(`${count(result.changed, "memory", "memories")} changed${failed}.`, result.failed.length > 0);
      done();
    } catch (problem) {
      setError(problem as Error);
    }
  };
  const choose = (next: string): void => {
    setWhat(next);
    setPlan(undefined);
  };
  return (
    <Dialog title="Change many" close={close}>
      <div class="fields">
        <Choice
          label="what"
          value={what}
          set={choose}
          options={[["forget", "forget"], ["pin", "pin"], ["unpin", "unpin"], ["importance", "set the importance"], ["tags", "set the tags"], ["category", "set the category"], ["kind", "set the kind"]]}
        />
        {what !== "pin" && what !== "unpin" && (
          <TextField
            label={CHANGES[what]?.label ?? "reason"}
            value={value}
            set={(text) => {
              setValue(text);
              setPlan(undefined);
            }}
            wide
          />
        )}
      </div>
      {plan && (
        <div class="plan" role="status">
          <p>
            <b>{count(plan.result.matched, "memory", "memories")}</b> would be {what === "forget" ? "forgotten" : "changed"}
            {plan.result.truncated && ", the first 10,000 of them at once"}.
          </p>
          <ul>
            {plan.texts.map((text, index) => (
              <li key={index}>{text}</li>
            ))}
            {plan.result.matched > plan.texts.length && <li class="quiet">and {plan.result.matched - plan.texts.length} more</li>}
          </ul>
        </div>
      )}
      {error && <Failure error={error} />}
      <div class="actions">
        <Action tone={plan ? "plain" : "main"} run={preview}>
          Dry run
        </Action>
        <Action tone={what === "forget" ? "danger" : "main"} run={run} disabled={!plan || plan.result.matched === 0}>
          {what === "forget" ? "Forget them" : "Change them"}
        </Action>
        <button onClick={close}>Cancel</button>
      </div>
      <p class="quiet">If the number has changed since the dry run, nothing is done.</p>
    </Dialog>
  );
}
