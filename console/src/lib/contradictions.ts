// The pairs of memories that may contradict each other.
//
// The API lists links of one memory only, so the links of the scope are read from its export; the counts say first whether
// there is any.
import { get, type Memory, type Schemas, scopeQuery, send } from "./api";
import { eachLine } from "./lines";
import { memoriesOf } from "./memories";

export interface Contradiction {
  newer: Memory;
  older: Memory;
}

const MOST = 100;

export async function contradictions(signal: AbortSignal): Promise<{ pairs: Contradiction[]; more: boolean }> {
  const counts = await get<Schemas["Statistics"]>("/v1/stats", scopeQuery(), signal);
  const known = counts.edges["may_contradict"] ?? 0;
  if (known === 0) return { pairs: [], more: false };
  const links: [newer: string, older: string][] = [];
  const response = await send("GET", "/v1/export", { query: scopeQuery(), signal });
  await eachLine(response, (line) => {
    // Most lines are memories; they are not parsed.
    if (!line.startsWith('{"type":"edge"') || !line.includes('"may_contradict"')) return true;
    const edge = JSON.parse(line) as Schemas["Edge"];
    if (edge.relation === "may_contradict" && edge.validUntil === undefined) links.push([edge.sourceId, edge.targetId]);
    return links.length < Math.min(known, MOST);
  });
  const memories = new Map((await memoriesOf([...new Set(links.flat())], signal)).map((memory) => [memory.id, memory]));
  const pairs = links.flatMap(([newer, older]) => {
    const [one, other] = [memories.get(newer), memories.get(older)];
    // What was replaced since is decided.
    return one && other && !one.supersededById && !other.supersededById ? [{ newer: one, older: other }] : [];
  });
  return { pairs, more: known > MOST };
}
