// All versions of what a memory says, as a line from the oldest to the newest.
import type { JSX } from "preact";

import type { Memory } from "../../lib/api";
import { link } from "../../lib/route";
import { day } from "../../lib/text";
import { Words } from "./history";

export function Chain({ memories, now }: { memories: Memory[]; now: string }): JSX.Element {
  return (
    <ol class="chain">
      {memories.map((memory, index) => {
        const before = memories[index - 1];
        return (
          <li key={memory.id} aria-current={memory.id === now ? "step" : undefined}>
            <span class="chain-time">{day(memory.validFrom ?? memory.saidAt ?? memory.createdAt)}</span>
            <a href={link("memory", memory.id)}>
              {before ? <Words old={before.content} now={memory.content} /> : memory.content}
            </a>
            {memory.id === now && <span class="quiet"> this one</span>}
          </li>
        );
      })}
    </ol>
  );
}
