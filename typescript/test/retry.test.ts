// Retries, deadlines and aborts, against a server that answers by a script.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";

import { ConflictError, ConnectionError, Loci, LociError, ServerError, TimeoutError } from "@loci/client";

import { delayAfter, retryPolicy } from "../dist/retry.js";
import { retryAfterMs } from "../dist/errors.js";
import { answer, hangUp, problem, Scripted, silence, type Step } from "./scripted.js";

const WRITTEN = { id: "1", event: "ADD", version: 1, redacted: [], degraded: [], data: null };

/** Runs `body` with a client of a scripted server, and stops the server. */
async function scripted(steps: Step[], body: (loci: Loci, server: Scripted) => Promise<void>): Promise<void> {
  const server = await Scripted.start(...steps);
  try {
    await body(new Loci({ url: server.url, userId: "ana", retry: { delayMs: 5 } }), server);
  } finally {
    await server.stop();
  }
}

test("the waits double up to the greatest, vary by chance, and are at least what the server asks for", () => {
  const policy = retryPolicy();
  assert.deepEqual(policy, { attempts: 3, delayMs: 1000, maxDelayMs: 30_000 });
  const greatest = [1, 2, 3, 4, 5, 6, 7].map((attempt) => delayAfter(attempt, policy, 0, 1));
  assert.deepEqual(greatest, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  assert.equal(delayAfter(1, policy, 0, 0), 500);
  assert.equal(delayAfter(1, policy, 7000, 0.5), 7000);
  assert.equal(delayAfter(1, policy, 90_000, 0.5), 30_000);
  const drawn = new Set(Array.from({ length: 20 }, () => delayAfter(1, policy)));
  assert(drawn.size > 1 && [...drawn].every((delay) => delay >= 500 && delay <= 1000));
  assert.throws(() => retryPolicy({ attempts: 0 }), RangeError);
  assert.throws(() => retryPolicy({ delayMs: NaN }), RangeError);
});

test("Retry-After is read as seconds and as a date", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const cases: [string | null, number | undefined][] = [
    [null, undefined],
    ["2", 2000],
    [" 0 ", 0],
    ["Thu, 01 Jan 2026 00:00:03 GMT", 3000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["soon", undefined],
  ];
  for (const [header, wanted] of cases) assert.equal(retryAfterMs(header, now), wanted, String(header));
});

test("a retryable error and a broken connection are repeated, with the same Idempotency-Key", () =>
  scripted([problem("PROVIDER_ERROR", 503, true), hangUp, answer(WRITTEN, 201)], async (loci, server) => {
    assert.deepEqual(await loci.remember("x"), WRITTEN);
    const keys = server.seen.map(({ headers }) => headers["idempotency-key"]);
    assert.equal(keys.length, 3);
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
    assert.equal(new Set(keys).size, 1);
    await loci.remember("y");
    assert.notEqual(server.seen[3]?.headers["idempotency-key"], keys[0]);
  }));

test("the key of the caller is sent, and each part of a batch has its own", () => {
  const done = answer({ data: [], succeeded: 500, failed: 0 });
  return scripted([answer(WRITTEN), done, done], async (loci, server) => {
    await loci.remember("x", { idempotencyKey: "order-1" });
    await loci.rememberMany(Array.from({ length: 600 }, (_, number) => `note ${number}`), { idempotencyKey: "notes" });
    assert.deepEqual(server.seen.map(({ headers }) => headers["idempotency-key"]), ["order-1", "notes", "notes-500"]);
    assert(server.seen.every(({ body }) => !body.includes("idempotencyKey")));
  });
});

test("reads have no Idempotency-Key and are repeated too", () =>
  scripted([hangUp, answer({ id: "1" })], async (loci, server) => {
    assert.deepEqual(await loci.get("1"), { id: "1" });
    assert.equal(server.seen[1]?.headers["idempotency-key"], undefined);
  }));

test("three attempts are made, and the last error is thrown", () =>
  scripted([problem("EMBEDDING_FAILED", 502, true)], async (loci, server) => {
    const error = await rejection(loci.recall("x"));
    assert(error instanceof ServerError);
    assert.equal(server.seen.length, 3);
  }));

test("an error that is not retryable is not repeated", () =>
  scripted([problem("STORAGE_UNAVAILABLE", 507, false)], async (loci, server) => {
    const error = await rejection(loci.remember("x"));
    assert(error instanceof ServerError);
    const { code, status, detail, operation, retryable, details, hint, requestId } = error;
    assert.deepEqual(
      { code, status, detail, operation, retryable, details, hint, requestId },
      {
        code: "STORAGE_UNAVAILABLE",
        status: 507,
        detail: "STORAGE_UNAVAILABLE happened",
        operation: "testIt",
        retryable: false,
        details: { field: "content" },
        hint: "try again",
        requestId: "r-1",
      },
    );
    assert.equal(error.name, "ServerError");
    assert.equal(error.message, "STORAGE_UNAVAILABLE: STORAGE_UNAVAILABLE happened (try again)");
    assert.equal(server.seen.length, 1);
  }));

test("Retry-After is waited for", () =>
  scripted([problem("RATE_LIMITED", 429, true, { "Retry-After": "1" }), answer(WRITTEN)], async (loci, server) => {
    await loci.remember("x");
    const [first, second] = server.seen;
    assert(first !== undefined && second !== undefined && second.at - first.at >= 990, `${second?.at} - ${first?.at}`);
  }));

test("a request that is still being processed is repeated, a conflict is not", () =>
  scripted(
    [problem("CONFLICT", 409, false, { "Retry-After": "0" }), answer(WRITTEN), problem("CONFLICT", 409, false)],
    async (loci, server) => {
      await loci.remember("x");
      assert.equal(server.seen.length, 2);
      assert((await rejection(loci.remember("y"))) instanceof ConflictError);
      assert.equal(server.seen.length, 3);
    },
  ));

test("an answer of a proxy is an error by its status", () => {
  const page: Step = (response) => response.writeHead(503, { "Content-Type": "text/html" }).end("<h1>away</h1>");
  const login: Step = (response) => response.writeHead(403).end();
  return scripted([page, page, page, login], async (loci, server) => {
    const away = await rejection(loci.stats());
    assert(away instanceof LociError);
    assert.deepEqual([away.code, away.status, away.detail, away.retryable], ["HTTP_503", 503, "<h1>away</h1>", true]);
    assert.equal(server.seen.length, 3);
    const refused = await rejection(loci.stats());
    assert(refused instanceof LociError);
    assert.deepEqual([refused.code, refused.retryable, server.seen.length], ["HTTP_403", false, 4]);
  });
});

test("an unhealthy server is an answer of health, a proxy before it is not", () => {
  const unhealthy = { status: "unhealthy", latencyMs: 1, components: { store: { status: "unhealthy" }, vectors: { status: "healthy" } } };
  const page: Step = (response) => response.writeHead(503, { "Content-Type": "text/html" }).end("<h1>away</h1>");
  const busy = problem("PROVIDER_ERROR", 503, true, { "Content-Type": "application/problem+json" });
  return scripted([answer(unhealthy, 503), page, busy, answer(unhealthy)], async (loci, server) => {
    assert.deepEqual(await loci.health(), unhealthy);
    assert.equal(server.seen.length, 1);
    assert.deepEqual(await loci.health(), unhealthy);
    assert.equal(server.seen.length, 4);
  });
});

test("an answer that is not JSON is an error that names the address", () =>
  scripted([(response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<html>Sign in")], async (loci, server) => {
    const error = await rejection(loci.stats());
    assert(error instanceof LociError);
    assert.deepEqual([error.code, error.status, error.retryable, server.seen.length], ["INVALID_RESPONSE", 200, false, 1]);
    assert(error.detail.includes(server.url) && error.detail.includes("<html>Sign in"), error.detail);
  }));

test("a redirect is refused, so that the key is sent nowhere else", () =>
  scripted([(response) => response.writeHead(307, { Location: "http://127.0.0.1:9/" }).end()], async (loci, server) => {
    const error = await rejection(loci.stats());
    assert(error instanceof LociError);
    assert.deepEqual([error.code, error.retryable, server.seen.length], ["HTTP_307", false, 1]);
    assert.match(error.detail, /redirect/);
  }));

test("a server that cannot be reached is a ConnectionError", async () => {
  // A port that was free a moment ago.
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((ready) => probe.once("listening", ready));
  const { port } = probe.address() as { port: number };
  await new Promise((closed) => probe.close(closed));
  const loci = new Loci({ url: `http://127.0.0.1:${port}`, retry: { attempts: 2, delayMs: 1 } });
  const error = await rejection(loci.stats());
  assert(error instanceof ConnectionError);
  assert.equal(error.code, "CONNECTION_FAILED");
  assert.equal(error.retryable, true);
  assert.match(error.detail, new RegExp(`no answer from http://127.0.0.1:${port}: .*ECONNREFUSED`));
});

test("an attempt that takes too long is a TimeoutError", () =>
  scripted([silence], async (_, server) => {
    let attempts = 0;
    // Attempts are counted here, because an attempt may end before the server has seen it.
    const counting: typeof fetch = (input, init) => ((attempts += 1), fetch(input, init));
    const loci = new Loci({ url: server.url, timeoutMs: 30, retry: { attempts: 2, delayMs: 1 }, fetch: counting });
    const error = await rejection(loci.stats());
    assert(error instanceof TimeoutError && error instanceof ConnectionError);
    assert.equal(error.code, "TIMEOUT");
    assert.equal(attempts, 2);
    assert.match(String(await rejection(loci.stats({ timeoutMs: 10 }))), /within 10 ms/);
  }));

test("an abort ends a request, the wait for a retry, and a call that has not begun", async () => {
  const reason = new Error("no longer needed");
  await scripted([silence], async (loci, server) => {
    const controller = new AbortController();
    const pending = loci.recall("x", { signal: controller.signal });
    while (server.seen.length === 0) await new Promise(setImmediate);
    controller.abort(reason);
    assert.equal(await rejection(pending), reason);
    assert.equal(await rejection(loci.recall("x", { signal: AbortSignal.abort(reason) })), reason);
    assert.equal(server.seen.length, 1);
  });
  await scripted([problem("PROVIDER_ERROR", 503, true, { "Retry-After": "20" })], async (loci, server) => {
    const controller = new AbortController();
    const pending = loci.remember("x", { signal: controller.signal });
    while (server.seen.length === 0) await new Promise(setImmediate);
    // The answer has been read when the client waits; both are ended by the same signal.
    controller.abort(reason);
    assert.equal(await rejection(pending), reason);
    assert.equal(server.seen.length, 1);
  });
});

test("a timer or a listener of a call does not outlive it", () =>
  scripted([answer({ id: "1" })], async (loci) => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = ((...args: Parameters<typeof add>) => ((listeners += 1), add(...args))) as typeof add;
    signal.removeEventListener = ((...args: Parameters<typeof remove>) => ((listeners -= 1), remove(...args))) as typeof remove;
    await loci.get("1", { signal });
    assert.equal(listeners, 0);
  }));

/** What a promise is rejected with. */
async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.fail("the call succeeded"),
    (error: unknown) => error,
  );
}
