// What maintenance would do on some day, and running it.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call, type Schemas, write } from "../../lib/api";
import { DAY } from "../../lib/decay";
import { link } from "../../lib/route";
import { count, day } from "../../lib/text";
import { Action, Dialog, Empty, Failure, note } from "../../ui/basics";

type Report = Schemas["MaintainReport"];

/** The days that are offered, counted from today. */
const WHEN: [string, number][] = [["today", 0], ["in a month", 30], ["next year", 365], ["in five years", 1826]];

export function Maintenance(): JSX.Element {
  const [report, setReport] = useState<Report>();
  const [error, setError] = useState<Error>();
  const [sure, setSure] = useState(false);
  const plan = (days: number) => async (): Promise<void> => {
    setError(undefined);
    const now = days === 0 ? {} : { now: new Date(Date.now() + days * DAY).toISOString() };
    try {
      setReport(await call<Report>("POST", "/v1/maintenance", { body: { dryRun: true, ...now } }));
    } catch (problem) {
      setError(problem as Error);
    }
  };
  return (
    <>
      <p class="quiet">Maintenance lets memories fade, learns from sessions that have ended, and tidies up. A look into the future changes nothing.</p>
      <div class="actions" role="group" aria-label="What would be done">
        {WHEN.map(([name, days]) => (
          <Action key={name} run={plan(days)}>
            {days === 0 ? "What would be done today?" : `… ${name}?`}
          </Action>
        ))}
        <button class="danger" onClick={() => setSure(true)}>
          Run it now …
        </button>
      </div>
      {error && <Failure error={error} />}
      {report && <Plan report={report} />}
      {sure && (
        <Dialog title="Run maintenance" close={() => setSure(false)}>
          <p>Everything that a dry run of today shows is done now. Deleted memories can be restored for a while.</p>
          <div class="actions">
            <Action
              tone="danger"
              run={async () => {
                const done = await write<Report>("POST", "/v1/maintenance", { dryRun: false });
                setReport(done);
                setSure(false);
                note(`Done: ${count(done.steps.reduce((sum, step) => sum + step.changes, 0), "change")}.`);
              }}
            >
              Run it
            </Action>
            <button onClick={() => setSure(false)}>Cancel</button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function Plan({ report }: { report: Report }): JSX.Element {
  const busy = report.steps.filter((step) => step.changes > 0 || step.aged > 0 || step.problem);
  return (
    <section aria-label="Report">
      <h2>{report.dryRun ? `On ${day(report.now)} this would be done` : "This was done"}</h2>
      {busy.length === 0 && <Empty>Nothing.</Empty>}
      {busy.map((step) => (
        <details key={step.step} class="card" open={step.planned.length > 0}>
          <summary>
            <b>{step.step}</b>{" "}
            <span class="quiet">
              {count(step.changes, "change")}
              {step.aged > 0 && `, ${step.aged} only aged`}
            </span>
          </summary>
          {step.problem && <p class="failure">{step.problem}</p>}
          <ul class="plain-list rows">
            {step.planned.slice(0, 100).map((action, index) => (
              <li key={index}>
                <b>{action.action}</b> {action.id ? <a href={link("memory", action.id)}>{action.about}</a> : action.about}{" "}
                <span class="quiet">{action.why}</span>
              </li>
            ))}
            {step.planned.length > 100 && <li class="quiet">and {step.planned.length - 100} more</li>}
          </ul>
        </details>
      ))}
    </section>
  );
}
