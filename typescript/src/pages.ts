// Lists that come in pages.

/** One page of a list. */
export interface Page<T> {
  /** The entries. */
  data: T[];
  /** Where the next page starts; null or absent on the last page. */
  nextCursor?: string | null;
}

/**
 * A list that is fetched page by page while it is read: `for await (const memory of loci.list()) { … }`. Reading it again
 * starts again.
 */
export class Pages<T> implements AsyncIterable<T> {
  readonly #fetch: (cursor: string | undefined) => Promise<Page<T>>;

  /** @param fetch - Fetches the page that starts at a cursor; without one, the first page. */
  constructor(fetch: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#fetch = fetch;
  }

  /** One page: the first one, or the one at `cursor`. */
  page(cursor?: string): Promise<Page<T>> {
    return this.#fetch(cursor);
  }

  /** The pages, one after the other. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.#fetch(cursor);
      yield page;
      if (page.nextCursor === undefined || page.nextCursor === null) return;
      cursor = page.nextCursor;
    }
  }

  /** The entries, one after the other. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** The first `limit` entries as an array. Default: all. */
  async toArray(limit = Infinity): Promise<T[]> {
    const entries: T[] = [];
    if (limit <= 0) return entries;
    for await (const entry of this) {
      if (entries.push(entry) >= limit) break;
    }
    return entries;
  }
}
