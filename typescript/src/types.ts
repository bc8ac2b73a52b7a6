// Names for the types of the HTTP API that the client takes and returns. `schema.ts` has all others.

import type { components, operations } from "./schema.js";

/** The schemas of the HTTP API, by the names of its description. */
export type Schemas = components["schemas"];

/** Whose memory a request is about. A read sees only the scopes that the identifiers name. */
export type Identifiers = Schemas["Identifiers"];
/** A memory. */
export type Memory = Schemas["Memory"];
/** What a write did: `ADD`, `NONE` (known already), `UPDATE`, `MERGE`, `SUPERSEDE`, `DELETE`, `RESTORE` or `ERASE`. */
export type Outcome = Schemas["Outcome"];
/**
 * The answer to a write of a memory. `data` is null if the server answered a repeated request, because it does not store
 * texts a second time; `id`, `event` and `version` are the same as in the first answer.
 */
export type MemoryWrite = Schemas["MemoryWrite"];
/** The results of a batch, one for each memory. */
export type BatchResult = Schemas["BatchResult"];
/** The answer to a recall. */
export type RecallAnswer = Schemas["RecallAnswer"];
/** One result of a recall. */
export type RecallResult = Schemas["RecallResult"];
/** Memories as a text for a prompt. */
export type RecallPack = Schemas["RecallPack"];
/** One message of a conversation. */
export type Turn = Schemas["Turn"];
/** The writes of each turn. */
export type IngestedTurns = Schemas["IngestedTurns"];
/** A conversation. */
export type Session = Schemas["Session"];
/** The answer to a write of a session. */
export type SessionWrite = Schemas["SessionWrite"];
/** What was learned from a session. */
export type ConsolidationReport = Schemas["ConsolidationReport"];
/** A fact as subject, predicate and object. */
export type Fact = Schemas["Fact"];
/** The answer to a write of a fact. */
export type FactWrite = Schemas["FactWrite"];
/** An entry of the history of a memory. */
export type LedgerEntry = Schemas["LedgerEntry"];
/** A change, as the event stream reports it. */
export type LedgerItem = Schemas["LedgerItem"];
/** Counts of what the caller may see. */
export type Statistics = Schemas["Statistics"];
/** The condition of the server and of each of its components. */
export type Readiness = Schemas["Readiness"];
/** The body of a failure, RFC 9457. */
export type Problem = Schemas["Problem"];

/** The fields of a request body, without its scope. */
type Fields<Body> = Omit<Body, "identifiers" | "everyone">;
/** The query parameters of an operation, without its scope. */
type Query<Name extends keyof operations> = Omit<
  NonNullable<operations[Name]["parameters"]["query"]>,
  keyof Identifiers | "everyone" | "cursor"
>;

/** Options that every call takes. */
export interface CallOptions {
  /** Identifiers of this call, laid over those of the client. Null removes one. */
  identifiers?: Identifiers | undefined;
  /** Whether the call is about everyone's data instead of one scope. Only an admin may ask for that. */
  everyone?: boolean | undefined;
  /** Ends the call, and its waiting for a retry. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take. Default: that of the client. */
  timeoutMs?: number | undefined;
}

/** Options of a call that writes. */
export interface WriteOptions extends CallOptions {
  /**
   * The key by which the server recognises a repetition of this request, for 24 hours. Default: a random one, so that
   * retries of this call do not write twice. Give your own to make a repetition by your program safe too.
   */
  idempotencyKey?: string | undefined;
}

/** A memory to add. */
export type NewMemory = Schemas["NewMemoryRequest"];
/** Options of {@link Loci.remember}. */
export type RememberOptions = Fields<Omit<NewMemory, "content">> & WriteOptions;
/** Options of {@link Loci.rememberMany}. */
export interface RememberManyOptions extends WriteOptions {
  /** Whether the memories after one that fails are added all the same. Default: false. */
  continueOnError?: boolean;
}
/** Options of {@link Loci.recall}. */
export type RecallOptions = Fields<Omit<Schemas["RecallRequest"], "query">> & CallOptions;
/** Options of {@link Loci.context}. */
export type ContextOptions = Schemas["PackOptions"] & Omit<RecallOptions, "pack" | "window" | "fields" | "explain" | "cursor">;
/** Memories as a text for a prompt, and whether they are likely to answer the query. */
export interface Context extends RecallPack {
  /** Whether what is known answers the query. */
  answered: RecallAnswer["answered"];
  /** Parts that could not be used, for example `vector`. */
  degraded: string[];
}
/** Filters of {@link Loci.list}. Values of `metadata` are compared exactly. */
export type ListOptions = Omit<Query<"listMemories">, "metadata"> & {
  /** Metadata fields that have exactly these values. */
  metadata?: Record<string, unknown>;
} & CallOptions;
/** Options of a list without filters. */
export interface PageOptions extends CallOptions {
  /** Number of entries that one request fetches, at most 1,000. Default: 50. */
  limit?: number;
}
/** Changes of a memory. A field that is left out stays as it is. */
export type Changes = Fields<Schemas["MemoryChangesRequest"]>;
/** Options of {@link Loci.forget}. */
export interface ForgetOptions extends WriteOptions {
  /** The reason, for the history of the memory. */
  reason?: string;
  /** The version that was read. If the memory has another one, the call fails with a {@link ConflictError}. */
  version?: number;
}
/** Options of {@link Loci.correct}. */
export interface CorrectOptions extends WriteOptions {
  /** Why the old text was wrong, for the history. */
  reason?: string;
}
/** Options of {@link Loci.ingest}. */
export interface IngestOptions extends WriteOptions {
  /** The session of the turns. Default: that of the identifiers, if they have one. */
  sessionId?: string;
}
/** Options of {@link Loci.learnSession}. */
export interface LearnOptions extends CallOptions {
  /** Whether learning starts at the first turn of the session, also if it was learned from before. Default: true. */
  again?: boolean;
}
/** A fact to state. */
export type NewFact = Fields<Schemas["NewFactRequest"]>;
/** Filters of {@link Facts.list}. */
export type FactListOptions = Query<"listFacts"> & CallOptions;
/** Filters and the start of {@link Loci.events}. */
export type EventsOptions = Query<"followEvents"> & { event?: string[] } & Omit<CallOptions, "timeoutMs"> & {
    /**
     * Milliseconds without a byte after which the connection counts as broken and is renewed. Default: 60,000. It must be
     * longer than the server's `server.heartbeat_seconds` (15).
     */
    silenceMs?: number;
  };
