// How the confidence of a memory decays: exp(-rate · days^0.8) since its last use, as docs/learning.md says.
import type { LedgerEntry, Memory } from "./api";

export const DAY = 86_400_000;
/** Below this a memory is marked as decayed, and below the next it is deleted, unless the settings say otherwise. */
export const DECAYED_BELOW = 0.3;
export const PRUNE_BELOW = 0.05;

export interface Thresholds {
  decayedBelow: number;
  pruneBelow: number;
}

export interface Decay {
  /** When the count began: the last use, or the day it came. */
  since: number;
  confidenceAt: (time: number) => number;
  /** When it falls below each threshold. */
  fadesAt: number | undefined;
  goneAt: number | undefined;
}

/** What is left of a confidence after some days. */
export const left = (rate: number, days: number): number => Math.exp(-rate * Math.max(0, days) ** 0.8);

/** The days after which so much is left. */
export const daysUntil = (rate: number, share: number): number => (-Math.log(share) / rate) ** (1 / 0.8);

/** Whether the confidence of this memory decays at all. */
export function decays(memory: Memory): boolean {
  return memory.decayRate > 0 && !memory.pinned && memory.kind !== "episodic" && memory.supersededById === undefined;
}

/**
 * The curve of a memory. Maintenance writes the decayed confidence back from time to time; the value that it began with is
 * the greatest of those in the history and the present one.
 */
export function decayOf(memory: Memory, history: LedgerEntry[], thresholds: Thresholds): Decay | undefined {
  if (!decays(memory)) return undefined;
  const since = new Date(memory.lastAccessedAt ?? memory.importedAt ?? memory.createdAt).getTime();
  const begun = history.flatMap((entry) => [entry.old, entry.new].map((part) => (part as { confidence?: unknown } | undefined)?.confidence));
  const start = Math.max(memory.confidence, ...begun.filter((value): value is number => typeof value === "number"));
  const confidenceAt = (time: number): number => start * left(memory.decayRate, (time - since) / DAY);
  const when = (below: number): number | undefined =>
    start <= below ? since : since + daysUntil(memory.decayRate, below / start) * DAY;
  return { since, confidenceAt, fadesAt: when(thresholds.decayedBelow), goneAt: when(thresholds.pruneBelow) };
}
