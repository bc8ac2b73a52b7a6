// The rows of the table: loaded page by page in the order of the list, as far as someone has scrolled.
import { get, type Memory, type Page, type Schemas, scopeQuery } from "../../lib/api";
import { notice } from "../../lib/session";

const PAGE = 1_000;
/** How far ahead of what is seen is loaded. */
const AHEAD = 500;

export type Row = Pick<Memory, "id" | "content" | "kind" | "layer" | "state" | "importance" | "confidence" | "pinned" | "identifiers" | "tags"> & {
  at: string;
  replaced: boolean;
};

const rowOf = (memory: Memory): Row => ({
  id: memory.id,
  // The table shows one line; whole texts of 100,000 memories would fill the memory of the browser.
  content: memory.content.slice(0, 240),
  kind: memory.kind,
  layer: memory.layer,
  state: memory.state,
  importance: memory.importance,
  confidence: memory.confidence,
  pinned: memory.pinned,
  identifiers: memory.identifiers,
  tags: memory.tags,
  at: memory.saidAt ?? memory.createdAt,
  replaced: Boolean(memory.supersededById),
});

/** The list of one filter. */
export class Rows {
  readonly rows: Row[] = [];
  total = 0;
  error: Error | undefined;
  loading = false;
  #cursor: string | undefined;
  #complete = false;
  #wanted = 0;
  #abort = new AbortController();

  constructor(
    readonly filter: Record<string, unknown>,
    readonly changed: () => void,
  ) {}

  /** Counts, and loads the first page. */
  async start(): Promise<void> {
    const { signal } = this.#abort;
    const query = { ...scopeQuery(), ...this.filter };
    get<Schemas["MemoryCount"]>("/v1/memories/count", query, signal).then(
      ({ count }) => {
        if (signal.aborted) return;
        this.total = Math.max(count, this.rows.length);
        this.changed();
      },
      () => {},
    );
    await this.want(1);
  }

  /** Loads until this row is there, or the list ends. */
  async want(row: number): Promise<void> {
    this.#wanted = Math.max(this.#wanted, row);
    if (this.loading) return;
    const { signal } = this.#abort;
    this.loading = true;
    this.error = undefined;
    try {
      while (!this.#complete && this.rows.length < this.#wanted + AHEAD) {
        // The first page is small, so that something is seen at once.
        const limit = this.rows.length === 0 ? 100 : PAGE;
        const query = { ...scopeQuery(), ...this.filter, limit, cursor: this.#cursor };
        const page = await get<Page<Memory>>("/v1/memories", query, signal);
        if (signal.aborted) return;
        for (const memory of page.data) {
          notice(memory.identifiers);
          this.rows.push(rowOf(memory));
        }
        this.#cursor = page.nextCursor ?? undefined;
        this.#complete = this.#cursor === undefined;
        this.total = this.#complete ? this.rows.length : Math.max(this.total, this.rows.length);
        this.changed();
      }
    } catch (error) {
      if (!signal.aborted) this.error = error as Error;
    } finally {
      this.loading = false;
      if (!signal.aborted) this.changed();
    }
  }

  stop(): void {
    this.#abort.abort();
  }
}
