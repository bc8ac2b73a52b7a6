// What a graph shows: memories and the links between them.
import { get, type Memory, pathPart, type Schemas, scopeQuery, send } from "./api";
import { eachLine } from "./lines";

export interface GraphNode {
  id: string;
  text: string;
  kind: string;
  /** When it was said. */
  time: number;
  replaced: boolean;
}

export interface GraphEdge {
  source: string;
  target: string;
  relation: string;
  strength: number;
}

export interface GraphData {
  nodes: GraphNode[];
  edges: GraphEdge[];
  truncated: boolean;
}

/** The relations between memories, with the colours of the style sheet that stand for them. */
export const RELATIONS: Record<string, string> = {
  supersedes: "warn",
  may_contradict: "bad",
  derived_from: "accent",
  related_to: "term-recency",
  temporal: "quiet",
  causal: "term-relation",
  entity: "term-layer",
};

/** Maximum number of memories of a graph. */
export const MOST = 5_000;

const nodeOf = (memory: Memory): GraphNode => ({
  id: memory.id,
  text: memory.content.slice(0, 160),
  kind: memory.kind,
  time: new Date(memory.saidAt ?? memory.createdAt).getTime(),
  replaced: Boolean(memory.supersededById),
});

const edgeOf = (edge: Schemas["Edge"]): GraphEdge => ({
  source: edge.sourceId,
  target: edge.targetId,
  relation: edge.relation,
  strength: edge.strength,
});

/** The memories around one memory. */
export async function neighbourhood(id: string, depth: number, signal?: AbortSignal): Promise<GraphData> {
  const query = { ...scopeQuery(), depth };
  const found = await get<Schemas["Neighbourhood"]>(`/v1/memories/${pathPart(id)}/graph`, query, signal);
  return { nodes: found.nodes.map((node) => nodeOf(node.memory)), edges: found.edges.map(edgeOf), truncated: found.truncated };
}

/** All memories of the scope with their links, read from its export. */
export async function wholeScope(signal: AbortSignal): Promise<GraphData> {
  const nodes = new Map<string, GraphNode>();
  const edges: GraphEdge[] = [];
  let truncated = false;
  const response = await send("GET", "/v1/export", { query: scopeQuery(), signal });
  await eachLine(response, (line) => {
    if (line.startsWith('{"type":"memory"')) {
      if (nodes.size >= MOST) {
        truncated = true;
      } else {
        const memory = JSON.parse(line) as Memory;
        if (memory.state !== "soft_deleted") nodes.set(memory.id, nodeOf(memory));
      }
    } else if (line.startsWith('{"type":"edge"')) {
      edges.push(edgeOf(JSON.parse(line) as Schemas["Edge"]));
    }
  });
  return { nodes: [...nodes.values()], edges: edges.filter((edge) => nodes.has(edge.source) && nodes.has(edge.target)), truncated };
}

/** The graph without the memories that are linked to nothing, but for the one in the middle. */
export function linked(data: GraphData, centre: string | undefined): GraphData {
  const ends = new Set(data.edges.flatMap((edge) => [edge.source, edge.target]));
  return { ...data, nodes: data.nodes.filter((node) => ends.has(node.id) || node.id === centre) };
}

/** Adds one graph to another. */
export function joined(one: GraphData, other: GraphData): GraphData {
  const nodes = new Map([...one.nodes, ...other.nodes].map((node) => [node.id, node]));
  const edges = new Map([...one.edges, ...other.edges].map((edge) => [`${edge.source} ${edge.target} ${edge.relation}`, edge]));
  return { nodes: [...nodes.values()].slice(0, MOST), edges: [...edges.values()], truncated: one.truncated || other.truncated };
}
