// Memories and their links as a graph: around one memory, or all of the scope.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type GraphData, joined, linked, MOST, neighbourhood, RELATIONS, wholeScope } from "../lib/graph-data";
import { go, link, route } from "../lib/route";
import { useLoad, useShared } from "../lib/state";
import { count, day, words } from "../lib/text";
import { Choice, Empty, explain, Load, note } from "../ui/basics";
import { Drawing, kindColour, kindsOf } from "../ui/drawing";
import { onColours } from "../ui/theme";

export function Graph(): JSX.Element {
  const id = useShared(route).rest[0];
  const [depth, setDepth] = useState("2");
  const data = useLoad((signal) => (id ? neighbourhood(id, Number(depth), signal) : wholeScope(signal)), [id, depth]);
  return (
    <>
      <h1>Graph</h1>
      {id && (
        <div class="fields compact">
          <Choice label="steps" value={depth} set={setDepth} options={["1", "2", "3"]} />
        </div>
      )}
      <p>
        {id ? (
          <a href={link("graph")}>Show all memories of this scope</a>
        ) : (
          <span class="quiet">All memories of this scope. Open one memory to see only what is around it.</span>
        )}
      </p>
      <Load of={data}>
        {(found) => (found.nodes.length === 0 ? <Empty>Nothing is linked yet.</Empty> : <View key={`${id} ${depth}`} first={found} centre={id} />)}
      </Load>
    </>
  );
}

function View({ first, centre }: { first: GraphData; centre: string | undefined }): JSX.Element {
  const [whole, setWhole] = useState(first);
  const [alone, setAlone] = useState(false);
  // What is linked to nothing says little in a graph, and there is much of it.
  const data = useMemo(() => (alone ? whole : linked(whole, centre)), [whole, alone, centre]);
  const [hidden, setHidden] = useState(new Set<string>());
  const [chosen, setChosen] = useState(centre);
  const [share, setShare] = useState(100);
  const place = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | undefined>(undefined);
  const latest = useRef(data);
  latest.current = data;
  const times = data.nodes.map((node) => node.time);
  const [oldest, newest] = times.reduce(([low, high], time) => [Math.min(low, time), Math.max(high, time)], [Infinity, -Infinity]);
  const until = share === 100 ? Infinity : oldest + ((newest - oldest) * share) / 100;
  const expand = async (id: string): Promise<void> => {
    try {
      const around = await neighbourhood(id, 1);
      setWhole((now) => joined(now, around));
      setChosen(id);
    } catch (error) {
      note(explain(error), true);
    }
  };
  useEffect(() => {
    const made = new Drawing(place.current!, setChosen, (id) => void expand(id));
    drawing.current = made;
    const unsubscribe = onColours(() => made.recolour(latest.current));
    return () => {
      unsubscribe();
      made.destroy();
      drawing.current = undefined;
    };
  }, []);
  useEffect(() => drawing.current?.draw(data), [data]);
  useEffect(() => drawing.current?.show({ hidden, until, chosen }), [data, hidden, until, chosen]);
  const node = data.nodes.find((one) => one.id === chosen);
  const relations = Object.keys(RELATIONS).filter((name) => data.edges.some((edge) => edge.relation === name));
  const toggle = (name: string): void => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };
  return (
    <>
      <div class="legend" role="group" aria-label="Links">
        {relations.map((name) => (
          <label class="check" key={name}>
            <input type="checkbox" checked={!hidden.has(name)} onChange={() => toggle(name)} />
            <span class="key" aria-hidden="true" style={{ background: `var(--${RELATIONS[name]})` }} />
            {words(name)} <span class="quiet">{data.edges.filter((edge) => edge.relation === name).length}</span>
          </label>
        ))}
        {data.nodes.length < whole.nodes.length || alone ? (
          <label class="check">
            <input type="checkbox" checked={alone} onChange={(event) => setAlone(event.currentTarget.checked)} /> without links too
          </label>
        ) : null}
        {newest > oldest && (
          <label class="check time-slider">
            until <b>{until === Infinity ? "today" : day(until)}</b>
            <input
              type="range"
              min={0}
              max={100}
              value={share}
              aria-valuetext={until === Infinity ? "today" : day(until)}
              onInput={(event) => setShare(Number(event.currentTarget.value))}
            />
          </label>
        )}
      </div>
      <p class="legend" aria-label="Kinds">
        {kindsOf(data).map((kind) => (
          <span key={kind} class="quiet">
            <span class="key round" aria-hidden="true" style={{ background: `var(--${kindColour(kindsOf(data), kind)})` }} /> {kind}
          </span>
        ))}
      </p>
      <p class="quiet" role="status">
        {count(data.nodes.length, "memory", "memories")}, {count(data.edges.length, "link")}
        {data.truncated && `; only the first ${MOST} or nearest 200 are shown`}. Click chooses, a double click shows what is around.
      </p>
      <div class="graph">
        <div class="graph-stage" ref={place} role="img" aria-label={`A graph of ${data.nodes.length} memories`} />
      </div>
      {node && (
        <div class="card" data-chosen>
          <p class="memory-text">{node.text}</p>
          <p class="memory-facts">
            <span>{node.kind}</span> <span>{day(node.time)}</span>
            <a href={link("memory", node.id)}>open</a>
            <button class="plain" onClick={() => void expand(node.id)}>
              Show what is around
            </button>
            <button class="plain" onClick={() => go("graph", node.id)}>
              Only what is around
            </button>
          </p>
        </div>
      )}
      <details>
        <summary>The same as a list</summary>
        <ul class="plain-list rows">
          {data.edges
            .filter((edge) => !hidden.has(edge.relation))
            .slice(0, 200)
            .map((edge, index) => {
              const text = (id: string): string => data.nodes.find((one) => one.id === id)?.text ?? id;
              return (
                <li key={index}>
                  <a href={link("memory", edge.source)}>{text(edge.source)}</a> <span class="quiet">{words(edge.relation)}</span>{" "}
                  <a href={link("memory", edge.target)}>{text(edge.target)}</a>
                </li>
              );
            })}
        </ul>
      </details>
    </>
  );
}
