// The client: one method for each verb. A method builds a request and names the type of its answer, nothing more.

import { type ChangeEvent, followEvents } from "./events.js";
import { Facts } from "./facts.js";
import { Http, type HttpOptions, type QueryValue } from "./http.js";
import type { Pages } from "./pages.js";
import { call, idempotency, Scope, segment } from "./scope.js";
import type {
  BatchResult,
  CallOptions,
  Changes,
  ConsolidationReport,
  Context,
  ContextOptions,
  CorrectOptions,
  EventsOptions,
  ForgetOptions,
  Identifiers,
  IngestedTurns,
  IngestOptions,
  LearnOptions,
  LedgerEntry,
  ListOptions,
  Memory,
  MemoryWrite,
  NewMemory,
  PageOptions,
  Readiness,
  RecallAnswer,
  RecallOptions,
  RememberManyOptions,
  RememberOptions,
  Session,
  SessionWrite,
  Statistics,
  Turn,
  WriteOptions,
} from "./types.js";

/** Where the server is, how it is called, and whose memory the calls are about. */
export interface LociOptions extends HttpOptions, Identifiers {}

/** Options of {@link Loci.request}. */
export interface RequestOptions extends Pick<WriteOptions, "signal" | "timeoutMs" | "idempotencyKey"> {
  /** Query parameters. */
  query?: Record<string, QueryValue>;
  /** The body, which is sent as JSON. */
  body?: unknown;
  /** Further headers. */
  headers?: Record<string, string>;
}

/** Maximum number of memories of one request. */
const BATCH = 500;

/**
 * A client of one Loci server, for one scope.
 *
 * ```ts
 * const loci = new Loci({ url: "http://127.0.0.1:7077", userId: "ana" });
 * await loci.remember("Ana is allergic to peanuts");
 * const { data } = await loci.recall("what food must she avoid?");
 * ```
 *
 * Calls that fail throw a {@link LociError}. Connections that fail and errors that are `retryable` are retried; a write
 * carries an `Idempotency-Key`, so that its retries do not write twice. A call that is aborted throws the reason of its signal.
 */
export class Loci {
  /** Facts as subject, predicate and object. */
  readonly facts: Facts;
  readonly #options: LociOptions;
  readonly #scope: Scope;

