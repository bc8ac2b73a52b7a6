// Lines over time. The code that draws them is loaded where one is shown.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { onColours } from "./theme";

export interface Line {
  name: string;
  values: number[];
  colour: string;
}

export function Lines({ label, times, lines }: { label: string; times: number[]; lines: Line[] }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let gone = false;
    let destroy = (): void => {};
    const show = (): void => {
      void import("./curve").then(({ drawLines }) => {
        if (gone || !place.current) return;
        destroy();
        destroy = drawLines(place.current, times, lines);
      });
    };
    show();
    const unsubscribe = onColours(show);
    return () => {
      gone = true;
      unsubscribe();
      destroy();
    };
  }, [JSON.stringify([times.length, times[0], lines])]);
  return (
    <figure class="lines">
      <figcaption class="legend">
        <span>{label}</span>
        {lines.map((line) => (
          <span key={line.name} class="quiet">
            <span class="key" aria-hidden="true" style={{ background: `var(--${line.colour})` }} /> {line.name}
          </span>
        ))}
      </figcaption>
      <div class="chart" ref={place} role="img" aria-label={label} />
    </figure>
  );
}
