// Every verb, on a real server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ConflictError, Loci, type MemoryWrite, NotFoundError, type RecallOptions } from "@loci/client";

import { Server } from "./server.js";

let server: Server;
let number = 0;

before(async () => {
  server = await Server.start();
});
after(() => server.remove());

/** A client for a user that no other test has. */
function client(): Loci {
  number += 1;
  return new Loci({ url: server.url, userId: `user-${number}` });
}

test("remember adds, recognises what is known, and replaces a changed value", async () => {
  const loci = client();
  const first = await loci.remember("The cluster has 5 nodes", { kind: "fact", tags: ["ops"], metadata: { ticket: 7 } });
  assert.deepEqual([first.event, first.version, first.data?.tags, first.data?.metadata], ["ADD", 1, ["ops"], { ticket: 7 }]);
  assert.equal(first.data?.identifiers.userId, loci.identifiers.userId);
  assert.equal((await loci.remember("The cluster has 5 nodes")).event, "NONE");
  const next = await loci.remember("The cluster has 7 nodes");
  assert.equal(next.event, "SUPERSEDE");
  assert.equal(next.data?.supersedesId, first.id);
});

test("a write that is repeated under its key is answered by the first answer, without the text", async () => {
  const loci = client();
  const first = await loci.remember("The order 4021 was sent", { idempotencyKey: "order-4021" });
  const again = await loci.remember("The order 4021 was sent", { idempotencyKey: "order-4021" });
  assert.deepEqual([again.id, again.event, again.data], [first.id, "ADD", null]);
});

test("rememberMany splits what one request cannot hold, and reports what failed", async () => {
  const loci = client();
  const notes = Array.from({ length: 1200 }, (_, place) => ({ content: `note ${place} of the log`, asIs: true }));
  const all = await loci.rememberMany(notes, { continueOnError: true });
  assert.deepEqual([all.succeeded, all.failed, all.data.length], [1200, 0, 1200]);
  assert.deepEqual(all.data.map(({ index }) => index), notes.map((_, place) => place));
  assert.equal(new Set(all.data.map(({ id }) => id)).size, 1200);
  assert.deepEqual(await loci.rememberMany([]), { data: [], succeeded: 0, failed: 0 });

  const mixed = ["Ana plays chess", { content: "x", kind: "nonsense" }, "Ana plays go"];
  const stopped = await client().rememberMany(mixed);
  assert.deepEqual([stopped.succeeded, stopped.failed, stopped.data.length], [1, 1, 2]);
  const { code, details } = stopped.data[1]?.error ?? {};
  assert.deepEqual([code, details?.["field"]], ["INVALID_INPUT", "kind"]);
  const whole = await client().rememberMany(mixed, { continueOnError: true });
  assert.deepEqual([whole.succeeded, whole.failed, whole.data.length], [2, 1, 3]);
});

test("recall finds, with filters, fields and an explanation", async () => {
  const loci = client();
  await loci.rememberMany([
    { content: "Ship version 1 by September", kind: "task", tags: ["release"] },
    { content: "Release notes are written by Bo", kind: "fact" },
  ]);
  const options: RecallOptions = { filter: { tags: ["release"] }, fields: ["content"], explain: true, limit: 5 };
  const found = await loci.recall("when do we ship version 1?", options);
  assert.deepEqual(found.data.map(({ memory }) => memory.content), ["Ship version 1 by September"]);
  assert.equal(found.data[0]?.memory.kind, undefined);
  assert(found.data[0]?.explain !== undefined);
  assert.deepEqual(found.degraded, ["vector"]);
  assert.equal((await client().recall("when do we ship version 1?")).data.length, 0);
});

test("context is a text within the budget", async () => {
  const loci = client();
  await loci.remember("Ana is allergic to peanuts");
  const context = await loci.context("what is Ana allergic to?", { budgetTokens: 100, format: "bullets" });
  assert.match(context.text, /Ana is allergic to peanuts/);
  assert(context.tokens > 0 && context.tokens <= 100);
  assert.equal(context.cited.length, 1);
  assert.equal(context.budgetTokens, 100);
  assert.deepEqual(context.degraded, ["vector"]);
});

test("get, update, forget and restore", async () => {
  const loci = client();
  const { id } = await loci.remember("Ana plays chess");
  assert.equal((await loci.get(id)).content, "Ana plays chess");
  const changed = await loci.update(id, { content: "Ana plays chess and go", tags: ["hobby"], version: 1 });
  assert.deepEqual([changed.event, changed.version, changed.data?.tags], ["UPDATE", 2, ["hobby"]]);
  await assert.rejects(loci.update(id, { content: "x", version: 1 }), (error) => {
    return error instanceof ConflictError && error.code === "VERSION_CONFLICT" && error.operation === "changeMemory";
  });
  await assert.rejects(loci.forget(id, { version: 1 }), ConflictError);
  await loci.forget(id, { version: 2, reason: "asked to" });
  assert.equal((await loci.get(id)).state, "soft_deleted");
  assert.deepEqual((await loci.recall("chess")).data, []);
  assert.equal((await loci.restore(id)).event, "RESTORE");
  assert.equal((await loci.get(id)).state, "active");
  const history = await loci.history(id).toArray();
  assert.deepEqual(history.map(({ event }) => event), ["ADD", "ENTITY", "UPDATE", "DELETE", "RESTORE"]);
  assert.equal(history[3]?.reason, "asked to");
});

