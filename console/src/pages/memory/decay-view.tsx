// How the confidence of a memory goes down, with today's mark and the day on which it goes.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { LedgerEntry, Memory } from "../../lib/api";
import { type Decay, DAY, decayOf, type Thresholds } from "../../lib/decay";
import { ago, day } from "../../lib/text";
import { onColours } from "../../ui/theme";

export function DecayView({ memory, history, thresholds }: {
  memory: Memory;
  history: LedgerEntry[];
  thresholds: Thresholds;
}): JSX.Element {
  const decay = decayOf(memory, history, thresholds);
  if (!decay) return <p>{whyNot(memory)}</p>;
  const now = Date.now();
  return (
    <>
      <p>
        Confidence is <b>{decay.confidenceAt(now).toFixed(2)}</b> today
        {decay.fadesAt !== undefined && `; it counts as faded from ${day(decay.fadesAt)}`}
        {decay.goneAt !== undefined && (
          <>
            {" "}and goes on <b>{day(decay.goneAt)}</b> ({ago(decay.goneAt)})
          </>
        )}
        , unless it is used or confirmed before.
      </p>
      <Curve decay={decay} thresholds={thresholds} now={now} />
    </>
  );
}

function whyNot(memory: Memory): string {
  if (memory.pinned) return "It is pinned: it stays whatever its age.";
  if (memory.supersededById) return "It was replaced, and stays as long as what replaced it.";
  if (memory.kind === "episodic") return "A turn of a conversation does not lose confidence; it goes by its age and use.";
  return "It is confirmed: it does not fade.";
}

function Curve({ decay, thresholds, now }: { decay: Decay; thresholds: Thresholds; now: number }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let gone = false;
    let destroy = (): void => {};
    const show = (): void => {
      void import("../../ui/curve").then(({ drawDecay }) => {
        if (gone || !place.current) return;
        destroy();
        destroy = drawDecay(place.current, decay, thresholds, now);
      });
    };
    show();
    const unsubscribe = onColours(show);
    return () => {
      gone = true;
      unsubscribe();
      destroy();
    };
  }, [decay.since, decay.goneAt, thresholds]);
  const span = Math.round(((decay.goneAt ?? now + 365 * DAY) - decay.since) / DAY);
  return <div class="chart" ref={place} role="img" aria-label={`Confidence over ${span} days, falling fast at first, then slowly`} />;
}
