// One request over fetch: its address, headers, deadline and failures. Knows nothing of single operations.

import { ConnectionError, errorOf, LociError, TimeoutError } from "./errors.js";
import { type RetryOptions, type RetryPolicy, retryPolicy, withRetries } from "./retry.js";

/** Where the server is, and how it is called. */
export interface HttpOptions {
  /** The address of the server. Default: `LOCI_SERVER` in Node, else `http://127.0.0.1:7077`. */
  url?: string | undefined;
  /** The key. Default: `LOCI_KEY` in Node, else none. */
  key?: string | undefined;
  /** Milliseconds that one attempt may take. Default: 65,000; the server ends requests after 60 seconds. */
  timeoutMs?: number | undefined;
  /** How failed calls are repeated. */
  retry?: RetryOptions | undefined;
  /** Further headers of every request. */
  headers?: Record<string, string> | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** A query parameter. Lists are joined by commas; null and undefined are left out. */
export type QueryValue = string | number | boolean | readonly (string | number)[] | null | undefined;

/** One request. */
export interface HttpRequest {
  /** The method, for example `POST`. */
  method: string;
  /** The path, for example `/v1/recall`. */
  path: string;
  /** The query parameters. */
  query?: Record<string, QueryValue> | undefined;
  /** The body, which is sent as JSON. */
  body?: unknown;
  /** Further headers. */
  headers?: Record<string, string> | undefined;
  /** Ends the request. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take. */
  timeoutMs?: number | undefined;
  /** A status that is an answer although it says failure. */
  accept?: number | undefined;
}

/** A variable of the environment, where there is one. */
function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

/** Sends requests to one server. */
export class Http {
  readonly url: URL;
  readonly retry: RetryPolicy;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;

  constructor(options: HttpOptions) {
    const url = options.url ?? variable("LOCI_SERVER") ?? "http://127.0.0.1:7077";
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
      throw new TypeError(`the url of the server must begin with http:// or https://, not ${JSON.stringify(url)}`);
    }
    this.url = new URL(url.endsWith("/") ? url : `${url}/`);
    // A page's fetch must be called on its window.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#timeoutMs = options.timeoutMs ?? 65_000;
    this.retry = retryPolicy(options.retry);
    const key = options.key ?? variable("LOCI_KEY");
    this.#headers = { ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }), ...options.headers };
  }

  /** Sends a request, repeats it where that helps, and returns its JSON; undefined if the answer has no body. */
  async json<T>(request: HttpRequest): Promise<T> {
    const { status, text } = await withRetries(this.retry, request.signal, () =>
      this.#within(request, async (signal) => {
        const response = await this.send(request, signal);
        return { status: response.status, text: await response.text() };
      }),
    );
    try {
      return (text === "" ? undefined : JSON.parse(text)) as T;
    } catch (cause) {
      const detail = `the answer is not JSON; is ${this.url.href} the address of Loci? It begins with ${JSON.stringify(text.slice(0, 60))}`;
      const failure = { code: "INVALID_RESPONSE", status, detail, operation: `${request.method} ${request.path}`, retryable: false };
      throw new LociError(failure, { cause });
    }
  }

  /** The error of whatever `fetch` rejected with. An abort by the caller stays what it is. */
  failure(error: unknown, request: HttpRequest, signal: AbortSignal | undefined): unknown {
    if (error instanceof LociError) return error;
    if (signal?.aborted) return signal.reason;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    return new ConnectionError(
      {
        code: "CONNECTION_FAILED",
        status: 0,
        detail: `no answer from ${this.url.origin}: ${reason}`,
        operation: `${request.method} ${request.path}`,
        retryable: true,
        hint: "is the server running, and is the url right?",
      },
      { cause: error },
    );
  }

  /** Sends a request once and returns the response as soon as its head is there. Only the signal ends it. */
  async send(request: HttpRequest, signal: AbortSignal): Promise<Response> {
    const { method, path, body, accept } = request;
    const headers: Record<string, string> = { Accept: "application/json", ...this.#headers, ...request.headers };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const init: RequestInit = { method, headers, signal, redirect: "manual" };
    if (body !== undefined) init.body = JSON.stringify(body);
    const response = await this.#fetch(this.address(path, request.query), init);
    // A problem document, or the page of a proxy, is not the answer that `accept` is about.
    const accepted = response.status === accept && /^application\/json\b/.test(response.headers.get("Content-Type") ?? "");
    if (!response.ok && !accepted) throw await errorOf(response, `${method} ${path}`);
    return response;
  }

  /** The address of a path with query parameters. */
  address(path: string, query: Record<string, QueryValue> = {}): string {
    const url = new URL(path.replace(/^\//, ""), this.url);
    for (const [name, value] of Object.entries(query)) {
      if (value === null || value === undefined) continue;
      url.searchParams.set(name, Array.isArray(value) ? value.join(",") : String(value as string | number | boolean));
    }
    return url.href;
  }

  /** Runs one attempt under the caller's signal and the deadline. */
  async #within<T>(request: HttpRequest, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = request;
    const milliseconds = request.timeoutMs ?? this.#timeoutMs;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const timer = setTimeout(() => controller.abort(timeout(request, milliseconds)), milliseconds);
    try {
      return await run(controller.signal);
    } catch (error) {
      throw this.failure(error, request, controller.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }
}

function timeout(request: HttpRequest, milliseconds: number): TimeoutError {
  const operation = `${request.method} ${request.path}`;
  const detail = `no answer within ${milliseconds} ms`;
  return new TimeoutError({ code: "TIMEOUT", status: 0, detail, operation, retryable: true });
}