test("supersede, correct and confirm", async () => {
  const loci = client();
  const old = await loci.remember("Bo works in Riga", { confidence: 0.5 });
  const confirmed = await loci.confirm(old.id);
  assert((confirmed.data?.confidence ?? 0) > 0.5);
  const newer: MemoryWrite = await loci.supersede(old.id, "Bo works in Tallinn", { tags: ["work"] });
  assert.deepEqual([newer.event, newer.data?.supersedesId, newer.data?.tags], ["SUPERSEDE", old.id, ["work"]]);
  const right = await loci.correct(newer.id, "Bo works in Tartu", { reason: "a slip of the tongue" });
  assert.equal((await loci.get(right.id)).content, "Bo works in Tartu");
  const now = await loci.list().toArray();
  assert.deepEqual(now.map(({ content }) => content), ["Bo works in Tartu"]);
});

test("a conversation is ingested, ended and learned from", async () => {
  const loci = client();
  const { data } = await loci.ingest(
    [
      { threadId: "chat", role: "user", actorId: "ana", content: "My sister Bea plays the cello" },
      { threadId: "chat", role: "assistant", content: "Noted." },
    ],
    { sessionId: "monday" },
  );
  assert.deepEqual(data.map(({ writes }) => writes.length > 0), [true, true]);
  assert.equal((await loci.session("monday")).pending, true);
  // Before the session ends, nothing else learns from it.
  assert.equal((await loci.learnSession("monday", { again: false })).turns, 2);
  assert.equal((await loci.learnSession("monday", { again: false })).turns, 0);
  const ended = await loci.endSession("monday");
  assert(ended.data?.endedAt !== null);
  assert.equal((await loci.endSession("monday")).event, "NONE");
  const found = await loci.recall("who plays the cello?", { fields: ["content"] });
  assert.match(found.data[0]?.memory.content ?? "", /cello/);
  // Without a session the turns belong to the thread alone.
  assert.equal((await loci.ingest([{ threadId: "other", role: "user", content: "Hello" }])).data.length, 1);
});

test("facts are stated, listed, read and retracted", async () => {
  const loci = client();
  const fact = { factType: "has_version", subject: "Database", predicate: "version", object: "v16" };
  const stated = await loci.facts.state({ ...fact, confidence: 0.8 });
  assert.equal(stated.event, "ADD");
  assert.equal((await loci.facts.get(stated.id)).object, "v16");
  assert.deepEqual((await loci.facts.list({ subject: "Database" }).toArray()).map(({ id }) => id), [stated.id]);
  await loci.facts.retract(stated.id, { reason: "upgraded" });
  assert.deepEqual(await loci.facts.list().toArray(), []);
});

test("stats, health and any other operation", async () => {
  const loci = client();
  await loci.remember("Ana plays chess");
  assert.equal((await loci.stats()).byLayer["user"], 1);
  const health = await loci.health();
  assert.deepEqual([health.status, health.components.store.status], ["degraded", "healthy"]);
  const count = await loci.request<{ count: number }>("GET", "/v1/memories/count", { query: { ...loci.identifiers } });
  assert.equal(Object.values(count)[0], 1);
  const pool = await loci.request("POST", "/v1/agents", { body: { agentId: "cook" }, idempotencyKey: "cook" });
  assert(pool !== undefined);
});

test("the scope is that of the client, of scoped, or of the call", async () => {
  const ana = client();
  const bo = ana.scoped({ userId: "bo", projectId: "atlas" });
  assert.deepEqual(bo.identifiers, { userId: "bo", projectId: "atlas" });
  const { id } = await bo.remember("Atlas is released on Tuesdays", { layer: "project" });
  await assert.rejects(ana.get(id), NotFoundError);
  assert.equal((await ana.get(id, { identifiers: { projectId: "atlas" } })).id, id);
  assert.equal((await ana.recall("release", { identifiers: { projectId: "atlas" } })).data.length, 1);
  const alone = bo.scoped({ projectId: null });
  assert.deepEqual(await alone.list().toArray(), []);
  const nobody = new Loci({ url: server.url });
  assert((await nobody.list({ everyone: true }).toArray(3)).length === 3);
});
