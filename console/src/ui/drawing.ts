// A graph drawn by sigma, laid out by forces a little at a time, so that the page stays responsive.
import { MultiDirectedGraph } from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import Sigma from "sigma";

import { type GraphData, RELATIONS } from "../lib/graph-data";
import { cut } from "../lib/text";
import { colour as readColour, onColours } from "./theme";

/** Milliseconds of one frame that go into the layout at least and at most, and after how long it ends. */
const LEAST = 10;
const MOST = 150;
const LENGTH = 4_000;
/** The same for people who do not want to see it move: the layout is then made before the graph is drawn. */
const AT_ONCE = 400;

const KINDS = ["term-relevance", "term-recency", "term-utility", "term-layer", "term-relation"];

/** The kinds of a graph, in the order of their names. */
export const kindsOf = (data: GraphData): string[] => [...new Set(data.nodes.map((node) => node.kind))].sort();

/** The colour of the style sheet that stands for a kind. */
export const kindColour = (kinds: string[], kind: string): string => KINDS[kinds.indexOf(kind) % KINDS.length]!;

/** Colours that were read; a graph asks for the same few thousands of times. */
const colours = new Map<string, string>();
onColours(() => colours.clear());

function colour(name: string): string {
  let known = colours.get(name);
  if (known === undefined) colours.set(name, (known = readColour(name)));
  return known;
}

export interface Shown {
  /** Relations that are hidden. */
  hidden: Set<string>;
  /** Memories said later than this are hidden. */
  until: number;
  chosen: string | undefined;
}

export class Drawing {
  readonly #graph = new MultiDirectedGraph();
  readonly #sigma: Sigma;
  #shown: Shown = { hidden: new Set(), until: Infinity, chosen: undefined };
  #near = new Set<string>();
  #frame = 0;

