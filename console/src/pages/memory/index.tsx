// One memory: what it says, how sure it is and for how long, where it comes from, and what may be done with it.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { get, type LedgerEntry, type Memory, pathPart, type Schemas, scopeQuery } from "../../lib/api";
import { type Thresholds, DECAYED_BELOW, PRUNE_BELOW } from "../../lib/decay";
import { memoriesOf, memoryOf } from "../../lib/memories";
import { link, route } from "../../lib/route";
import { may, notice } from "../../lib/session";
import { useLoad, useShared } from "../../lib/state";
import { instant, words } from "../../lib/text";
import { Empty, Facts, Load, Meter, Tabs, Tag, Time } from "../../ui/basics";
import { MemoryRow, ScopeTags, stateTone } from "../../ui/memory-row";
import { MemoryActions } from "./actions";
import { Chain } from "./chain";
import { DecayView } from "./decay-view";
import { History } from "./history";

export interface Whole {
  memory: Memory;
  /** Absent while the memory is deleted: then nothing is said of where it comes from. */
  provenance: Schemas["Provenance"] | undefined;
  history: LedgerEntry[];
  /** Memories that were learned from this one. */
  learned: Memory[];
  thresholds: Thresholds;
}

async function load(id: string, signal: AbortSignal): Promise<Whole> {
  const memory = await memoryOf(id, signal);
  notice(memory.identifiers);
  const path = `/v1/memories/${pathPart(memory.id)}`;
  const [provenance, history, thresholds] = await Promise.all([
    get<Schemas["Provenance"]>(`${path}/provenance`, scopeQuery(), signal).catch(() => undefined),
    get<Schemas["LedgerEntryPage"]>(`${path}/history`, { ...scopeQuery(), limit: 500 }, signal).then((page) => page.data),
    thresholdsOf(signal),
  ]);
  const taught = (provenance?.edges ?? []).filter((edge) => edge.relation === "derived_from" && edge.targetId === memory.id);
  const learned = await memoriesOf(taught.map((edge) => edge.sourceId), signal);
  return { memory, provenance, history, learned, thresholds };
}

let known: Thresholds | undefined;

/** The limits of the settings; those who may not read the settings get the usual ones. */
async function thresholdsOf(signal: AbortSignal): Promise<Thresholds> {
  if (known) return known;
  const usual = { decayedBelow: DECAYED_BELOW, pruneBelow: PRUNE_BELOW };
  if (!may("admin")) return usual;
  type Settings = { lifecycle?: { decayed_below?: number; prune_below?: number } };
  const settings = await get<Settings>("/v1/config", {}, signal).catch((): Settings => ({}));
  known = {
    decayedBelow: settings.lifecycle?.decayed_below ?? usual.decayedBelow,
    pruneBelow: settings.lifecycle?.prune_below ?? usual.pruneBelow,
  };
  return known;
}

export function MemoryPage(): JSX.Element {
  const id = useShared(route).rest[0] ?? "";
  const whole = useLoad((signal) => load(id, signal), [id]);
  return (
    <>
      <h1 class="visually-hidden">Memory</h1>
      <Load of={whole}>{(data) => <MemoryView whole={data} reload={whole.reload} />}</Load>
    </>
  );
}

const TABS = [
  ["about", "About"],
  ["history", "History"],
  ["chain", "Versions"],
  ["sources", "Sources"],
  ["links", "Links"],
  ["fields", "All fields"],
] as const;

function MemoryView({ whole, reload }: { whole: Whole; reload: () => void }): JSX.Element {
  const { memory, provenance } = whole;
  const [tab, setTab] = useState("about");
  return (
    <article class="memory">
      <p class="memory-facts">
        <Tag tone="kind">{memory.kind}</Tag>
        <Tag tone={stateTone(memory.state)}>{words(memory.state)}</Tag>
        {memory.pinned && <Tag>pinned</Tag>}
        {memory.supersededById && (
          <a href={link("memory", memory.supersededById)}>
            <Tag tone="warn">replaced by a newer one</Tag>
          </a>
        )}
        <ScopeTags of={memory.identifiers} />
        {memory.tags.map((tag) => (
          <Tag key={tag}>#{tag}</Tag>
        ))}
      </p>
      <p class="statement">{memory.content}</p>
      {provenance?.newer && (
        <p class="newer">
          A later statement may contradict it: <a href={link("memory", provenance.newer.id)}>{provenance.newer.text}</a>{" "}
          <a href={link("decide", "contradictions")}>Decide</a>
        </p>
      )}
      <MemoryActions memory={memory} history={whole.history} reload={reload} />
      <Tabs label="Parts of this memory" tabs={TABS} value={tab} set={setTab} />
      <div role="tabpanel" aria-label={TABS.find(([name]) => name === tab)?.[1]} class="panel">
        {tab === "about" && <About whole={whole} />}
        {tab === "history" && <History entries={whole.history} memory={memory} reload={reload} />}
        {tab === "chain" && <Chain memories={provenance?.chain ?? [memory]} now={memory.id} />}
        {tab === "sources" && <Sources whole={whole} />}
        {tab === "links" && <Links whole={whole} />}
        {tab === "fields" && <pre tabIndex={0}>{JSON.stringify(memory, null, 2)}</pre>}
      </div>
    </article>
  );
}

