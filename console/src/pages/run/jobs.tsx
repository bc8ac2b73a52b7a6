// Background jobs: those that wait, and those that failed for good.
import type { JSX } from "preact";

import { get, type Page, pathPart, remove, type Schemas, write } from "../../lib/api";
import { useLoad } from "../../lib/state";
import { Action, Empty, Load, note, Tag, Time } from "../../ui/basics";

type Job = Schemas["JobRecord"];

export function Jobs(): JSX.Element {
  const jobs = useLoad((signal) => get<Page<Job>>("/v1/jobs", { limit: 200 }, signal), []);
  const path = (job: Job): string => `/v1/jobs/${pathPart(job.space)}/${job.id}`;
  return (
    <>
      <p class="quiet">Work that is done after the answer: vectors, links, learning from sessions. A job that fails eight times is dead until someone tries it again.</p>
      <div class="actions">
        <Action
          tone="main"
          run={async () => {
            const report = await write<Schemas["JobRunReport"]>("POST", "/v1/jobs/run", { limit: 100 });
            note(`${report.done} done, ${report.failed} failed, ${report.waiting} still wait; ${report.vectors} vectors computed.`);
            jobs.reload();
          }}
        >
          Run waiting jobs now
        </Action>
        <button class="plain" onClick={jobs.reload}>
          Load again
        </button>
      </div>
      <Load of={jobs}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty>No job waits, and none is dead.</Empty>
          ) : (
            <div class="scroll">
              <table class="list">
                <thead>
                  <tr>
                    <th>job</th>
                    <th>state</th>
                    <th>attempts</th>
                    <th>since</th>
                    <th>last failure</th>
                    <th>
                      <span class="visually-hidden">actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {page.data.map((job) => (
                    <tr key={`${job.space} ${job.id}`}>
                      <th scope="row">
                        {job.kind} <span class="quiet">{job.space}</span>
                      </th>
                      <td>
                        <Tag tone={job.state === "dead" ? "bad" : undefined}>{job.state}</Tag>
                      </td>
                      <td class="num">{job.attempts}</td>
                      <td>
                        <Time at={job.createdAt} />
                      </td>
                      <td>{job.lastError ?? "–"}</td>
                      <td>
                        <Action
                          tone="plain"
                          run={async () => {
                            await write("POST", `${path(job)}/retry`);
                            jobs.reload();
                          }}
                        >
                          Try again
                        </Action>
                        <Action
                          tone="plain"
                          run={async () => {
                            await remove(path(job));
                            jobs.reload();
                          }}
                        >
                          Remove
                        </Action>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Load>
    </>
  );
}
