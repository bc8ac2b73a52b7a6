// Curves, drawn by uPlot. Loaded only where one is shown.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import type { Decay, Thresholds } from "../lib/decay";
import { DAY } from "../lib/decay";
import { day } from "../lib/text";
import { colour } from "./theme";

const FONT = "12px system-ui, sans-serif";

function axis(): uPlot.Axis {
  const line = { stroke: colour("line"), width: 1 };
  return { stroke: colour("quiet"), font: FONT, grid: line, ticks: { ...line, size: 4 } };
}

/** Draws a vertical line with a word at its head. */
function mark(plot: uPlot, time: number, text: string, stroke: string): void {
  const x = plot.valToPos(time, "x", true);
  const { top, height, left, width } = plot.bbox;
  if (x < left || x > left + width) return;
  const { ctx } = plot;
  const scale = devicePixelRatio || 1;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.fillStyle = stroke;
  ctx.lineWidth = 1.5 * scale;
  ctx.setLineDash([4 * scale, 3 * scale]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, top + height);
  ctx.stroke();
  ctx.font = `${12 * scale}px system-ui, sans-serif`;
  const right = x + ctx.measureText(text).width + 8 * scale > left + width;
  ctx.textAlign = right ? "right" : "left";
  ctx.fillText(text, x + (right ? -5 : 5) * scale, top + 13 * scale);
  ctx.restore();
}

/** Keeps a plot as wide as its place. */
function follow(place: HTMLElement, plot: uPlot, height: number): () => void {
  const observer = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height }));
  observer.observe(place);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
}

/** Draws the confidence of a memory from its last use until it goes. Returns what removes it. */
export function drawDecay(place: HTMLElement, decay: Decay, thresholds: Thresholds, now: number): () => void {
  const end = Math.max(decay.goneAt ?? 0, now + 30 * DAY, decay.since + 30 * DAY);
  const last = end + (end - decay.since) * 0.05;
  const times = Array.from({ length: 200 }, (_, index) => decay.since + ((last - decay.since) * index) / 199);
  const level = (value: number): number[] => times.map(() => value);
  const dashed = { width: 1, dash: [3, 4], points: { show: false } };
  const height = 220;
  const plot = new uPlot(
    {
      width: place.clientWidth || 400,
      height,
      ms: 1,
      legend: { show: false },
      cursor: { points: { show: false }, drag: { x: false, y: false } },
      scales: { y: { range: [0, 1] } },
      axes: [axis(), { ...axis(), size: 38 }],
      series: [
        {},
        { label: "confidence", stroke: colour("accent"), width: 2, fill: colour("accent-faint"), points: { show: false } },
        { label: "faded", stroke: colour("warn"), ...dashed },
        { label: "gone", stroke: colour("bad"), ...dashed },
      ],
      hooks: {
        draw: [
          (drawn) => {
            mark(drawn, now, "today", colour("text"));
            if (decay.goneAt !== undefined) mark(drawn, decay.goneAt, day(decay.goneAt), colour("bad"));
          },
        ],
      },
    },
    [times, times.map((time) => decay.confidenceAt(time)), level(thresholds.decayedBelow), level(thresholds.pruneBelow)],
    place,
  );
  return follow(place, plot, height);
}

/** Draws counts over time, one line for each name. */
export function drawLines(place: HTMLElement, times: number[], lines: { name: string; values: number[]; colour: string }[]): () => void {
  const height = 180;
  const plot = new uPlot(
    {
      width: place.clientWidth || 400,
      height,
      ms: 1,
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      axes: [axis(), { ...axis(), size: 48 }],
      series: [
        { value: (_, time) => (time === null ? "" : day(time)) },
        ...lines.map((line) => ({ label: line.name, stroke: colour(line.colour), width: 2, points: { show: times.length < 40 } })),
      ],
    },
    [times, ...lines.map((line) => line.values)],
    place,
  );
  return follow(place, plot, height);
}
