// Requests about the memory of one scope: puts identifiers where an operation expects them, and the call options beside.

import type { Http, HttpRequest, QueryValue } from "./http.js";
import { type Page, Pages } from "./pages.js";
import type { CallOptions, Identifiers, WriteOptions } from "./types.js";

/** Options of a call together with further fields of the request. */
type With<Options> = Options & Record<string, unknown>;

/** Sends the requests of one client. */
export class Scope {
  constructor(
    readonly http: Http,
    readonly identifiers: Identifiers,
  ) {}

  /** A request without a body: fields and scope are query parameters. */
  get<T>(path: string, options: CallOptions = {}): Promise<T> {
    return this.http.json<T>({ method: "GET", path, query: this.query(options), ...call(options) });
  }

  /** A list in pages. The fields of `options` are query parameters. */
  pages<T>(path: string, options: CallOptions = {}): Pages<T> {
    const query = this.query(options);
    const rest = { method: "GET", path, ...call(options) };
    return new Pages<T>((cursor) => this.http.json<Page<T>>({ ...rest, query: { ...query, cursor } }));
  }

  /** A request that reads by POST. The fields of `options` are fields of the body. */
  ask<T>(path: string, options: CallOptions, fields: object): Promise<T> {
    return this.http.json<T>({ method: "POST", path, body: this.body(options, fields), ...call(options) });
  }

  /** A request that writes, with a body. The fields of `options` are fields of the body. */
  write<T>(method: "POST" | "PATCH", path: string, options: WriteOptions = {}, fields: object = {}): Promise<T> {
    const headers = idempotency(options.idempotencyKey);
    return this.http.json<T>({ method, path, body: this.body(options, fields), headers, ...call(options) });
  }

  /** A request that deletes. The fields of `options` are query parameters. */
  async delete(path: string, options: WriteOptions = {}, headers: Record<string, string> = {}): Promise<void> {
    headers = { ...headers, ...idempotency(options.idempotencyKey) };
    await this.http.json({ method: "DELETE", path, query: this.query(options), headers, ...call(options) });
  }

  /** The query parameters of fields and scope. */
  query(options: CallOptions): Record<string, QueryValue> {
    const { everyone, fields } = divide(options);
    return { ...(fields as Record<string, QueryValue>), ...this.scope(options), everyone };
  }

  private body(options: CallOptions, given: object): object {
    const { everyone, fields } = divide(options);
    return { ...fields, ...given, identifiers: this.scope(options), ...(everyone === undefined ? {} : { everyone }) };
  }

  /** The identifiers of a call. */
  private scope({ identifiers }: CallOptions): Record<string, string> {
    const all = Object.entries({ ...this.identifiers, ...identifiers });
    return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== undefined));
  }
}

/** The header by which the server recognises a repetition of a write. */
export function idempotency(key = randomKey()): Record<string, string> {
  return { "Idempotency-Key": key };
}

/** The options of the connection. */
export function call({ signal, timeoutMs }: CallOptions): Pick<HttpRequest, "signal" | "timeoutMs"> {
  return { signal, timeoutMs };
}

/** A part of a path. What would lead to another path is refused. */
export function segment(name: string, value: string): string {
  if (typeof value !== "string" || ["", ".", ".."].includes(value)) {
    throw new TypeError(`${name} must be a name, not ${JSON.stringify(value)}`);
  }
  return encodeURIComponent(value);
}

function divide(options: CallOptions): { everyone: boolean | undefined; fields: Record<string, unknown> } {
  const { identifiers, everyone, signal, timeoutMs, idempotencyKey, ...fields } = options as With<WriteOptions>;
  return { everyone, fields };
}

/** 128 random bits. `randomUUID` does not exist on pages without TLS. */
function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
