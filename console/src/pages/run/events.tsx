// Changes as they happen. After a break the stream goes on where it was.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { ApiError, type Schemas, scopeQuery, send } from "../../lib/api";
import { eachLine } from "../../lib/lines";
import { link } from "../../lib/route";
import { isChosen, scope } from "../../lib/session";
import { cut, exact, words } from "../../lib/text";
import { Empty, Tag } from "../../ui/basics";

type Item = Schemas["LedgerItem"];
const MOST = 200;
const times = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** Follows the stream until the signal ends it. */
async function follow(signal: AbortSignal, take: (item: Item) => void, state: (text: string) => void): Promise<void> {
  let last = "";
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = last === "" ? {} : { "last-event-id": last };
      const response = await send("GET", "/v1/events", { query: scopeQuery(), signal, headers });
      state("live");
      let data = "";
      await eachLine(response, (line) => {
        if (line.startsWith("data:")) data += line.slice(5);
        else if (line.startsWith("id:")) last = line.slice(3).trim();
        else if (line === "") {
          if (data.startsWith("{", 0) || data.startsWith(" {")) take(JSON.parse(data) as Item);
          data = "";
        }
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !error.isUnreachable) {
        state(error.message);
        return;
      }
    }
    state("interrupted; trying again …");
    await new Promise((done) => setTimeout(done, 1_000));
  }
}

export function Events(): JSX.Element {
  const [items, setItems] = useState<Item[]>([]);
  const [state, setState] = useState("connecting …");
  const [paused, setPaused] = useState(false);
  useEffect(() => {
    if (paused || !isChosen(scope.value)) return;
    const abort = new AbortController();
    const take = (item: Item): void => setItems((now) => [item, ...now].slice(0, MOST));
    void follow(abort.signal, take, setState);
    return () => abort.abort();
  }, [paused]);
  if (!isChosen(scope.value)) return <Empty>Choose whose changes you want to see, at the top of the page.</Empty>;
  return (
    <>
      <div class="toolbar">
        <Tag tone={!paused && state === "live" ? "good" : "warn"}>{paused ? "paused" : state}</Tag>
        <button onClick={() => setPaused(!paused)}>{paused ? "Go on" : "Pause"}</button>
        {items.length > 0 && (
          <button class="plain" onClick={() => setItems([])}>
            Clear
          </button>
        )}
      </div>
      {items.length === 0 ? (
        <Empty>Changes appear here as they happen.</Empty>
      ) : (
        <ol class="stream" aria-live="off">
          {items.map((item) => (
            <li key={`${item.space} ${item.sequence}`}>
              <time dateTime={item.createdAt} title={exact(item.createdAt)} class="quiet">
                {times.format(new Date(item.createdAt))}
              </time>
              <b>{words(item.event.toLowerCase())}</b>
              <span>
                {item.memoryId ? <a href={link("memory", item.memoryId)}>{cut(item.content ?? item.memoryId, 140)}</a> : (item.content ?? "")}{" "}
                <span class="quiet">{item.reason}</span>
              </span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