  /** Makes a client. Nothing is sent before the first call. An address that is not one is refused with a TypeError. */
  constructor(options: LociOptions = {}) {
    const { url, key, timeoutMs, retry, headers, fetch, ...identifiers } = options;
    this.#options = options;
    this.#scope = new Scope(new Http({ url, key, timeoutMs, retry, headers, fetch }), identifiers);
    this.facts = new Facts(this.#scope);
  }

  /** Whose memory the calls are about. */
  get identifiers(): Readonly<Identifiers> {
    return this.#scope.identifiers;
  }

  /** A client of the same server with these identifiers laid over those of this one. Null removes one. */
  scoped(identifiers: Identifiers): Loci {
    return new Loci({ ...this.#options, ...identifiers });
  }

  /**
   * Adds a memory. It is compared with what its scope knows: `event` is `NONE` if it was known already, and `SUPERSEDE` if
   * it replaces an older memory. It is on disk when the promise is fulfilled.
   */
  remember(content: string, options: RememberOptions = {}): Promise<MemoryWrite> {
    return this.#scope.write<MemoryWrite>("POST", "/v1/memories", options, { content });
  }

  /**
   * Adds many memories, 500 in one request. The result has an entry for each, in their order; one that failed has an
   * `error`, and this method does not throw it. Without `continueOnError` nothing is added after the first failure.
   */
  async rememberMany(memories: readonly (string | NewMemory)[], options: RememberManyOptions = {}): Promise<BatchResult> {
    const result: BatchResult = { data: [], succeeded: 0, failed: 0 };
    for (let start = 0; start < memories.length; start += BATCH) {
      const part = memories.slice(start, start + BATCH).map((one) => (typeof one === "string" ? { content: one } : one));
      const key = options.idempotencyKey;
      const own = { ...options, idempotencyKey: key === undefined || start === 0 ? key : `${key}-${start}` };
      const answer = await this.#scope.write<BatchResult>("POST", "/v1/memories/batch", own, { memories: part });
      result.data.push(...answer.data.map((entry) => ({ ...entry, index: entry.index + start })));
      result.succeeded += answer.succeeded;
      result.failed += answer.failed;
      if (answer.failed > 0 && options.continueOnError !== true) break;
    }
    return result;
  }

  /**
   * Finds the memories that matter for a question, the best first. `answered` says whether they are likely to answer it.
   * With `pack` or `window` the answer also has a text or messages for a prompt; see {@link Loci.context} for the short way.
   */
  recall(query: string, options: RecallOptions = {}): Promise<RecallAnswer> {
    return this.#scope.ask<RecallAnswer>("/v1/recall", options, { query });
  }

  /** The memories that matter for a question, as a text for a prompt within `budgetTokens`. */
  async context(query: string, options: ContextOptions = {}): Promise<Context> {
    const { budgetTokens, format, summarize, ...rest } = options;
    const fields = { query, pack: { budgetTokens, format, summarize }, fields: ["id"] };
    const { pack, answered, degraded } = await this.#scope.ask<RecallAnswer>("/v1/recall", rest, fields);
    if (pack === undefined) throw new TypeError("the server answered without a text: is it older than this client?");
    return { ...pack, answered, degraded };
  }

  /** Reads a memory. One that was forgotten has the state `soft_deleted` until it is purged. */
  get(id: string, options: CallOptions = {}): Promise<Memory> {
    return this.#scope.get<Memory>(`/v1/memories/${segment("id", id)}`, options);
  }

  /** Lists memories, newest first: `for await (const memory of loci.list({ tags: ["release"] })) { … }`. */
  list(options: ListOptions = {}): Pages<Memory> {
    const { metadata, ...rest } = options;
    const query = metadata === undefined ? rest : { ...rest, metadata: JSON.stringify(metadata) };
    return this.#scope.pages<Memory>("/v1/memories", query);
  }

  /** Changes a memory. With `version`, a memory that has changed since fails with a {@link ConflictError}. */
  update(id: string, changes: Changes, options: WriteOptions = {}): Promise<MemoryWrite> {
    return this.#scope.write<MemoryWrite>("PATCH", `/v1/memories/${segment("id", id)}`, options, changes);
  }

  /** Forgets a memory: it is hidden at once, and can be restored until it is purged. */
  forget(id: string, options: ForgetOptions = {}): Promise<void> {
    const { version, ...rest } = options;
    const headers: Record<string, string> = version === undefined ? {} : { "If-Match": `"${version}"` };
    return this.#scope.delete(`/v1/memories/${segment("id", id)}`, rest, headers);
  }

  /** Restores a memory that was forgotten. */
  restore(id: string, options: WriteOptions = {}): Promise<MemoryWrite> {
    return this.#scope.write<MemoryWrite>("POST", `/v1/memories/${segment("id", id)}/restore`, options);
  }

  /** The history of a memory, oldest entry first: what changed, by whom and why. */
  history(id: string, options: PageOptions = {}): Pages<LedgerEntry> {
    return this.#scope.pages<LedgerEntry>(`/v1/memories/${segment("id", id)}/history`, options);
  }

  /** Replaces a memory by a newer one; the old one stays in the chain. What is left out is taken from the old memory. */
  supersede(id: string, content: string, options: RememberOptions = {}): Promise<MemoryWrite> {
    return this.#scope.write<MemoryWrite>("POST", `/v1/memories/${segment("id", id)}/supersede`, options, { content });
  }

  /** Corrects a memory that was wrong. */
  correct(id: string, content: string, options: CorrectOptions = {}): Promise<MemoryWrite> {
    return this.#scope.write<MemoryWrite>("POST", `/v1/memories/${segment("id", id)}/correct`, options, { content });
  }

  /** Confirms that a memory holds, which raises its confidence. */
  confirm(id: string, options: WriteOptions = {}): Promise<MemoryWrite> {
    return this.#scope.write<MemoryWrite>("POST", `/v1/memories/${segment("id", id)}/confirm`, options);
  }

  /** Stores the turns of a conversation, oldest first. No model is called; facts are learned when the session ends. */
  ingest(turns: readonly Turn[], options: IngestOptions = {}): Promise<IngestedTurns> {
    const { sessionId, ...rest } = options;
    const path = sessionId === undefined ? "/v1/turns" : `/v1/sessions/${segment("sessionId", sessionId)}/turns`;
    return this.#scope.write<IngestedTurns>("POST", path, rest, { turns });
  }

  /** Reads a session. */
  session(sessionId: string, options: CallOptions = {}): Promise<Session> {
    return this.#scope.get<Session>(`/v1/sessions/${segment("sessionId", sessionId)}`, options);
  }

  /** Ends a session. The server then learns from it in the background. */
  endSession(sessionId: string, options: WriteOptions = {}): Promise<SessionWrite> {
    return this.#scope.write<SessionWrite>("POST", `/v1/sessions/${segment("sessionId", sessionId)}/end`, options);
  }

  /** Learns from a session now and reports what was learned, whether the session has ended or not. */
  learnSession(sessionId: string, options: LearnOptions = {}): Promise<ConsolidationReport> {
    const path = `/v1/sessions/${segment("sessionId", sessionId)}/learn`;
    return this.#scope.write<ConsolidationReport>("POST", path, options, { wait: true });
  }

  /**
   * Follows changes as they happen, from now on or from `after`. After a break it reconnects and continues at the last
   * event, so that none is lost or repeated. It ends when the loop is left or `signal` is aborted.
   */
  events(options: EventsOptions = {}): AsyncGenerator<ChangeEvent, void, undefined> {
    const { silenceMs = 60_000, signal, ...rest } = options;
    return followEvents(this.#scope.http, { query: this.#scope.query(rest), signal, silenceMs });
  }

  /** Counts of what the caller may see. */
  stats(options: CallOptions = {}): Promise<Statistics> {
    return this.#scope.get<Statistics>("/v1/stats", options);
  }

  /** The condition of the server and of each component. An unhealthy server is an answer and not an error. */
  health(options: Pick<CallOptions, "signal" | "timeoutMs"> = {}): Promise<Readiness> {
    return this.#scope.http.json<Readiness>({ method: "GET", path: "/readyz", accept: 503, ...call(options) });
  }

  /**
   * Calls any operation of the HTTP API and returns its JSON. The identifiers of the client are not added: put them into
   * the query or the body, as the operation expects them.
   */
  request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const { query, body, headers, idempotencyKey } = options;
    const own = idempotencyKey === undefined ? headers : { ...headers, ...idempotency(idempotencyKey) };
    return this.#scope.http.json<T>({ method, path, query, body, headers: own, ...call(options) });
  }
}
