// The errors of the client. Each failure of the server has a code; a class groups the codes that a program treats alike.

import type { Problem } from "./types.js";

/** What a failed call says about itself. */
export interface Failure {
  /** The code, for example `MEMORY_NOT_FOUND`. */
  code: string;
  /** The HTTP status, or 0 if there was no answer. */
  status: number;
  /** What went wrong, as a sentence. */
  detail: string;
  /** The operation that failed, for example `addMemory`. */
  operation: string;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  /** Further data by name, such as the field that is wrong. */
  details?: Record<string, unknown>;
  /** What to do about it. */
  hint?: string | undefined;
  /** The id of the request, as in the log of the server. */
  requestId?: string | undefined;
  /** Milliseconds after which the server asked to be called again. */
  retryAfterMs?: number | undefined;
}

/** A call that failed. The subclasses say which kind of failure it was; `code` says it exactly. */
export class LociError extends Error {
  /** The code, for example `MEMORY_NOT_FOUND`. */
  readonly code: string;
  /** The HTTP status, or 0 if there was no answer. */
  readonly status: number;
  /** What went wrong, as a sentence. */
  readonly detail: string;
  /** The operation that failed, for example `addMemory`. */
  readonly operation: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Further data by name. `details.field` names the field that is wrong. */
  readonly details: Record<string, unknown>;
  /** What to do about it. */
  readonly hint: string | undefined;
  /** The id of the request, as in the log of the server. */
  readonly requestId: string | undefined;
  /** Milliseconds after which the server asked to be called again. */
  readonly retryAfterMs: number | undefined;

  /** Makes an error of what is known about the failure. */
  constructor(failure: Failure, options?: ErrorOptions) {
    super(`${failure.code}: ${failure.detail}${failure.hint === undefined ? "" : ` (${failure.hint})`}`, options);
    this.name = new.target.name;
    this.code = failure.code;
    this.status = failure.status;
    this.detail = failure.detail;
    this.operation = failure.operation;
    this.retryable = failure.retryable;
    this.details = failure.details ?? {};
    this.hint = failure.hint;
    this.requestId = failure.requestId;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

/** A field of the request is missing, malformed, too long or out of range. `details.field` names it. */
export class InvalidRequestError extends LociError {}
/** The key is missing, wrong, expired or revoked. */
export class AuthenticationError extends LociError {}
/** The key does not allow this. */
export class PermissionError extends LociError {}
/** It does not exist, or the caller may not see it. */
export class NotFoundError extends LociError {}
/** It exists already, is in use, or has changed since it was read. */
export class ConflictError extends LociError {}
/** Too many requests with this key. */
export class RateLimitError extends LociError {}
/** The server could not do its work: a part of it failed, its disk is full, or it is configured wrongly. */
export class ServerError extends LociError {}
/** There was no answer: the server cannot be reached, or the connection broke. `code` is `CONNECTION_FAILED`. */
export class ConnectionError extends LociError {}
/** There was no answer in time. `code` is `TIMEOUT`. */
export class TimeoutError extends ConnectionError {}

/** The class of each code of the server. A code that is not listed here is a plain {@link LociError}. */
export const ERROR_CLASSES: Readonly<Record<string, typeof LociError>> = {
  INVALID_LAYER: InvalidRequestError,
  MISSING_IDENTIFIER: InvalidRequestError,
  CONTENT_TOO_LONG: InvalidRequestError,
  QUERY_TOO_LONG: InvalidRequestError,
  INVALID_INPUT: InvalidRequestError,
  METHOD_NOT_ALLOWED: InvalidRequestError,
  UNAUTHENTICATED: AuthenticationError,
  UNAUTHORIZED: PermissionError,
  MEMORY_NOT_FOUND: NotFoundError,
  NOT_FOUND: NotFoundError,
  ROUTE_NOT_FOUND: NotFoundError,
  VERSION_CONFLICT: ConflictError,
  CONFLICT: ConflictError,
  RATE_LIMITED: RateLimitError,
  EMBEDDING_FAILED: ServerError,
  PROVIDER_ERROR: ServerError,
  CONFIGURATION_ERROR: ServerError,
  STORE_CORRUPT: ServerError,
  STORAGE_UNAVAILABLE: ServerError,
  INTERNAL_ERROR: ServerError,
};

/** Statuses that a proxy answers while the server behind it is away. */
const AWAY = new Set([429, 502, 503, 504]);

/** The milliseconds of a `Retry-After` header, which holds seconds or a date. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const value = header.trim();
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * Reads the failure of a response. An answer that is not a problem document comes from something in front of the
 * server.
 */
export async function errorOf(response: Response, operation: string): Promise<LociError> {
  const text = await response.text().catch(() => "");
  const after = retryAfterMs(response.headers.get("Retry-After"), Date.now());
  const problem = problemOf(text);
  if (problem === undefined) {
    const { status, type } = response;
    const redirect = type === "opaqueredirect" || (status >= 300 && status < 400);
    const detail = redirect ? "a redirect is not followed, so that the key is sent nowhere else" : detailOf(response, text);
    return new LociError({ code: `HTTP_${status}`, status, detail, operation, retryable: AWAY.has(status), retryAfterMs: after });
  }
  return errorFrom(problem, after);
}

function detailOf({ status, statusText }: Response, text: string): string {
  return text.trim().slice(0, 200) || statusText || `the answer has the status ${status}`;
}

/** The error of a problem document. */
export function errorFrom(problem: Problem, after?: number): LociError {
  const Class = Object.hasOwn(ERROR_CLASSES, problem.code) ? ERROR_CLASSES[problem.code] : undefined;
  // The same request is still being processed: the server says when to ask again.
  const pending = problem.code === "CONFLICT" && after !== undefined;
  return new (Class ?? LociError)({
    code: problem.code,
    status: problem.status,
    detail: problem.detail,
    operation: problem.operation,
    retryable: problem.retryable || pending,
    details: problem.details,
    hint: problem.hint,
    requestId: problem.instance,
    retryAfterMs: after,
  });
}

function problemOf(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isProblem = typeof value === "object" && value !== null && "code" in value && "detail" in value;
    return isProblem ? (value as Problem) : undefined;
  } catch {
    return undefined;
  }
}