  constructor(place: HTMLElement, choose: (id: string) => void, expand: (id: string) => void) {
    this.#sigma = new Sigma(this.#graph, place, {
      labelFont: "system-ui, sans-serif",
      labelSize: 12,
      labelColor: { color: colour("text") },
      labelRenderedSizeThreshold: 7,
      defaultEdgeType: "line",
      hideEdgesOnMove: false,
      zIndex: true,
      // One more frame may be drawn after the page has gone.
      allowInvalidContainer: true,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      defaultDrawNodeHover: hover,
      nodeReducer: (id, data) => this.#node(id, data),
      edgeReducer: (id, data) => this.#edge(id, data),
    });
    this.#sigma.on("clickNode", ({ node }) => choose(node));
    this.#sigma.on("doubleClickNode", (event) => {
      event.preventSigmaDefault();
      expand(event.node);
    });
  }

  /** Shows this graph. Memories that were there already keep their place. */
  draw(data: GraphData): void {
    const graph = this.#graph;
    const kinds = kindsOf(data);
    const wanted = new Set(data.nodes.map((node) => node.id));
    for (const id of graph.nodes()) if (!wanted.has(id)) graph.dropNode(id);
    graph.clearEdges();
    const radius = Math.sqrt(data.nodes.length) * 10;
    data.nodes.forEach((node, index) => {
      const look = {
        label: cut(node.text, 48),
        time: node.time,
        color: colour(kindColour(kinds, node.kind)),
        replaced: node.replaced,
      };
      // The same graph always begins in the same places, along a spiral.
      const turn = index * 2.399963;
      const far = radius * Math.sqrt((index + 0.5) / data.nodes.length);
      if (graph.hasNode(node.id)) graph.mergeNodeAttributes(node.id, look);
      else graph.addNode(node.id, { ...look, x: far * Math.cos(turn), y: far * Math.sin(turn), size: 3 });
    });
    for (const edge of data.edges) {
      if (edge.source === edge.target || !graph.hasNode(edge.source) || !graph.hasNode(edge.target)) continue;
      graph.addEdge(edge.source, edge.target, {
        relation: edge.relation,
        size: data.nodes.length > 500 ? 0.6 : 1 + edge.strength,
        color: colour(RELATIONS[edge.relation] ?? "quiet"),
      });
    }
    graph.forEachNode((id) => graph.setNodeAttribute(id, "size", Math.min(14, (data.nodes.length > 500 ? 2.5 : 5) + Math.sqrt(graph.degree(id)) * 1.5)));
    // A small graph shows every label.
    this.#sigma.setSetting("labelRenderedSizeThreshold", data.nodes.length < 60 ? 0 : 7);
    this.#sigma.setSetting("labelDensity", data.nodes.length < 60 ? 4 : 1);
    cancelAnimationFrame(this.#frame);
    if (graph.order > 1) this.#settle();
  }

  /** Hides and marks. */
  show(shown: Shown): void {
    this.#shown = shown;
    this.#near = new Set(shown.chosen !== undefined && this.#graph.hasNode(shown.chosen) ? this.#graph.neighbors(shown.chosen) : []);
    this.#sigma.refresh({ skipIndexation: true });
  }

  /** Takes the colours of the page anew. */
  recolour(data: GraphData): void {
    this.#sigma.setSetting("labelColor", { color: colour("text") });
    this.draw(data);
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
    this.#sigma.kill();
  }

  /** Moves the nodes for a part of each frame, until they are at rest. */
  #settle(): void {
    const settings = { ...forceAtlas2.inferSettings(this.#graph), adjustSizes: false, barnesHutOptimize: this.#graph.order > 200 };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      const end = performance.now() + AT_ONCE;
      do forceAtlas2.assign(this.#graph, { iterations: 5, settings });
      while (performance.now() < end);
      return;
    }
    const last = performance.now() + LENGTH;
    let before = performance.now();
    // Where drawing is slow, because there is no graphics card, more of the frame goes into the layout.
    const step = (now: number): void => {
      const end = performance.now() + Math.min(MOST, Math.max(LEAST, (now - before) / 3));
      before = now;
      do forceAtlas2.assign(this.#graph, { iterations: 1, settings });
      while (performance.now() < end);
      if (performance.now() < last) this.#frame = requestAnimationFrame(step);
    };
    this.#frame = requestAnimationFrame(step);
  }

  #node(id: string, data: Record<string, unknown>): Record<string, unknown> {
    const { until, chosen } = this.#shown;
    if ((data["time"] as number) > until) return { ...data, hidden: true };
    if (id === chosen) return { ...data, highlighted: true, zIndex: 2, size: (data["size"] as number) + 3 };
    if (chosen !== undefined && !this.#near.has(id)) return { ...data, color: colour("line"), label: "" };
    return data["replaced"] ? { ...data, color: colour("line") } : data;
  }

  #edge(id: string, data: Record<string, unknown>): Record<string, unknown> {
    const { hidden, chosen } = this.#shown;
    if (hidden.has(data["relation"] as string)) return { ...data, hidden: true };
    if (chosen !== undefined && this.#graph.hasNode(chosen) && !this.#graph.hasExtremity(id, chosen)) return { ...data, color: colour("line") };
    return data;
  }
}

/** The label of the node under the pointer, in the colours of the page. */
function hover(context: CanvasRenderingContext2D, data: { x: number; y: number; size: number; label?: string | null; color: string }): void {
  context.font = "12px system-ui, sans-serif";
  const label = data.label ?? "";
  const width = context.measureText(label).width;
  context.fillStyle = colour("card");
  context.strokeStyle = colour("line");
  context.beginPath();
  context.roundRect(data.x - data.size - 4, data.y - 11, width + data.size * 2 + 16, 22, 6);
  context.fill();
  context.stroke();
  context.fillStyle = data.color;
  context.beginPath();
  context.arc(data.x, data.y, data.size, 0, Math.PI * 2);
  context.fill();
  context.fillStyle = colour("text");
  context.fillText(label, data.x + data.size + 5, data.y + 4);
}
