// Server-sent events: reading a stream, and following it over broken connections and restarts of the server.

import { errorFrom, LociError } from "./errors.js";
import type { Http, HttpRequest, QueryValue } from "./http.js";
import { delayAfter, sleep } from "./retry.js";
import type { LedgerItem, Problem } from "./types.js";

/** A change that the stream reports. */
export interface ChangeEvent {
  /** The place after this event. Give it as `after` to continue there later. */
  id: string;
  /** What happened, for example `ADD`, `UPDATE` or `SUPERSEDE`. */
  event: string;
  /** The entry of the ledger. */
  data: LedgerItem;
}

/** An event as it stands in the stream; a heartbeat has no data. */
export interface ServerSentEvent {
  id: string | undefined;
  event: string;
  data: string;
  retry: number | undefined;
}

/** Parses a stream of server-sent events. Comments and heartbeats come as events without data. */
export async function* parseEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent, void, undefined> {
  const decoder = new TextDecoder();
  const fresh = (): ServerSentEvent => ({ id: undefined, event: "message", data: "", retry: undefined });
  let event = fresh();
  let data: string[] = [];
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be the first half of a line end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        yield { ...event, data: data.join("\n") };
        event = fresh();
        data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "data") data.push(value);
      else if (name === "event") event.event = value;
      else if (name === "id" && !value.includes("\0")) event.id = value;
      else if (name === "retry" && /^\d+$/.test(value)) event.retry = Number(value);
    }
  }
}

/** What a stream is asked for. */
export interface Follow {
  query: Record<string, QueryValue>;
  signal: AbortSignal | undefined;
  /** Milliseconds without a byte after which the connection counts as broken. */
  silenceMs: number;
}

/**
 * Follows the event stream. After a break it continues at the last event that it has seen (`Last-Event-ID`), so that no
 * event is lost or repeated. The first connection has as many attempts as any call; once there was one, it is renewed
 * for as long as it takes. It ends with an error that a repetition cannot help, or when the signal is aborted.
 */
export async function* followEvents(http: Http, follow: Follow): AsyncGenerator<ChangeEvent, void, undefined> {
  const { signal } = follow;
  let lastId: string | undefined;
  let connected = false;
  let { delayMs } = http.retry;
  for (let failures = 0; ; ) {
    let retryAfter: number | undefined;
    const headers = { Accept: "text/event-stream", ...(lastId === undefined ? {} : { "Last-Event-ID": lastId }) };
    const request = { method: "GET", path: "/v1/events", query: follow.query, headers };
    try {
      for await (const event of connect(http, request, follow)) {
        connected = true;
        failures = 0;
        delayMs = event.retry ?? delayMs;
        if (event.event === "error") throw errorFrom(JSON.parse(event.data) as Problem);
        lastId = event.id ?? lastId;
        if (event.data === "") continue;
        yield { id: lastId ?? "", event: event.event, data: JSON.parse(event.data) as LedgerItem };
      }
    } catch (error) {
      const last = !connected && failures + 1 >= http.retry.attempts;
      if (!(error instanceof LociError) || !error.retryable || last) throw error;
      retryAfter = error.retryAfterMs;
    }
    failures += 1;
    await sleep(delayAfter(failures, { ...http.retry, delayMs }, retryAfter), signal);
  }
}

/** The events of one connection, which the caller's signal, silence, and leaving the loop end. */
async function* connect(http: Http, request: HttpRequest, follow: Follow): AsyncGenerator<ServerSentEvent, void, undefined> {
  const { signal, silenceMs } = follow;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(new Error(`nothing was received for ${silenceMs} ms`)), silenceMs);
  };
  try {
    heard();
    const response = await http.send(request, controller.signal);
    yield* parseEvents(chunks(response, heard));
  } catch (error) {
    throw http.failure(error, request, signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    controller.abort();
  }
}

/** The bytes of a response. A browser's stream is not iterable everywhere. */
async function* chunks(response: Response, heard: () => void): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader();
  for (;;) {
    const part = await reader?.read();
    if (part?.value === undefined) return;
    heard();
    yield part.value;
  }
}
