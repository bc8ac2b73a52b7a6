// The event stream: its grammar, and following it over a restart of the real server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { AuthenticationError, type ChangeEvent, ConnectionError, InvalidRequestError, Loci, ServerError } from "@loci/client";

import { parseEvents } from "../dist/events.js";
import { answer, hangUp, problem, Scripted, type Step } from "./scripted.js";
import { Server } from "./server.js";

let server: Server;

before(async () => {
  server = await Server.start();
});
after(() => server.remove());

test("a stream is read whatever its chunks and line ends", async () => {
  const text = ": here\nid: 1\nretry: 20\n\nevent: ADD\nid: 2\ndata: {\"a\":\ndata: \"ü\"}\n\ndata:x\nid\n\ndata: lost";
  const wanted = [
    { id: "1", event: "message", data: "", retry: 20 },
    { id: "2", event: "ADD", data: '{"a":\n"ü"}', retry: undefined },
    { id: "", event: "message", data: "x", retry: undefined },
  ];
  for (const end of ["\n", "\r\n", "\r"]) {
    const bytes = new TextEncoder().encode(text.replaceAll("\n", end));
    for (const size of [1, 2, 3, 7, bytes.length]) {
      const chunks = async function* (): AsyncGenerator<Uint8Array> {
        for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
      };
      const events = [];
      for await (const event of parseEvents(chunks())) events.push(event);
      assert.deepEqual(events, wanted, `${JSON.stringify(end)}, ${size}`);
    }
  }
});

/** Reads events until one has this text. */
async function until(events: AsyncIterator<ChangeEvent>, content: string): Promise<ChangeEvent[]> {
  const read: ChangeEvent[] = [];
  for (;;) {
    const { value, done } = await events.next();
    assert(done !== true);
    read.push(value);
    if (value.data.content === content) return read;
  }
}

test("changes arrive, and none is lost or repeated when the server is restarted", { timeout: 120_000 }, async () => {
  const loci = new Loci({ url: server.url, userId: "eve", retry: { attempts: 20, delayMs: 50 } });
  const before = await loci.remember("one before the stream");
  const events = loci.events({ after: "all" });
  const first = await until(events, "one before the stream");
  assert.deepEqual(first.map(({ event, data }) => [event, data.memoryId]), [["ADD", before.id]]);

  await loci.remember("two on the first connection", { asIs: true });
  assert.equal((await until(events, "two on the first connection")).length, 1);

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await server.end(signal);
    // The stream notices the end while nobody serves, and goes on when somebody does.
    const pending = until(events, `third after ${signal}`);
    await server.resume();
    await loci.remember(`first after ${signal}`, { asIs: true });
    await loci.remember(`second after ${signal}`, { asIs: true });
    await loci.remember(`third after ${signal}`, { asIs: true });
    const contents = (await pending).map(({ data }) => data.content);
    assert.deepEqual(contents, ["first", "second", "third"].map((word) => `${word} after ${signal}`));
  }
  await events.return();

  // The place after an event is also where a later stream continues.
  const later = loci.events({ after: first[0]?.id ?? "", event: ["ADD"], layer: ["user"] });
  assert.equal((await later.next()).value?.data.content, "two on the first connection");
  await later.return();
});

test("an abort ends a stream that waits", async () => {
  const loci = new Loci({ url: server.url, userId: "eve" });
  const controller = new AbortController();
  const events = loci.events({ signal: controller.signal });
  const pending = events.next();
  controller.abort(new Error("enough"));
  await assert.rejects(pending, /enough/);
  await assert.rejects(loci.events({ signal: controller.signal }).next(), /enough/);
});

test("what a repetition cannot help ends the stream", async () => {
  const loci = new Loci({ url: server.url, userId: "eve" });
  await assert.rejects(loci.events({ after: "nonsense" }).next(), InvalidRequestError);
});

/** A stream of these lines, which ends. */
function stream(...lines: string[]): Step {
  return (response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(lines.join("\n") + "\n");
}

test("it reconnects at the last event, as fast as the server says, and ends with an error of the stream", async () => {
  const scripted = await Scripted.start(
    stream("retry: 1", "id: 1", "", "event: ADD", "id: 2", 'data: {"content":"a"}', "", "event: ADD", 'data: {"content":"cut'),
    hangUp,
    stream("event: UPDATE", "id: 4", 'data: {"content":"b"}', ""),
    stream("event: error", `data: {"code":"UNAUTHENTICATED","detail":"revoked","status":401,"retryable":false}`, ""),
  );
  try {
    const loci = new Loci({ url: scripted.url, userId: "eve", retry: { attempts: 1, delayMs: 1 } });
    const read: unknown[] = [];
    const follow = async (): Promise<void> => {
      for await (const { id, event, data } of loci.events()) read.push([id, event, data.content]);
    };
    await assert.rejects(follow(), AuthenticationError);
    assert.deepEqual(read, [
      ["2", "ADD", "a"],
      ["4", "UPDATE", "b"],
    ]);
    assert.deepEqual(scripted.seen.map(({ headers }) => headers["last-event-id"]), [undefined, "2", "2", "4"]);
    assert(scripted.seen.every(({ path }) => path === "/v1/events?userId=eve"));
  } finally {
    await scripted.stop();
  }
});

test("a connection that falls silent is renewed at the last heartbeat", async () => {
  const scripted = await Scripted.start((response, { headers }) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(headers["last-event-id"] === "3" ? 'event: ADD\nid: 4\ndata: {"content":"b"}\n\n' : ": here\nid: 3\n\n");
  });
  try {
    const loci = new Loci({ url: scripted.url, userId: "eve", retry: { attempts: 1000, delayMs: 1 } });
    const events = loci.events({ silenceMs: 200 });
    assert.equal((await events.next()).value?.id, "4");
    await events.return();
  } finally {
    await scripted.stop();
  }
});

test("a first connection that fails is an error after as many attempts as a call has", async () => {
  const scripted = await Scripted.start(problem("PROVIDER_ERROR", 503, true), hangUp, answer({}));
  try {
    const loci = new Loci({ url: scripted.url, userId: "eve", retry: { attempts: 1 } });
    await assert.rejects(loci.events().next(), ServerError);
    await assert.rejects(loci.events().next(), ConnectionError);
  } finally {
    await scripted.stop();
  }
});