function About({ whole }: { whole: Whole }): JSX.Element {
  const { memory } = whole;
  return (
    <div class="two">
      <section>
        <h2>Scores</h2>
        <Facts
          of={[
            ["importance", <Meter value={memory.importance} label="importance" />],
            ["confidence", <Meter value={memory.confidence} label="confidence, as it was last written" />],
            ["relevance", <Meter value={memory.relevance} label="relevance" />],
            ["used", `${memory.accessCount} times`],
          ]}
        />
        <h2>Times</h2>
        <Facts
          of={[
            ["said", <Time at={memory.saidAt ?? memory.createdAt} />],
            ...(memory.eventTime ? [["happened", instant(memory.eventTime)] as [string, string]] : []),
            ...(memory.validFrom ? [["true since", instant(memory.validFrom)] as [string, string]] : []),
            ...(memory.validUntil ? [["true until", instant(memory.validUntil)] as [string, string]] : []),
            ["added", <Time at={memory.createdAt} />],
            ["changed", <Time at={memory.updatedAt} />],
            ["last used", <Time at={memory.lastAccessedAt} />],
            ...(memory.expiresAt ? [["expires", instant(memory.expiresAt)] as [string, string]] : []),
            ...(memory.purgeAt ? [["removed for good", instant(memory.purgeAt)] as [string, string]] : []),
          ]}
        />
      </section>
      <section>
        <h2>How long it lasts</h2>
        <DecayView memory={memory} history={whole.history} thresholds={whole.thresholds} />
      </section>
    </div>
  );
}

function Sources({ whole }: { whole: Whole }): JSX.Element {
  const { memory, provenance, learned } = whole;
  const sources = provenance?.sources ?? [];
  return (
    <>
      <h2>Learned from</h2>
      {memory.source && (
        <p class="quiet">
          {words(memory.source.type)}
          {memory.source.role ? `, ${words(memory.source.role)}` : ""}
          {memory.source.reference ? `, ${memory.source.reference}` : ""}
          {memory.identifiers.sessionId && (
            <>
              {" · "}
              <a href={link("sessions", memory.identifiers.sessionId)}>the whole session</a>
            </>
          )}
        </p>
      )}
      {sources.length === 0 ? <Empty>It was written as it is.</Empty> : sources.map((one) => <MemoryRow key={one.id} memory={one} />)}
      <h2>What was learned from it</h2>
      {learned.length === 0 ? <Empty>Nothing so far.</Empty> : learned.map((one) => <MemoryRow key={one.id} memory={one} />)}
      {provenance && provenance.entities.length > 0 && (
        <>
          <h2>Mentions</h2>
          <p>
            {provenance.entities.map((entity) => (
              <a key={entity.id} class="entity-link" href={link("entities", entity.id)}>
                {entity.canonicalName} <span class="quiet">{entity.entityType}</span>
              </a>
            ))}
          </p>
        </>
      )}
    </>
  );
}

function Links({ whole }: { whole: Whole }): JSX.Element {
  const { memory, provenance } = whole;
  const edges = provenance?.edges ?? [];
  const others = [...new Set(edges.map((edge) => (edge.sourceId === memory.id ? edge.targetId : edge.sourceId)))];
  const texts = useLoad((signal) => memoriesOf(others, signal), [others]);
  if (edges.length === 0) return <Empty>It is linked to nothing.</Empty>;
  return (
    <>
      <p>
        <a href={link("graph", memory.id)}>Show the neighbourhood as a graph</a>
      </p>
      <ul class="plain-list rows">
        {edges.map((edge) => {
          const out = edge.sourceId === memory.id;
          const other = out ? edge.targetId : edge.sourceId;
          return (
            <li key={edge.id}>
              <span class="quiet">
                {out ? "→" : "←"} {words(edge.predicate ?? edge.relation)} {edge.strength.toFixed(2)}
              </span>{" "}
              <a href={link("memory", other)}>{texts.data?.find((one) => one.id === other)?.content ?? other}</a>
            </li>
          );
        })}
      </ul>
    </>
  );
}
