// A table of which only the rows in view are in the document, so that 100,000 rows scroll like ten.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { go, link } from "../../lib/route";
import { day, exact, score, words } from "../../lib/text";
import type { Row, Rows } from "./rows";

const HEIGHT = 34;
/** Rows that are drawn above and below what is seen. */
const MARGIN = 12;

interface TableProps {
  rows: Rows;
  /** Changes with every page that was loaded. */
  revision: number;
  selected: Set<string>;
  toggle: (id: string) => void;
  selectable: boolean;
}

export function Table({ rows, selected, toggle, selectable }: TableProps): JSX.Element {
  const view = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [fits, setFits] = useState(20);
  const [active, setActive] = useState(0);
  useEffect(() => {
    const place = view.current!;
    const measure = (): void => setFits(Math.ceil(place.clientHeight / HEIGHT));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(place);
    return () => observer.disconnect();
  }, []);
  const total = rows.total;
  const from = Math.max(0, first - MARGIN);
  const to = Math.min(total, first + fits + MARGIN);
  useEffect(() => void rows.want(to), [rows, to]);
  const scrolled = (): void => setFirst(Math.floor(view.current!.scrollTop / HEIGHT));
  const show = (index: number): void => {
    const next = Math.max(0, Math.min(total - 1, index));
    setActive(next);
    const place = view.current!;
    const head = 32;
    const above = next * HEIGHT;
    if (above < place.scrollTop) place.scrollTop = above;
    else if (above + HEIGHT + head > place.scrollTop + place.clientHeight) place.scrollTop = above + HEIGHT + head - place.clientHeight;
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      j: active + 1,
      k: active - 1,
      PageDown: active + fits - 1,
      PageUp: active - fits + 1,
      Home: 0,
      End: total - 1,
    };
    const row = rows.rows[active];
    const next = moves[event.key];
    if (next !== undefined) show(next);
    else if (event.key === "Enter" && row) go("memory", row.id);
    else if (event.key === " " && row && selectable) toggle(row.id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const drawn = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  return (
    <div
      class="table"
      role="grid"
      tabIndex={0}
      ref={view}
      aria-label="Memories"
      aria-rowcount={total + 1}
      aria-multiselectable={selectable}
      aria-activedescendant={active >= from && active < to ? `row-${active}` : undefined}
      onScroll={scrolled}
      onKeyDown={pressed}
    >
      <div class="table-row head" role="row" aria-rowindex={1}>
        <span role="columnheader" class="cell-check">
          <span class="visually-hidden">chosen</span>
        </span>
        <span role="columnheader">text</span>
        <span role="columnheader">kind</span>
        <span role="columnheader">of</span>
        <span role="columnheader" class="num">importance</span>
        <span role="columnheader" class="num">confidence</span>
        <span role="columnheader">said</span>
      </div>
      <div class="table-body" role="rowgroup" style={{ height: `${total * HEIGHT}px` }}>
        {drawn.map((index) => (
          <TableRow
            key={index}
            index={index}
            row={rows.rows[index]}
            active={index === active}
            selected={selected.has(rows.rows[index]?.id ?? "")}
            toggle={toggle}
            selectable={selectable}
            touch={() => setActive(index)}
          />
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  index: number;
  row: Row | undefined;
  active: boolean;
  selected: boolean;
  selectable: boolean;
  toggle: (id: string) => void;
  touch: () => void;
}

function TableRow({ index, row, active, selected, selectable, toggle, touch }: RowProps): JSX.Element {
  const place = { transform: `translateY(${index * HEIGHT}px)` };
  if (!row) {
    return (
      <div class="table-row absent" role="row" aria-rowindex={index + 2} style={place}>
        <span role="gridcell" class="quiet">
          …
        </span>
      </div>
    );
  }
  const owner = Object.values(row.identifiers).filter((name) => typeof name === "string");
  return (
    <div
      id={`row-${index}`}
      class={active ? "table-row active" : "table-row"}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selectable ? selected : undefined}
      style={place}
      onClick={touch}
    >
      <span role="gridcell" class="cell-check">
        {selectable && (
          <input type="checkbox" tabIndex={-1} checked={selected} aria-label={`Choose ${row.content.slice(0, 60)}`} onChange={() => toggle(row.id)} />
        )}
      </span>
      <span role="gridcell" class="cell-text">
        <a href={link("memory", row.id)} tabIndex={-1}>
          {row.content}
        </a>
      </span>
      <span role="gridcell">
        {row.kind}
        {row.state !== "active" && <em> {words(row.state)}</em>}
        {row.replaced && <em> replaced</em>}
        {row.pinned && <em> pinned</em>}
      </span>
      <span role="gridcell">{owner.join(", ")}</span>
      <span role="gridcell" class="num">
        {score(row.importance)}
      </span>
      <span role="gridcell" class="num">
        {score(row.confidence)}
      </span>
      <span role="gridcell" title={exact(row.at)}>
        {day(row.at)}
      </span>
    </div>
  );
}
