// Calls of the HTTP API. The key is sent in a header and kept in the session storage of this tab; it is in no address.
import type { components } from "../../../typescript/src/schema";
import { identity, key, scope, type Scope } from "./session";
import { revived, Shared } from "./state";

export type Schemas = components["schemas"];
export type Memory = Schemas["Memory"];
export type Problem = Schemas["Problem"];
export type Filter = Schemas["MemoryFilter"];
export type LedgerEntry = Schemas["LedgerEntry"];
export type Page<T> = { data: T[]; nextCursor?: string | null };

/** Where the API is: at the root of the server that served the console. */
const ROOT = location.origin;

/** Whether the server answers. */
export const reachable = new Shared(true);

/** A request that failed: the server said why, or did not answer. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly problem?: Problem,
  ) {
    super(message);
  }

  /** Whether nothing answered, so that the request may be sent again as it is. */
  get isUnreachable(): boolean {
    return this.status === 0;
  }
}

export interface CallOptions {
  query?: Record<string, unknown>;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

function address(path: string, query: Record<string, unknown> = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "" || value === false) continue;
    if (Array.isArray(value)) {
      if (value.length > 0) given.set(name, value.join(","));
    } else {
      given.set(name, String(value));
    }
  }
  const text = given.toString();
  return `${ROOT}${path}${text === "" ? "" : `?${text}`}`;
}

/** Sends a request and returns the response if it succeeded. */
export async function send(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers };
  if (key.value !== "") headers["authorization"] = `Bearer ${key.value}`;
  if (options.body !== undefined) headers["content-type"] = "application/json";
  const request: RequestInit = { method, headers, credentials: "omit", cache: "no-store", redirect: "error" };
  if (options.body !== undefined) request.body = JSON.stringify(options.body);
  if (options.signal) request.signal = options.signal;
  let response: Response;
  try {
    response = await fetch(address(path, options.query), request);
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    watch();
    throw new ApiError("The server does not answer.", 0);
  }
  if (response.ok) return response;
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  if (response.status === 401 && identity.value !== undefined) identity.value = undefined;
  throw new ApiError(problem?.detail ?? `The server answered ${response.status}.`, response.status, problem);
}

/** Sends a request and returns the answer. */
export async function call<T>(method: string, path: string, options?: CallOptions): Promise<T> {
  const response = await send(method, path, options);
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

export const get = <T>(path: string, query?: Record<string, unknown>, signal?: AbortSignal): Promise<T> =>
  call<T>("GET", path, { query, signal });

/** The scope as query parameters. */
export function scopeQuery(of: Scope = scope.value): Record<string, unknown> {
  return of.everyone ? { everyone: true } : { ...of.identifiers };
}

/** The scope as fields of a body. */
export function scopeBody(of: Scope = scope.value): Record<string, unknown> {
  return of.everyone ? { everyone: true } : { identifiers: of.identifiers };
}

/** The scope for a memory that is named by its id: nothing for an admin, who finds it without. */
function ownScope(): Record<string, unknown> {
  return scope.value.everyone ? {} : { identifiers: scope.value.identifiers };
}

/** Sends a change. The key makes it safe to send again when the answer was lost. */
export function write<T>(
  method: string,
  path: string,
  body?: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<T> {
  const once = { "idempotency-key": headers["idempotency-key"] ?? crypto.randomUUID() };
  return call<T>(method, path, { body, headers: { ...headers, ...once } });
}

/** Sends a change of one memory. `version` is the one that was read: the change is refused if there is a newer one. */
export function writeMemory<T = Schemas["MemoryWrite"]>(
  method: string,
  id: string,
  action: string,
  fields: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<T> {
  return write<T>(method, `/v1/memories/${id}${action}`, { ...ownScope(), ...fields }, headers);
}

/** Deletes something softly or for good; what is in the scope is named in the query. */
export function remove(path: string, query: Record<string, unknown> = {}): Promise<void> {
  return call<void>("DELETE", path, { query });
}

export const pathPart = encodeURIComponent;

let watching = false;

/** Asks until the server answers again, then loads anew what failed. */
function watch(): void {
  if (watching) return;
  watching = true;
  reachable.value = false;
  const ask = async (pause: number): Promise<void> => {
    const answered = await fetch(`${ROOT}/healthz`, { cache: "no-store" }).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) {
      watching = false;
      reachable.value = true;
      revived.value += 1;
      return;
    }
    setTimeout(() => void ask(Math.min(pause * 1.5, 5_000)), pause);
  };
  setTimeout(() => void ask(500), 300);
}
