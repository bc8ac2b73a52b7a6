/**
 * Client of Loci, long-term memory for AI agents.
 *
 * @packageDocumentation
 */
export { Loci, type LociOptions, type RequestOptions } from "./client.js";
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ERROR_CLASSES,
  type Failure,
  InvalidRequestError,
  LociError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from "./errors.js";
export type { ChangeEvent } from "./events.js";
export type { Facts } from "./facts.js";
export type { HttpOptions, QueryValue } from "./http.js";
export { type Page, Pages } from "./pages.js";
export type { RetryOptions } from "./retry.js";
export type { components, operations, paths } from "./schema.js";
export type * from "./types.js";
