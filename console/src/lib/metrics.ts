// Reads the metrics of the server, which are text in the format of OpenMetrics.

export interface Operation {
  name: string;
  count: number;
  /** Milliseconds, over all requests since the start. */
  mean: number | undefined;
  /** The bucket in which the slowest one in twenty begins. */
  slow: number | undefined;
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** The samples of a text. Lines that are not samples are left out. */
export function samples(text: string): Sample[] {
  const found: Sample[] = [];
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!match) continue;
    const labels: Record<string, string> = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name!] = value!;
    found.push({ name: match[1]!, labels, value: Number(match[3]) });
  }
  return found;
}

/** What was called how often and how long it took, the most frequent first. */
export function operations(all: Sample[]): Operation[] {
  const found = new Map<string, { count: number; sum: number; timed: number; buckets: Map<number, number> }>();
  const of = (name: string): { count: number; sum: number; timed: number; buckets: Map<number, number> } => {
    const known = found.get(name) ?? { count: 0, sum: 0, timed: 0, buckets: new Map<number, number>() };
    found.set(name, known);
    return known;
  };
  for (const { name, labels, value } of all) {
    const operation = labels["operation"];
    if (operation === undefined) continue;
    if (name === "loci_memory_operations_total") of(operation).count += value;
    else if (name === "loci_memory_operations_latency_sum") of(operation).sum += value;
    else if (name === "loci_memory_operations_latency_count") of(operation).timed += value;
    else if (name === "loci_memory_operations_latency_bucket") {
      const { buckets } = of(operation);
      const limit = Number(labels["le"]?.replace("+Inf", "Infinity"));
      buckets.set(limit, (buckets.get(limit) ?? 0) + value);
    }
  }
  return [...found]
    .filter(([, one]) => one.count > 0)
    .map(([name, one]) => ({
      name,
      count: one.count,
      mean: one.timed > 0 ? one.sum / one.timed : undefined,
      slow: one.timed > 0 ? [...one.buckets].sort(([low], [high]) => low - high).find(([, count]) => count >= one.timed * 0.95)?.[0] : undefined,
    }))
    .sort((one, other) => other.count - one.count);
}
