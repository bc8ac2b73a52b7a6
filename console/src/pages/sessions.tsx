// Sessions: what was said, turn by turn, and what each turn taught.
import type { JSX } from "preact";

import { get, type Memory, type Page, pathPart, type Schemas, scopeQuery, write } from "../lib/api";
import { memoriesOf } from "../lib/memories";
import { link, route } from "../lib/route";
import { may, notice } from "../lib/session";
import { useLoad, useShared } from "../lib/state";
import { count } from "../lib/text";
import { Action, Empty, Load, note, Tag, Time } from "../ui/basics";
import { MemoryRow } from "../ui/memory-row";

type Session = Schemas["Session"];

export function Sessions(): JSX.Element {
  const named = useShared(route).rest[0];
  const sessions = useLoad(async (signal) => {
    // The list begins with those that are quiet longest; people look for the latest.
    const found: Session[] = [];
    let cursor: string | undefined;
    do {
      const page = await get<Page<Session>>("/v1/sessions", { ...scopeQuery(), limit: 1000, cursor }, signal);
      found.push(...page.data);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && found.length < 5_000);
    return found.reverse();
  }, []);
  return (
    <>
      <h1>Sessions</h1>
      <Load of={sessions}>
        {(found) => {
          const chosen = named ?? found[0]?.sessionId;
          return chosen === undefined ? (
            <Empty>No conversation was kept yet.</Empty>
          ) : (
            <div class="master">
              <nav aria-label="Sessions">
                <ul class="master-list">
                  {found.map((one) => (
                    <li key={`${one.scope} ${one.sessionId}`}>
                      <a data-row href={link("sessions", one.sessionId)} aria-current={one.sessionId === chosen ? "true" : undefined}>
                        <b>{one.sessionId}</b>
                        <br />
                        <span class="quiet">
                          {one.scope}, <Time at={one.updatedAt} />
                          {one.pending && ", not learned from yet"}
                        </span>
                      </a>
                    </li>
                  ))}
                </ul>
              </nav>
              <SessionView key={chosen} id={chosen} reload={sessions.reload} />
            </div>
          );
        }}
      </Load>
    </>
  );
}

interface Conversation {
  session: Session;
  turns: Memory[];
  more: boolean;
  /** Memories by the turn that they were learned from. */
  taught: Map<string, Memory[]>;
}

async function load(id: string, signal: AbortSignal): Promise<Conversation> {
  const scoped = scopeQuery();
  const filter = { "filter.sessionId": id, state: ["active", "decayed", "archived"], superseded: true, limit: 500 };
  const [session, page] = await Promise.all([
    get<Session>(`/v1/sessions/${pathPart(id)}`, scoped, signal),
    get<Page<Memory>>("/v1/memories", { ...scoped, ...filter }, signal),
  ]);
  for (const memory of page.data) notice(memory.identifiers);
  const turns = page.data.filter((memory) => memory.source?.type === "conversation").reverse();
  const taught = new Map<string, Memory[]>();
  const learned = page.data.filter((memory) => memory.source?.type === "consolidation");
  await Promise.all(
    learned.slice(0, 100).map(async (memory) => {
      const query = { ...scoped, relation: "derived_from", limit: 50 };
      const edges = await get<Page<Schemas["Edge"]>>(`/v1/memories/${memory.id}/edges`, query, signal);
      for (const edge of edges.data) {
        if (edge.sourceId === memory.id) taught.set(edge.targetId, [...(taught.get(edge.targetId) ?? []), memory]);
      }
    }),
  );
  const missing = [...taught.keys()].filter((turn) => !turns.some((one) => one.id === turn));
  turns.push(...(await memoriesOf(missing, signal)));
  return { session, turns, more: Boolean(page.nextCursor), taught };
}

function SessionView({ id, reload }: { id: string; reload: () => void }): JSX.Element {
  const conversation = useLoad((signal) => load(id, signal), [id]);
  return (
    <section aria-label={`Session ${id}`}>
      <Load of={conversation}>
        {(data) => (
          <>
            <p class="memory-facts">
              <Tag>{data.session.scope}</Tag>
              <Tag tone={data.session.endedAt ? undefined : "good"}>{data.session.endedAt ? "ended" : "open"}</Tag>
              {data.session.pending && <Tag tone="warn">not learned from yet</Tag>}
              <span>
                begun <Time at={data.session.createdAt} />
              </span>
              {data.session.consolidatedAt && (
                <span>
                  learned from <Time at={data.session.consolidatedAt} />
                </span>
              )}
            </p>
            {may("writer") && (
              <SessionActions
                conversation={data}
                done={() => {
                  conversation.reload();
                  reload();
                }}
              />
            )}
            {data.more && <p class="quiet">The newest 500 turns are shown.</p>}
            <ol class="turns">
              {data.turns.map((turn) => (
                <Turn key={turn.id} turn={turn} taught={data.taught.get(turn.id) ?? []} />
              ))}
            </ol>
          </>
        )}
      </Load>
    </section>
  );
}

function SessionActions({ conversation, done }: { conversation: Conversation; done: () => void }): JSX.Element {
  const { session, turns } = conversation;
  // A session belongs to the owner of its turns, who must be named to write.
  const { sessionId: _, ...owner } = (turns[0]?.identifiers ?? {}) as Record<string, string>;
  const path = `/v1/sessions/${pathPart(session.sessionId)}`;
  return (
    <div class="actions">
      <Action
        run={async () => {
          const report = await write<Schemas["ConsolidationReport"]>("POST", `${path}/learn`, { identifiers: owner, again: false, wait: true });
          note(`Learned: ${report.added} added, ${report.superseded} replaced, ${report.proposed} wait for consent.`);
          done();
        }}
      >
        Learn from it now
      </Action>
      {!session.endedAt && (
        <Action
          run={async () => {
            await write("POST", `${path}/end`, { identifiers: owner });
            note("Ended; it will be learned from.");
            done();
          }}
        >
          End
        </Action>
      )}
      <span class="quiet">{count(turns.length, "turn")}</span>
    </div>
  );
}

function Turn({ turn, taught }: { turn: Memory; taught: Memory[] }): JSX.Element {
  return (
    <li class={turn.role === "user" ? undefined : "assistant"}>
      <p class="memory-facts">
        <b>{turn.actorId ?? turn.role}</b> <Time at={turn.saidAt ?? turn.createdAt} />
        <a href={link("memory", turn.id)}>open</a>
      </p>
      <p class="turn-text">{turn.content}</p>
      {taught.length > 0 && (
        <div class="taught">
          <span class="quiet">taught</span>
          {taught.map((memory) => (
            <MemoryRow key={memory.id} memory={{ ...memory, identifiers: {} }} />
          ))}
        </div>
      )}
    </li>
  );
}
